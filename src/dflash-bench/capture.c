/* Hidden states into files: HDF5, a stream, a stream into /dev/null, and
   nowhere at all.

   A sample is the time from one batch's last sample written to the next
   one's.  What is in files is read back, and compared with the checks that
   the device made.  */
#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "common/message.h"
#include "common/signals.h"
#include "dflash-bench/feed.h"
#include "dflash-bench/forward.h"
#include "dflash-bench/options.h"

enum {
    HEAD = 4,   /* batches before the window */
    CHECKED = 2 /* batches whose bytes are looked at */
};

enum where {
    NOWHERE,
    DEV_NULL,
    STREAM_FILE,
    HDF5_FILE
};

struct capture {
    struct bench *b;
    struct df_device *dev;
    struct shape shape;
    enum where where;
    char *path;
    struct df_capture_header header;
    struct df_capture_writer *writer;
    struct df_capture_scratch *scratch;
    struct df_run *run;
    struct result *r;               /* gets the samples */
    size_t written;                 /* samples */
    double last;                    /* when the last batch was written */
    struct df_run_stats begin, end; /* of the window */
    double gibibytes;
};

static size_t
batches_wanted(void)
{
    return opt.check ? CHECKED : HEAD + 1 + (size_t) opt.repeat;
}

/* A batch is whole: the window begins, or a sample is taken.  */
static void
tick(struct capture *c, size_t batches)
{
    double now = now_seconds();

    if (opt.check)
        return;
    if (batches == HEAD + 1)
        df_run_get_stats(c->run, &c->begin);
    else if (batches > HEAD + 1)
        c->r->samples[c->r->n++] = now - c->last;
    c->last = now;
    df_run_get_stats(c->run, &c->end);
    if (signals_caught())
        df_run_stop(c->run);
}

/* Of a df_sink.  */
static df_status
put(void *arg, const struct df_capture_sample *sample)
{
    struct capture *c = arg;

    if (c->written < CHECKED * c->shape.seqs)
        DF_TRY(df_capture_verify(c->scratch, &c->header, sample, DF_VERIFY_ALL,
                                 "hidden states"));
    if (c->writer)
        DF_TRY(df_capture_writer_put(c->writer, sample));
    c->written++;
    if (c->written % c->shape.seqs == 0)
        tick(c, c->written / c->shape.seqs);
    return DF_OK;
}

static df_status
open_writer(struct capture *c)
{
    static const struct df_capture_writer_options o = {.force = true};
    enum df_capture_format format =
        c->where == HDF5_FILE ? DF_CAPTURE_HDF5 : DF_CAPTURE_STREAM;

    c->header = model_header(&c->b->workload->model, &c->b->workload->layers);
    c->header.seed = WORKLOAD_SEED;
    c->header.tool = "dflash-bench " PACKAGE_VERSION;
    DF_TRY(df_capture_scratch_new(&c->scratch));
    if (c->where == NOWHERE)
        return DF_OK;
    return df_capture_writer_open(&c->writer, c->path, format, &c->header, &o);
}

static df_status
run_capture(struct capture *c, struct feed *feed)
{
    struct df_run_options o = feed_options(feed);
    double before = gibibytes(&c->dev, 1);
    df_status status;

    o.targets = &c->dev;
    o.n_targets = 1;
    o.transport = DF_TRANSPORT_HOST;
    o.sink = (struct df_sink){c, put};
    status = df_run_new(&c->run, &o);
    if (status == DF_OK)
        status = df_run_warm_up(c->run);
    if (status == DF_OK)
        status = df_run_train(c->run);
    c->gibibytes = gibibytes(&c->dev, 1) - before;
    df_run_free(c->run);
    return df_capture_writer_close(c->writer, status);
}

/* Some samples of what was written, with all checks.  */
static df_status
read_back(struct capture *c)
{
    const char *paths[] = {c->path};
    struct df_capture_sample sample;
    struct df_captures *captures;
    df_status status;

    DF_TRY(df_captures_open(&captures, paths, 1, NULL));
    status = df_captures_count(captures) == c->written
                 ? DF_OK
                 : DF_FAIL(DF_FORMAT, "%zu samples of %zu are there",
                           df_captures_count(captures), c->written);
    for (size_t i = 0; status == DF_OK && i < CHECKED * c->shape.seqs; i++)
        status = df_captures_read(captures, i, c->scratch, &sample);
    df_captures_free(captures);
    return status;
}

static df_status
check_space(const struct capture *c)
{
    double needed = (double) df_capture_token_bytes(&c->header)
                    * (double) (c->shape.seqs * c->shape.length)
                    * (double) batches_wanted();
    char *slash = strrchr(c->path, '/');
    struct statvfs fs;
    int failed;

    *slash = '\0';
    failed = statvfs(c->path, &fs);
    *slash = '/';
    if (failed)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", c->path, strerror(errno));
    if (needed > (double) fs.f_bavail * (double) fs.f_frsize)
        return DF_FAIL(DF_NO_MEMORY, "%s: %.0f bytes are needed", c->path,
                       needed);
    return DF_OK;
}

static df_status
capture(struct capture *c)
{
    size_t batches = batches_wanted();
    bool file = c->where == STREAM_FILE || c->where == HDF5_FILE;
    struct feed feed = {0};
    df_status status = open_writer(c);

    if (status == DF_OK && file)
        status = check_space(c);
    if (status == DF_OK)
        status = feed_open(&feed, c->b->workload, c->shape, batches,
                           (int64_t) batches, 1);
    if (status == DF_OK)
        status = run_capture(c, &feed);
    else
        status = df_capture_writer_close(c->writer, status);
    feed_close(&feed);
    if (status == DF_OK && file && !signals_caught())
        status = read_back(c);
    df_capture_scratch_free(c->scratch);
    if (file)
        unlink(c->path);
    return status;
}

/* FORWARD: seconds of a forward pass alone.  */
static void
describe(const struct capture *c, struct result *r, double forward)
{
    double tokens = (double) (c->shape.seqs * c->shape.length);
    double bytes = tokens * (double) df_capture_token_bytes(&c->header);
    double flops = (c->end.flops - c->begin.flops) / (double) r->n / tokens;
    double seconds = c->end.seconds - c->begin.seconds;

    result_summarize(r);
    r->unit = "tokens/s";
    r->amount = tokens;
    r->ceiling = product_tokens(c->b, c->dev, flops);
    result_extra(r, "overall_tokens/s", tokens * (double) r->n / seconds);
    if (forward > 0)
        result_extra(r, "of_forward",
                     tokens * (double) r->n / seconds / (tokens / forward));
    result_extra(r, "GB/s", bytes * (double) r->n / seconds * 1e-9);
    result_extra(r, "GiB", c->gibibytes);
}

/* What the capture's STATUS says.  */
static df_status
conclude(struct result *r, df_status status)
{
    r->verdict = status == DF_OK ? RESULT_RIGHT : RESULT_WRONG;
    r->error = status == DF_OK ? 0 : -1;
    if (status == DF_OK)
        return DF_OK;
    if (status == DF_UNSUPPORTED || status == DF_NO_MEMORY)
        r->verdict = RESULT_SKIPPED;
    else if (status != DF_FORMAT)
        return status;
    r->n = 0;
    snprintf(r->why, sizeof r->why, "%.190s", df_error_last()->message);
    return DF_OK;
}

static df_status
name_path(struct capture *c, const char *folder, const char *name)
{
    bool null = c->where == DEV_NULL;

    if (asprintf(&c->path, "%s/%s", null ? "/dev" : folder, name) < 0)
        return DF_FAIL(DF_NO_MEMORY, "a path");
    return DF_OK;
}

static df_status
measure(struct bench *b, struct df_device *dev, const char *folder,
        enum where where, double *forward)
{
    static const char *const names[] = {"nowhere", "null", "stream", "hdf5"};
    struct capture c = {
        .b = b, .dev = dev, .shape = workload_shape(), .where = where};
    struct result *r;
    char name[80];
    df_status status;

    snprintf(name, sizeof name, "%zux%zu/%s", c.shape.seqs, c.shape.length,
             names[where]);
    if (signals_caught() || !bench_wants(b, name, dev))
        return DF_OK;
    if (common_options.verbose)
        message_note("%s %s", b->suite, name);
    DF_TRY(bench_begin(b, name, dev, (size_t) opt.repeat, &r));
    if (*forward <= 0 && !opt.check)
        DF_TRY(forward_alone(b, dev, c.shape, forward));
    c.r = r;
    DF_TRY(name_path(&c, folder, names[where]));
    status = capture(&c);
    free(c.path);
    DF_TRY(conclude(r, status));
    if (signals_caught())
        return DF_OK;
    if (r->n > 0)
        describe(&c, r, *forward);
    bench_end(b, r);
    return DF_OK;
}

static df_status
measure_device(struct bench *b, struct df_device *dev, const char *folder)
{
    double forward = 0;

    for (int where = NOWHERE; where <= HDF5_FILE; where++)
        DF_TRY(measure(b, dev, folder, (enum where) where, &forward));
    return DF_OK;
}

df_status
bench_capture(struct bench *b)
{
    const char *tmp = getenv("TMPDIR");
    char *folder;
    df_status status = DF_OK;

    DF_TRY(workload_open(b));
    if (asprintf(&folder, "%s/dflash-bench.XXXXXX", tmp && *tmp ? tmp : "/tmp")
        < 0)
        return DF_FAIL(DF_NO_MEMORY, "a path");
    if (!opt.list && !mkdtemp(folder))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", folder, strerror(errno));
    for (size_t i = 0; status == DF_OK && i < b->devices.n; i++)
        status = measure_device(b, b->devices.devices[i], folder);
    if (!opt.list)
        rmdir(folder);
    free(folder);
    return status;
}
