/* Drafters' folders: what is refused, and from layout to layout.  */
#include <config.h>

#include <jansson.h>
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

static const struct df_drafter_target nowhere;

static df_status
try_open(const char *dir, const struct df_drafter_target *target)
{
    struct df_drafter_files *f;
    df_status status = df_drafter_files_open(&f, dir, target);

    df_drafter_files_free(f);
    return status;
}

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

/* Convert FROM, with the options of FORM, into the new folder TO.  */
static df_status
convert(const char *from, const struct df_drafter_form *form, const char *to)
{
    struct df_drafter_files *f;
    df_status status;

    mkdir(in_scratch(to), 0777);
    status = df_drafter_files_open(&f, in_scratch(from), &form->target);
    if (status == DF_OK)
        status = df_drafter_files_convert(f, form, in_scratch(to));
    df_drafter_files_free(f);
    return status;
}

static bool
same_folders(const char *a, const char *b)
{
    char command[300];

    snprintf(command, sizeof command, "diff -r '%s/%s' '%s/%s' >&2", scratch,
             a, scratch, b);
    return system(command) == 0;
}

static const struct df_drafter_form zlab = {.layout = DF_LAYOUT_ZLAB};
static const struct df_drafter_form speculators = {
    .layout = DF_LAYOUT_SPECULATORS, .verifier = "org/target"};

/* z-lab's configs that come back as they were.  */
static const struct {
    const char *label, *extra;
} there_and_back[] = {
    ROW("a plain one", ""),
    ROW("settings that mean nothing here",
        ",'bos_token_id':1,'eos_token_id':[5,6],'pad_token_id':0,"
        "'attention_dropout':0.1,'transformers_version':'5.0','x':{'y':[1]}"),
    ROW("rope in the old spelling",
        ",'rope_theta':1e6,'rope_scaling':{'type':'linear','factor':2}"),
    ROW("rope in the new one",
        ",'rope_parameters':{'rope_type':'yarn','rope_theta':5e5,"
        "'factor':4,'original_max_position_embeddings':16}"),
    ROW("sliding layers",
        ",'use_sliding_window':true,'sliding_window':32,'layer_types':"
        "['sliding_attention','sliding_attention']"),
};

static void
check_round_trips(void)
{
    char json[1024];

    for (size_t i = 0; i < sizeof there_and_back / sizeof *there_and_back;
         i++) {
        struct folder f = {.config = json};

        snprintf(json, sizeof json, "%s%s}", ZLAB, there_and_back[i].extra);
        put_folder("in", &f);
        int good = convert("in", &zlab, "plain") == DF_OK
                   && convert("in", &speculators, "other") == DF_OK
                   && convert("other", &zlab, "back") == DF_OK
                   && same_folders("plain", "back")
                   && convert("back", &speculators, "again") == DF_OK
                   && same_folders("other", "again");

        if (!good)
            diag("%s", df_error_last()->message);
        ok(good, "there and back: %s", there_and_back[i].label);
    }
}

/* The value of the JSON file PATH at KEY, or in KEY's object at INNER.  */
static json_t *
value_of(const char *path, const char *key, const char *inner)
{
    static json_t *o;
    json_t *value;

    json_decref(o);
    o = json_load_file(in_scratch(path), 0, NULL);
    value = json_object_get(o, key);
    return inner ? json_object_get(value, inner) : value;
}

static bool
says(const char *path, const char *key, const char *inner, const char *wanted)
{
    json_t *seen = value_of(path, key, inner);
    char *quoted = double_quoted(wanted);
    char *text = json_dumps(seen, JSON_ENCODE_ANY | JSON_COMPACT);
    bool same = text && strcmp(text, quoted) == 0;

    if (!same)
        diag("%s: %s: %s, wanted %s", path, key, text ? text : "absent",
             quoted);
    free(quoted);
    free(text);
    return same;
}

static void
check_keys(void)
{
    const struct folder full = {.config =
                                    ZLAB ",'auto_map':{'AutoModel':'d.D'}}"};
    const struct folder sliding = {
        .config = ZLAB
        ",'use_sliding_window':true,'sliding_window':32,'layer_types':"
        "['sliding_attention','sliding_attention']}"};

    put_folder("in", &full);
    ok(convert("in", &speculators, "out") == DF_OK
           && says("out/config.json", "aux_hidden_state_layer_ids", NULL,
                   "[2,4]")
           && says("out/config.json", "draft_vocab_size", NULL, "12")
           && says("out/config.json", "block_size", NULL, "4")
           && says("out/config.json", "mask_token_id", NULL, "3")
           && says("out/config.json", "architectures", NULL,
                   "['DFlashDraftModel']")
           && says("out/config.json", "dtype", NULL, "'bfloat16'")
           && says("out/config.json", "sample_from_anchor", NULL, "false")
           && says("out/config.json", "tie_word_embeddings", NULL, "false")
           && says("out/config.json", "speculators_config", "verifier",
                   "{'architectures':[],'name_or_path':'org/target'}"),
       "speculators' layout says what its readers want");
    ok(!value_of("out/config.json", "auto_map", NULL)
           && !value_of("out/config.json", "transformer_layer_config",
                        "dflash_config")
           && !value_of("out/config.json", "transformer_layer_config",
                        "block_size"),
       "  and nothing twice, nor code that isn't there");
    ok(says("out/config.json", "sliding_window_non_causal", NULL, "true"),
       "  full layers see the whole block");
    put_folder("in", &sliding);
    ok(convert("in", &speculators, "out") == DF_OK
           && says("out/config.json", "sliding_window_non_causal", NULL,
                   "false"),
       "  sliding ones are causal");
}

static const struct {
    const char *label;
    struct folder f;
    const struct df_drafter_form *form;
    const char *words;
} refused[] = {
    ROW("a vocabulary of its own in z-lab's layout",
        {.config = SPECULATORS("4") ",'num_target_layers':6}",
         .copies = true,
         .maps = true},
        &zlab, "draft_vocab_size is 4 of 12: z-lab's layout"),
    ROW("z-lab's layout without the number of target layers",
        {.config = SPECULATORS("12") "}"}, &zlab, "no num_target_layers"),
    ROW("the last layer in speculators'",
        {.config = "{'architectures':['DFlashDraftModel']," SIZES
                   ",'block_size':4,'num_target_layers':4,'dflash_config':{"
                   "'mask_token_id':3,'target_layer_ids':[1,3]}}"},
        &speculators, "target layer id 3 is the last of 4"),
    ROW("layers of both kinds in speculators'",
        {.config = ZLAB
         ",'use_sliding_window':true,'sliding_window':32,'layer_types':"
         "['full_attention','sliding_attention']}"},
        &speculators, "layer 0 is full and layer 1 isn't"),
};

static void
check_refusals(void)
{
    const struct df_drafter_form unnamed = {.layout = DF_LAYOUT_SPECULATORS};

    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        put_folder("in", &refused[i].f);
        is_failure(DF_INVALID, refused[i].words,
                   convert("in", refused[i].form, "none"), refused[i].label);
    }
    put_folder("in", &cases[0].f);
    is_failure(DF_INVALID, "doesn't name its target",
               convert("in", &unnamed, "none"), "no name for the target");
    ok(access(in_scratch("none/model.safetensors"), F_OK) != 0
           && access(in_scratch("none/config.json"), F_OK) != 0,
       "nothing is written then");
}

/* Models that drafters are checked against: other values, and what differs
   from TARGET.  */
static const struct {
    const char *label, *config;
    const char *words;
} others[] = {
    ROW("another vocabulary",
        "{" SIZES ",'vocab_size':13,'pad_token_id':0,'eos_token_id':5}",
        "vocab_size is 12, but the target's is 13"),
    ROW("another hidden size",
        "{" SIZES ",'hidden_size':32,'pad_token_id':0,'eos_token_id':5}",
        "hidden_size is 16, but the target's is 32"),
    ROW("another number of layers", TARGET ",'num_hidden_layers':7}",
        "num_target_layers is 6, but the target's is 7"),
    ROW("a mask token that is the target's padding",
        "{" SIZES ",'num_hidden_layers':6,'pad_token_id':3}",
        "mask_token_id is 3, and so is the target's pad_token_id"),
    ROW("a mask token that ends the target's sequences",
        "{" SIZES ",'num_hidden_layers':6,'eos_token_id':[1,3]}",
        "mask_token_id is 3, and so is the target's eos_token_id"),
};

/* JSON with doubled keys, of which the last counts, without the first.  */
static const char *
put_target(const char *text)
{
    char *json = double_quoted(text);
    json_t *o = json_loads(json, 0, NULL);

    free(json);
    json_dump_file(o, in_scratch("target.json"), 0);
    json_decref(o);
    return in_scratch("target.json");
}

/* A target's embedding and head; ODD has another last row in its head.  */
static struct df_tensors *
make_target(bool odd, const struct df_model_config *config)
{
    static uint16_t other[V * H], zeros[24 * H * 8];
    struct df_weight_spec *specs;
    struct df_tensor_def defs[MOST * 2];
    struct df_tensors *ts;
    size_t n;

    memcpy(other, values, sizeof other);
    other[9 * H + 1] ^= odd;
    if (df_model_weights(&specs, &n, config) != DF_OK)
        bail("%s", df_error_last()->message);
    for (size_t i = 0; i < n; i++)
        defs[i] = (struct df_tensor_def){
            specs[i].name, DF_BF16, specs[i].rank, specs[i].shape,
            specs[i].weight == DF_WEIGHT_EMBEDDING ? values
            : specs[i].weight == DF_WEIGHT_HEAD    ? other
                                                   : zeros};
    if (df_safetensors_write(in_scratch("target.safetensors"),
                             &(struct df_safetensors_def){defs, n, NULL, 0})
            != DF_OK
        || df_tensors_open(&ts, in_scratch("target.safetensors")) != DF_OK)
        bail("%s", df_error_last()->message);
    free(specs);
    return ts;
}

static bool
holds(const char *path, const char *name, const void *data, size_t size)
{
    struct df_tensors *ts;
    const struct df_tensor *t;
    bool same;

    if (df_tensors_open(&ts, in_scratch(path)) != DF_OK)
        return false;
    t = df_tensors_find(ts, name);
    same = t && t->size == size && memcmp(t->data, data, size) == 0;
    df_tensors_free(ts);
    return same;
}

static void
check_target(void)
{
    struct df_model_config config;
    struct df_drafter_target target = {&config, NULL};
    struct df_drafter_form form = speculators, back = zlab;

    put_folder("in", &cases[0].f);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (df_model_config_load(&config, put_target(others[i].config))
            != DF_OK)
            bail("%s", df_error_last()->message);
        is_failure(i < 3 ? DF_SHAPE : DF_FORMAT, others[i].words,
                   try_open(in_scratch("in"), &target), others[i].label);
    }
    if (df_model_config_load(&config,
                             put_target(TARGET ",'num_hidden_layers':6}"))
        != DF_OK)
        bail("%s", df_error_last()->message);
    form.target = back.target = target;
    form.target.tensors = back.target.tensors = make_target(false, &config);
    ok(convert("in", &form, "out") == DF_OK
           && holds("out", "embed_tokens.weight", values, sizeof values)
           && holds("out", "lm_head.weight", values, sizeof values)
           && says("out/config.json", "speculators_config", "verifier",
                   "{'architectures':['Qwen3ForCausalLM'],'name_or_path':"
                   "'org/target'}"),
       "the target's embedding and head are copied");
    ok(convert("out", &back, "back") == DF_OK
           && convert("in", &zlab, "plain") == DF_OK
           && same_folders("back", "plain"),
       "and left out on the way back");
    put_folder("in", &(struct folder){.config = SPECULATORS("12") "}"});
    ok(convert("in", &back, "back") == DF_OK
           && says("back/config.json", "num_target_layers", NULL, "6"),
       "the target says how many layers it has");
    put_folder("in", &cases[3].f);
    ok(convert("in", &form, "out") == DF_OK
           && holds("out", "t2d", kept, sizeof kept)
           && holds("out", "d2t", offsets, sizeof offsets)
           && says("out/config.json", "draft_vocab_size", NULL, "4"),
       "a vocabulary of its own is carried");
    df_tensors_free((struct df_tensors *) form.target.tensors);
    form.target.tensors = make_target(true, &config);
    is_failure(DF_FORMAT,
               "row 3 of tensor lm_head.weight differs from row 9 of"
               " lm_head.weight",
               convert("in", &form, "out"), "a head that is another's");
    df_tensors_free((struct df_tensors *) form.target.tensors);
}

int
main(void)
{
    plan((int) (sizeof cases / sizeof *cases + 1 + sizeof maps / sizeof *maps
                + sizeof there_and_back / sizeof *there_and_back + 4
                + sizeof refused / sizeof *refused + 2
                + sizeof others / sizeof *others + 5));
    make_scratch();
    for (size_t i = 0; i < V * H; i++)
        values[i] = (uint16_t) (0x3c00 + 7 * i);
    check_opening();
    check_maps();
    check_round_trips();
    check_keys();
    check_refusals();
    check_target();
    return 0;
}
