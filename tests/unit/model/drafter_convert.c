/* Drafters from layout to layout, and against their target.  */
#include <config.h>

#include <jansson.h>

#include "drafters.h"

static const struct folder plain = {.config = ZLAB "}"};
static const struct folder own = {OWN};

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

    const struct folder more = {
        .config =
            SPECULATORS("12") ",'max_anchors':512,'auto_map':{'a':'b'}}"};
    const struct df_drafter_form same = {.layout = DF_LAYOUT_SPECULATORS};

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
    put_folder("in", &more);
    ok(convert("in", &same, "out") == DF_OK
           && says("out/config.json", "max_anchors", NULL, "512")
           && !value_of("out/config.json", "auto_map", NULL)
           && says("out/config.json", "speculators_config", "verifier",
                   "{'name_or_path':'org/target'}"),
       "  what means nothing here is kept");
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
    put_folder("in", &plain);
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

    put_folder("in", &plain);
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
    put_folder("in", &own);
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
    plan((int) (sizeof there_and_back / sizeof *there_and_back + 5
                + sizeof refused / sizeof *refused + 2
                + sizeof others / sizeof *others + 5));
    make_scratch();
    make_values();
    check_round_trips();
    check_keys();
    check_refusals();
    check_target();
    return 0;
}
