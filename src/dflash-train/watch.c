/* While the pipe runs: records as they come, the progress line, signals.  */
#include <config.h>

#include <pthread.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "common/ticker.h"
#include "dflash-train/metrics.h"
#include "dflash-train/options.h"
#include "dflash-train/session.h"

static struct {
    pthread_mutex_t lock;     /* guards LAST in the session, and the next */
    double tokens_per_second; /* smoothed */
    bool told;                /* that a signal came */
} watch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static double
remaining(const struct session *s, const struct df_record *r)
{
    int64_t done = r->step + 1;

    if (done <= s->first_step)
        return -1;
    return r->seconds / (double) (done - s->first_step)
           * (double) (s->steps - done);
}

static const char *
slowest(struct session *s)
{
    struct df_run_stats stats;

    df_run_get_stats(s->run, &stats);
    return stats.stage_names[df_run_bottleneck(&stats)];
}

/* RATE: tokens a second.  */
static void
print_step(struct session *s, const struct df_record *r, double rate,
           void (*print)(const char *format, ...))
{
    print("step %lld/%lld  %s tokens/s  loss %.4f  accept length %.3f  "
          "ETA %s  slowest %s",
          (long long) r->step + 1, (long long) s->steps,
          format_count(rate).text, r->loss, r->accept_length,
          format_duration(remaining(s, r)).text, slowest(s));
}

static void
note_evaluation(struct session *s, const struct df_record *r)
{
    if (s->evaluations++ == 0)
        s->first_eval = *r;
    s->last_eval = *r;
    message_note("evaluation after %lld steps: loss %.4f  accuracy %.4f  "
                 "accept length %.3f",
                 (long long) r->step, r->loss, r->accuracy, r->accept_length);
}

void
watch_record(void *arg, const struct df_record *r)
{
    struct session *s = arg;
    double rate;

    /* A run without its numbers isn't worth its time.  */
    if (!metrics_write(s, r))
        df_run_stop(s->run);
    if (r->kind == DF_BATCH_EVAL) {
        note_evaluation(s, r);
        return;
    }
    if (r->skipped)
        message_warn("step %lld skipped: its gradient is not finite",
                     (long long) r->step + 1);
    pthread_mutex_lock(&watch.lock);
    rate = watch.tokens_per_second;
    rate = rate > 0 ? 0.9 * rate + 0.1 * r->tokens_per_second
                    : r->tokens_per_second;
    watch.tokens_per_second = rate;
    s->last = *r;
    pthread_mutex_unlock(&watch.lock);
    if (!progress_wanted()
        && ((r->step + 1) % opt.log_interval == 0 || r->step + 1 == s->steps))
        print_step(s, r, rate, message_note);
}

void
watch_saved(void *arg, int64_t step, const char *path)
{
    (void) arg;
    (void) step;
    if (common_options.verbose)
        message_note("saved %s", path);
}

static void
look(void *arg)
{
    struct session *s = arg;
    struct df_record last;
    double rate;

    if (signals_caught() && !watch.told) {
        watch.told = true;
        df_run_stop(s->run);
        message_note("finishing the step; a second signal ends at once");
    }
    pthread_mutex_lock(&watch.lock);
    last = s->last;
    rate = watch.tokens_per_second;
    pthread_mutex_unlock(&watch.lock);
    if (last.seconds > 0 && progress_wanted())
        print_step(s, &last, rate, progress_show);
}

df_status
watch_start(struct session *s)
{
    return ticker_start(look, s);
}
