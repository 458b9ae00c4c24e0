/* drafters.h - small drafters in folders, good and spoiled.  */

#ifndef DF_TESTS_DRAFTERS_H
#define DF_TESTS_DRAFTERS_H

#include <sys/stat.h>

#include "dflash/drafter_files.h"
#include "dflash/weights.h"
#include "files.h"

#define SIZES                                                       \
    "'model_type':'qwen3','hidden_size':16,'intermediate_size':24," \
    "'num_attention_heads':2,'num_key_value_heads':1,'head_dim':8," \
    "'num_hidden_layers':2,'vocab_size':12,'max_position_embeddings':64"
#define ZLAB_REST                                             \
    ",'block_size':4,'num_target_layers':6,'dflash_config':{" \
    "'mask_token_id':3,'target_layer_ids':[1,3]}"
#define ZLAB "{'architectures':['DFlashDraftModel']," SIZES ZLAB_REST
#define SPECULATORS(vocab)                                                 \
    "{'speculators_model_type':'dflash','block_size':4,'mask_token_id':3," \
    "'aux_hidden_state_layer_ids':[2,4],'draft_vocab_size':" vocab         \
    ",'transformer_layer_config':{" SIZES "},'speculators_config':{"       \
    "'proposal_methods':[{'speculative_tokens':3}],'verifier':{"           \
    "'name_or_path':'org/target'}}"
/* With a vocabulary of its own.  */
#define OWN    .config = SPECULATORS("4") "}", .copies = true, .maps = true
#define TARGET "{" SIZES ",'pad_token_id':0,'eos_token_id':5"

enum {
    V = 12,
    H = 16,
    VD = 4,
    MOST = 64
};

static const uint8_t kept[V] = {1, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0};
static const int64_t offsets[VD] = {0, 1, 3, 6};
static uint16_t values[V * H]; /* enough for the largest tensor */

/* Names of what is wrong with a drafter's tensors.  */
enum wrong {
    NOTHING,
    MISSING,   /* none of the name */
    EXTRA,     /* one more of the name */
    RESHAPED,  /* one more row */
    RETYPED,   /* of type I64 */
    NOT_FINITE /* the last value is NaN */
};

struct folder {
    const char *config;
    bool copies, maps; /* embedding and head; t2d and d2t */
    enum wrong wrong;
    const char *name; /* of the tensor it is about */
};

struct list {
    struct df_tensor_def defs[MOST];
    struct df_weight_spec *specs;
    size_t n;
};

static const int64_t v_h[] = {V, H}, vd_h[] = {VD, H}, v[] = {V}, vd[] = {VD};

static void
add(struct list *l, const char *name, enum df_dtype dtype, int rank,
    const int64_t *shape, const void *data)
{
    l->defs[l->n++] = (struct df_tensor_def){name, dtype, rank, shape, data};
}

static void
spoil(struct list *l, const struct folder *f)
{
    static int64_t shapes[2];
    static uint16_t bad[V * 24 * H];
    static const int64_t wide[24 * H];

    for (size_t i = 0; i < l->n; i++) {
        struct df_tensor_def *d = &l->defs[i];

        if (!f->name || strcmp(d->name, f->name) != 0)
            continue;
        memcpy(shapes, d->shape, (size_t) d->rank * sizeof *shapes);
        if (f->wrong == MISSING)
            *d = l->defs[--l->n];
        else if (f->wrong == RESHAPED)
            shapes[0]++, d->data = bad, d->shape = shapes;
        else if (f->wrong == RETYPED)
            d->dtype = DF_I64, d->data = wide;
        else if (f->wrong == NOT_FINITE)
            memset(bad, 0, sizeof bad), bad[shapes[0] - 1] = 0x7fc0,
                                                        d->data = bad;
        return;
    }
    if (f->wrong == EXTRA)
        add(l, f->name, DF_BF16, 1, v, values);
}

/* Write the folder NAME.  Returns its path.  */
static const char *
put_folder(const char *name, const struct folder *f)
{
    static const uint16_t some[2 * 24 * H * 2] = {0x3f80, 0xbf81, 0x0001};
    struct df_drafter_config c;
    struct list l = {.n = 0};
    char path[128];

    mkdir(in_scratch(name), 0777);
    snprintf(path, sizeof path, "%s/config.json", name);
    if (df_drafter_config_load(&c, put_json(path, f->config)) != DF_OK
        || df_drafter_weights(&l.specs, &l.n, &c) != DF_OK)
        bail("%s", df_error_last()->message);
    for (size_t i = 0; i < l.n; i++)
        l.defs[i] = (struct df_tensor_def){
            l.specs[i].name, DF_BF16, l.specs[i].rank, l.specs[i].shape, some};
    if (f->copies)
        add(&l, "embed_tokens.weight", DF_BF16, 2, v_h, values);
    if (f->copies) {
        static uint16_t rows[VD * H];

        for (int i = 0, k = 0; i < V; i++)
            if (kept[i])
                memcpy(rows + k++ * H, values + i * H, H * sizeof *rows);
        add(&l, "lm_head.weight", DF_BF16, 2, c.draft_vocab_size ? vd_h : v_h,
            c.draft_vocab_size ? rows : values);
    }
    if (f->maps) {
        add(&l, "t2d", DF_BOOL, 1, v, kept);
        add(&l, "d2t", DF_I64, 1, vd, offsets);
    }
    spoil(&l, f);
    snprintf(path, sizeof path, "%s/model.safetensors", name);
    if (df_safetensors_write(
            in_scratch(path),
            &(struct df_safetensors_def){l.defs, l.n, NULL, 0})
        != DF_OK)
        bail("%s", df_error_last()->message);
    free(l.specs);
    return in_scratch(name);
}


/* Fill VALUES; called first.  */
static void
make_values(void)
{
    for (size_t i = 0; i < V * H; i++)
        values[i] = (uint16_t) (0x3c00 + 7 * i);
}

static df_status
try_open(const char *dir, const struct df_drafter_target *target)
{
    struct df_drafter_files *f;
    df_status status = df_drafter_files_open(&f, dir, target);

    df_drafter_files_free(f);
    return status;
}

#endif
