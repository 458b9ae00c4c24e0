#include <config.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "dflash/checkpoint.h"
#include "tap/tap.h"
#include "tiny/tiny.h"

static const char identity[] =
    "{\"seed\": 3, \"learning-rate\": 0.0006, \"loss\": \"dflash\"}";

static char dir[] = "/tmp/dflash.XXXXXX";
static struct tiny_drafter d;
static size_t bytes; /* of a flat array */

/* The path of step-N and SUFFIX.  */
static char *
in_dir(int64_t n, const char *suffix)
{
    char *path;

    if (asprintf(&path, "%s/step-%lld%s", dir, (long long) n, suffix) < 0)
        bail("no memory");
    return path;
}

static bool
exists(int64_t n, const char *suffix)
{
    char *path = in_dir(n, suffix);
    bool there = df_file_exists(path);

    free(path);
    return there;
}

static void
put(int64_t n, const char *suffix, const char *text)
{
    char *path = in_dir(n, suffix);

    CHECKED(df_file_write(path, text, strlen(text)));
    free(path);
}

static df_status
save(int64_t step, int64_t keep)
{
    const struct df_checkpoint_info info = {step, identity, "seed = 3\n"};

    return df_checkpoint_save(d.drafter, dir, &info, keep, NULL);
}

static df_status
load(int64_t step, const char *wanted, int64_t *seen)
{
    char *path = in_dir(step, "");
    df_status status = df_checkpoint_load(d.drafter, path, wanted, seen);

    free(path);
    return status;
}

/* Numbers that a format might lose, everywhere but in the gaps.  */
static void
scramble(void)
{
    static const float odd[] = {-0.0f, 1e-45f, 3.4028235e38f, 1.0f / 3,
                                0x1.000002p0f};
    struct df_flat f = df_drafter_flat(d.drafter);
    const struct df_param *params;
    size_t n;

    params = df_drafter_params(d.drafter, &n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < params[i].count; k++) {
            size_t at = params[i].offset + k;

            f.w[at] = k < 5 ? odd[k] : tiny_random(1, at);
            f.m[at] = k < 5 ? odd[4 - k] : tiny_random(2, at);
            f.v[at] = tiny_random(3, at);
        }
    *f.state = (struct df_step_state){.applied = 12345678901, .skipped = 4};
    CHECKED(df_drafter_refresh(d.drafter));
}

static void
test_round_trip(void)
{
    struct df_flat f = df_drafter_flat(d.drafter);
    float *const arrays[] = {f.w, f.m, f.v};
    static const char *const names[] = {"masters", "first moments",
                                        "second moments"};
    float *before[3];
    int64_t step = -1;

    scramble();
    for (int i = 0; i < 3; i++) {
        before[i] = malloc(bytes);
        memcpy(before[i], arrays[i], bytes);
    }
    is_long(DF_OK, save(7, 0), "saving");
    CHECKED(df_drafter_init(d.drafter, 99));
    f.state->applied = f.state->skipped = f.state->skipped_in_a_row = 1;
    is_long(DF_OK, load(7, identity, &step), "loading");
    is_long(7, (long) step, "the step");
    for (int i = 0; i < 3; i++) {
        ok(memcmp(before[i], arrays[i], bytes) == 0, "%s, to the last bit",
           names[i]);
        free(before[i]);
    }
    is_long(12345678901, (long) f.state->applied, "steps applied");
    is_long(4, (long) f.state->skipped, "steps skipped");
    is_long(0, (long) f.state->skipped_in_a_row, "none of them just now");
    ok(exists(7, "/config.json") && exists(7, "/config.txt"),
       "the drafter's config and the options are there");
}

static void
test_identity(void)
{
    static const struct {
        const char *wanted;
        const char *message; /* NULL: fits */
    } cases[] = {
        {"{\"seed\": 3}",               NULL                           },
        {"{\"seed\": 4}",               "seed = 3, but now it is 4"    },
        {"{\"learning-rate\": 0.0005}", "learning-rate = 0.0006"       },
        {"{\"loss\": \"dpace\"}",       "loss = \"dflash\""            },
        {"{\"noise\": 0.1}",            "noise = nothing"              },
        {"{\"seed\": \"3\"}",           "seed = 3, but now it is \"3\""},
    };
    struct df_flat f = df_drafter_flat(d.drafter);
    int64_t step;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *message = cases[i].message;

        f.w[0] = 42;
        df_status status = load(7, cases[i].wanted, &step);
        is_long(message ? DF_INVALID : DF_OK, status, "identity %s",
                cases[i].wanted);
        if (message)
            ok(strstr(df_error_last()->message, message) && f.w[0] == 42,
               "nothing is loaded: %s", df_error_last()->message);
        else
            ok(f.w[0] != 42, "it is loaded");
    }
}

static void
is_newest(int64_t wanted, size_t wanted_broken, const char *what)
{
    char *path;
    int64_t step = -1;
    size_t broken;

    CHECKED(df_checkpoint_newest(dir, &path, &step, &broken));
    is_long((long) wanted, (long) step, "%s: the newest", what);
    is_long((long) wanted_broken, (long) broken, "broken ones above it");
    free(path);
}

/* Leave half of a file.  */
static void
truncate_half(int64_t n, const char *suffix)
{
    char *path = in_dir(n, suffix);
    struct stat st;

    if (stat(path, &st) || truncate(path, st.st_size / 2))
        bail("%s: cannot be cut", path);
    free(path);
}

static void
test_newest(void)
{
    char *path;

    is_newest(7, 0, "one");
    CHECKED(save(10, 0));
    CHECKED(save(9, 0));
    is_newest(10, 0, "three, by number instead of text or time");
    path = in_dir(11, ".tmp");
    mkdir(path, 0777);
    free(path);
    put(11, ".tmp/state.safetensors", "half");
    path = in_dir(12, "x");
    mkdir(path, 0777);
    free(path);
    put(13, "", "a file");
    is_newest(10, 1, "folders of other names are none");
    truncate_half(10, "/state.safetensors");
    is_newest(9, 2, "truncated arrays");
    truncate_half(9, "/state.json");
    is_newest(7, 3, "a truncated state");
    path = in_dir(13, "");
    unlink(path);
    free(path);
    CHECKED(save(9, 0));
    is_newest(9, 1, "the same step again");
    CHECKED(save(11, 0));
    ok(!exists(11, ".tmp"), "what a killed run left is cleared up");
    is_newest(11, 0, "written anew");
}

/* 7, 9, 10 (broken), 11 are there.  */
static void
test_keep(void)
{
    put(1, ".txt", "not ours");
    CHECKED(save(12, 2));
    ok(exists(12, "") && exists(11, "") && !exists(10, "") && !exists(9, "")
           && !exists(7, ""),
       "the newest two stay");
    ok(exists(1, ".txt"), "and what is no checkpoint");
    /* Step 12 is broken, so the run goes on from 11.  */
    truncate_half(12, "/state.safetensors");
    CHECKED(save(11, 1));
    ok(exists(11, ""), "a broken later one pushes none out");
    is_newest(11, 1, "behind a broken one");
}

/* A disk that is full after LIMIT bytes of a file.  */
static void
test_failure(void)
{
    static const rlim_t limits[] = {0, 100, 20000};
    struct rlimit old, small;
    int64_t step;

    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        small = (struct rlimit){limits[i], old.rlim_max};
        setrlimit(RLIMIT_FSIZE, &small);
        df_status status = save(11, 1);
        setrlimit(RLIMIT_FSIZE, &old);
        is_long(DF_IO, status, "no room after %ld bytes", (long) limits[i]);
        ok(!exists(11, ".tmp"), "nothing half-written is left");
        is_long(DF_OK, load(11, identity, &step), "the old one is whole");
    }
    const struct df_checkpoint_info info = {12, identity, ""};
    is_long(DF_IO,
            df_checkpoint_save(d.drafter, "/nonexistent", &info, 1, NULL),
            "no folder");
    ok(strstr(df_error_last()->message, "/nonexistent/step-12.tmp") != NULL,
       "the message: %s", df_error_last()->message);
}

static void
test_damage(void)
{
    int64_t step;

    CHECKED(save(20, 0));
    put(20, "/state.json", "{\"version\": 2}");
    is_long(DF_FORMAT, load(20, identity, &step), "of another version");
    put(20, "/state.json", "[1, 2]");
    is_long(DF_FORMAT, load(20, identity, &step), "not an object");
    put(20, "/state.json",
        "{\"version\": 1, \"step\": 20, \"applied\": 1, \"skipped\": 0}");
    is_long(DF_FORMAT, load(20, identity, &step), "without identity");
    put(20, "/state.json",
        "{\"version\": 1, \"step\": -1, \"applied\": 1, \"skipped\": 0, "
        "\"identity\": {}}");
    is_long(DF_FORMAT, load(20, identity, &step), "a negative step");
    is_long(DF_IO, load(21, identity, &step), "absent");
}

int
main(void)
{
    char *command;

    plan(10 + 12 + 15 + 5 + 11 + 5);
    if (!mkdtemp(dir))
        bail("no folder for the test");
    tiny_drafter_make(&d);
    bytes = df_drafter_flat(d.drafter).count * sizeof(float);
    test_round_trip();
    test_identity();
    test_newest();
    test_keep();
    test_failure();
    test_damage();
    tiny_drafter_clear(&d);
    if (asprintf(&command, "rm -rf %s", dir) < 0 || system(command) != 0)
        bail("%s stays", dir);
    free(command);
    return 0;
}
