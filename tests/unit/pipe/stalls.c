/* Runs in which stages and copies stall at random, or fail.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tap/tap.h"
#include "tiny/tiny.h"

#define DATA .samples = 40, .eval_samples = 5, .eval_interval = 3

/* clang-format off */
static const struct tiny_options cases[] = {
    {DATA, .transport = DF_TRANSPORT_LOCAL, .noise = 0.1f},
    {DATA, .transport = DF_TRANSPORT_HOST, .noise = 0.1f, .prefetch = 3},
    {DATA, .apart = true, .noise = 0.1f, .prefetch = 4, .targets = 3,
     .depth = 2, .min_ready = 2, .packed = true},
    {DATA, .apart = true, .transport = DF_TRANSPORT_PEER, .noise = 0.1f,
     .prefetch = 2, .targets = 2, .depth = 2, .min_ready = 2},
    {DATA, .apart = true, .targets = 2, .drafters = 2, .per_step = 4},
    {DATA, .apart = true, .targets = 2, .drafters = 3, .per_step = 5,
     .transport = DF_TRANSPORT_PEER},
    {.samples = 400, .max_steps = 100000, .transport = DF_TRANSPORT_HOST,
     .prefetch = 2, .drafters = 2, .targets = 2, .per_step = 2},
};
/* clang-format on */
enum {
    ONE_DRAFTER = 4, /* cases 0 to 3: equal to the first */
    N_EQUAL = 6,
    ENDLESS = 6
};

/* Bits must not depend on who waits for whom.  */
static void
test_stalls(const char *program)
{
    static const char *const faults[] = {
        "prefetch=stall:8,target=stall:8",
        "postprocess=stall:9,copy=stall:9",
        "postprocess=stall@1:200,postprocess=stall@2:200",
        "drafter=stall:9,log=stall:9",
        "drafter=stall:6,copy=stall:8,prefetch=stall:6,log=stall:20",
    };
    char *first = tiny_run_text(&cases[0]);

    for (size_t i = 0; i < N_EQUAL; i++) {
        char *calm = tiny_run_text(&cases[i]);

        if (i < ONE_DRAFTER)
            ok(strcmp(first, calm) == 0, "case %zu is as the first", i);
        for (size_t k = 0; k < sizeof faults / sizeof *faults; k++) {
            char *seen = tiny_run_faulty(program, i, faults[k]);

            if (!ok(strcmp(calm, seen) == 0, "case %zu, %s: the same numbers",
                    i, faults[k]))
                diag("wanted:\n%sseen:\n%s", calm, seen);
            free(seen);
        }
        free(calm);
    }
    free(first);
}

/* Queues full: what is behind stalls; empty: what is before does.  */
static void
test_failures(const char *program)
{
    static const char *const stages[] = {"prefetch", "target", "postprocess",
                                         "drafter", "log"};
    static const char *const others[] = {
        "", ",log=stall:30", ",prefetch=stall:30", ",copy=stall:30"};

    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            char fault[80], wanted[80];
            time_t start = time(NULL);
            char *seen;

            snprintf(fault, sizeof fault, "%s=fail@%d%s", stages[i],
                     k ? 13 : 0, others[k]);
            snprintf(wanted, sizeof wanted, "%s: failure injected at number",
                     stages[i]);
            seen = tiny_run_faulty(program, ENDLESS, fault);
            ok(strstr(seen, wanted) != NULL, "%s: its message", fault);
            ok(time(NULL) - start < 20, "within seconds");
            free(seen);
        }
}

int
main(int argc, char **argv)
{
    alarm(300);
    if (argc > 1) {
        (void) tiny_run_print(stdout, &cases[atoi(argv[1])]);
        return 0;
    }
    plan(ONE_DRAFTER + N_EQUAL * 5 + 5 * 4 * 2);
    test_stalls(argv[0]);
    test_failures(argv[0]);
    return 0;
}
