/* The life of a staging buffer: the host copy is slow, the next batch is
   packed meanwhile, and the drafter must still get what was packed first.

   This file makes two programs.  In one, the library is sound.  In the
   other, postprocess.c is compiled to release its buffer before the copy
   (DF_TEST_RELEASE_EARLY): that one must be caught, or this test would prove
   nothing.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap/tap.h"
#include "tiny/tiny.h"

#ifdef DF_TEST_RELEASE_EARLY
enum {
    SOUND = 0
};
#else
enum {
    SOUND = 1
};
#endif

/* A second is long: the next pass takes a millisecond.  */
static const char slow_copy[] = "copy=stall@1:1000";

/* clang-format off */
static const struct tiny_options cases[] = {
    {.samples = 16, .transport = DF_TRANSPORT_HOST, .depth = 1},
    {.samples = 16, .transport = DF_TRANSPORT_HOST, .depth = 1, .packed = 1},
    {.samples = 16, .transport = DF_TRANSPORT_PEER, .depth = 1, .apart = true},
};
/* clang-format on */

int
main(int argc, char **argv)
{
    struct tiny_options local = {.samples = 16,
                                 .transport = DF_TRANSPORT_LOCAL};
    size_t n = sizeof cases / sizeof *cases;
    char *wanted;

    alarm(120);
    if (argc > 1)
        return tiny_run_print(stdout, &cases[atoi(argv[1])]) != DF_OK;
    /* A race detector would see the mistake first; here, the numbers have
       to tell.  */
    if (!SOUND)
        setenv("TSAN_OPTIONS", "report_bugs=0", 1);
    plan((int) (2 * n));
    wanted = tiny_run_text(&local);
    for (size_t i = 0; i < n; i++) {
        char *seen = tiny_run_faulty(argv[0], i, slow_copy);
        bool same = strcmp(wanted, seen) == 0;

        ok(strncmp(seen, "step 0 ", 7) == 0, "%s: it runs",
           cases[i].packed                           ? "packed"
           : cases[i].transport == DF_TRANSPORT_PEER ? "from device to device"
                                                     : "split");
        if (!ok(same == (bool) SOUND, SOUND ? "a slow copy changes nothing"
                                            : "releasing early is noticed"))
            diag("wanted:\n%sseen:\n%s", wanted, seen);
        free(seen);
    }
    free(wanted);
    return 0;
}
