#include <config.h>

#include <jansson.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/progress.h"
#include "dflash-train/captures.h"
#include "dflash-train/options.h"
#include "dflash/philox.h"

enum {
    WARNINGS = 5 /* of a kind, in words */
};

/* What the run that captured says of itself; 0: nothing.  */
struct notes {
    json_int_t batches, token_budget, max_batch_size;
};

struct capture_source {
    struct df_captures *captures;
    struct df_capture_scratch *scratch[MAX_PLACES]; /* one a thread */
    struct df_capture_header header; /* of the first file; all of what the
                                        target knows */
    uint32_t *lengths;               /* [n] of the samples that are used */
    uint32_t *entries;               /* [n] */
    size_t n;
    uint64_t tokens, too_long, problems;
    struct notes notes;

    pthread_mutex_t lock; /* guards what follows */
    bool *bad;            /* [n] */
    uint64_t n_bad;
    bool broken;   /* a pipe ended with a failure */
    df_error last; /* of a pipe's last sample, if it was bad */
};

bool
captures_piped(const struct capture_source *c)
{
    return df_captures_is_pipe(c->captures);
}

bool
captures_split(const struct capture_source *c)
{
    return c->header.layout == DF_CAPTURE_SPLIT;
}

uint64_t
captures_hash(const struct capture_source *c)
{
    const struct df_capture_entry *e = df_captures_entries(c->captures);
    uint64_t hash = df_key(c->header.config_hash, c->header.tokenizer_hash);

    for (size_t i = 0; i < c->n; i++) {
        hash = df_key(hash, e[c->entries[i]].id);
        hash = df_key(hash, e[c->entries[i]].index);
        hash = df_key(hash, e[c->entries[i]].n);
    }
    return hash;
}

/* Count a bad sample, whose failure is the last one: DF_OK to go on.  */
static df_status
leave_out(struct capture_source *c, bool *known)
{
    bool first = !known || !*known;
    uint64_t number;

    if (input.strict)
        return df_error_last()->status;
    pthread_mutex_lock(&c->lock);
    c->n_bad += first;
    number = c->n_bad;
    if (known)
        *known = true;
    pthread_mutex_unlock(&c->lock);
    if (first && number <= WARNINGS)
        message_warn("left out: %s%s", df_error_last()->message,
                     number == WARNINGS ? "; further ones are counted" : "");
    return DF_OK;
}

df_status
captures_read(void *arg, size_t thread, uint32_t index,
              struct df_capture_sample *out)
{
    struct capture_source *c = arg;
    size_t entry = c->entries[index];
    uint32_t file = df_captures_entries(c->captures)[entry].file;
    df_status status =
        df_captures_read(c->captures, entry, c->scratch[thread], out);

    if (status == DF_OK)
        status = df_capture_sample_check(&c->header, out,
                                         df_captures_path(c->captures, file));
    if (status != DF_FORMAT && status != DF_INVALID)
        return status;
    out->n = 0;
    return leave_out(c, &c->bad[index]);
}

df_status
captures_next(void *arg, struct df_capture_sample *out)
{
    struct capture_source *c = arg;
    size_t size;

    for (;;) {
        struct df_capture_scratch *scratch = c->scratch[0];
        df_status status = df_captures_next(c->captures, scratch, out);

        if (status == DF_OK)
            status = df_capture_sample_check(&c->header, out,
                                             df_captures_path(c->captures, 0));
        if (status == DF_OK && out->n <= (size_t) input.max_length)
            return DF_OK;
        if (status == DF_OK) {
            c->too_long++;
            continue;
        }
        if (status != DF_FORMAT && status != DF_INVALID)
            return status;
        c->last = *df_error_last();
        c->broken = df_capture_image(scratch, &size) == NULL;
        if (!c->broken)
            DF_TRY(leave_out(c, NULL));
        else if (input.strict)
            return status;
    }
}

df_status
captures_conclude(const struct session *s)
{
    const struct capture_source *c = s->captures;

    if (!c)
        return DF_OK;
    if (c->n_bad > 0)
        message_warn("%llu samples of the captures are bad and were left out",
                     (unsigned long long) c->n_bad);
    if (captures_piped(c) && c->too_long > 0)
        message_warn("%llu samples longer than --max-length were left out",
                     (unsigned long long) c->too_long);
    return c->broken ? DF_FAIL(DF_FORMAT, "%s", c->last.message) : DF_OK;
}

void
captures_close(struct capture_source *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < MAX_PLACES; i++)
        df_capture_scratch_free(c->scratch[i]);
    df_captures_free(c->captures);
    pthread_mutex_destroy(&c->lock);
    free(c->lengths);
    free(c->entries);
    free(c->bad);
    free(c);
}

/* A file that isn't whole, or a sample that is there twice: what is there of
   it is trained on, once.  */
static void
note_problem(void *arg, df_status status, const char *message)
{
    struct capture_source *c = arg;

    (void) status;
    if (++c->problems <= WARNINGS)
        message_warn("%s%s", message,
                     c->problems == WARNINGS ? "; and so on" : "");
}

static df_status
open_files(struct capture_source *c, const struct string_list *files)
{
    const struct df_captures_options o = {
        .verify = (enum df_capture_verify) opt.verify,
        .problem = input.strict ? NULL : note_problem,
        .arg = c};

    DF_TRY(df_captures_open(&c->captures, files->items, files->count, &o));
    c->header = *df_captures_header(c->captures, 0);
    for (size_t i = 1; i < df_captures_files(c->captures); i++)
        if (df_captures_header(c->captures, i)->layout != c->header.layout)
            return DF_FAIL(DF_UNSUPPORTED,
                           "%s and %s are of both layouts, packed and split",
                           df_captures_path(c->captures, 0),
                           df_captures_path(c->captures, i));
    for (long i = 0; i < input.prefetch_threads; i++)
        DF_TRY(df_capture_scratch_new(&c->scratch[i]));
    return DF_OK;
}

/* The layers that were captured; of a folder that doesn't say, those that
   the options give.  */
static void
find_layers(struct session *s, const struct df_capture_header *h)
{
    bool known = h->layer_ids[0] >= 0;

    if (!known || input.target_layer_ids.count > 0) {
        model_layers(&s->model, &train_tool, &s->layers);
        return;
    }
    s->layers.n = h->K;
    for (size_t i = 0; i < h->K; i++)
        s->layers.ids[i] = h->layer_ids[i];
}

/* Whether H is of S's target.  What isn't known is taken from there.  */
static df_status
check_header(struct session *s, struct capture_source *c)
{
    struct df_capture_header *h = &c->header;
    struct df_capture_header wanted = model_header(&s->model, &s->layers);
    char text[256];

    wanted.model = NULL; /* a copy of the folder is as good */
    wanted.has_last_hidden = h->has_last_hidden;
    if (wanted.K != h->K)
        return DF_FAIL(DF_SHAPE, "%s: of %zu layers, not %zu",
                       df_captures_path(c->captures, 0), h->K, wanted.K);
    if (df_capture_differs(h, &wanted, false, text, sizeof text))
        return DF_FAIL(DF_SHAPE, "%s: not of these layers of %s: %s",
                       df_captures_path(c->captures, 0), input.target, text);
    if (h->layer_ids[h->K - 1] >= s->model.config.d.num_hidden_layers)
        return DF_FAIL(DF_SHAPE, "%s: of layer %d, but %s has layers 0 to %d",
                       df_captures_path(c->captures, 0),
                       h->layer_ids[h->K - 1], input.target,
                       s->model.config.d.num_hidden_layers - 1);
    h->vocab_size = wanted.vocab_size;
    return DF_OK;
}

static void
read_notes(struct capture_source *c)
{
    json_t *o = c->header.notes ? json_loads(c->header.notes, 0, NULL) : NULL;

    c->notes = (struct notes){
        json_integer_value(json_object_get(o, "batches")),
        json_integer_value(json_object_get(o, "token_budget")),
        json_integer_value(json_object_get(o, "max_batch_size"))};
    json_decref(o);
}

/* List the samples that aren't too long.  */
static df_status
list_samples(struct capture_source *c)
{
    size_t n = df_captures_count(c->captures);
    const struct df_capture_entry *e = df_captures_entries(c->captures);

    c->lengths = calloc(n + 1, sizeof *c->lengths);
    c->entries = calloc(n + 1, sizeof *c->entries);
    c->bad = calloc(n + 1, sizeof *c->bad);
    if (!c->lengths || !c->entries || !c->bad)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    for (size_t i = 0; i < n; i++) {
        if (e[i].n == 0 || e[i].n > (size_t) input.max_length) {
            if (input.strict)
                return DF_FAIL(DF_SHAPE,
                               "%s: sample %llu has %zu tokens, not 1 to "
                               "--max-length, which is %ld",
                               df_captures_path(c->captures, e[i].file),
                               (unsigned long long) e[i].index, e[i].n,
                               input.max_length);
            c->too_long++;
            continue;
        }
        c->lengths[c->n] = (uint32_t) e[i].n;
        c->entries[c->n++] = (uint32_t) i;
        c->tokens += e[i].n;
    }
    return c->n > 0 ? DF_OK
                    : DF_FAIL(DF_FORMAT, "%s: no sample to train on",
                              df_captures_path(c->captures, 0));
}

static void
note_samples(const struct capture_source *c, const struct string_list *files)
{
    message_note("%s%s: %zu samples, %s tokens", files->items[0],
                 files->count > 1 ? " and others" : "", c->n,
                 format_count((double) c->tokens).text);
    if (c->too_long > 0)
        message_warn("%llu skipped: longer than --max-length, or empty",
                     (unsigned long long) c->too_long);
}

static df_status
open_source(struct session *s, struct capture_source **out,
            const struct string_list *files, struct sample_set *set)
{
    struct capture_source *c = calloc(1, sizeof *c);

    if (!c)
        return DF_FAIL(DF_NO_MEMORY, "captures");
    *out = c;
    pthread_mutex_init(&c->lock, NULL);
    DF_TRY(open_files(c, files));
    if (s->layers.n == 0)
        find_layers(s, &c->header);
    DF_TRY(check_header(s, c));
    read_notes(c);
    if (captures_piped(c))
        return DF_OK;
    DF_TRY(list_samples(c));
    note_samples(c, files);
    *set = (struct sample_set){c->lengths, c->n, c->tokens};
    return DF_OK;
}

/* A pipe's batches are as they were captured, whatever the options.  */
static void
follow_pipe(struct session *s)
{
    const struct notes *n = &s->captures->notes;

    if (n->token_budget >= (json_int_t) s->limits.max_seqlen)
        s->limits.max_tokens = (size_t) n->token_budget;
    if (n->max_batch_size > 0)
        s->limits.max_seqs = (size_t) n->max_batch_size;
}

static void
check_pipe(const struct session *s)
{
    if (opt.epochs > 1)
        option_reject(&train_tool, &opt.epochs,
                      "%ld, but a pipe is read once: --spool keeps it",
                      opt.epochs);
    if (opt.eval_captures.count > 0)
        option_mistake(&train_tool, "--eval-captures with a pipe needs "
                                    "--spool");
    if (s->resume_from)
        option_mistake(&train_tool, "--resume: a pipe is read from its "
                                    "start; --spool keeps it");
}

df_status
captures_open(struct session *s)
{
    struct string_list spooled = {&opt.spool, 1};
    const struct string_list *files = &opt.captures;

    if (opt.spool) {
        DF_TRY(spool_stdin());
        files = &spooled;
    }
    DF_TRY(open_source(s, &s->captures, files, &s->train_set));
    DF_TRY(describe_drafter(s));
    if (captures_piped(s->captures)) {
        check_pipe(s);
        follow_pipe(s);
        return DF_OK;
    }
    if (opt.eval_captures.count == 0)
        return DF_OK;
    DF_TRY(
        open_source(s, &s->eval_captures, &opt.eval_captures, &s->eval_set));
    if (captures_piped(s->eval_captures))
        return DF_FAIL(DF_UNSUPPORTED, "%s: evaluation needs files",
                       opt.eval_captures.items[0]);
    if (captures_split(s->captures) != captures_split(s->eval_captures))
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s and %s are of both layouts, packed and split",
                       opt.captures.items[0], opt.eval_captures.items[0]);
    return DF_OK;
}

df_status
captures_steps(struct session *s)
{
    int64_t per_step = (int64_t) opt.accumulate * (int64_t) s->drafters.n;
    int64_t steps = (s->captures->notes.batches + per_step - 1) / per_step;

    if (steps == 0 && opt.max_steps == 0)
        return DF_FAIL(DF_INVALID,
                       "%s: doesn't say how many batches will come: give "
                       "--max-steps",
                       df_captures_path(s->captures->captures, 0));
    if (steps == 0 || (opt.max_steps > 0 && opt.max_steps < steps))
        steps = opt.max_steps;
    s->steps = steps;
    return DF_OK;
}
