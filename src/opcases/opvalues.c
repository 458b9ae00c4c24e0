/* Values of buffers, made and looked at by all processors.  */

#include <config.h>

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/philox.h"
#include "opcases/opbuild.h"

enum {
    MOST_THREADS = 64,
    LEAST = 1 << 16,       /* elements that are worth a thread */
    LEAST_FILLED = 1 << 9, /* the same, each being some work */
    PERIOD = 4194301,      /* of random values: prime, so no rows are alike */
    PLACES = 4             /* that the rows of a part come from */
};

/* Elements BEGIN to END - 1 of ARG.  */
typedef void range_fn(void *arg, size_t begin, size_t end);

struct share {
    range_fn *fn;
    void *arg;
    size_t begin, end;
    pthread_t thread;
    bool started;
};

static void *
do_share(void *arg)
{
    struct share *s = arg;

    s->fn(s->arg, s->begin, s->end);
    return NULL;
}

static size_t
processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (size_t) n;
}

/* Do all N elements, a thread having LEAST or more.  */
static void
share(range_fn *fn, void *arg, size_t n, size_t least)
{
    struct share shares[MOST_THREADS];
    size_t most = n > least ? processors() : 1;
    size_t threads = n / least < most ? n / least + 1 : most;

    for (size_t i = 0; i < threads; i++) {
        struct share *s = &shares[i];

        *s = (struct share){.fn = fn,
                            .arg = arg,
                            .begin = n * i / threads,
                            .end = n * (i + 1) / threads};
        s->started =
            i > 0 && pthread_create(&s->thread, NULL, do_share, s) == 0;
    }
    for (size_t i = 0; i < threads; i++)
        if (shares[i].started)
            pthread_join(shares[i].thread, NULL);
        else
            do_share(&shares[i]);
}

/* The structs consist of 8-byte members: doubles first, then integers.  */
static inline bool
is_double(enum opbuf_type type, size_t i)
{
    return type == OPBUF_F64 || type == OPBUF_SUMS
           || (type == OPBUF_STATE && i < 2);
}

static inline void
put(void *image, enum opbuf_type type, size_t i, double value)
{
    if (type == OPBUF_F32)
        ((float *) image)[i] = (float) value;
    else if (type == OPBUF_BF16)
        ((uint16_t *) image)[i] = df_bf16_from_f32((float) value);
    else if (type == OPBUF_I32)
        ((int32_t *) image)[i] = (int32_t) value;
    else if (is_double(type, i))
        ((double *) image)[i] = value;
    else
        ((int64_t *) image)[i] = (int64_t) value;
}

static inline double
get(const void *image, enum opbuf_type type, size_t i)
{
    if (type == OPBUF_F32)
        return (double) ((const float *) image)[i];
    if (type == OPBUF_BF16)
        return (double) df_f32_from_bf16(((const uint16_t *) image)[i]);
    if (type == OPBUF_I32)
        return ((const int32_t *) image)[i];
    if (is_double(type, i))
        return ((const double *) image)[i];
    return (double) ((const int64_t *) image)[i];
}

/* What bytes of ones are.  */
static double
ones(enum opbuf_type type, size_t i)
{
    bool whole = type == OPBUF_I32 || type == OPBUF_U64
                 || (type == OPBUF_STATE && !is_double(type, i));

    return whole ? -1 : (double) NAN;
}

double
op_value(const struct oprun *r, size_t b, size_t i)
{
    return get(r->bufs[b].before, r->bufs[b].type, i);
}

struct filling {
    const struct oprun *r;
    const struct opbuf *b;
    double low, high;
    opfill_fn *f;
};

/* Number I of the buffer: in [LOW, HIGH), exact in bf16.  */
static inline uint16_t
random_bits(const struct filling *x, size_t i)
{
    const struct opcase *c = x->r->c;
    uint32_t b = (uint32_t) (x->b - x->r->bufs);
    struct df_philox p =
        df_philox(77, (uint32_t) i, b, (uint32_t) c->op, c->flags);

    return df_bf16_from_f32(
        (float) (x->low + (x->high - x->low) * (double) df_uniform(p.v[0])));
}

/* Of integers, bf16 may have rounded up to HIGH.  */
static void
put_random(void *arg, size_t begin, size_t end)
{
    const struct filling *x = arg;
    void *image = x->b->before;

    if (x->b->type == OPBUF_BF16)
        for (size_t i = begin; i < end; i++)
            ((uint16_t *) image)[i] = random_bits(x, i);
    else if (x->b->type == OPBUF_F32)
        for (size_t i = begin; i < end; i++)
            ((float *) image)[i] = df_f32_from_bf16(random_bits(x, i));
    else
        for (size_t i = begin; i < end; i++) {
            double v = (double) df_f32_from_bf16(random_bits(x, i));

            if (x->b->type == OPBUF_I32 && (int32_t) v >= (int32_t) x->high)
                v = x->high - 1;
            put(image, x->b->type, i, v);
        }
}

/* The elements behind the first PERIOD, counted from there.  */
static void
put_again(void *arg, size_t begin, size_t end)
{
    const struct opbuf *b = arg;
    size_t size = b->bytes / b->n, n;

    for (size_t i = begin; i < end; i += n) {
        size_t from = i % PERIOD;

        n = end - i < PERIOD - from ? end - i : PERIOD - from;
        memcpy((char *) b->before + (PERIOD + i) * size,
               (char *) b->before + from * size, n * size);
    }
}

void
op_fill_random(const struct oprun *r, const struct opbuf *b, double low,
               double high)
{
    struct filling x = {r, b, low, high, NULL};
    size_t n = b->n < PERIOD ? b->n : (size_t) PERIOD;

    share(put_random, &x, n, LEAST);
    if (b->n > n)
        share(put_again, (void *) b, b->n - n, LEAST);
}

static void
put_filled(void *arg, size_t begin, size_t end)
{
    const struct filling *x = arg;

    for (size_t i = begin; i < end; i++)
        put(x->b->before, x->b->type, i, x->f(x->r, i));
}

void
op_fill_with(const struct oprun *r, const struct opbuf *b, opfill_fn *f)
{
    struct filling x = {r, b, 0, 0, f};

    share(put_filled, &x, b->n, LEAST_FILLED);
}

/* Which element of the whole's buffer is number I of the part's buffer B.
   Of the part's rows a fourth each come from the beginning, from about one
   and two thirds, and from the end.  */
static size_t
place(const struct oprun *part, const struct opbuf *b, size_t i)
{
    const struct oprun *whole = part->like;
    size_t rows = part->c->d[0], skipped = whole->c->d[0] - rows;

    if (!part->rows || b->n == whole->bufs[b - part->bufs].n)
        return i;
    size_t width = b->n / rows, each = (rows + PLACES - 1) / PLACES;

    return i + i / width / each * skipped / (PLACES - 1) * width;
}

static void
put_like(void *arg, size_t begin, size_t end)
{
    const struct filling *x = arg;
    const struct opbuf *to = x->b, *from = &x->r->like->bufs[to - x->r->bufs];

    if (to->type == OPBUF_F32 && from->type == OPBUF_BF16 && to->n == from->n)
        for (size_t i = begin; i < end; i++)
            ((float *) to->before)[i] =
                df_f32_from_bf16(((const uint16_t *) from->before)[i]);
    else
        for (size_t i = begin; i < end; i++)
            put(to->before, to->type, i,
                get(from->before, from->type, place(x->r, to, i)));
}

void
op_fill_like(const struct oprun *r, const struct opbuf *b)
{
    struct filling x = {r, b, 0, 0, NULL};

    share(put_like, &x, b->n, LEAST);
}

/* IMAGE, of TYPE, as VALUES; those of the whole where PART has B.  */
struct reading {
    const void *image;
    enum opbuf_type type;
    const struct oprun *part; /* NULL: B's own */
    const struct opbuf *b;
    double *values;
};

static void
get_range(void *arg, size_t begin, size_t end)
{
    const struct reading *x = arg;

    for (size_t i = begin; i < end; i++)
        x->values[i] = !x->image ? ones(x->type, i)
                       : x->part
                           ? get(x->image, x->type, place(x->part, x->b, i))
                           : get(x->image, x->type, i);
}

static double *
read_all(struct reading *x)
{
    x->values = malloc((x->b->n + 1) * sizeof *x->values);
    if (x->values)
        share(get_range, x, x->b->n, LEAST);
    return x->values;
}

double *
op_read(const struct opbuf *b, const void *image)
{
    struct reading x = {image, b->type, NULL, b, NULL};

    return read_all(&x);
}

double *
op_read_whole(const struct oprun *part, size_t b)
{
    const struct opbuf *whole = &part->like->bufs[b];
    struct reading x = {whole->after, whole->type, part, &part->bufs[b], NULL};

    return read_all(&x);
}

struct search {
    const struct opbuf *b;
    atomic_size_t first;
};

static void
find_range(void *arg, size_t begin, size_t end)
{
    struct search *x = arg;
    const struct opbuf *b = x->b;
    size_t i = begin, first;

    if (b->type == OPBUF_BF16)
        while (i < end && (((uint16_t *) b->after)[i] & 0x7fff) <= 0x7f80)
            i++;
    else
        while (i < end && !isnan(get(b->after, b->type, i)))
            i++;
    first = atomic_load(&x->first);
    while (i < end && i < first
           && !atomic_compare_exchange_weak(&x->first, &first, i))
        ;
}

size_t
op_find_nan(const struct opbuf *b)
{
    struct search x = {.b = b, .first = b->n};

    share(find_range, &x, b->n, LEAST);
    return atomic_load(&x.first);
}
