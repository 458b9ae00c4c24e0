/* Rotary embeddings as configs describe them.

   Old configs have rope_theta and rope_scaling {type or rope_type, ...},
   new ones rope_parameters with rope_theta inside; some have both, for the
   sake of other programs, and must then say the same twice.  */

#include <config.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json_internal.h"
#include "model/config_internal.h"

enum {
    MAX_POSITIONS = 1 << 28
};

/* All keys that any type has.  Those that the type at hand doesn't use
   have no effect, as in the reference; others are refused, for they may ask
   for something.  */
static const char *const known_keys[] = {
    "type",
    "rope_type",
    "rope_theta",
    "partial_rotary_factor",
    "factor",
    "original_max_position_embeddings",
    "low_freq_factor",
    "high_freq_factor",
    "attention_factor",
    "beta_fast",
    "beta_slow",
    "mscale",
    "mscale_all_dim",
    "truncate",
    "finetuned", /* a remark */
};

static df_status
check_keys(json_t *params, const char *where)
{
    const char *key;
    json_t *value;

    json_object_foreach(params, key, value)
    {
        size_t i = 0, n = sizeof known_keys / sizeof known_keys[0];

        while (i < n && strcmp(known_keys[i], key) != 0)
            i++;
        if (json_is_object(value))
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: one rope for each layer type ('%s') is not"
                           " supported",
                           where, key);
        if (i == n)
            return DF_FAIL(DF_UNSUPPORTED, "%s: '%s' is not supported", where,
                           key);
    }
    return DF_OK;
}

static df_status
read_type(enum df_rope_type *out, const json_t *params, const char *where)
{
    const char *name = NULL, *old = NULL;

    *out = DF_ROPE_DEFAULT;
    DF_TRY(df_json_get_string(params, "rope_type", &name, where));
    DF_TRY(df_json_get_string(params, "type", &old, where));
    if (name && old && strcmp(name, old) != 0)
        return DF_FAIL(DF_FORMAT, "%s: rope_type '%s', but type '%s'", where,
                       name, old);
    if (!name)
        name = old;
    if (!name)
        return DF_OK;
#define X(upper, text)              \
    if (strcmp(name, #text) == 0) { \
        *out = DF_ROPE_##upper;     \
        return DF_OK;               \
    }
    DF_ROPE_TYPES(X)
#undef X
    return DF_FAIL(DF_UNSUPPORTED,
                   "%s: rope type '%s' is not supported (supported: default,"
                   " linear, llama3, yarn)",
                   where, name);
}

/* KEY as a number in (MIN, 1e15]; *OUT is what it is when absent, and NAN
   means that it may not be.  */
static df_status
get_number(const json_t *params, const char *key, double min, double *out,
           const char *where)
{
    DF_TRY(df_json_get_real(params, key, out, where));
    if (isnan(*out))
        return DF_FAIL(DF_FORMAT, "%s: no %s", where, key);
    if (*out <= min || *out > 1e15)
        return DF_FAIL(DF_FORMAT, "%s: %s is %g, not above %g", where, key,
                       *out, min);
    return DF_OK;
}

/* KEY as a number where 0, like absence, is VALUE_OF_0.  */
static df_status
get_or(const json_t *params, const char *key, double value_of_0, double *out,
       const char *where)
{
    *out = 0;
    DF_TRY(df_json_get_real(params, key, out, where));
    if (*out < 0 || *out > 1e15)
        return DF_FAIL(DF_FORMAT, "%s: %s is %g", where, key, *out);
    if (*out == 0)
        *out = value_of_0;
    return DF_OK;
}

static df_status
read_llama3(struct df_rope *r, const json_t *params, const char *where)
{
    r->low_freq_factor = r->high_freq_factor = NAN;
    DF_TRY(
        get_number(params, "low_freq_factor", 0, &r->low_freq_factor, where));
    return get_number(params, "high_freq_factor", r->low_freq_factor,
                      &r->high_freq_factor, where);
}

static df_status
read_yarn(struct df_rope *r, const json_t *params, const char *where)
{
    DF_TRY(get_or(params, "beta_fast", 32, &r->beta_fast, where));
    DF_TRY(get_or(params, "beta_slow", 1, &r->beta_slow, where));
    DF_TRY(get_or(params, "mscale", 0, &r->mscale, where));
    DF_TRY(get_or(params, "mscale_all_dim", 0, &r->mscale_all_dim, where));
    r->truncate = true;
    DF_TRY(df_json_get_bool(params, "truncate", &r->truncate, where));
    const json_t *factor = json_object_get(params, "attention_factor");
    if (!factor || json_is_null(factor))
        return DF_OK;
    r->attention_factor = NAN;
    return get_number(params, "attention_factor", 0, &r->attention_factor,
                      where);
}

/* PARAMS is an object, or NULL.  THETA is that of the top level.  */
static df_status
read_params(struct df_rope *r, json_t *params, const json_t *json,
            double theta, int max_position, const char *where)
{
    double partial = 1;

    *r = (struct df_rope){.theta = theta};
    DF_TRY(check_keys(params, where));
    DF_TRY(read_type(&r->type, params, where));
    DF_TRY(get_number(params, "rope_theta", 1, &r->theta, where));
    DF_TRY(df_json_get_real(params, "partial_rotary_factor", &partial, where));
    if (partial != 1)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: partial_rotary_factor %g is not supported", where,
                       partial);
    if (r->type == DF_ROPE_DEFAULT)
        return DF_OK;
    r->factor = NAN;
    DF_TRY(get_number(params, "factor", 0, &r->factor, where));
    if (r->type == DF_ROPE_LINEAR)
        return DF_OK;
    /* The reference takes the top level's before the object's, and if there
       is neither, all positions.  */
    r->original_max_position = max_position;
    DF_TRY(df_config_get_int(params, "original_max_position_embeddings", 1,
                             MAX_POSITIONS, &r->original_max_position, where));
    DF_TRY(df_config_get_int(json, "original_max_position_embeddings", 1,
                             MAX_POSITIONS, &r->original_max_position, where));
    return r->type == DF_ROPE_LLAMA3 ? read_llama3(r, params, where)
                                     : read_yarn(r, params, where);
}

static bool
same(const struct df_rope *a, const struct df_rope *b)
{
    return a->type == b->type && a->theta == b->theta && a->factor == b->factor
           && a->original_max_position == b->original_max_position
           && a->low_freq_factor == b->low_freq_factor
           && a->high_freq_factor == b->high_freq_factor
           && a->attention_factor == b->attention_factor
           && a->beta_fast == b->beta_fast && a->beta_slow == b->beta_slow
           && a->mscale == b->mscale && a->mscale_all_dim == b->mscale_all_dim
           && a->truncate == b->truncate;
}

/* The object KEY, or NULL if it is absent, null or empty.  */
static df_status
get_params(json_t **out, const json_t *json, const char *key,
           const char *where)
{
    json_t *value = json_object_get(json, key);

    *out = NULL;
    if (!value || json_is_null(value))
        return DF_OK;
    if (!json_is_object(value))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an object", where, key,
                       df_json_type_name(value));
    if (json_object_size(value) > 0)
        *out = value;
    return DF_OK;
}

df_status
df_rope_read(struct df_rope *r, const json_t *json, int max_position,
             const char *where)
{
    static const char *const keys[] = {"rope_parameters", "rope_scaling"};
    struct df_rope found[2];
    json_t *params[2];
    double theta = 10000, partial = 1;

    DF_TRY(get_number(json, "rope_theta", 1, &theta, where));
    DF_TRY(df_json_get_real(json, "partial_rotary_factor", &partial, where));
    if (partial != 1)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: partial_rotary_factor %g is not supported", where,
                       partial);
    for (int i = 0; i < 2; i++) {
        char place[400];

        DF_TRY(get_params(&params[i], json, keys[i], where));
        snprintf(place, sizeof place, "%s: %s", where, keys[i]);
        DF_TRY(read_params(&found[i], params[i], json, theta, max_position,
                           place));
    }
    if (params[0] && params[1] && !same(&found[0], &found[1]))
        return DF_FAIL(DF_FORMAT, "%s: %s and %s disagree", where, keys[0],
                       keys[1]);
    *r = params[0] ? found[0] : found[1];
    return DF_OK;
}

static int
set_real(json_t *object, const char *key, double value)
{
    return json_object_set_new(object, key, json_real(value));
}

/* As set_real, but 0 is left out.  */
static int
set_given(json_t *object, const char *key, double value)
{
    return value != 0 ? set_real(object, key, value) : 0;
}

json_t *
df_rope_to_json(const struct df_rope *r)
{
    json_t *o = json_object();
    int failed = 0;

    failed |= json_object_set_new(o, "rope_type",
                                  json_string(df_rope_type_name(r->type)));
    failed |= set_real(o, "rope_theta", r->theta);
    failed |= set_given(o, "factor", r->factor);
    if (r->original_max_position)
        failed |= json_object_set_new(o, "original_max_position_embeddings",
                                      json_integer(r->original_max_position));
    failed |= set_given(o, "low_freq_factor", r->low_freq_factor);
    failed |= set_given(o, "high_freq_factor", r->high_freq_factor);
    failed |= set_given(o, "attention_factor", r->attention_factor);
    failed |= set_given(o, "beta_fast", r->beta_fast);
    failed |= set_given(o, "beta_slow", r->beta_slow);
    failed |= set_given(o, "mscale", r->mscale);
    failed |= set_given(o, "mscale_all_dim", r->mscale_all_dim);
    if (r->type == DF_ROPE_YARN)
        failed |=
            json_object_set_new(o, "truncate", json_boolean(r->truncate));
    if (!failed)
        return o;
    json_decref(o);
    return NULL;
}
