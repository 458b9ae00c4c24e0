/* Drafters' folders: what is taken and what is refused.  */
#include <config.h>

#include "drafters.h"

static const struct df_drafter_target nowhere;

static const struct {
    const char *label;
    struct folder f;
    df_status status;
    const char *words;
} cases[] = {
    ROW("z-lab's layout", {.config = ZLAB "}"}, DF_OK, NULL),
    ROW("speculators' without copies", {.config = SPECULATORS("12") "}"},
        DF_OK, NULL),
    ROW("with copies", {.config = SPECULATORS("12") "}", .copies = true},
        DF_OK, NULL),
    ROW("with a vocabulary of its own", {OWN}, DF_OK, NULL),
    ROW("a tensor is missing",
        {.config = ZLAB "}",
         .wrong = MISSING,
         .name = "layers.1.self_attn.q_norm.weight"},
        DF_FORMAT, "no tensor layers.1.self_attn.q_norm.weight"),
    ROW("a tensor is unknown",
        {.config = ZLAB "}", .wrong = EXTRA, .name = "extra"}, DF_FORMAT,
        "model.safetensors: unknown tensor extra: a drafter of 2 layers in"
        " the layout of zlab"),
    ROW("a layer too many",
        {.config = ZLAB "}",
         .wrong = EXTRA,
         .name = "layers.2.input_layernorm.weight"},
        DF_FORMAT, "unknown tensor layers.2.input_layernorm.weight"),
    ROW("a bias",
        {.config = ZLAB "}",
         .wrong = EXTRA,
         .name = "layers.0.self_attn.q_proj.bias"},
        DF_FORMAT, "layers.0.self_attn.q_proj.bias"),
    ROW("an embedding in z-lab's layout", {.config = ZLAB "}", .copies = true},
        DF_FORMAT, "unknown tensor embed_tokens.weight"),
    ROW("a mask row of its own",
        {.config = SPECULATORS("12") "}",
         .wrong = EXTRA,
         .name = "mask_hidden"},
        DF_FORMAT, "unknown tensor mask_hidden"),
    ROW("a wrong shape",
        {.config = ZLAB "}", .wrong = RESHAPED, .name = "fc.weight"}, DF_SHAPE,
        "tensor fc.weight has shape [17, 32], config.json wants [16, 32]"),
    ROW("a wrong type",
        {.config = ZLAB "}", .wrong = RETYPED, .name = "norm.weight"},
        DF_UNSUPPORTED, "unsupported dtype I64 in tensor norm.weight"),
    ROW("a value that is none",
        {.config = ZLAB "}", .wrong = NOT_FINITE, .name = "norm.weight"},
        DF_FORMAT, "element 15 of tensor norm.weight is nan"),
    ROW("an embedding of another size",
        {.config = SPECULATORS("12") "}",
         .copies = true,
         .wrong = RESHAPED,
         .name = "embed_tokens.weight"},
        DF_SHAPE, "embed_tokens.weight has shape [13, 16]"),
    ROW("a head of the whole vocabulary",
        {OWN, .wrong = RESHAPED, .name = "lm_head.weight"}, DF_SHAPE,
        "lm_head.weight has shape [5, 16], config.json wants [4, 16]"),
    ROW("no head for its own vocabulary",
        {OWN, .wrong = MISSING, .name = "lm_head.weight"}, DF_FORMAT,
        "no tensor lm_head.weight, although draft_vocab_size is 4 of 12"),
    ROW("no map from", {OWN, .wrong = MISSING, .name = "d2t"}, DF_FORMAT,
        "no tensor d2t, although"),
    ROW("no map to", {OWN, .wrong = MISSING, .name = "t2d"}, DF_FORMAT,
        "no tensor t2d, although"),
    ROW("maps without a vocabulary",
        {.config = SPECULATORS("12") "}", .copies = true, .maps = true},
        DF_FORMAT, "although draft_vocab_size is all of vocab_size"),
    ROW("a map of another type", {OWN, .wrong = RETYPED, .name = "t2d"},
        DF_UNSUPPORTED, "unsupported dtype I64 in tensor t2d, which is BOOL"),
    ROW("a map of another length", {OWN, .wrong = RESHAPED, .name = "t2d"},
        DF_SHAPE, "t2d has shape [13], config.json wants [12]"),
};

static const struct {
    const char *label;
    uint8_t t2d[V];
    int64_t d2t[VD];
    const char *words;
} maps[] = {
    ROW("an offset that is off", {1, 0, 1, 0, 0, 1, 0, 0, 0, 1}, {0, 1, 2, 6},
        "d2t[2] is 2, but token 2 of t2d is 5: wanted is 3"),
    ROW("tokens instead of offsets", {1, 0, 1, 0, 0, 1, 0, 0, 0, 1},
        {0, 2, 5, 9}, "d2t[1] is 2, but token 1 of t2d is 2: wanted is 1"),
    ROW("a token too few", {1, 0, 1, 0, 0, 1}, {0, 1, 3, 6},
        "t2d keeps 3 tokens, not the 4 of d2t"),
    ROW("a token too many", {1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 1}, {0, 1, 3, 6},
        "t2d keeps more than the 4 tokens of d2t"),
    ROW("a mark that is no truth", {1, 0, 2}, {0, 1, 3, 6},
        "t2d[2] is 2, not 0 or 1"),
};

static void
check_opening(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_failure(cases[i].status, cases[i].words,
                   try_open(put_folder("in", &cases[i].f), &nowhere),
                   cases[i].label);
    put_folder("in", &cases[0].f);
    put_text("in/mask_embedding.pt", "");
    is_failure(DF_UNSUPPORTED, "in/mask_embedding.pt: an embedding",
               try_open(in_scratch("in"), &nowhere), "a side file");
    unlink(in_scratch("in/mask_embedding.pt"));
}

static void
check_maps(void)
{
    const struct folder f = {.config = SPECULATORS("4") "}", .copies = true};

    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) {
        struct df_tensor_def defs[MOST];
        struct df_tensors *ts;
        size_t n;

        put_folder("in", &f);
        if (df_tensors_open(&ts, in_scratch("in")) != DF_OK)
            bail("%s", df_error_last()->message);
        n = df_tensors_count(ts);
        for (size_t k = 0; k < n; k++) {
            const struct df_tensor *t = df_tensors_at(ts, k);

            defs[k] = (struct df_tensor_def){t->name, t->dtype, t->rank,
                                             t->shape, t->data};
        }
        defs[n++] = (struct df_tensor_def){"t2d", DF_BOOL, 1, v, maps[i].t2d};
        defs[n++] = (struct df_tensor_def){"d2t", DF_I64, 1, vd, maps[i].d2t};
        if (df_safetensors_write(
                in_scratch("in/model.safetensors"),
                &(struct df_safetensors_def){defs, n, NULL, 0})
            != DF_OK)
            bail("%s", df_error_last()->message);
        df_tensors_free(ts);
        is_failure(DF_FORMAT, maps[i].words,
                   try_open(in_scratch("in"), &nowhere), maps[i].label);
    }
}

int
main(void)
{
    plan(
        (int) (sizeof cases / sizeof *cases + 1 + sizeof maps / sizeof *maps));
    make_scratch();
    make_values();
    check_opening();
    check_maps();
    return 0;
}
