/* Drafters: looked over, and written in another layout.  */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/exit.h"
#include "common/message.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"
#include "dflash/drafter_files.h"
#include "dflash/weights.h"

/* What --target names, as far as it was given.  */
struct given_target {
    struct df_model_config config;
    struct df_tensors *tensors;
};

static df_status
open_given(struct given_target *t)
{
    t->tensors = NULL;
    if (!opt.target)
        return DF_OK;
    DF_TRY(df_model_config_load(&t->config, opt.target));
    DF_TRY(df_tensors_open(&t->tensors, opt.target));
    return df_model_check_tensors(&t->config, t->tensors);
}

bool
is_drafter(const char *path)
{
    char *config;
    bool there;

    if (asprintf(&config, "%s/config.json", path) < 0)
        return false;
    there = access(config, F_OK) == 0;
    free(config);
    return there;
}

/* "1 2 3", each with PLUS added, into TEXT of SIZE bytes.  */
static const char *
ids_text(char *text, size_t size, const struct df_drafter_config *c, int plus)
{
    size_t at = 0;

    for (int i = 0; i < c->n_target_layer_ids && at < size; i++)
        at += (size_t) snprintf(text + at, size - at, "%s%d", i ? " " : "",
                                c->target_layer_ids[i] + plus);
    return text;
}

static size_t
parameters_of(const struct df_tensors *ts, const struct df_drafter_config *c)
{
    struct df_weight_spec *specs;
    size_t n, count = 0;

    if (df_drafter_weights(&specs, &n, c) != DF_OK)
        return 0;
    for (size_t i = 0; i < n; i++)
        count += df_tensors_find(ts, specs[i].name)->count;
    free(specs);
    return count;
}

static void
print_text(const char *path, const struct df_drafter_files *f)
{
    const struct df_drafter_config *c = df_drafter_files_config(f);
    const struct df_tensors *ts = df_drafter_files_tensors(f);
    const char *verifier = df_drafter_files_verifier(f);
    int sliding = 0;
    char ids[1024];

    for (int i = 0; i < c->d.num_hidden_layers; i++)
        sliding += c->d.window[i] > 0;
    printf("%s: a drafter in the layout of %s%s%s\n", path,
           df_drafter_layout_name(c->layout), verifier ? ", for " : "",
           verifier ? verifier : "");
    printf("  layers          %d, of which %d slide\n", c->d.num_hidden_layers,
           sliding);
    printf("  sizes           hidden %d, MLP %d, heads %d and %d of %d\n",
           c->d.hidden_size, c->d.intermediate_size, c->d.num_attention_heads,
           c->d.num_key_value_heads, c->d.head_dim);
    printf("  block           %d slots, mask token %d\n", c->block_size,
           c->mask_token_id);
    printf("  target layers   %s", ids_text(ids, sizeof ids, c, 0));
    if (c->num_target_layers)
        printf(" of %d", c->num_target_layers);
    printf("; as speculators counts: %s\n", ids_text(ids, sizeof ids, c, 1));
    printf("  vocabulary      %d",
           c->draft_vocab_size ? c->draft_vocab_size : c->d.vocab_size);
    if (c->draft_vocab_size)
        printf(" of %d", c->d.vocab_size);
    printf("\n  rope            %s, theta %g\n",
           df_rope_type_name(c->d.rope.type), c->d.rope.theta);
    printf("  tensors         %zu, %zu parameters of type %s\n",
           df_tensors_count(ts), parameters_of(ts, c),
           df_dtype_name(df_tensors_find(ts, "fc.weight")->dtype));
    printf("  embedding, head %s, %s\n",
           df_tensors_find(ts, "embed_tokens.weight") ? "here"
                                                      : "the target's",
           df_tensors_find(ts, "lm_head.weight") ? "here" : "the target's");
}

static json_t *
ids_json(const struct df_drafter_config *c)
{
    json_t *ids = json_array();

    for (int i = 0; i < c->n_target_layer_ids; i++)
        json_array_append_new(ids, json_integer(c->target_layer_ids[i]));
    return ids;
}

static void
print_object(const char *path, const struct df_drafter_files *f)
{
    const struct df_drafter_config *c = df_drafter_files_config(f);
    const struct df_tensors *ts = df_drafter_files_tensors(f);
    const char *verifier = df_drafter_files_verifier(f);
    json_t *o = json_object();

    json_object_set_new(o, "drafter", json_string(path));
    json_object_set_new(o, "layout",
                        json_string(df_drafter_layout_name(c->layout)));
    json_object_set_new(o, "verifier",
                        verifier ? json_string(verifier) : json_null());
    put_count(o, "layers", (uint64_t) c->d.num_hidden_layers);
    put_count(o, "hidden_size", (uint64_t) c->d.hidden_size);
    put_count(o, "block_size", (uint64_t) c->block_size);
    put_count(o, "mask_token_id", (uint64_t) c->mask_token_id);
    json_object_set_new(o, "target_layer_ids", ids_json(c));
    put_count(o, "num_target_layers", (uint64_t) c->num_target_layers);
    put_count(o, "vocab_size", (uint64_t) c->d.vocab_size);
    put_count(o, "draft_vocab_size",
              (uint64_t) (c->draft_vocab_size ? c->draft_vocab_size
                                              : c->d.vocab_size));
    put_count(o, "tensors", df_tensors_count(ts));
    put_count(o, "parameters", parameters_of(ts, c));
    print_json(o);
}

static df_status
io_failure(const char *path)
{
    return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
}

/* Make the folder of --output for the drafter in PATH; an old drafter in it
   goes with --force.  */
static df_status
make_output(const char *path, bool *made)
{
    struct stat st, from;

    *made = mkdir(opt.output, 0777) == 0;
    if (*made)
        return DF_OK;
    if (errno != EEXIST)
        return io_failure(opt.output);
    if (stat(opt.output, &st))
        return io_failure(opt.output);
    if (!S_ISDIR(st.st_mode))
        return DF_FAIL(DF_IO, "%s: is no folder", opt.output);
    if (stat(path, &from) == 0 && st.st_dev == from.st_dev
        && st.st_ino == from.st_ino)
        return DF_FAIL(DF_INVALID, "%s: is the drafter's own folder",
                       opt.output);
    if (is_drafter(opt.output) && !opt.force)
        return DF_FAIL(DF_INVALID,
                       "%s: has a config.json: --force replaces it",
                       opt.output);
    return DF_OK;
}

/* What is left out can't be had from the new folder.  */
static void
tell_loss(const struct df_drafter_files *f)
{
    const struct df_tensors *ts = df_drafter_files_tensors(f);

    if (opt.convert == DF_LAYOUT_ZLAB && !opt.target
        && (df_tensors_find(ts, "embed_tokens.weight")
            || df_tensors_find(ts, "lm_head.weight")))
        message_note("embedding and head are left out: with --target they "
                     "are compared with the target's before that");
}

static df_status
convert(const char *path, const struct df_drafter_files *f,
        const struct given_target *t)
{
    struct df_drafter_form form = {
        .layout = (enum df_drafter_layout) opt.convert,
        .verifier = opt.verifier,
        .target = {t->tensors ? &t->config : NULL, t->tensors},
    };
    bool made;
    df_status status;

    if (!form.verifier && !df_drafter_files_verifier(f))
        form.verifier = opt.target;
    DF_TRY(make_output(path, &made));
    status = df_drafter_files_convert(f, &form, opt.output);
    if (status != DF_OK && made)
        rmdir(opt.output);
    if (status == DF_OK)
        tell_loss(f);
    return status;
}

static df_status
look_at(const char *path, const struct given_target *t)
{
    const struct df_drafter_target target = {t->tensors ? &t->config : NULL,
                                             t->tensors};
    struct df_drafter_files *f;
    df_status status;

    DF_TRY(df_drafter_files_open(&f, path, &target));
    status = opt.convert >= 0 ? convert(path, f, t) : DF_OK;
    if (status == DF_OK && opt.convert < 0) {
        if (opt.json)
            print_object(path, f);
        else
            print_text(path, f);
    }
    df_drafter_files_free(f);
    return status;
}

int
inspect_drafters(const char *const *paths, size_t n)
{
    struct given_target target;
    df_status status = open_given(&target);
    int result = status == DF_OK ? EXIT_OK : message_fail_last();

    for (size_t i = 0; i < n && status == DF_OK; i++)
        if (look_at(paths[i], &target) != DF_OK)
            result = message_fail_last();
    df_tensors_free(target.tensors);
    return result;
}
