#include <config.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "draft/draw_internal.h"
#include "draft/order_internal.h"

/* What a draw is for: the last word of its counter.  */
enum {
    DRAW_SAMPLES,
    DRAW_BATCHES
};

static df_status
check(const uint32_t *lengths, size_t n, size_t budget, const char *what)
{
    if (n >= UINT32_MAX)
        return DF_FAIL(DF_INVALID, "%zu %ss are more than 4294967294", n,
                       what);
    for (size_t i = 0; i < n; i++) {
        if (lengths[i] == 0)
            return DF_FAIL(DF_INVALID, "%s %zu has no tokens", what, i);
        if (lengths[i] > budget)
            return DF_FAIL(DF_INVALID,
                           "%s %zu has %u tokens, more than the token "
                           "budget of %zu",
                           what, i, lengths[i], budget);
    }
    return DF_OK;
}

df_status
df_order_init(struct df_order *o, const uint32_t *lengths, size_t n,
              size_t budget, size_t max_seqs, size_t window, const char *what)
{
    DF_TRY(check(lengths, n, budget, what));
    o->n = n;
    o->budget = budget;
    o->max_seqs = max_seqs;
    o->window = window < n ? window : n;
    o->lengths = malloc((n + 1) * sizeof *o->lengths);
    o->samples = malloc((n + 1) * sizeof *o->samples);
    o->starts = malloc((n + 1) * sizeof *o->starts);
    o->keys = malloc((o->window + 1) * sizeof *o->keys);
    o->sorted = malloc((o->window + 1) * sizeof *o->sorted);
    o->cuts = malloc((o->window + 1) * sizeof *o->cuts);
    o->perm = malloc((o->window + 1) * sizeof *o->perm);
    if (!o->lengths || !o->samples || !o->starts || !o->keys || !o->sorted
        || !o->cuts || !o->perm)
        return DF_FAIL(DF_NO_MEMORY, "the order of %zu %ss", n, what);
    if (n > 0)
        memcpy(o->lengths, lengths, n * sizeof *lengths);
    return DF_OK;
}

void
df_order_clear(struct df_order *o)
{
    free(o->lengths);
    free(o->samples);
    free(o->starts);
    free(o->keys);
    free(o->sorted);
    free(o->cuts);
    free(o->perm);
    *o = (struct df_order){0};
}

/* Fill A with 0..N-1, shuffled by the draws (KEY, EPOCH, PART, PURPOSE).  */
static void
permute(uint32_t *a, size_t n, uint64_t key, int64_t epoch, size_t part,
        uint32_t purpose)
{
    for (size_t i = 0; i < n; i++) {
        double u = df_draw(key, (uint32_t) i, (uint32_t) epoch,
                           (uint32_t) part, purpose);
        size_t j = (size_t) (u * (double) (i + 1));

        a[i] = a[j];
        a[j] = (uint32_t) i;
    }
}

static void
identity(uint32_t *a, size_t n)
{
    for (size_t i = 0; i < n; i++)
        a[i] = (uint32_t) i;
}

static int
compare_keys(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *) a, y = *(const uint64_t *) b;

    return (x > y) - (x < y);
}

/* Sort the COUNT samples at S by length into SORTED; those of one length
   keep their order.  */
static void
sort_window(struct df_order *o, const uint32_t *s, size_t count)
{
    for (size_t i = 0; i < count; i++)
        o->keys[i] = (uint64_t) o->lengths[s[i]] << 32 | i;
    qsort(o->keys, count, sizeof *o->keys, compare_keys);
    for (size_t i = 0; i < count; i++)
        o->sorted[i] = s[o->keys[i] & UINT32_MAX];
}

/* Cut SORTED into batches as full as the budget and the number of sequences
   allow; CUTS are their starts and the end.  Return their number.  */
static size_t
cut_window(struct df_order *o, size_t count)
{
    size_t batches = 0, tokens = 0, seqs = 0;

    for (size_t i = 0; i < count; i++) {
        size_t length = o->lengths[o->sorted[i]];

        if (i == 0 || seqs == o->max_seqs || tokens + length > o->budget) {
            o->cuts[batches++] = (uint32_t) i;
            tokens = seqs = 0;
        }
        tokens += length;
        seqs++;
    }
    o->cuts[batches] = (uint32_t) count;
    return batches;
}

/* Append the BATCHES of SORTED in the order PERM, the first sample going to
   place AT of SAMPLES.  */
static void
put_window(struct df_order *o, size_t batches, size_t at)
{
    for (size_t i = 0; i < batches; i++) {
        size_t from = o->cuts[o->perm[i]];
        size_t count = o->cuts[o->perm[i] + 1] - from;

        o->starts[o->batches++] = (uint32_t) at;
        memcpy(o->samples + at, o->sorted + from, count * sizeof *o->samples);
        at += count;
    }
}

static void
make(struct df_order *o, bool shuffle, uint64_t key, int64_t epoch)
{
    size_t part = 0;

    o->batches = 0;
    if (shuffle)
        permute(o->samples, o->n, key, epoch, 0, DRAW_SAMPLES);
    else
        identity(o->samples, o->n);
    for (size_t at = 0; at < o->n; at += o->window, part++) {
        size_t left = o->n - at;
        size_t count = left < o->window ? left : o->window;

        sort_window(o, o->samples + at, count);
        size_t batches = cut_window(o, count);
        if (shuffle)
            permute(o->perm, batches, key, epoch, part, DRAW_BATCHES);
        else
            identity(o->perm, batches);
        put_window(o, batches, at);
    }
    o->starts[o->batches] = (uint32_t) o->n;
}

void
df_order_shuffled(struct df_order *order, uint64_t key, int64_t epoch)
{
    make(order, true, key, epoch);
}

void
df_order_plain(struct df_order *order)
{
    make(order, false, 0, 0);
}
