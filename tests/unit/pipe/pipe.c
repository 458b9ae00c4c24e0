#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipe/pipe_internal.h"
#include "tap/tap.h"

/* [count xP] --> made --> [square xN] --> lanes --> [pass xN] --> dealt
   --> [add xM] --> sums --> [note]  */
enum {
    MADE,
    SQUARED,
    PASSED,
    SUMS,
    N_CHANNELS
};
enum {
    MAX_THREADS = 4,
    N_STAGES = 5
};

struct run {
    _Atomic uint64_t next;
    uint64_t last;
    uint64_t seen[MAX_THREADS]; /* next number that each adder must see */
    uint64_t adders;
    bool in_order;
    _Atomic uint64_t sum;
    uint64_t noted;
    const char *fail_stage;
    uint64_t fail_at;
    uint64_t enough_at; /* the adders have had enough; 0: never */
    bool slow_end;      /* the last stage is slow: queues fill */
    struct df_freelist *list;
    void *held[MAX_THREADS];
    bool use_barrier;
};

static df_status
maybe_fail(const struct run *r, const char *stage, uint64_t seq)
{
    if (r->fail_stage && strcmp(r->fail_stage, stage) == 0
        && seq >= r->fail_at)
        return DF_FAIL(DF_FORMAT, "%s at record 7", stage);
    return DF_OK;
}

static df_status
hold(struct df_worker *w)
{
    struct run *r = df_worker_context(w);

    return df_freelist_take(r->list, w, &r->held[df_worker_index(w)]);
}

static df_status
count(struct df_worker *w, struct df_item *item)
{
    struct run *r = df_worker_context(w);

    item->seq = atomic_fetch_add(&r->next, 1);
    if (item->seq >= r->last)
        return DF_END;
    item->data = r->held[df_worker_index(w)];
    *(uint64_t *) item->data = item->seq;
    return maybe_fail(r, "count", item->seq);
}

static df_status
square(struct df_worker *w, struct df_item *item)
{
    uint64_t *n = item->data;

    *n *= *n;
    return maybe_fail(df_worker_context(w), "square", item->seq);
}

static df_status
pass(struct df_worker *w, struct df_item *item)
{
    return maybe_fail(df_worker_context(w), "pass", item->seq);
}

static df_status
add(struct df_worker *w, struct df_item *item)
{
    struct run *r = df_worker_context(w);
    size_t i = df_worker_index(w);

    if (item->seq != r->seen[i])
        r->in_order = false;
    r->seen[i] += r->adders;
    atomic_fetch_add(&r->sum, *(uint64_t *) item->data);
    if (r->use_barrier && item->seq / r->adders % 3 == 0)
        DF_TRY(df_worker_barrier(w));
    if (r->enough_at > 0 && item->seq >= r->enough_at)
        return DF_END;
    return maybe_fail(r, "add", item->seq);
}

static df_status
note(struct df_worker *w, struct df_item *item)
{
    struct run *r = df_worker_context(w);

    if (r->slow_end)
        usleep(1000);
    r->noted++;
    df_freelist_give(r->list, item->data);
    item->data = NULL;
    return maybe_fail(r, "note", item->seq);
}

static struct df_stage_stats stats[N_STAGES];

static df_status
run(struct run *r, size_t threads, size_t capacity, size_t min_ready)
{
    const struct df_channel_def channels[] = {
        {"made",    DF_ORDERED, capacity, 0        },
        {"squared", DF_LANES,   1,        0        },
        {"passed",  DF_DEALT,   capacity, min_ready},
        {"sums",    DF_FIFO,    capacity, 0        },
    };
    const struct df_stage_def stages[] = {
        {"count",  -1,      MADE,    threads, hold, count,  NULL, NULL},
        {"square", MADE,    SQUARED, threads, NULL, square, NULL, NULL},
        {"pass",   SQUARED, PASSED,  threads, NULL, pass,   NULL, NULL},
        {"add",    PASSED,  SUMS,    threads, NULL, add,    NULL, NULL},
        {"note",   SUMS,    -1,      1,       NULL, note,   NULL, NULL},
    };
    const struct df_pipe_def def = {channels, N_CHANNELS, stages,
                                    N_STAGES, r,          NULL};
    struct df_pipe *pipe;
    uint64_t numbers[64];
    size_t n_numbers = 4 * capacity + 4 * threads;
    df_status status;

    r->in_order = true;
    r->adders = threads;
    for (size_t i = 0; i < threads; i++)
        r->seen[i] = i;
    if (df_pipe_new(&pipe, &def) != DF_OK
        || df_freelist_new(&r->list, pipe, n_numbers) != DF_OK)
        bail("no memory");
    for (size_t i = 0; i < n_numbers; i++)
        df_freelist_give(r->list, &numbers[i]);
    status = df_pipe_run(pipe);
    for (size_t i = 0; i < N_STAGES; i++)
        df_pipe_get_stats(pipe, i, &stats[i]);
    df_freelist_free(r->list);
    df_pipe_free(pipe);
    return status;
}

static void
test_flow(void)
{
    for (size_t threads = 1; threads <= MAX_THREADS; threads++)
        for (size_t capacity = 1; capacity <= 4; capacity += 3) {
            struct run r = {.last = 1000, .use_barrier = false};

            is_long(DF_OK, run(&r, threads, capacity, 0),
                    "%zu threads, room for %zu: the run succeeds", threads,
                    capacity);
            is_long(332833500, (long) r.sum, "every record comes through");
            ok(r.in_order, "in order, whoever was first");
            is_long(1000, (long) stats[3].items, "and is counted");
        }
}

static void
test_reservoir(void)
{
    struct run r = {.last = 100}, few = {.last = 3};

    is_long(DF_OK, run(&r, 2, 4, 4), "a reservoir passes all on");
    is_long(100, (long) r.noted, "none is left behind");
    is_long(DF_OK, run(&few, 2, 4, 4), "fewer than its level come through");
    is_long(3, (long) few.noted, "at the end of the input");
}

static void
test_barrier(void)
{
    struct run r = {.last = 996, .use_barrier = true};

    is_long(DF_OK, run(&r, 4, 2, 0), "threads meet at a barrier");
    is_long(996, (long) r.noted, "and go on");
}

static void
test_enough(void)
{
    struct run r = {.last = 1000000, .enough_at = 50};

    is_long(DF_OK, run(&r, 2, 4, 0), "a stage that had enough ends the run");
    /* The adder that ended first had all its items below 50.  The other one
       may lag: it gets what has reached its channel, no more.  */
    ok(r.noted >= 25 && r.noted <= 50, "not before it had them: %lu",
       (unsigned long) r.noted);
    is_long((long) stats[3].items, (long) r.noted,
            "what was taken is finished");
}

static void
test_failures(void)
{
    static const char *const names[] = {"count", "square", "pass", "add",
                                        "note"};

    for (size_t i = 0; i < N_STAGES; i++)
        for (int full = 0; full < 2; full++) {
            struct run r = {.last = 1000000,
                            .fail_stage = names[i],
                            .fail_at = full ? 40 : 0,
                            .slow_end = full,
                            .use_barrier = true};

            is_long(DF_FORMAT, run(&r, 3, 2, 0), "%s fails, queues %s",
                    names[i], full ? "full" : "empty");
            ok(strstr(df_error_last()->message, "at record 7")
                   && strncmp(df_error_last()->message, names[i],
                              strlen(names[i]))
                          == 0,
               "its message reaches the caller");
        }
}

int
main(void)
{
    alarm(120); /* a hang is a failure */
    plan(MAX_THREADS * 2 * 4 + 4 + 2 + 3 + N_STAGES * 2 * 2);
    test_flow();
    test_reservoir();
    test_barrier();
    test_enough();
    test_failures();
    return 0;
}
