#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "cpu/pool_internal.h"
#include "tap/tap.h"

enum {
    TASKS = 1000,
    CALLERS = 4,
    ROUNDS = 200
};

static df_status
count(void *arg, size_t task)
{
    atomic_fetch_add(&((atomic_int *) arg)[task], 1);
    return DF_OK;
}

/* Whether every task of a run was done, once.  */
static int
all_once(size_t n)
{
    atomic_int done[TASKS] = {0};

    if (df_pool_run(count, done, n) != DF_OK)
        return 0;
    for (size_t i = 0; i < TASKS; i++)
        if (atomic_load(&done[i]) != (i < n))
            return 0;
    return 1;
}

static void *
call(void *unused)
{
    size_t good = 0;

    (void) unused;
    for (size_t i = 0; i < ROUNDS; i++)
        good += (size_t) all_once(i * 7 % TASKS);
    return (void *) good;
}

static void
test_callers(void)
{
    pthread_t threads[CALLERS];
    size_t good = 0;

    for (int i = 0; i < CALLERS; i++)
        if (pthread_create(&threads[i], NULL, call, NULL))
            return;
    for (int i = 0; i < CALLERS; i++) {
        void *result;

        pthread_join(threads[i], &result);
        good += (size_t) result;
    }
    is_long(CALLERS * ROUNDS, (long) good, "callers beside each other");
}

/* Task 7 fails; the later ones are slow enough to be left out.  */
static df_status
fail_at_7(void *arg, size_t task)
{
    atomic_fetch_add((atomic_int *) arg, 1);
    if (task == 7)
        return DF_FAIL(DF_FORMAT, "task %zu", task);
    usleep(100);
    return DF_OK;
}

static void
test_failure(void)
{
    atomic_int done = 0;

    is_long(DF_FORMAT, df_pool_run(fail_at_7, &done, TASKS),
            "a failure is returned");
    ok(strcmp(df_error_last()->message, "task 7") == 0, "with its message");
    ok(atomic_load(&done) < TASKS, "and ends the run");
}

/* Each task writes its number all over its scratch, and finds it there.  */
static df_status
use_scratch(void *arg, size_t task)
{
    size_t n = 100 + task % 50;
    size_t *mine;
    void *data;

    DF_TRY(df_scratch(n * sizeof *mine, &data));
    mine = data;
    for (size_t i = 0; i < n; i++)
        mine[i] = task;
    usleep(10);
    for (size_t i = 0; i < n; i++)
        if (mine[i] != task || (uintptr_t) data % 64)
            return DF_FAIL(DF_INVALID, "scratch was overwritten");
    atomic_fetch_add((atomic_int *) arg, 1);
    return DF_OK;
}

static void
test_scratch(void)
{
    atomic_int *done;
    void *shared, *again, *task;

    ok(df_op_scratch(sizeof *done, &shared) == DF_OK,
       "an operation's scratch");
    done = shared;
    atomic_init(done, 0);
    is_long(DF_OK, df_pool_run(use_scratch, done, TASKS), "tasks' scratch");
    is_long(TASKS, atomic_load(done), "they don't get into each other's way");
    uint64_t grown = df_scratch_allocations();

    for (int i = 0; i < 20; i++)
        if (df_pool_run(use_scratch, done, TASKS) != DF_OK)
            break;
    is_long((long) grown, (long) df_scratch_allocations(),
            "scratch doesn't grow again");
    ok(df_op_scratch(1, &again) == DF_OK && again == shared
           && df_scratch(1, &task) == DF_OK && task != shared,
       "it is the same memory every time");
    is_long(DF_NO_MEMORY, df_scratch(SIZE_MAX, &task), "too much is refused");
}

static df_status
need_much(void *unused, size_t task)
{
    void *memory;

    (void) unused;
    (void) task;
    return df_scratch(3 << 20, &memory);
}

/* One thread has needed much; once the pool has settled, the others have it
   too, however long they slept.  */
static void
test_settle(void)
{
    uint64_t before;
    int good = 1;

    ok(df_pool_run(need_much, NULL, 1) == DF_OK, "a task gets scratch");
    df_pool_settle();
    before = df_scratch_allocations();
    for (int i = 0; i < ROUNDS; i++)
        good &= df_pool_run(need_much, NULL, 16) == DF_OK;
    ok(good && before == df_scratch_allocations(),
       "after df_pool_settle no thread's scratch grows");
}

int
main(void)
{
    int good = 1;

    plan(16);
    is_long(DF_OK, df_pool_acquire(), "a pool");
    is_long(DF_OK, df_pool_acquire(), "has several users");
    df_pool_release();
    ok(all_once(0) && all_once(1) && all_once(2) && all_once(TASKS),
       "each task is done once");
    test_callers();
    test_failure();
    test_scratch();
    test_settle();
    df_pool_release();
    for (int i = 0; i < 20; i++) {
        good &= df_pool_acquire() == DF_OK && all_once(10);
        df_pool_release();
    }
    ok(good, "pools come and go");
    return 0;
}
