#include <config.h>

#include <stdlib.h>

#include "common/message.h"
#include "dflash-train/captures_private.h"
#include "dflash-train/options.h"
#include "dflash/philox.h"

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

df_status
captures_leave_out(struct capture_source *c, bool *known)
{
    uint64_t number;
    bool first;

    if (input.strict)
        return df_error_last()->status;
    pthread_mutex_lock(&c->lock);
    first = !known || !*known;
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

/* Whether the sample is what is wrong, and not the machine.  */
static bool
is_bad_sample(df_status status)
{
    return status == DF_FORMAT || status == DF_INVALID || status == DF_SHAPE
           || status == DF_UNSUPPORTED;
}

df_status
captures_check_length(const struct capture_source *c, uint32_t file,
                      uint64_t index, size_t n)
{
    if (n > 0 && n <= (size_t) input.max_length)
        return DF_OK;
    return DF_FAIL(DF_SHAPE,
                   "%s: sample %llu has %zu tokens, not 1 to --max-length, "
                   "which is %ld",
                   df_captures_path(c->captures, file),
                   (unsigned long long) index, n, input.max_length);
}

/* Whether SAMPLE is good, and something can be learnt from it.  */
static df_status
check_sample(const struct capture_source *c,
             const struct df_capture_sample *sample, uint32_t file)
{
    const char *path = df_captures_path(c->captures, file);

    DF_TRY(df_capture_sample_check(&c->header, sample, path));
    if (df_anchor_candidates(sample->loss_mask, sample->n, &c->session->limits)
        == 0)
        return DF_FAIL(DF_INVALID,
                       "%s: sample %llu: nowhere two supervised tokens in a "
                       "row",
                       path, (unsigned long long) sample->index);
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
        status = check_sample(c, out, file);
    if (!is_bad_sample(status))
        return status;
    out->n = 0;
    return captures_leave_out(c, &c->bad[index]);
}

df_status
captures_next(void *arg, struct df_capture_sample *out)
{
    struct capture_source *c = arg;
    size_t size;

    for (;;) {
        struct df_capture_scratch *scratch = c->scratch[0];
        df_status status = df_captures_next(c->captures, scratch, out);

        if (status == DF_OK
            && captures_check_length(c, 0, out->index, out->n) != DF_OK) {
            if (input.strict)
                return DF_SHAPE;
            c->too_long++;
            continue;
        }
        if (status == DF_OK)
            status = check_sample(c, out, 0);
        if (status == DF_OK)
            return DF_OK;
        if (!is_bad_sample(status))
            return status;
        c->last = *df_error_last();
        c->broken = df_capture_image(scratch, &size) == NULL;
        if (!c->broken)
            DF_TRY(captures_leave_out(c, NULL));
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
        message_warn("%llu samples longer than --max-length, or empty, were "
                     "left out",
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
    for (size_t i = 0; i < c->files.count; i++)
        free((char *) c->files.items[i]);
    free(c->files.items);
    pthread_mutex_destroy(&c->lock);
    free(c->lengths);
    free(c->entries);
    free(c->bad);
    free(c);
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
