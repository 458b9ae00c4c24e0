/* The keys of a header as one table: writing, reading and comparing are
   loops over it, so they can't drift apart.  A value that is not known is
   null.  */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "store/header_internal.h"

#define AT(field) offsetof(struct df_capture_header, field)
const struct df_head_key df_head_keys[DF_N_HEAD_KEYS] = {
    {"version",         DF_KEY_VERSION,  0,                   NULL,                        DF_KEY_AGREE },
    {"model",           DF_KEY_STRING,   AT(model),           NULL,                        DF_KEY_AGREE },
    {"config_hash",     DF_KEY_HASH,     AT(config_hash),     NULL,                        DF_KEY_AGREE },
    {"tokenizer_hash",  DF_KEY_HASH,     AT(tokenizer_hash),  NULL,                        DF_KEY_AGREE },
    {"vocab_size",      DF_KEY_SIZE,     AT(vocab_size),      NULL,                        DF_KEY_AGREE },
    {"hidden_size",     DF_KEY_SIZE,     AT(hidden_size),     NULL,                        DF_KEY_AGREE },
    {"layer_ids",       DF_KEY_LAYERS,   AT(layer_ids),       NULL,                        DF_KEY_AGREE },
    {"layer_state",     DF_KEY_CONSTANT, 0,                   "after the layer, pre-norm",
     DF_KEY_AGREE                                                                                       },
    {"has_last_hidden", DF_KEY_BOOL,     AT(has_last_hidden), NULL,                        DF_KEY_AGREE },
    {"dtype",           DF_KEY_CONSTANT, 0,                   "BF16",                      DF_KEY_AGREE },
    {"layout",          DF_KEY_LAYOUT,   AT(layout),          NULL,                        DF_KEY_STRICT},
    {"check",           DF_KEY_CHECK,    AT(has_checks),      "sum64",                     DF_KEY_STRICT},
    {"seed",            DF_KEY_HASH,     AT(seed),            NULL,                        DF_KEY_FREE  },
    {"tool",            DF_KEY_STRING,   AT(tool),            NULL,                        DF_KEY_FREE  },
    {"notes",           DF_KEY_OBJECT,   AT(notes),           NULL,                        DF_KEY_FREE  },
};
const char *const df_layout_names[] = {"packed", "split"};

static json_t *
encode_hash(uint64_t hash)
{
    char text[17];

    snprintf(text, sizeof text, "%016" PRIx64, hash);
    return hash ? json_string(text) : json_null();
}

static json_t *
encode_layers(const struct df_capture_header *h)
{
    json_t *list = json_array();

    for (size_t i = 0; i < h->K; i++)
        json_array_append_new(list, json_integer(h->layer_ids[i]));
    return list;
}

/* The value of KEY in H as JSON.  NULL when there is no memory, or when a
   text is none.  */
static json_t *
encode(const struct df_head_key *key, const struct df_capture_header *h)
{
    const void *at = (const char *) h + key->at;
    const char *text = NULL;

    switch (key->kind) {
    case DF_KEY_CONSTANT:
        return json_string(key->which);
    case DF_KEY_VERSION:
        return json_integer(DF_CAPTURE_VERSION);
    case DF_KEY_STRING:
    case DF_KEY_OBJECT:
        memcpy(&text, at, sizeof text);
        if (!text)
            return json_null();
        return key->kind == DF_KEY_STRING ? json_string(text)
                                          : json_loads(text, 0, NULL);
    case DF_KEY_HASH:
        return encode_hash(*(const uint64_t *) at);
    case DF_KEY_SIZE:
        return *(const size_t *) at
                   ? json_integer((json_int_t) * (const size_t *) at)
                   : json_null();
    case DF_KEY_LAYERS:
        return encode_layers(h);
    case DF_KEY_LAYOUT:
        return json_string(df_layout_names[h->layout == DF_CAPTURE_SPLIT]);
    case DF_KEY_BOOL:
        return json_boolean(*(const bool *) at);
    case DF_KEY_CHECK:
        return *(const bool *) at ? json_string(key->which) : json_null();
    }
    return NULL;
}

df_status
df_head_text(char **out, const struct df_capture_header *header)
{
    json_t *object = json_object();
    int bad = 0;

    for (size_t i = 0; i < DF_N_HEAD_KEYS; i++)
        bad |= json_object_set_new(object, df_head_keys[i].name,
                                   encode(&df_head_keys[i], header));
    *out = bad ? NULL : json_dumps(object, JSON_COMPACT);
    json_decref(object);
    return *out ? DF_OK
                : DF_FAIL(DF_INVALID, "header of a capture: a text isn't "
                                      "UTF-8, notes no JSON, or no memory");
}

/* The last failure as STATUS.  */
static df_status
recast(df_status status)
{
    df_error err = *df_error_last();

    err.status = status;
    return df_error_set(&err);
}

df_status
df_head_copy(struct df_head *out, const struct df_capture_header *header)
{
    char *text;
    df_status status;

    *out = (struct df_head){0};
    if (header->K < 1 || header->K > DF_MAX_LAYER_IDS)
        return DF_FAIL(DF_INVALID, "capture of %zu layers, 1 to %d allowed",
                       header->K, DF_MAX_LAYER_IDS);
    DF_TRY(df_head_text(&text, header));
    status = df_head_parse(out, text, strlen(text), "header of a capture");
    free(text);
    if (status == DF_FORMAT)
        return recast(DF_INVALID);
    return status;
}

void
df_head_clear(struct df_head *head)
{
    for (size_t i = 0; i < DF_HEAD_TEXTS; i++)
        free(head->texts[i]);
    *head = (struct df_head){0};
}

/* Whether A and B, values of KEY, may stand for the same.  */
static bool
agree(const struct df_head_key *key, const json_t *a, const json_t *b)
{
    if (key->kind == DF_KEY_LAYERS && json_array_size(a) == json_array_size(b)
        && (json_integer_value(json_array_get(a, 0)) == -1
            || json_integer_value(json_array_get(b, 0)) == -1))
        return true;
    return (key->kind != DF_KEY_CHECK && (json_is_null(a) || json_is_null(b)))
           || json_equal(a, b);
}

const char *
df_capture_differs(const struct df_capture_header *a,
                   const struct df_capture_header *b, bool strict, char *buf,
                   size_t size)
{
    const char *found = NULL;

    for (size_t i = 0; i < DF_N_HEAD_KEYS && !found; i++) {
        json_t *x = encode(&df_head_keys[i], a),
               *y = encode(&df_head_keys[i], b);

        if (df_head_keys[i].rule >= (strict ? DF_KEY_STRICT : DF_KEY_AGREE)
            && !agree(&df_head_keys[i], x, y)) {
            char *s = json_dumps(x, JSON_COMPACT | JSON_ENCODE_ANY);
            char *t = json_dumps(y, JSON_COMPACT | JSON_ENCODE_ANY);

            snprintf(buf, size, "%s is %s and %s", df_head_keys[i].name,
                     s ? s : "null", t ? t : "null");
            free(s);
            free(t);
            found = buf;
        }
        json_decref(x);
        json_decref(y);
    }
    return found;
}
