#include <config.h>
#include "dflash/weights.h"
#include "files.h"

/* head_dim apart from the quotient: q is [4*32, 48].  */
#define SIZES                                                          \
    "'hidden_size':48,'intermediate_size':80,'num_attention_heads':4," \
    "'num_key_value_heads':2,'head_dim':32,'num_hidden_layers':2,"     \
    "'vocab_size':50,'max_position_embeddings':512"
#define QWEN3 "{'model_type':'qwen3'," SIZES
#define LLAMA "{'model_type':'llama'," SIZES
#define Q0    "model.layers.0.self_attn.q_proj.weight"

/* A model's file, made from the list of its config's weights, then spoilt.  */
static const struct {
    const char *label;
    const char *json;
    const char *without;    /* a tensor to leave out */
    const char *with;       /* one to add, as [50, 48] */
    const char *misshapen;  /* one that gets a row more */
    const char *other_type; /* one that becomes U8 */
    int differs;            /* the added one differs from the embedding */
    int unknown;            /* the added one is no weight of the model */
    df_status status;
    const char *words;
} cases[] = {
    ROW(.label = "Qwen3", .json = QWEN3 "}"),
    ROW(.label = "Llama", .json = LLAMA "}"),
    ROW(.label = "with biases", .json = QWEN3 ",'attention_bias':true}"),
    ROW(.label = "tied, no head",
        .json = QWEN3 ",'tie_word_embeddings':true}"),
    ROW(.label = "tied, the head equals the embedding",
        .json = QWEN3 ",'tie_word_embeddings':true}",
        .with = "lm_head.weight"),
    ROW(.label = "tied, another head",
        .json = QWEN3 ",'tie_word_embeddings':true}", .with = "lm_head.weight",
        .differs = 1, .status = DF_FORMAT,
        .words = "tie_word_embeddings is true, but lm_head.weight is there and"
                 " differs from model.embed_tokens.weight"),
    ROW(.label = "untied, no head", .json = QWEN3 "}",
        .without = "lm_head.weight", .status = DF_FORMAT,
        .words = "m.safetensors: no tensor lm_head.weight, although"
                 " tie_word_embeddings is false"),
    ROW(.label = "a missing weight", .json = LLAMA "}", .without = Q0,
        .status = DF_FORMAT, .words = "m.safetensors: no tensor " Q0),
    ROW(.label = "a wrong shape", .json = LLAMA "}", .misshapen = Q0,
        .status = DF_SHAPE,
        .words = "tensor " Q0 " has shape [129, 48], config.json wants"
                 " [128, 48]"),
    ROW(.label = "a wrong embedding", .json = LLAMA "}",
        .misshapen = "model.embed_tokens.weight", .status = DF_SHAPE,
        .words = "has shape [51, 48], config.json wants [50, 48]"),
    ROW(.label = "a type that is no float", .json = QWEN3 "}",
        .other_type = "model.layers.1.self_attn.k_norm.weight",
        .status = DF_UNSUPPORTED,
        .words = "unsupported dtype U8 in tensor"
                 " model.layers.1.self_attn.k_norm.weight"),
    ROW(.label = "a bias that the config denies", .json = QWEN3 "}",
        .with = "model.layers.1.self_attn.v_proj.bias", .status = DF_FORMAT,
        .words = "tensor model.layers.1.self_attn.v_proj.bias, but config.json"
                 " says there is none"),
    ROW(.label = "a tensor that nobody asks for", .json = LLAMA "}",
        .with = "model.layers.0.self_attn.rotary_emb.inv_freq", .unknown = 1),
    ROW(.label = "a layer that the config doesn't count", .json = QWEN3 "}",
        .with = "model.layers.2.self_attn.q_norm.weight", .unknown = 1),
    ROW(.label = "a norm that the family doesn't have", .json = LLAMA "}",
        .with = "model.layers.1.self_attn.q_norm.weight", .unknown = 1),
};

enum {
    N_CASES = sizeof cases / sizeof cases[0]
};

static int
is(const char *a, const char *b)
{
    return a && strcmp(a, b) == 0;
}

/* That CASES[K], whose weights are TS, has an unknown one or has none.  */
static void
check_unknown(int k, const struct df_model_config *c,
              const struct df_tensors *ts)
{
    const struct df_tensor *first;
    size_t n;
    df_status status = df_model_find_unknown(c, ts, &n, &first);

    ok(status == DF_OK
           && (cases[k].unknown ? n == 1 && is(cases[k].with, first->name)
                                : n == 0 && !first),
       "%s: %s", cases[k].label,
       cases[k].unknown ? "it is told" : "nothing unknown");
}

static void
check_case(int k)
{
    static const uint16_t zeros[300 * 300], ones[50 * 48] = {1};
    static const int64_t added_shape[] = {50, 48};
    struct df_tensor_def defs[64];
    struct df_safetensors_def file = {defs, 0, NULL, 0};
    struct df_weight_spec *specs;
    struct df_model_config c;
    struct df_tensors *ts = NULL;
    size_t n;

    if (df_model_config_load(&c, put_json("config.json", cases[k].json))
            != DF_OK
        || df_model_weights(&specs, &n, &c) != DF_OK) {
        ok(0, "%s: %s", cases[k].label, df_error_last()->message);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        if (is(cases[k].without, specs[i].name))
            continue;
        specs[i].shape[0] += is(cases[k].misshapen, specs[i].name);
        defs[file.n_tensors++] = (struct df_tensor_def){
            specs[i].name,
            is(cases[k].other_type, specs[i].name) ? DF_U8 : DF_BF16,
            specs[i].rank, specs[i].shape, zeros};
    }
    if (cases[k].with)
        defs[file.n_tensors++] =
            (struct df_tensor_def){cases[k].with, DF_BF16, 2, added_shape,
                                   cases[k].differs ? ones : zeros};
    const char *path = in_scratch("m.safetensors");
    df_status status = df_safetensors_write(path, &file);
    if (status == DF_OK)
        status = df_tensors_open(&ts, path);
    if (status == DF_OK)
        status = df_model_check_tensors(&c, ts);
    is_failure(cases[k].status, cases[k].words, status, cases[k].label);
    check_unknown(k, &c, ts);
    df_tensors_free(ts);
    free(specs);
}

static void
check_list(void)
{
    struct df_model_config c;
    struct df_weight_spec *w;
    size_t n = 0, norms = 0, biases = 0;

    put_json("config.json", QWEN3 ",'attention_bias':true}");
    if (df_model_config_load(&c, scratch) != DF_OK
        || df_model_weights(&w, &n, &c) != DF_OK)
        diag("%s", df_error_last()->message);
    is_long(3 + 2 * 15, (long) n, "Qwen3 with biases has 15 weights a layer");
    for (size_t i = 0; i < n; i++) {
        norms += w[i].is_norm;
        biases += w[i].rank == 1 && !w[i].is_norm;
    }
    is_long(1 + 2 * 4, (long) norms, "of which 4 norms");
    is_long(2 * 4, (long) biases, "and 4 biases");
    ok(is(w[0].name, "model.embed_tokens.weight") && w[0].layer == -1
           && w[0].weight == DF_WEIGHT_EMBEDDING,
       "the embedding comes first");
    ok(is(w[4].name, Q0) && w[4].layer == 0 && w[4].weight == DF_WEIGHT_Q
           && w[4].shape[0] == 128 && w[4].shape[1] == 48,
       "q is [heads * head_dim, hidden]");
    free(w);
}

static const char *const shared_models[] = {
    "golden/targets/qwen3", "golden/targets/qwen3-tied-yarn",
    "golden/targets/llama3", "models/tiny", "models/stories260K-hf"};
static const char *const shared_drafters[] = {
    "golden/drafter/full", "golden/drafter/sliding", "golden/drafter/wide",
    "models/tiny-drafter"};

static void
check_shared_model(const char *folder)
{
    const char *path = shared_file(folder);
    struct df_model_config c;
    struct df_tensors *ts = NULL;

    if (!path)
        return;
    df_status status = df_model_config_load(&c, path);
    if (status == DF_OK)
        status = df_tensors_open(&ts, path);
    if (status == DF_OK)
        status = df_model_check_tensors(&c, ts);
    is_failure(DF_OK, NULL, status, folder);
    df_tensors_free(ts);
}

/* A drafter's file holds what its config lists and nothing else.  */
static void
check_shared_drafter(const char *folder)
{
    const char *path = shared_file(folder);
    struct df_drafter_config c;
    struct df_weight_spec *w = NULL;
    struct df_tensors *ts = NULL;
    size_t n = 0;

    if (!path) {
        skip("likewise");
        return;
    }
    df_status status = df_drafter_config_load(&c, path);
    if (status == DF_OK)
        status = df_tensors_open(&ts, path);
    if (status == DF_OK)
        status = df_drafter_check_tensors(&c, ts);
    is_failure(DF_OK, NULL, status, folder);
    if (status == DF_OK)
        status = df_drafter_weights(&w, &n, &c);
    is_long(ts ? (long) df_tensors_count(ts) : -1, (long) n,
            "%s has no other tensors", folder);
    free(w);
    df_tensors_free(ts);
}

int
main(void)
{
    enum {
        MODELS = sizeof shared_models / sizeof shared_models[0],
        DRAFTERS = sizeof shared_drafters / sizeof shared_drafters[0]
    };

    plan(2 * N_CASES + 5 + MODELS + 2 * DRAFTERS);
    make_scratch();
    for (int i = 0; i < N_CASES; i++)
        check_case(i);
    check_list();
    for (int i = 0; i < MODELS; i++)
        check_shared_model(shared_models[i]);
    for (int i = 0; i < DRAFTERS; i++)
        check_shared_drafter(shared_drafters[i]);
    return 0;
}
