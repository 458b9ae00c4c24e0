/* The run itself: what is written, the progress line, signals.  */
#include <config.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "common/ticker.h"
#include "dflash-capture/options.h"
#include "dflash-capture/session.h"

/* The plan numbers the samples that are left to capture; the data set and
   the capture number all.  */
static df_status
read_sample(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    struct session *s = arg;

    return samples_read(&s->source, thread, s->chosen[index], out);
}

static df_status
write_sample(void *arg, const struct df_capture_sample *sample)
{
    struct session *s = arg;
    struct df_capture_sample out = *sample;

    out.index = s->chosen[sample->index];
    DF_TRY(df_capture_writer_put(s->writer, &out));
    atomic_fetch_add(&s->written, 1);
    return DF_OK;
}

static df_status
make_run(struct session *s)
{
    struct df_run_options o = {
        .targets = s->targets.devices,
        .n_targets = s->targets.n,
        .prefetch_threads = (size_t) input.prefetch_threads,
        .depth = (size_t) input.depth,
        .min_ready = 1,
        .split = opt.layout == DF_CAPTURE_SPLIT,
        .transport = DF_TRANSPORT_HOST,
        .plan = s->plan,
        .limits = s->limits,
        .target_config = &s->model.config,
        .target_tensors = s->model.tensors,
        .layer_ids = s->layers.ids,
        .n_layer_ids = s->layers.n,
        .last_hidden = opt.last_hidden,
        .seed = (uint64_t) input.seed,
    };

    o.train = (struct df_source){s, read_sample};
    o.sink = (struct df_sink){s, write_sample};
    return df_run_new(&s->run, &o);
}

df_status
open_run(struct session *s)
{
    const struct df_capture_writer_options o = {.flush_every =
                                                    (size_t) opt.flush_every,
                                                .resume = opt.resume,
                                                .force = opt.overwrite};

    DF_TRY(make_run(s));
    DF_TRY(df_run_warm_up(s->run));
    return df_capture_writer_open(&s->writer, opt.output,
                                  (enum df_capture_format) opt.format,
                                  &s->header, &o);
}

static void
print_state(struct session *s, void (*print)(const char *format, ...))
{
    size_t written = atomic_load(&s->written);
    struct df_run_stats r;
    double rate;

    df_run_get_stats(s->run, &r);
    rate = r.seconds > 0 ? (double) written / r.seconds : 0;
    print(
        "sample %zu/%zu  %s tokens/s  ETA %s  slowest %s", written, s->n,
        format_count(r.seconds > 0 ? (double) r.tokens / r.seconds : 0).text,
        format_duration(rate > 0 ? (double) (s->n - written) / rate : -1).text,
        r.stage_names[df_run_bottleneck(&r)]);
}

static void
look(void *arg)
{
    struct session *s = arg;

    if (signals_caught() && !s->told) {
        s->told = true;
        df_run_stop(s->run);
        message_note("finishing the batch; a second signal ends at once");
    }
    if (progress_wanted())
        print_state(s, progress_show);
}

/* Commit what is written.  Of a run that was stopped, a stream has no end
   record: its reader must not take it for whole.  */
static df_status
close_writer(struct session *s, df_status status)
{
    struct df_capture_writer *writer = s->writer;

    s->writer = NULL;
    if (status == DF_OK && atomic_load(&s->written) < s->n) {
        status = df_capture_writer_commit(writer);
        status = df_capture_writer_close(writer, status == DF_OK ? DF_CANCELED
                                                                 : status);
        return status == DF_CANCELED ? DF_OK : status;
    }
    return df_capture_writer_close(writer, status);
}

df_status
capture(struct session *s)
{
    df_status status;

    DF_TRY(ticker_start(look, s));
    status = df_run_train(s->run);
    ticker_stop();
    return close_writer(s, status);
}
