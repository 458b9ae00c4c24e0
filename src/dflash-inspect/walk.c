#include <config.h>

#include <time.h>

#include "common/progress.h"
#include "common/signals.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

double
now(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double) ts.tv_sec + (double) ts.tv_nsec * 1e-9;
}

static df_status
note_hole(void *arg, const char *path, const char *field, uint64_t first,
          uint64_t last)
{
    struct session *s = arg;
    char message[400];

    snprintf(message, sizeof message,
             "%s: %s: rows %llu to %llu were never stored", path, field,
             (unsigned long long) first, (unsigned long long) last);
    df_scan_add(s->scan, &(struct df_finding){
                             .kind = DF_FIND_HOLE,
                             .file = path,
                             .message = message,
                             .k = DF_NO_LAYER,
                             .count = last - first + 1,
                         });
    return DF_OK;
}

/* A sample that can't be read; of a pipe nobody knows which.  */
static void
note_failure(struct session *s, df_status status,
             const struct df_capture_entry *entry)
{
    const char *path = df_captures_path(s->captures, entry ? entry->file : 0);

    s->trouble |= status == DF_IO;
    df_scan_add(s->scan,
                &(struct df_finding){
                    .kind = status == DF_SHAPE ? DF_FIND_SHAPE : DF_FIND_READ,
                    .file = path,
                    .message = df_error_last()->message,
                    .has_sample = entry != NULL,
                    .index = entry ? entry->index : 0,
                    .id = entry ? entry->id : 0,
                    .k = DF_NO_LAYER,
                    .count = 1,
                });
}

static uint64_t
all_tokens(const struct session *s)
{
    const struct df_capture_entry *e = df_captures_entries(s->captures);
    uint64_t n = 0;

    for (size_t i = 0; i < df_captures_count(s->captures); i++)
        n += e[i].n;
    return n;
}

static void
show_progress(const struct session *s, uint64_t total)
{
    const struct df_scan_counts *c = df_scan_counts(s->scan);
    double seconds = now() - s->started, done = (double) c->tokens;
    double rate = (double) c->bytes / (seconds > 0 ? seconds : 1);

    if (!progress_wanted())
        return;
    if (total == 0)
        progress_show("%s samples  %s/s  %llu findings",
                      format_count((double) c->samples).text,
                      format_bytes(rate).text,
                      (unsigned long long) c->findings);
    else
        progress_show(
            "%.0f %%  %s/s  %llu findings  ETA %s",
            100 * done / (double) total, format_bytes(rate).text,
            (unsigned long long) c->findings,
            format_duration(done > 0 ? seconds / done * ((double) total - done)
                                     : -1)
                .text);
}

/* The sample number I of those to come, or DF_END.  */
static df_status
read_one(struct session *s, size_t i, struct seen *seen,
         const struct df_capture_entry **entry)
{
    struct df_captures *c = s->captures;
    uint32_t file = 0;
    df_status status;

    if (df_captures_is_pipe(c)) {
        status = df_captures_next(c, s->scratch, &seen->sample);
    } else {
        if (i == df_captures_count(c))
            return DF_END;
        *entry = &df_captures_entries(c)[s->order[i]];
        file = (*entry)->file;
        status = df_captures_read(c, s->order[i], s->scratch, &seen->sample);
    }
    seen->header = df_captures_header(c, file);
    seen->path = df_captures_path(c, file);
    return status;
}

df_status
walk(struct session *s,
     df_status (*do_sample)(struct session *s, const struct seen *seen))
{
    uint64_t total = progress_wanted() ? all_tokens(s) : 0;
    bool pipe = df_captures_is_pipe(s->captures), broken = false;
    size_t size;

    DF_TRY(df_captures_holes(s->captures, note_hole, s));
    for (size_t i = 0; !ferror(stdout) || s->repair; i++) {
        const struct df_capture_entry *entry = NULL;
        struct seen seen = {0};
        df_status status;

        if (signals_caught())
            return DF_CANCELED;
        status = read_one(s, i, &seen, &entry);
        if (status == DF_END) {
            s->incomplete |= pipe && broken;
            return DF_OK;
        }
        /* A pipe that failed has no image; one that goes on has.  */
        broken = status != DF_OK && !df_capture_image(s->scratch, &size);
        if (status == DF_NO_MEMORY || status == DF_CANCELED)
            return status;
        if (status != DF_OK)
            note_failure(s, status, entry);
        else
            DF_TRY(do_sample(s, &seen));
        show_progress(s, total);
    }
    return DF_OK;
}
