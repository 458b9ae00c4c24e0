#include <config.h>
#include "dflash/weights.h"
#include "files.h"

#define SIZES                                                           \
    "'hidden_size':64,'intermediate_size':128,'num_attention_heads':4," \
    "'num_hidden_layers':2,'vocab_size':320,'max_position_embeddings':512"
#define DRAFTER \
    "{'model_type':'qwen3','architectures':['DFlashDraftModel']," SIZES
#define DFLASH "'dflash_config':{'mask_token_id':3,'target_layer_ids':[1,3]"
#define WHOLE  DRAFTER ",'block_size':8,'num_target_layers':6," DFLASH "}"

static const struct json_case cases[] = {
    GOOD("block size at top level", WHOLE "}", 0),
    GOOD("all inside dflash_config",
         DRAFTER "," DFLASH ",'block_size':8,'num_target_layers':6}}", 0),
    GOOD("all at top level",
         DRAFTER ",'block_size':8,'num_target_layers':6,'mask_token_id':3,"
                 "'target_layer_ids':[1,3]}",
         0),
    GOOD("in both places the same",
         DRAFTER ",'block_size':8,'num_target_layers':6," DFLASH
                 ",'block_size':8}}",
         0),
    GOOD("a setting that is off",
         DRAFTER ",'block_size':8,'num_target_layers':6," DFLASH
                 ",'enable_confidence_head':false,'projector_type':null}}",
         0),
    GOOD("rope in the old spelling",
         WHOLE ",'rope_theta':1000000.0,'rope_scaling':{'type':'linear',"
               "'factor':2}}",
         0),
    BEYOND("a target",
           "{'model_type':'qwen3','architectures':"
           "['Qwen3ForCausalLM']," SIZES "}",
           0,
           "architecture 'Qwen3ForCausalLM' is not supported (wanted:"
           " DFlashDraftModel)"),
    BEYOND("another model_type",
           "{'model_type':'llama','architectures':['DFlashDraftModel']}", 0,
           "a drafter's model_type is qwen3, not 'llama'"),
    BAD("a mask token that is the padding", WHOLE ",'pad_token_id':3}", 0,
        "mask_token_id is 3, and so is pad_token_id"),
    GOOD("a mask token that ends a sequence", WHOLE ",'eos_token_id':[5,3]}",
         0),
    GOOD("other special tokens",
         WHOLE ",'pad_token_id':4,'eos_token_id':[5,6]}", 0),
    BEYOND("rope of a part of the features",
           WHOLE ",'rope_parameters':{'rope_type':'default',"
                 "'rope_theta':1e4,'partial_rotary_factor':0.25}}",
           0, "partial_rotary_factor 0.25 is not supported"),
    BEYOND("another kind of drafter",
           DRAFTER ",'block_size':8,'num_target_layers':6," DFLASH
                   ",'projector_type':'domino'}}",
           0, "dflash_config: 'projector_type' is not supported"),
    BEYOND("biases", WHOLE ",'attention_bias':true}", 0,
           "attention_bias is not supported in a drafter"),
    BEYOND("a smaller vocabulary", WHOLE ",'draft_vocab_size':100}", 0,
           "a draft_vocab_size other than vocab_size"),
    BAD("block sizes that differ",
        DRAFTER ",'block_size':8,'num_target_layers':6," DFLASH
                ",'block_size':16}}",
        0, "block_size differs between top level and dflash_config"),
    BAD("no block size", DRAFTER ",'num_target_layers':6," DFLASH "}}", 0,
        "no block_size"),
    BAD("block size 1",
        DRAFTER ",'num_target_layers':6,'block_size':1," DFLASH "}}", 0,
        "block_size is 1, not within 2 and 1024"),
    BAD("no mask token",
        DRAFTER ",'num_target_layers':6,'block_size':8,"
                "'target_layer_ids':[1]}",
        0, "no mask_token_id"),
    BAD("mask token beyond the vocabulary",
        DRAFTER ",'num_target_layers':6,'block_size':8,"
                "'mask_token_id':320,'target_layer_ids':[1]}",
        0, "mask_token_id is 320, not within 0 and 319"),
    BAD("no ids",
        DRAFTER ",'num_target_layers':6,'block_size':8,'mask_token_id':3}", 0,
        "no target_layer_ids"),
    BAD("no number of target layers", DRAFTER ",'block_size':8," DFLASH "}}",
        0, "no num_target_layers"),
    BAD("dflash_config is an array",
        DRAFTER ",'block_size':8,'dflash_config':[]}", 0,
        "dflash_config is an array, not an object"),
};

/* target_layer_ids of a drafter for 6 layers.  */
static const struct json_case ids[] = {
    GOOD("ids from first to last", "[0,5]", 0),
    BAD("ids empty", "[]", 0, "0 target_layer_ids"),
    BAD("ids no array", "3", 0, "target_layer_ids is an integer, not"),
    BAD("id a string", "['1']", 0, "target_layer_ids holds a string"),
    BAD("id beyond the target", "[1,6]", 0,
        "target layer id 6 is not within 0 and 5"),
    BAD("id -1", "[-1]", 0, "target layer id -1 is not within"),
    BAD("id of 2^40", "[1099511627776]", 0, "holds 1099511627776"),
    BAD("id twice", "[1,1]", 0, "must ascend, but 1 follows 1"),
    BAD("ids unsorted", "[3,1]", 0, "must ascend, but 1 follows 3"),
};

static const struct {
    int target, draft;
    int wanted[10];
} defaults[] = {
    {24, 5,  {1, 6, 11, 16, 21}                    },
    {28, 5,  {1, 7, 13, 19, 25}                    },
    {32, 5,  {1, 8, 15, 22, 29}                    },
    {36, 5,  {1, 9, 17, 25, 33}                    },
    {40, 5,  {1, 10, 19, 28, 37}                   },
    {62, 5,  {1, 16, 30, 44, 59}                   },
    {64, 5,  {1, 16, 31, 46, 61}                   },
    {16, 5,  {1, 4, 7, 10, 13}                     },
    {40, 8,  {1, 6, 11, 16, 22, 27, 32, 37}        },
    {48, 10, {1, 6, 11, 16, 21, 25, 30, 35, 40, 45}},
    {61, 7,  {1, 10, 20, 30, 39, 48, 58}           },
    {9,  3,  {1, 4, 6}                             },
    {11, 3,  {1, 4, 8}                             },
    {6,  3,  {1, 2, 3}                             },
    {36, 1,  {18}                                  },
    {1,  1,  {0}                                   },
};

enum {
    N_CASES = sizeof cases / sizeof cases[0],
    N_IDS = sizeof ids / sizeof ids[0],
    N_DEFAULTS = sizeof defaults / sizeof defaults[0]
};

static void
check_loading(void)
{
    struct df_drafter_config c;
    char json[900];

    for (int i = 0; i < N_CASES; i++)
        is_failure(
            cases[i].status, cases[i].words,
            df_drafter_config_load(&c, put_json("config.json", cases[i].json)),
            cases[i].label);
    for (int i = 0; i < N_IDS; i++) {
        snprintf(json, sizeof json,
                 "%s,'num_target_layers':6,'block_size':8,'mask_token_id':3,"
                 "'target_layer_ids':%s}",
                 DRAFTER, ids[i].json);
        is_failure(ids[i].status, ids[i].words,
                   df_drafter_config_load(&c, put_json("config.json", json)),
                   ids[i].label);
    }
}

static void
check_defaults(void)
{
    int out[10];

    for (int i = 0; i < N_DEFAULTS; i++) {
        size_t size = (size_t) defaults[i].draft * sizeof out[0];

        ok(df_target_layer_ids_default(defaults[i].target, defaults[i].draft,
                                       out)
                   == DF_OK
               && memcmp(out, defaults[i].wanted, size) == 0,
           "default layers of %d for %d", defaults[i].target,
           defaults[i].draft);
    }
    is_failure(DF_INVALID, "a target of 6 layers has no 4 default layers",
               df_target_layer_ids_default(6, 4, out), "4 of 6 layers");
    is_failure(DF_INVALID, NULL, df_target_layer_ids_default(4, 0, out),
               "no layers");
}

/* Every member that counts; windows beyond the layers are 0 on both sides.  */
static int
equal(const struct df_drafter_config *a, const struct df_drafter_config *b)
{
    const struct df_decoder_config *x = &a->d, *y = &b->d;

    return x->hidden_size == y->hidden_size
           && x->intermediate_size == y->intermediate_size
           && x->num_hidden_layers == y->num_hidden_layers
           && x->num_attention_heads == y->num_attention_heads
           && x->num_key_value_heads == y->num_key_value_heads
           && x->head_dim == y->head_dim && x->vocab_size == y->vocab_size
           && x->max_position_embeddings == y->max_position_embeddings
           && x->rms_norm_eps == y->rms_norm_eps && x->qk_norm && y->qk_norm
           && x->rope.type == y->rope.type && x->rope.theta == y->rope.theta
           && x->rope.factor == y->rope.factor
           && x->rope.original_max_position == y->rope.original_max_position
           && x->rope.low_freq_factor == y->rope.low_freq_factor
           && x->rope.high_freq_factor == y->rope.high_freq_factor
           && x->rope.attention_factor == y->rope.attention_factor
           && x->rope.beta_fast == y->rope.beta_fast
           && x->rope.beta_slow == y->rope.beta_slow
           && x->rope.mscale == y->rope.mscale
           && x->rope.mscale_all_dim == y->rope.mscale_all_dim
           && x->rope.truncate == y->rope.truncate
           && memcmp(x->window, y->window, sizeof x->window) == 0
           && a->block_size == b->block_size
           && a->mask_token_id == b->mask_token_id
           && a->num_target_layers == b->num_target_layers
           && a->n_target_layer_ids == b->n_target_layer_ids
           && memcmp(a->target_layer_ids, b->target_layer_ids,
                     sizeof a->target_layer_ids)
                  == 0;
}

/* Configs that are saved and loaded again.  */
static const struct {
    const char *label;
    const char *extra;
} kept[] = {
    ROW("the plain one", ""),
    ROW("an odd epsilon", ",'rms_norm_eps':1.2345678901234567e-5"),
    ROW("an epsilon of 1e-6", ",'rms_norm_eps':1e-6"),
    ROW("a theta of 1e7", ",'rope_theta':10000000"),
    ROW("linear", ",'rope_theta':123456.789,'rope_scaling':{'type':'linear',"
                  "'factor':3.3}"),
    ROW("llama3",
        ",'rope_parameters':{'rope_type':'llama3','rope_theta':5e5,'factor':8,"
        "'low_freq_factor':1.1,'high_freq_factor':4,"
        "'original_max_position_embeddings':64}"),
    ROW("yarn",
        ",'rope_scaling':{'type':'yarn','factor':4.1,'truncate':false,"
        "'attention_factor':1.1,'beta_fast':31,'beta_slow':1.5,'mscale':0.7,"
        "'mscale_all_dim':0.9,'original_max_position_embeddings':64}"),
    ROW("windows", ",'use_sliding_window':true,'sliding_window':16,"
                   "'layer_types':['sliding_attention','full_attention']"),
};

enum {
    N_KEPT = sizeof kept / sizeof kept[0]
};

static void
check_saving(void)
{
    struct df_drafter_config c, back;
    char json[900];

    for (int i = 0; i < N_KEPT; i++) {
        snprintf(json, sizeof json, "%s%s}", WHOLE, kept[i].extra);
        int good =
            df_drafter_config_load(&c, put_json("in.json", json)) == DF_OK
            && df_drafter_config_save(&c, in_scratch("out.json")) == DF_OK
            && df_drafter_config_load(&back, in_scratch("out.json")) == DF_OK;

        if (!good)
            diag("%s", df_error_last()->message);
        ok(good && equal(&c, &back), "saved and loaded: %s", kept[i].label);
    }
    c.d.window[1] = 17;
    is_failure(DF_INVALID, "windows of 16 and of 17",
               df_drafter_config_save(&c, in_scratch("out.json")),
               "windows of two sizes are not saved");
    c.d.window[1] = 0;
    is_failure(DF_OK, NULL, df_drafter_config_save(&c, scratch),
               "a config is saved into a folder");
    ok(access(in_scratch("config.json"), R_OK) == 0, "as config.json");
}

/* What other programs look for, as one line of JSON each.  */
static void
check_text(void)
{
    static const char *const lines[] = {"\"DFlashDraftModel\"",
                                        "\"model_type\": \"qwen3\"",
                                        "\"block_size\": 8,",
                                        "\"mask_token_id\": 3",
                                        "\"num_target_layers\": 6",
                                        "\"rms_norm_eps\": 1e-6",
                                        "\"rope_theta\": 10000.0",
                                        "\"rope_scaling\": null",
                                        "\"rope_type\": \"default\"",
                                        "\"dtype\": \"bfloat16\"",
                                        "\"tie_word_embeddings\": false",
                                        "\"use_sliding_window\": false",
                                        "\"sliding_window\": null",
                                        "\"attention_bias\": false",
                                        "\"hidden_act\": \"silu\"",
                                        "\"head_dim\": 16",
                                        "\"full_attention\""};
    struct df_drafter_config c;
    char text[4096] = "";
    size_t missing = 0;

    put_json("in.json", WHOLE "}");
    if (df_drafter_config_load(&c, in_scratch("in.json")) != DF_OK
        || df_drafter_config_save(&c, in_scratch("out.json")) != DF_OK)
        diag("%s", df_error_last()->message);
    FILE *f = fopen(in_scratch("out.json"), "r");
    if (f && fread(text, 1, sizeof text - 1, f) > 0)
        fclose(f);
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (!strstr(text, lines[i])) {
            missing++;
            diag("not there: %s", lines[i]);
        }
    is_long(0, (long) missing, "a saved config says all that readers want");
}

static void
check_from_target(void)
{
    struct df_model_config t;
    struct df_drafter_config c;
    struct df_weight_spec *w = NULL;
    const int own[] = {0, 4}, wrong[] = {4, 0}, far[] = {9};
    size_t n = 0;

    put_json("config.json",
             "{'model_type':'llama','hidden_size':64,'intermediate_size':128,"
             "'num_attention_heads':4,'num_key_value_heads':2,"
             "'head_dim':32,'num_hidden_layers':9,'vocab_size':320,"
             "'max_position_embeddings':512,'rope_theta':5e5,"
             "'rms_norm_eps':1e-5,'attention_bias':true}");
    if (df_model_config_load(&t, scratch) != DF_OK)
        diag("%s", df_error_last()->message);
    is_failure(DF_OK, NULL,
               df_drafter_config_from_target(&c, &t, 5, NULL, 0, 16, 319),
               "a drafter is made for a target");
    ok(c.d.hidden_size == 64 && c.d.head_dim == 32
           && c.d.num_key_value_heads == 2 && c.d.rope.theta == 5e5
           && c.d.rms_norm_eps == 1e-5 && c.d.num_hidden_layers == 5
           && c.num_target_layers == 9 && c.block_size == 16
           && c.mask_token_id == 319 && c.d.qk_norm && !c.d.attention_bias,
       "with the target's shapes");
    ok(c.n_target_layer_ids == 5 && c.target_layer_ids[4] == 6,
       "and the default layers");
    ok(df_drafter_weights(&w, &n, &c) == DF_OK && n == 58,
       "five layers have 58 tensors");
    ok(n > 0 && strcmp(w[0].name, "fc.weight") == 0 && w[0].shape[0] == 64
           && w[0].shape[1] == 5 * 64,
       "fc is [hidden, layers read * hidden]");
    free(w);
    ok(df_drafter_config_from_target(&c, &t, 3, own, 2, 8, 0) == DF_OK
           && c.n_target_layer_ids == 2 && c.target_layer_ids[1] == 4,
       "layers may be named");
    is_failure(DF_INVALID, "drafter: target layer ids must ascend",
               df_drafter_config_from_target(&c, &t, 3, wrong, 2, 8, 0),
               "but not unsorted");
    is_failure(DF_INVALID, "target layer id 9 is not within 0 and 8",
               df_drafter_config_from_target(&c, &t, 3, far, 1, 8, 0),
               "nor beyond the target");
    is_failure(DF_INVALID, "number of target layer ids is 0",
               df_drafter_config_from_target(&c, &t, 3, far, 0, 8, 0),
               "nor none");
    is_failure(DF_INVALID, "block size is 1, not within 2 and 1024",
               df_drafter_config_from_target(&c, &t, 3, NULL, 0, 1, 0),
               "block size 1");
    is_failure(DF_INVALID, "mask token id is 320, not within 0 and 319",
               df_drafter_config_from_target(&c, &t, 3, NULL, 0, 8, 320),
               "mask token beyond the vocabulary");
    is_failure(DF_INVALID, "number of draft layers is 0",
               df_drafter_config_from_target(&c, &t, 0, NULL, 0, 8, 3),
               "no draft layers");
}

static void
check_shared(void)
{
    const char *path = shared_file("golden/drafter/sliding");
    struct df_drafter_config c;

    if (path)
        ok(df_drafter_config_load(&c, path) == DF_OK && c.d.window[0] == 16
               && c.d.window[2] == 0 && c.n_target_layer_ids == 2
               && c.target_layer_ids[1] == 3 && c.block_size == 8
               && c.mask_token_id == 319,
           "golden/drafter/sliding");
}

int
main(void)
{
    plan(N_CASES + N_IDS + N_DEFAULTS + 2 + N_KEPT + 3 + 1 + 12 + 1);
    make_scratch();
    check_loading();
    check_defaults();
    check_saving();
    check_text();
    check_from_target();
    check_shared();
    return 0;
}
