#include <config.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

static void
check_options(int n_paths)
{
    if (n_paths == 0)
        option_mistake(&inspect_tool, "no capture is given");
    if (opt.pass && opt.repair)
        option_mistake(&inspect_tool,
                       "--pass and --repair exclude each other");
    if (opt.dump && (opt.pass || opt.repair || opt.compare))
        option_mistake(&inspect_tool, "--dump does nothing else");
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
    signals_install();
    session.paths = (const char *const *) argv + first;
    session.n_paths = (size_t) (argc - first);
    status = run(&session);
    close_session(&session);
    return status;
}
