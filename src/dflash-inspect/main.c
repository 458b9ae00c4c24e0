#include <config.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"
#include "dflash/drafter_config.h"

/* A drafter's options, and whether captures' are absent.  */
static void
check_drafter_options(int n_paths)
{
    if (opt.convert < 0 && opt.output)
        option_mistake(&inspect_tool, "--output needs --convert");
    if (opt.convert != DF_LAYOUT_SPECULATORS && opt.verifier)
        option_mistake(&inspect_tool,
                       "--verifier needs --convert=speculators");
    if (opt.convert >= 0 && !opt.output)
        option_mistake(&inspect_tool, "--convert needs --output");
    if (opt.convert >= 0 && n_paths > 1)
        option_mistake(&inspect_tool, "--convert takes one drafter");
}

static void
check_options(int n_paths)
{
    if (n_paths == 0)
        option_mistake(&inspect_tool, "no capture or drafter is given");
    check_drafter_options(n_paths);
    if (opt.pass && opt.repair)
        option_mistake(&inspect_tool,
                       "--pass and --repair exclude each other");
    if (opt.dump && (opt.pass || opt.repair || opt.compare))
        option_mistake(&inspect_tool, "--dump does nothing else");
}

/* Whether PATHS [n] are drafters, which captures don't come with.  */
static bool
are_drafters(char *const *paths, int n)
{
    int drafters = 0;

    for (int i = 0; i < n; i++)
        drafters += is_drafter(paths[i]);
    if (drafters == 0 && opt.convert < 0)
        return false;
    if (opt.convert < 0 && drafters < n)
        option_mistake(&inspect_tool,
                       "drafters and captures are looked at apart");
    if (opt.pass || opt.repair || opt.compare || opt.dump)
        option_mistake(&inspect_tool, "--pass, --repair, --compare and --dump "
                                      "are for captures");
    return true;
}

static df_status
look_over(struct session *s, const struct seen *seen)
{
    bool good;

    DF_TRY(df_scan_sample(s->scan, seen->header, seen->path, &seen->sample,
                          &good));
    if (good)
        DF_TRY(forward(s, seen));
    return s->other ? compare_sample(s, seen) : DF_OK;
}

static df_status
inspect(struct session *s)
{
    df_status status = open_writers(s);

    if (status == DF_OK)
        status = walk(s, look_over);
    status = close_writers(s, status);
    progress_end();
    if (status == DF_OK)
        report(s);
    return status;
}

static int
run(struct session *s)
{
    df_status status = open_session(s);

    if (status == DF_OK)
        status = opt.dump ? dump_sample(s) : inspect(s);
    progress_end();
    if (signals_caught())
        return signals_status(signals_caught());
    if (status != DF_OK)
        return message_fail_last();
    if (s->trouble)
        return EXIT_TROUBLE;
    return df_scan_counts(s->scan)->findings > 0 || s->too_far ? EXIT_NO
                                                               : EXIT_OK;
}

int
main(int argc, char **argv)
{
    struct session session = {0};
    int first = parse_options(&inspect_tool, argc, argv), status;

    check_options(argc - first);
    if (are_drafters(argv + first, argc - first))
        return inspect_drafters((const char *const *) argv + first,
                                (size_t) (argc - first));
    signals_install();
    session.paths = (const char *const *) argv + first;
    session.n_paths = (size_t) (argc - first);
    status = run(&session);
    close_session(&session);
    return status;
}
