#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "text/load_internal.h"
#include "text/steps_internal.h"

/* Steps call each other, so that their number bounds the stack.  */
enum {
    MAX_STEPS = 64
};

/* The pattern of GPT-2, which "use_regex" stands for.  */
#define GPT2_PATTERN                                                    \
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+" \
    "|\\s+(?!\\S)|\\s+"

/* Room for one more step, zeroed, which STEPS owns.  */
static df_status
add_step(struct df_steps *steps, enum df_step_kind kind, struct df_step **out,
         const char *where)
{
    if (steps->n == MAX_STEPS)
        return DF_FAIL(DF_UNSUPPORTED, "%s: more than %d steps", where,
                       MAX_STEPS);
    DF_TRY(
        df_grow(&steps->step, &steps->cap, steps->n + 1, sizeof *steps->step));
    *out = &steps->step[steps->n++];
    **out = (struct df_step){.kind = kind};
    return DF_OK;
}

df_status
df_pattern_load(struct df_regex **out, const json_t *obj, const char *where)
{
    const json_t *pattern;
    const char *text;
    size_t len;

    DF_TRY(df_json_require(obj, "pattern", &pattern, where));
    bool literal = json_object_get(pattern, "String") != NULL;
    DF_TRY(df_load_keys(pattern, literal ? "String" : "Regex", where));
    DF_TRY(df_load_string(pattern, literal ? "String" : "Regex", &text, &len,
                          where));
    return df_regex_new(out, text, len, literal, where);
}

/* Several parts, one behind the other.  */
static df_status
load_sequence(struct df_steps *steps, const struct df_part *part,
              const char *key, const char *where,
              df_status (*load)(struct df_steps *, const json_t *,
                                const char *))
{
    const json_t *list;
    char keys[32] = "type ";

    DF_TRY(df_load_keys(part->obj, strcat(keys, key), part->where));
    DF_TRY(df_load_array(part->obj, key, &list, part->where));
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *value = json_array_get(list, i);

        if (!json_is_object(value))
            return DF_FAIL(DF_FORMAT, "%s: %s[%zu] is %s, not an object",
                           part->where, key, i, df_json_type_name(value));
        DF_TRY(load(steps, value, where));
    }
    return DF_OK;
}

/* NFC and its like, if PART's type names one; else *FOUND is false.  */
static df_status
load_form(struct df_steps *steps, const struct df_part *part, bool *found)
{
    const struct {
        const char *type;
        uninorm_t form;
    } forms[] = {
        {"NFC",  UNINORM_NFC },
        {"NFD",  UNINORM_NFD },
        {"NFKC", UNINORM_NFKC},
        {"NFKD", UNINORM_NFKD}
    };
    struct df_step *step;

    *found = false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (strcmp(part->type, forms[i].type) != 0)
            continue;
        *found = true;
        DF_TRY(df_load_keys(part->obj, "type", part->where));
        DF_TRY(add_step(steps, DF_STEP_NORMALIZE, &step, part->where));
        step->form = forms[i].form;
    }
    return DF_OK;
}

df_status
df_steps_normalizer(struct df_steps *steps, const json_t *value,
                    const char *where)
{
    struct df_part part;
    struct df_step *step;
    bool found;

    if (!value || json_is_null(value))
        return DF_OK;
    DF_TRY(df_part_open(&part, value, "normalizer", where));
    if (strcmp(part.type, "Sequence") == 0)
        return load_sequence(steps, &part, "normalizers", where,
                             df_steps_normalizer);
    DF_TRY(load_form(steps, &part, &found));
    if (found)
        return DF_OK;
    if (strcmp(part.type, "Lowercase") == 0) {
        DF_TRY(df_load_keys(part.obj, "type", part.where));
        return add_step(steps, DF_STEP_LOWERCASE, &step, part.where);
    }
    if (strcmp(part.type, "Prepend") == 0) {
        DF_TRY(df_load_keys(part.obj, "type prepend", part.where));
        DF_TRY(add_step(steps, DF_STEP_PREPEND, &step, part.where));
        DF_TRY(df_load_copy(part.obj, "prepend", &step->content,
                            &step->content_len, part.where));
        if (step->content_len == 0)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: an empty prepend is not "
                           "supported",
                           part.where);
        return DF_OK;
    }
    if (strcmp(part.type, "Replace") == 0) {
        DF_TRY(df_load_keys(part.obj, "type pattern content", part.where));
        DF_TRY(add_step(steps, DF_STEP_REPLACE, &step, part.where));
        DF_TRY(df_pattern_load(&step->regex, part.obj, part.where));
        if (df_regex_matches_empty(step->regex))
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s: a pattern that may match "
                           "nothing is not supported",
                           part.where);
        return df_load_copy(part.obj, "content", &step->content,
                            &step->content_len, part.where);
    }
    return df_part_refuse(&part);
}

static df_status
add_split(struct df_steps *steps, const char *pattern, bool literal,
          enum df_split behavior, const char *where)
{
    struct df_step *step;

    DF_TRY(add_step(steps, DF_STEP_SPLIT, &step, where));
    step->behavior = behavior;
    return df_regex_new(&step->regex, pattern, strlen(pattern), literal,
                        where);
}

static df_status
load_split(struct df_steps *steps, const struct df_part *part)
{
    static const char *const names[] = {
        [DF_SPLIT_REMOVED] = "Removed",
        [DF_SPLIT_ISOLATED] = "Isolated",
        [DF_SPLIT_WITH_PREVIOUS] = "MergedWithPrevious",
        [DF_SPLIT_WITH_NEXT] = "MergedWithNext",
        [DF_SPLIT_CONTIGUOUS] = "Contiguous",
    };
    struct df_step *step;
    const char *name;
    size_t len, i = 0;

    DF_TRY(
        df_load_keys(part->obj, "type pattern behavior invert", part->where));
    DF_TRY(add_step(steps, DF_STEP_SPLIT, &step, part->where));
    DF_TRY(df_pattern_load(&step->regex, part->obj, part->where));
    DF_TRY(df_load_bool(part->obj, "invert", &step->invert, part->where));
    DF_TRY(df_load_string(part->obj, "behavior", &name, &len, part->where));
    while (i < sizeof names / sizeof *names && strcmp(name, names[i]) != 0)
        i++;
    if (i == sizeof names / sizeof *names)
        return DF_FAIL(DF_UNSUPPORTED, "%s: behavior %.40s is not supported",
                       part->where, name);
    step->behavior = (enum df_split) i;
    return DF_OK;
}

/* Put one space in front, or whatever TEXT is.  */
static df_status
add_prepend(struct df_steps *steps, const char *text, enum df_prepend when,
            const char *where)
{
    struct df_step *step;

    DF_TRY(add_step(steps, DF_STEP_PREPEND, &step, where));
    step->when = when;
    step->content_len = strlen(text);
    step->content = strdup(text);
    if (!step->content)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for a prefix", where);
    return DF_OK;
}

static df_status
load_byte_level(struct df_steps *steps, const struct df_part *part)
{
    bool prefix, trim, use_regex = true;

    DF_TRY(df_load_keys(part->obj,
                        "type add_prefix_space trim_offsets use_regex",
                        part->where));
    DF_TRY(df_load_bool(part->obj, "add_prefix_space", &prefix, part->where));
    DF_TRY(df_load_bool(part->obj, "trim_offsets", &trim, part->where));
    DF_TRY(df_json_get_bool(part->obj, "use_regex", &use_regex, part->where));
    steps->byte_level = true;
    if (prefix)
        DF_TRY(add_prepend(steps, " ", DF_PREPEND_UNLESS_THERE, part->where));
    if (!use_regex)
        return DF_OK;
    return add_split(steps, GPT2_PATTERN, false, DF_SPLIT_ISOLATED,
                     part->where);
}

static df_status
load_digits(struct df_steps *steps, const struct df_part *part)
{
    bool individual;

    DF_TRY(df_load_keys(part->obj, "type individual_digits", part->where));
    DF_TRY(df_load_bool(part->obj, "individual_digits", &individual,
                        part->where));
    return add_split(steps, "\\p{N}", false,
                     individual ? DF_SPLIT_ISOLATED : DF_SPLIT_CONTIGUOUS,
                     part->where);
}

/* Where Metaspace's prefix goes.  "add_prefix_space" is the older spelling
   and may not contradict.  */
static df_status
load_prepend_scheme(const struct df_part *part, bool *never,
                    enum df_prepend *when)
{
    const char *scheme = "always";
    bool prefix = true;

    DF_TRY(
        df_json_get_string(part->obj, "prepend_scheme", &scheme, part->where));
    DF_TRY(
        df_json_get_bool(part->obj, "add_prefix_space", &prefix, part->where));
    *never = strcmp(scheme, "never") == 0;
    *when = strcmp(scheme, "first") == 0 ? DF_PREPEND_AT_START
                                         : DF_PREPEND_UNLESS_THERE;
    if (!*never && *when != DF_PREPEND_AT_START
        && strcmp(scheme, "always") != 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: prepend_scheme %.40s is not "
                       "supported",
                       part->where, scheme);
    if (!prefix && !*never)
        return DF_FAIL(DF_FORMAT,
                       "%s: add_prefix_space is false, yet "
                       "prepend_scheme is %s",
                       part->where, scheme);
    return DF_OK;
}

static df_status
load_metaspace(struct df_steps *steps, const struct df_part *part)
{
    const char *where = part->where, *text;
    struct df_step *step;
    enum df_prepend when;
    bool never, cut = true;
    size_t len;

    DF_TRY(df_load_keys(part->obj,
                        "type replacement add_prefix_space "
                        "prepend_scheme split str_rep",
                        where));
    DF_TRY(df_load_string(part->obj, "replacement", &text, &len, where));
    if (len == 0 || text[0] == '\0' || len != df_utf8_len(text[0]))
        return DF_FAIL(DF_FORMAT, "%s: replacement is not one character",
                       where);
    DF_TRY(load_prepend_scheme(part, &never, &when));
    DF_TRY(df_json_get_bool(part->obj, "split", &cut, where));
    steps->at_start = !never && when == DF_PREPEND_AT_START;
    if (steps->at_start && steps->n > 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: prepend_scheme first is not supported behind "
                       "other steps",
                       where);
    DF_TRY(add_step(steps, DF_STEP_REPLACE, &step, where));
    DF_TRY(df_regex_new(&step->regex, " ", 1, true, where));
    DF_TRY(df_load_copy(part->obj, "replacement", &step->content,
                        &step->content_len, where));
    if (!never)
        DF_TRY(add_prepend(steps, text, when, where));
    if (!cut)
        return DF_OK;
    return add_split(steps, text, true, DF_SPLIT_WITH_NEXT, where);
}

df_status
df_steps_pre_tokenizer(struct df_steps *steps, const json_t *value,
                       const char *where)
{
    struct df_part part;

    if (!value || json_is_null(value))
        return DF_OK;
    DF_TRY(df_part_open(&part, value, "pre_tokenizer", where));
    if (strcmp(part.type, "Sequence") == 0)
        return load_sequence(steps, &part, "pretokenizers", where,
                             df_steps_pre_tokenizer);
    /* They would see the letters that stand for bytes, not the text.  */
    if (steps->byte_level)
        return DF_FAIL(DF_UNSUPPORTED, "%s behind ByteLevel is not supported",
                       part.where);
    if (strcmp(part.type, "Split") == 0)
        return load_split(steps, &part);
    if (strcmp(part.type, "ByteLevel") == 0)
        return load_byte_level(steps, &part);
    if (strcmp(part.type, "Digits") == 0)
        return load_digits(steps, &part);
    if (strcmp(part.type, "Metaspace") == 0)
        return load_metaspace(steps, &part);
    return df_part_refuse(&part);
}
