#include <config.h>

#include "common/blas.h"
#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "common/ticker.h"
#include "dflash-train/captures.h"
#include "dflash-train/metrics.h"
#include "dflash-train/options.h"
#include "dflash-train/output.h"
#include "dflash-train/session.h"

/* Everything up to the first step.  */
static df_status
prepare(struct session *s)
{
    DF_TRY(open_models(s));
    DF_TRY(find_output(s));
    DF_TRY(open_data(s));
    DF_TRY(describe_run(s));
    /* It takes seconds, and nothing else reads it.  */
    if (opt.stats)
        DF_TRY(measure_gemm(s));
    DF_TRY(df_run_warm_up(s->run));
    return begin_output(s);
}

static df_status
run_pipe(struct session *s)
{
    df_status status;

    places_tell(&s->places);
    DF_TRY(watch_start(s));
    status = df_run_train(s->run);
    ticker_stop();
    DF_TRY(status);
    return metrics_check(s);
}

/* Of a run that is complete, what comes behind the last step is done again:
   it may have been killed before that.  */
static df_status
train(struct session *s)
{
    bool complete = s->first_step == s->steps;

    if (complete)
        message_note("%s: all %lld steps are done: nothing to train",
                     opt.output, (long long) s->first_step);
    if (!complete || s->eval_set.n > 0)
        DF_TRY(run_pipe(s));
    if (!df_run_stopped(s->run))
        DF_TRY(export_drafter(s));
    if (complete)
        return DF_OK;
    DF_TRY(report(s));
    return captures_conclude(s);
}

static int
run(struct session *s)
{
    df_status status = prepare(s);

    if (status == DF_OK)
        status = train(s);
    progress_end();
    if (status != DF_OK && status != DF_CANCELED)
        return message_fail_last();
    return status == DF_CANCELED || df_run_stopped(s->run)
               ? signals_status(signals_caught())
               : EXIT_OK;
}

int
main(int argc, char **argv)
{
    struct session session = {0};
    int status;

    choose_blas(argv);
    parse_options(&train_tool, argc, argv);
    check_options();
    signals_install();
    status = run(&session);
    abandon_output(&session);
    close_session(&session);
    return status;
}
