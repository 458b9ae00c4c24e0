/* A run that is resumed goes on as if it had never ended: same order, same
   noise, same evaluations, same numbers to the last bit.  */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap/tap.h"
#include "tiny/tiny.h"

enum {
    STEPS = 20
};

static char dir[] = "/tmp/dflash.XXXXXX";

static bool
ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return m > 0 && m < n && strcmp(text + n - m, end) == 0;
}

/* The first step of epoch EPOCH in the text of a run.  */
static int64_t
first_step(const char *text, int epoch)
{
    long long step, of;

    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (sscanf(line, "step %lld %lld", &step, &of) == 2 && of == epoch)
            return step;
    }
    bail("no epoch %d in\n%s", epoch, text);
}

static void
test_resume(struct tiny_options o)
{
    char *whole = tiny_run_text(&o);
    int64_t second = first_step(whole, 1), third = first_step(whole, 2);
    const int64_t at[] = {1, second, (second + third) / 2, third, STEPS - 1};
    static const char *const names[] = {"its first step", "an epoch's end",
                                        "the middle of the second epoch",
                                        "the second's end", "its last step"};

    o.save_interval = 0;
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        char *rest;

        o.first_step = at[i];
        rest = tiny_run_text(&o);
        if (!ok(ends_with(whole, rest), "%s: resumed after %s", o.name,
                names[i]))
            diag("whole:\n%srest:\n%s", whole, rest);
        free(rest);
    }
    free(whole);
}

int
main(void)
{
    struct tiny_options o = {.name = "one drafter",
                             .samples = 24,
                             .eval_samples = 5,
                             .eval_interval = 4,
                             .save_interval = 1,
                             .max_steps = STEPS,
                             .noise = 0.2f,
                             .checkpoint_dir = dir};
    char *command;

    alarm(120);
    if (!mkdtemp(dir))
        bail("no folder for the test");
    plan(2 * 5);
    test_resume(o);
    o.name = "two drafters";
    o.drafters = o.targets = o.prefetch = o.per_step = 2;
    o.apart = true;
    test_resume(o);
    if (asprintf(&command, "rm -rf %s", dir) < 0 || system(command) != 0)
        bail("%s stays", dir);
    free(command);
    return 0;
}
