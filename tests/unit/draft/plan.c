#include <config.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/plan.h"
#include "tap/tap.h"

enum {
    N = 1003,
    N_EVAL = 37,
    MAX_SEQS = 7,
    MAX_ITEMS = 8192
};

static uint32_t lengths[N], eval_lengths[N_EVAL];

static const struct df_plan_options base = {
    .seed = 42,
    .token_budget = 512,
    .max_seqs = MAX_SEQS,
    .epochs = 3,
    .per_step = 4,
    .eval_interval = 50,
};

/* One item, with its own samples.  */
struct item {
    struct df_plan_item i;
    uint32_t samples[MAX_SEQS];
};

struct run {
    struct df_plan *plan;
    int64_t steps;
    size_t n;
    struct item *items; /* [MAX_ITEMS] */
};

static struct df_plan *
make(const struct df_plan_options *o)
{
    struct df_plan *p;

    if (df_plan_new(&p, lengths, N, eval_lengths, N_EVAL, o) != DF_OK) {
        diag("%s", df_error_last()->message);
        exit(1);
    }
    return p;
}

static df_status
take(struct df_plan *p, struct item *item)
{
    item->i.samples = item->samples;
    df_status status = df_plan_next(p, &item->i);
    item->i.samples = NULL;
    return status;
}

static struct run
run_all(struct df_plan_options o)
{
    struct df_plan *p = make(&o);
    struct run r = {p, df_plan_steps(p), 0, NULL};

    r.items = calloc(MAX_ITEMS, sizeof *r.items);
    while (r.n < MAX_ITEMS && take(p, &r.items[r.n]) == DF_OK)
        r.n++;
    df_plan_free(p);
    return r;
}

static int
same_item(const struct item *a, const struct item *b)
{
    return a->i.kind == b->i.kind && a->i.step == b->i.step
           && a->i.epoch == b->i.epoch && a->i.index == b->i.index
           && a->i.count == b->i.count && a->i.n == b->i.n
           && memcmp(a->samples, b->samples, a->i.n * sizeof *a->samples) == 0;
}

/* Budget, number of sequences, and how often each sample comes.  */
static void
test_contents(const struct run *r)
{
    static int times[3][N], eval_times[N_EVAL];
    int fits = 1, once = 1, seqs = 1, evals_once = 1;
    size_t full = 0, train = 0, evals = 0;

    for (size_t k = 0; k < r->n; k++) {
        const struct item *it = &r->items[k];
        int eval = it->i.kind == DF_BATCH_EVAL;
        size_t tokens = 0;

        seqs &= it->i.seq == k;
        for (size_t s = 0; s < it->i.n; s++) {
            tokens += (eval ? eval_lengths : lengths)[it->samples[s]];
            if (eval)
                eval_times[it->samples[s]]++;
            else
                times[it->i.epoch][it->samples[s]]++;
        }
        fits &= it->i.n >= 1 && it->i.n <= MAX_SEQS && tokens <= 512;
        train += !eval;
        full += !eval && (tokens > 256 || it->i.n == MAX_SEQS);
        evals += eval && (it->i.index + 1 == it->i.count);
    }
    for (size_t i = 0; i < 3 * N; i++)
        once &= times[i / N][i % N] == 1;
    for (size_t i = 0; i < N_EVAL; i++)
        evals_once &= (size_t) eval_times[i] == evals;
    ok(seqs, "sequence numbers have no holes");
    ok(fits, "no batch is empty or beyond its limits");
    ok(once, "every sample comes once an epoch");
    ok(evals > 0 && evals_once, "and once an evaluation");
    ok(full * 10 > train * 9, "batches are filled: %zu of %zu", full, train);
}

/* Which step and index each item has, and where evaluations lie.  */
static void
test_steps(const struct run *r)
{
    int64_t step = 0;
    size_t index = 0;
    int numbered = 1, placed = 1;

    for (size_t k = 0; k < r->n; k++) {
        const struct df_plan_item *i = &r->items[k].i;

        numbered &= i->step == step && i->index == index;
        index = (i->index + 1 == i->count) ? 0 : index + 1;
        if (i->kind == DF_BATCH_EVAL) {
            placed &= step % 50 == 0 || step == r->steps;
            continue;
        }
        numbered &= (i->index + 1 == i->count) == (index == 0);
        step += (i->index + 1 == i->count);
    }
    ok(numbered, "steps and their batches are numbered");
    ok(placed, "evaluations come every 50 steps and at the end");
    is_long(r->steps, step, "the number of steps is exact");
    ok(r->items[0].i.kind == DF_BATCH_EVAL && r->items[0].i.step == 0,
       "the run begins with an evaluation");
    ok(r->items[r->n - 1].i.kind == DF_BATCH_EVAL
           && r->items[r->n - 1].i.step == r->steps,
       "and ends with one");
}

static void
test_order(const struct run *r)
{
    struct df_plan_options o = base;
    size_t same_place = 0, fixed = 0;

    /* The first batch of each epoch.  */
    const struct item *first[3] = {NULL};
    for (size_t k = 0; k < r->n; k++) {
        const struct item *it = &r->items[k];

        if (it->i.kind == DF_BATCH_TRAIN && !first[it->i.epoch])
            first[it->i.epoch] = it;
    }
    ok(!same_item(first[0], first[1]) && !same_item(first[1], first[2]),
       "epochs differ");
    o.seed = 43;
    struct run other = run_all(o);
    for (size_t k = 0; k < r->n && k < other.n; k++) {
        int same = same_item(&r->items[k], &other.items[k]);

        same_place += same && r->items[k].i.kind == DF_BATCH_TRAIN;
        fixed += same && r->items[k].i.kind == DF_BATCH_EVAL;
    }
    ok(same_place * 50 < r->n, "seeds differ");
    ok(fixed > 0, "evaluations don't");
    free(other.items);

    /* The spread within a batch is far less than the spread of all.  */
    double spread = 0;
    size_t batches = 0;
    for (size_t k = 0; k < r->n; k++) {
        const struct item *it = &r->items[k];

        if (it->i.kind == DF_BATCH_EVAL)
            continue; /* samples of a batch come by length */
        spread += lengths[it->samples[it->i.n - 1]] - lengths[it->samples[0]];
        batches++;
    }
    ok(spread / (double) batches < 20, "similar lengths come together");
}

/* A run resumed at STEP hands out the rest of the unbroken one.  */
static void
test_resume(const struct run *whole, int64_t step, const char *what)
{
    struct df_plan_options o = base;
    size_t k = 0, seqs = 1;

    o.first_step = step;
    struct run r = run_all(o);
    while (k < whole->n) {
        const struct df_plan_item *i = &whole->items[k].i;

        if (i->step >= step)
            break;
        k++;
    }
    int same = r.n == whole->n - k && r.steps == whole->steps;
    for (size_t i = 0; same && i < r.n; i++) {
        same = same_item(&r.items[i], &whole->items[k + i]);
        seqs &= r.items[i].i.seq == i;
    }
    ok(same && seqs, "resumed at step %ld, %s: %zu items left", (long) step,
       what, whole->n - k);
    free(r.items);
}

static void
test_resumes(const struct run *whole)
{
    int64_t ends[3] = {0};

    /* The first step that lies in the next epoch altogether.  */
    for (size_t k = 0; k < whole->n; k++)
        if (whole->items[k].i.kind == DF_BATCH_TRAIN)
            ends[whole->items[k].i.epoch] = whole->items[k].i.step + 1;
    test_resume(whole, 1, "the second");
    test_resume(whole, ends[0] - 1, "across the end of epoch 1");
    test_resume(whole, ends[0], "behind epoch 1");
    test_resume(whole, (ends[0] + ends[1]) / 2, "amid epoch 2");
    test_resume(whole, 50, "where an evaluation is");
    test_resume(whole, ends[1], "behind epoch 2");
    test_resume(whole, ends[2] - 1, "the last");
    test_resume(whole, ends[2], "at the end");
}

/* An epoch's end that is a step's end: 12 samples, one a batch.  */
static void
test_resume_at_boundary(void)
{
    struct df_plan_options o = {
        .token_budget = 100, .max_seqs = 1, .epochs = 2, .per_step = 4};
    static const uint32_t len[12] = {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9};
    struct df_plan *a, *b;
    struct item x, y;
    int same = 1;
    long n = 0;

    if (df_plan_new(&a, len, 12, NULL, 0, &o) != DF_OK)
        exit(1);
    o.first_step = 3;
    if (df_plan_new(&b, len, 12, NULL, 0, &o) != DF_OK)
        exit(1);
    for (int i = 0; i < 12; i++)
        same &= take(a, &x) == DF_OK && x.i.epoch == 0;
    while (take(a, &x) == DF_OK) {
        same &= take(b, &y) == DF_OK && same_item(&x, &y) && y.i.epoch == 1;
        n++;
    }
    ok(same && take(b, &y) == DF_END, "resumed at an epoch's end");
    is_long(12, n, "the next epoch is whole");
    df_plan_free(a);
    df_plan_free(b);
}

static void
test_max_steps(void)
{
    static const struct {
        int64_t epochs, max_steps;
        long wanted, last_epoch;
    } cases[] = {
        {1, 0,  5,  0 },
        {3, 0,  15, 2 },
        {3, 7,  7,  1 },
        {3, 99, 15, 2 },
        {0, 99, 99, 19},
        {0, 1,  1,  0 },
    };
    uint32_t len[10];

    for (size_t i = 0; i < 10; i++)
        len[i] = 5;
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_plan_options o = {
            .token_budget = 5, .max_seqs = 3, .per_step = 2};
        struct df_plan *p;
        struct item x = {0};
        long n = 0;

        o.epochs = cases[c].epochs;
        o.max_steps = cases[c].max_steps;
        if (df_plan_new(&p, len, 10, NULL, 0, &o) != DF_OK)
            exit(1);
        while (take(p, &x) == DF_OK)
            n++;
        is_long(cases[c].wanted, df_plan_steps(p),
                "%d epochs, at most %d steps", (int) o.epochs,
                (int) o.max_steps);
        ok(n == 2 * cases[c].wanted && x.i.epoch == cases[c].last_epoch,
           "its batches, and its last epoch");
        df_plan_free(p);
    }
}

static void *
taker(void *arg)
{
    struct run *r = arg;
    struct item it;

    while (take(r->plan, &it) == DF_OK)
        if (it.i.seq < MAX_ITEMS)
            r->items[it.i.seq] = it;
    return NULL;
}

/* Four threads that take from one plan.  */
static void
test_threads(const struct run *whole)
{
    pthread_t threads[4];
    struct run r = {make(&base), 0, 0, calloc(MAX_ITEMS, sizeof *r.items)};
    int same = 1;

    for (int i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, taker, &r))
            exit(1);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t k = 0; k < whole->n; k++)
        same &= same_item(&whole->items[k], &r.items[k]);
    ok(same, "four threads get the items of one");
    df_plan_free(r.plan);
    free(r.items);
}

static void
test_refusals(void)
{
    static const uint32_t fine[2] = {3, 4}, empty[2] = {3, 0};
    static const uint32_t large[2] = {3, 11};
    /* clang-format off */
    static const struct {
        const char *what;
        const uint32_t *len;
        size_t n;
        struct df_plan_options o; /* token_budget is 10 */
    } cases[] = {
        {"no sample", fine, 0, {.epochs = 1}},
        {"an empty sample", empty, 2, {.epochs = 1}},
        {"a sample beyond the budget", large, 2, {.epochs = 1}},
        {"neither epochs nor steps", fine, 2, {.epochs = 0}},
        {"negative epochs", fine, 2, {.epochs = -1}},
        {"resuming beyond the end", fine, 2, {.epochs = 2, .first_step = 3}},
    };
    /* clang-format on */
    struct df_plan *p;

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_plan_options o = cases[c].o;

        o.token_budget = 10;
        o.max_seqs = o.per_step = 4;
        is_long(DF_INVALID,
                df_plan_new(&p, cases[c].len, cases[c].n, NULL, 0, &o), "%s",
                cases[c].what);
    }
    struct df_plan_options o = {
        .epochs = 1, .token_budget = 10, .max_seqs = 1, .per_step = 1};
    is_long(DF_INVALID, df_plan_new(&p, fine, 2, large, 2, &o),
            "an evaluation sample beyond the budget");
    ok(strstr(df_error_last()->message, "evaluation sample 1 has 11 tokens")
           != NULL,
       "is named");
}

int
main(void)
{
    uint32_t state = 1;

    plan(45);
    for (size_t i = 0; i < N + N_EVAL; i++) {
        state = state * 1664525 + 1013904223;
        *(i < N ? &lengths[i] : &eval_lengths[i - N]) = 1 + (state >> 8) % 512;
    }
    struct run whole = run_all(base);
    test_contents(&whole);
    test_steps(&whole);
    test_order(&whole);
    test_resumes(&whole);
    test_resume_at_boundary();
    test_max_steps();
    test_threads(&whole);
    test_refusals();
    free(whole.items);
    return 0;
}
