#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "store/header_internal.h"
#include "fixture.h"

static char *
text_of(const struct df_capture_header *h)
{
    char *text;

    if (df_head_text(&text, h) != DF_OK)
        bail("%s", df_error_last()->message);
    return text;
}

/* The header with KEY set to the JSON VALUE, or removed, must be refused.  */
static const struct {
    const char *key, *value;
    df_status status;
    const char *message;
} wrong[] = {
    {"version",         "2",             DF_UNSUPPORTED, "version is 2; only 1"},
    {"version",         NULL,            DF_FORMAT,      "no version"          },
    {"layer_ids",       "[]",            DF_FORMAT,      "layer_ids is []"     },
    {"layer_ids",       "[4, 1]",        DF_FORMAT,      "ascending"           },
    {"layer_ids",       "[1, 1]",        DF_FORMAT,      "ascending"           },
    {"layer_ids",       "[-1, 3]",       DF_FORMAT,      "as a whole"          },
    {"layer_ids",       "[-2]",          DF_FORMAT,      "ascending"           },
    {"layer_ids",       "[1.0]",         DF_FORMAT,      "ascending"           },
    {"layer_state",     "\"pre-layer\"", DF_UNSUPPORTED, "layer_state"         },
    {"hidden_size",     "0",             DF_FORMAT,      "hidden_size"         },
    {"hidden_size",     "1048577",       DF_FORMAT,      "hidden_size"         },
    {"hidden_size",     "null",          DF_FORMAT,      "hidden_size"         },
    {"vocab_size",      "-1",            DF_FORMAT,      "vocab_size"          },
    {"dtype",           "\"F16\"",       DF_UNSUPPORTED, "only BF16"           },
    {"layout",          "\"mixed\"",     DF_FORMAT,      "layout"              },
    {"has_last_hidden", "1",             DF_FORMAT,      "true or false"       },
    {"check",           "\"crc32\"",     DF_UNSUPPORTED, "only sum64"          },
    {"config_hash",     "\"12\"",        DF_FORMAT,      "config_hash"         },
    {"config_hash",     "17",            DF_FORMAT,      "config_hash"         },
    {"model",           "[]",            DF_FORMAT,      "model"               },
    {"notes",           "\"x\"",         DF_FORMAT,      "notes"               },
    {"compression",     "\"zstd\"",      DF_UNSUPPORTED, "compression"         },
};
enum {
    N_WRONG = sizeof wrong / sizeof *wrong
};

static void
try_wrong(size_t i)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    char *text = text_of(&h), label[80];
    json_t *json = json_loads(text, 0, NULL);
    struct df_head head;

    free(text);
    if (wrong[i].value)
        json_object_set_new(json, wrong[i].key,
                            json_loads(wrong[i].value, JSON_DECODE_ANY, NULL));
    else
        json_object_del(json, wrong[i].key);
    text = json_dumps(json, 0);
    snprintf(label, sizeof label, "refused: %s = %s", wrong[i].key,
             wrong[i].value ? wrong[i].value : "nothing");
    fix_refused(wrong[i].status, wrong[i].message,
                df_head_parse(&head, text, strlen(text), "FILE"), label);
    free(text);
    json_decref(json);
}

static void
test_round_trip(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    char *text = text_of(&h), *again;
    struct df_head head;

    if (df_head_parse(&head, text, strlen(text), "FILE") != DF_OK)
        bail("%s", df_error_last()->message);
    again = text_of(&head.header);
    ok(strcmp(text, again) == 0, "what is written is read");
    ok(!strchr(text, '\n'), "and is one line");
    ok(head.header.config_hash == h.config_hash,
       "a hash above 2^63 keeps its bits");
    free(text);
    free(again);
    df_head_clear(&head);
    h = (struct df_capture_header){.K = 1, .hidden_size = 1};
    text = text_of(&h);
    ok(df_head_parse(&head, text, strlen(text), "FILE") == DF_OK
           && !head.header.model && !head.header.notes,
       "a header that knows next to nothing is read");
    free(text);
    df_head_clear(&head);
}

static const char *
differs(const struct df_capture_header *b, bool strict)
{
    static char text[200];
    struct df_capture_header a = fix_header(DF_CAPTURE_SPLIT, true, true);

    return df_capture_differs(&a, b, strict, text, sizeof text) ? text : "";
}

static void
test_differences(void)
{
    struct df_capture_header b = fix_header(DF_CAPTURE_SPLIT, true, true);

    ok(!*differs(&b, true), "equal headers agree");
    b.tool = "other";
    b.notes = NULL;
    b.seed = 7;
    ok(!*differs(&b, true), "tool, notes and seed don't matter");
    b.layout = DF_CAPTURE_PACKED;
    ok(!*differs(&b, false), "another layout may be read beside it");
    ok(strcmp(differs(&b, true), "layout is \"split\" and \"packed\"") == 0,
       "but not be appended to: %s", differs(&b, true));
    b.layer_ids[1] = 5;
    ok(strcmp(differs(&b, false), "layer_ids is [1,4,7] and [1,5,7]") == 0,
       "other layers are named: %s", differs(&b, false));
    for (size_t k = 0; k < b.K; k++)
        b.layer_ids[k] = -1;
    ok(!*differs(&b, false), "layers not known agree with any");
    b.K = 2;
    ok(strstr(differs(&b, false), "layer_ids") != NULL, "if they are as many");
    b = fix_header(DF_CAPTURE_SPLIT, true, true);
    b.tokenizer_hash = 0;
    b.vocab_size = 0;
    ok(!*differs(&b, false), "what isn't known agrees");
    b.tokenizer_hash = 18;
    ok(strstr(differs(&b, false), "tokenizer_hash") != NULL,
       "another tokenizer is named");
}

int
main(void)
{
    plan(13 + N_WRONG);
    test_round_trip();
    test_differences();
    for (size_t i = 0; i < N_WRONG; i++)
        try_wrong(i);
    return 0;
}
