#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "dflash-train/captures_private.h"
#include "dflash-train/options.h"

/* A file that isn't whole, or a sample that is there twice: what is there of
   it is trained on, once.  A stream that was copied first has broken off, as a
   pipe does.  */
static void
note_problem(void *arg, df_status status, const char *message)
{
    struct capture_source *c = arg;

    (void) status;
    if (c->spooled && !c->broken) {
        c->broken = true;
        c->last = *df_error_last();
    }
    if (++c->problems <= WARNINGS)
        message_warn("%s%s", message,
                     c->problems == WARNINGS ? "; and so on" : "");
}

/* A pipe that brings nothing doesn't keep a run that is to end.  */
static bool
gives_up(void *arg)
{
    const struct capture_source *c = arg;
    const struct session *s = c->session;

    return signals_caught() || (s->run && df_run_ends(s->run));
}

static df_status
open_files(struct capture_source *c, const struct string_list *files)
{
    const struct df_captures_options o = {
        .verify = (enum df_capture_verify) opt.verify,
        .problem = input.strict ? NULL : note_problem,
        .gives_up = gives_up,
        .arg = c};

    DF_TRY(captures_expand(files, &c->files));
    DF_TRY(df_captures_open(&c->captures, c->files.items, c->files.count, &o));
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

/* Whether the captures in FILE are of S's target.  */
static df_status
check_header(const struct session *s, const struct capture_source *c,
             size_t file)
{
    const struct df_capture_header *h = df_captures_header(c->captures, file);
    const char *path = df_captures_path(c->captures, file);
    struct df_capture_header wanted = model_header(&s->model, &s->layers);
    char text[256];

    wanted.model = NULL; /* a copy of the folder is as good */
    wanted.has_last_hidden = h->has_last_hidden;
    if (wanted.K != h->K)
        return DF_FAIL(DF_SHAPE, "%s: of %zu layers, not %zu", path, h->K,
                       wanted.K);
    if (df_capture_differs(h, &wanted, false, text, sizeof text))
        return DF_FAIL(DF_SHAPE, "%s: not of these layers of %s: %s", path,
                       input.target, text);
    if (h->layer_ids[h->K - 1] >= s->model.config.d.num_hidden_layers)
        return DF_FAIL(DF_SHAPE, "%s: of layer %d, but %s has layers 0 to %d",
                       path, h->layer_ids[h->K - 1], input.target,
                       s->model.config.d.num_hidden_layers - 1);
    return DF_OK;
}

/* All files are compared: what the first one doesn't know agrees with any of
   the others.  */
static df_status
check_headers(const struct session *s, struct capture_source *c)
{
    for (size_t i = 0; i < df_captures_files(c->captures); i++)
        DF_TRY(check_header(s, c, i));
    c->header.vocab_size = (size_t) s->model.config.d.vocab_size;
    return DF_OK;
}

/* What the run that made FILE says of itself, or NULL.  */
static json_t *
notes_of(const struct capture_source *c, size_t file)
{
    const char *notes = df_captures_header(c->captures, file)->notes;

    return notes ? json_loads(notes, 0, NULL) : NULL;
}

/* The number KEY of the notes O, or 0.  */
static df_status
read_note(const struct capture_source *c, const json_t *o, const char *key,
          json_int_t *out)
{
    const json_t *value = json_object_get(o, key);
    bool known = value && !json_is_null(value);

    *out = json_integer_value(value);
    if (known && (!json_is_integer(value) || *out < 0 || *out > UINT32_MAX))
        return DF_FAIL(DF_FORMAT,
                       "%s: notes: %s is no number from 0 to 4294967295",
                       df_captures_path(c->captures, 0), key);
    return DF_OK;
}

static df_status
read_notes(struct capture_source *c)
{
    json_t *o = notes_of(c, 0);
    struct notes *n = &c->notes;
    df_status status = read_note(c, o, "batches", &n->batches);

    if (status == DF_OK)
        status = read_note(c, o, "token_budget", &n->token_budget);
    if (status == DF_OK)
        status = read_note(c, o, "max_batch_size", &n->max_batch_size);
    json_decref(o);
    return status;
}

/* What is supervised was decided when the samples were captured.  */
static void
check_turns(const struct capture_source *c)
{
    for (size_t i = 0; i < df_captures_files(c->captures); i++) {
        json_t *o = notes_of(c, i);
        const char *turns = json_string_value(json_object_get(o, "train_on"));
        bool last = turns && strcmp(turns, turn_names[TRAIN_ON_LAST]) == 0;

        json_decref(o);
        if (input.train_on == TRAIN_ON_LAST && !last)
            option_reject(&train_tool, &input.train_on,
                          "last, but %s was captured without it",
                          df_captures_path(c->captures, i));
    }
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
        struct df_capture_sample unused;
        df_status status =
            captures_check_length(c, e[i].file, e[i].index, e[i].n);

        /* That of a folder may be bad, and is named then.  */
        if (e[i].n == 0
            && df_captures_read(c->captures, i, c->scratch[0], &unused)
                   != DF_OK) {
            DF_TRY(captures_leave_out(c, NULL));
            continue;
        }
        if (status != DF_OK) {
            if (input.strict)
                return status;
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
note_samples(const struct capture_source *c)
{
    message_note("%s%s: %zu samples, %s tokens", c->files.items[0],
                 c->files.count > 1 ? " and others" : "", c->n,
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
    c->session = s;
    c->spooled = opt.spool && out == &s->captures;
    pthread_mutex_init(&c->lock, NULL);
    DF_TRY(open_files(c, files));
    if (s->layers.n == 0)
        find_layers(s, &c->header);
    DF_TRY(check_headers(s, c));
    DF_TRY(read_notes(c));
    check_turns(c);
    if (captures_piped(c))
        return DF_OK;
    DF_TRY(list_samples(c));
    note_samples(c);
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
        if (!s->resume_from) /* the copy was whole before the first step */
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
