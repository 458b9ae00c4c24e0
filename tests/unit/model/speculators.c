/* config.json of drafters in the layout of speculators.  */
#include <config.h>

#include <jansson.h>

#include "dflash/drafter_files.h"
#include "files.h"
#include "model/drafter_files_internal.h"

/* A good one, of which each case replaces or, with null text, takes away
   the value of one key; "." goes into an object.  */
static const char good[] =
    "{'architectures':['DFlashDraftModel'],"
    "'speculators_model_type':'dflash','draft_vocab_size':320,"
    "'block_size':8,'aux_hidden_state_layer_ids':[2,4],'mask_token_id':3,"
    "'sliding_window_non_causal':false,'sample_from_anchor':false,"
    "'num_target_layers':6,'target_hidden_size':null,"
    "'transformer_layer_config':{'model_type':'qwen3','hidden_size':64,"
    "'intermediate_size':128,'num_attention_heads':4,"
    "'num_key_value_heads':2,'head_dim':16,'num_hidden_layers':2,"
    "'vocab_size':320,'max_position_embeddings':512,'pad_token_id':0},"
    "'speculators_config':{'algorithm':'dflash','proposal_methods':"
    "[{'proposal_type':'greedy','speculative_tokens':7}],"
    "'verifier':{'name_or_path':'org/target','architectures':[]}}}";

#define LAYERS  "transformer_layer_config."
#define SLIDING "['sliding_attention','sliding_attention']"

struct change {
    const char *key, *value;
};

static const struct {
    const char *label;
    df_status status;
    const char *words;
    struct change changes[3];
} cases[] = {
    ROW("a good one", DF_OK, NULL, ROW(ROW(NULL, NULL))),
    ROW("the class that speculators names", DF_OK, NULL,
        ROW(ROW("architectures", "['DFlashSpeculator']"))),
    ROW("an older one", DF_OK, NULL, ROW(ROW(LAYERS "model_type", "'llama'"))),
    ROW("no number of target layers", DF_OK, NULL,
        ROW(ROW("num_target_layers", NULL))),
    ROW("one that is null", DF_OK, NULL,
        ROW(ROW("num_target_layers", "null"))),
    ROW("a setting unknown here", DF_OK, NULL,
        ROW(ROW("max_anchors", "3072"))),
    ROW("all layers slide", DF_OK, NULL,
        ROW(ROW(LAYERS "layer_types", SLIDING),
            ROW(LAYERS "use_sliding_window", "true"),
            ROW(LAYERS "sliding_window", "64"))),
    ROW("a vocabulary of its own", DF_OK, NULL,
        ROW(ROW("draft_vocab_size", "32"))),
    ROW("another kind of drafter", DF_UNSUPPORTED,
        "speculators_model_type is dflash, not 'eagle3'",
        ROW(ROW("speculators_model_type", "'eagle3'"))),
    ROW("another class", DF_UNSUPPORTED, "architecture 'Foo'",
        ROW(ROW("architectures", "['Foo']"))),
    ROW("no decoder", DF_FORMAT, "no transformer_layer_config",
        ROW(ROW("transformer_layer_config", NULL))),
    ROW("a decoder of another class", DF_UNSUPPORTED,
        "model_type is qwen3 or llama, not 'gpt2'",
        ROW(ROW(LAYERS "model_type", "'gpt2'"))),
    ROW("rope of a part of the features", DF_UNSUPPORTED,
        "transformer_layer_config: partial_rotary_factor 0.25",
        ROW(ROW(LAYERS "partial_rotary_factor", "0.25"))),
    ROW("rope of three parts", DF_UNSUPPORTED,
        "rope_parameters: 'mrope_section'",
        ROW(ROW(LAYERS "rope_parameters",
                "{'rope_type':'default','rope_theta':1e4,"
                "'mrope_section':[1,2,3]}"))),
    ROW("biases", DF_UNSUPPORTED, "attention_bias",
        ROW(ROW(LAYERS "attention_bias", "true"))),
    ROW("no ids", DF_FORMAT, "no aux_hidden_state_layer_ids",
        ROW(ROW("aux_hidden_state_layer_ids", NULL))),
    ROW("ids that are none", DF_FORMAT, "is empty",
        ROW(ROW("aux_hidden_state_layer_ids", "[]"))),
    ROW("an id of the embedding", DF_UNSUPPORTED,
        "holds 0, the embedding's output: wanted are 1",
        ROW(ROW("aux_hidden_state_layer_ids", "[0,2]"))),
    ROW("a negative id", DF_FORMAT, "holds -1, not within 1 and 5",
        ROW(ROW("aux_hidden_state_layer_ids", "[-1,2]"))),
    ROW("the id of the last layer", DF_FORMAT, "holds 6, not within 1 and 5",
        ROW(ROW("aux_hidden_state_layer_ids", "[2,6]"))),
    ROW("ids unsorted", DF_FORMAT, "must ascend, but 2 follows 4",
        ROW(ROW("aux_hidden_state_layer_ids", "[4,2]"))),
    ROW("an id twice", DF_FORMAT, "must ascend, but 4 follows 4",
        ROW(ROW("aux_hidden_state_layer_ids", "[4,4]"))),
    ROW("an id that is a string", DF_FORMAT, "holds a string",
        ROW(ROW("aux_hidden_state_layer_ids", "['2']"))),
    ROW("no mask token", DF_FORMAT, "no mask_token_id",
        ROW(ROW("mask_token_id", NULL))),
    ROW("a mask token beyond the vocabulary", DF_FORMAT,
        "mask_token_id is 320, not within 0 and 319",
        ROW(ROW("mask_token_id", "320"))),
    ROW("a mask token that is the padding", DF_FORMAT,
        "mask_token_id is 0, and so is pad_token_id",
        ROW(ROW("mask_token_id", "0"))),
    ROW("no block size", DF_FORMAT, "no block_size",
        ROW(ROW("block_size", NULL))),
    ROW("a block one slot too large", DF_FORMAT,
        "speculative_tokens is 7, but a block of 9 has 8",
        ROW(ROW("block_size", "9"))),
    ROW("predictions from the anchor on", DF_UNSUPPORTED,
        "sample_from_anchor true", ROW(ROW("sample_from_anchor", "true"))),
    ROW("another hidden size of the target", DF_UNSUPPORTED,
        "target_hidden_size is 128, but hidden_size 64",
        ROW(ROW("target_hidden_size", "128"))),
    ROW("no vocabulary", DF_FORMAT, "no draft_vocab_size",
        ROW(ROW("draft_vocab_size", NULL))),
    ROW("a vocabulary beyond the target's", DF_FORMAT,
        "draft_vocab_size is 321, not within 1 and 320",
        ROW(ROW("draft_vocab_size", "321"))),
    ROW("no target named", DF_FORMAT, "verifier: no name_or_path",
        ROW(ROW("speculators_config.verifier.name_or_path", NULL))),
    ROW("no method", DF_FORMAT, "no speculators_config with proposal_methods",
        ROW(ROW("speculators_config", NULL))),
    ROW("layers of both kinds", DF_UNSUPPORTED,
        "layer 0 is sliding and layer 1 isn't",
        ROW(ROW(LAYERS "layer_types",
                "['sliding_attention','full_attention']"),
            ROW(LAYERS "use_sliding_window", "true"),
            ROW(LAYERS "sliding_window", "64"))),
    ROW("sliding layers that look ahead", DF_UNSUPPORTED,
        "sliding_window_non_causal true",
        ROW(ROW(LAYERS "layer_types", SLIDING),
            ROW(LAYERS "use_sliding_window", "true"),
            ROW("sliding_window_non_causal", "true"))),
    ROW("sliding layers of unknown causality", DF_FORMAT,
        "no sliding_window_non_causal",
        ROW(ROW(LAYERS "layer_types", SLIDING),
            ROW(LAYERS "use_sliding_window", "true"),
            ROW("sliding_window_non_causal", NULL))),
};

enum {
    N_CASES = sizeof cases / sizeof cases[0]
};

static json_t *
parse(const char *text)
{
    char *json = double_quoted(text);
    json_t *o = json_loads(json, JSON_DECODE_ANY, NULL);

    if (!o)
        bail("not JSON: %s", json);
    free(json);
    return o;
}

/* Set KEY of O, or with VALUE NULL delete it.  KEY NULL: nothing.  */
static void
change(json_t *o, const char *key, const char *value)
{
    const char *dot;

    while (key && (dot = strchr(key, '.'))) {
        char part[64];

        snprintf(part, sizeof part, "%.*s", (int) (dot - key), key);
        o = json_object_get(o, part);
        key = dot + 1;
    }
    if (key && value)
        json_object_set_new(o, key, parse(value));
    else if (key)
        json_object_del(o, key);
}

static void
check_reading(void)
{
    struct df_drafter_config c;

    for (int i = 0; i < N_CASES; i++) {
        json_t *o = parse(good);
        const char *path = in_scratch("config.json");

        for (int k = 0; k < 3; k++)
            change(o, cases[i].changes[k].key, cases[i].changes[k].value);
        json_dump_file(o, path, 0);
        json_decref(o);
        is_failure(cases[i].status, cases[i].words,
                   df_drafter_config_load(&c, path), cases[i].label);
    }
}

static void
check_values(void)
{
    struct df_drafter_config c;

    if (df_drafter_config_load(&c, put_json("config.json", good)) != DF_OK)
        bail("%s", df_error_last()->message);
    ok(c.layout == DF_LAYOUT_SPECULATORS && c.block_size == 8
           && c.mask_token_id == 3 && c.num_target_layers == 6
           && c.draft_vocab_size == 0 && c.d.num_key_value_heads == 2,
       "what it says is read");
    ok(c.n_target_layer_ids == 2 && c.target_layer_ids[0] == 1
           && c.target_layer_ids[1] == 3,
       "its layers count one less here");
}

/* Files leave out what is usual in the decoder's class.  */
static void
check_usual(void)
{
    struct df_drafter_config c;
    json_t *o = parse(good);
    const char *path = in_scratch("config.json");

    change(o, "transformer_layer_config", "{'model_type':'qwen3'}");
    change(o, "draft_vocab_size", "32000");
    json_dump_file(o, path, 0);
    json_decref(o);
    is_failure(DF_OK, NULL, df_drafter_config_load(&c, path),
               "a decoder that is usual in everything");
    ok(c.d.hidden_size == 4096 && c.d.num_hidden_layers == 32
           && c.d.head_dim == 128 && c.d.vocab_size == 151936
           && c.draft_vocab_size == 32000 && c.d.rope.theta == 10000
           && c.d.rms_norm_eps == 1e-6,
       "  has its class's sizes");
}

int
main(void)
{
    plan(N_CASES + 4);
    make_scratch();
    check_reading();
    check_values();
    check_usual();
    return 0;
}
