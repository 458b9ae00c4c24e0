#include <config.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "text/dataset_internal.h"

/* The threads take chunks in ascending order.  When a chunk fails, later
   ones are left out but earlier ones are finished: so the failure that
   counts is the first by place, whichever thread is faster.  */
struct job {
    struct df_dataset *ds;
    atomic_size_t next;   /* chunk to take */
    atomic_size_t end;    /* chunks from here on are left out */
    atomic_size_t cached; /* bytes */
    atomic_bool keep;     /* the cache hasn't overflowed */
    atomic_bool canceled;
    _Atomic uint64_t records, bytes; /* done */
};

struct worker {
    struct job *job;
    struct df_reader *reader;
    pthread_t thread;
    bool reports; /* progress; one worker does */
};

void
df_chunk_clear(struct df_chunk *chunk)
{
    free(chunk->entries);
    free(chunk->ids);
    free(chunk->mask);
    *chunk = (struct df_chunk){0};
}

static df_status
append(struct df_chunk *chunk, const struct df_entry *entry)
{
    if (chunk->n == chunk->cap) {
        size_t cap = chunk->cap ? chunk->cap * 2 : DF_CHUNK;
        void *more = realloc(chunk->entries, cap * sizeof *chunk->entries);

        if (!more)
            return DF_FAIL(DF_NO_MEMORY, "%zu samples", cap);
        chunk->entries = more;
        chunk->cap = cap;
    }
    chunk->entries[chunk->n++] = *entry;
    return DF_OK;
}

static df_status
grow_cache(struct df_chunk *chunk, size_t n)
{
    size_t room = chunk->room * 2 > n ? chunk->room * 2 : n;
    void *ids = realloc(chunk->ids, room * sizeof *chunk->ids);

    if (!ids)
        return DF_FAIL(DF_NO_MEMORY, "%zu tokens", room);
    chunk->ids = ids;
    void *mask = realloc(chunk->mask, room);
    if (!mask)
        return DF_FAIL(DF_NO_MEMORY, "%zu tokens", room);
    chunk->mask = mask;
    chunk->room = room;
    return DF_OK;
}

/* Keep the tokens of SAMPLE, as long as all of them fit.  */
static df_status
keep(struct job *job, struct df_chunk *chunk, const struct df_sample *sample)
{
    size_t n = sample->n, size = n * (sizeof *chunk->ids + 1);

    if (!atomic_load(&job->keep))
        return DF_OK;
    if (atomic_fetch_add(&job->cached, size) + size > job->ds->o.cache_bytes) {
        atomic_store(&job->keep, false);
        return DF_OK;
    }
    if (chunk->tokens + n > chunk->room)
        DF_TRY(grow_cache(chunk, chunk->tokens + n));
    memcpy(chunk->ids + chunk->tokens, sample->ids, n * sizeof *sample->ids);
    memcpy(chunk->mask + chunk->tokens, sample->loss_mask, n);
    chunk->tokens += n;
    return DF_OK;
}

static df_status
index_record(struct worker *w, struct df_chunk *chunk, size_t record)
{
    struct df_entry entry = {.record = (uint32_t) record};
    struct df_sample sample;

    DF_TRY(df_reader_record(w->reader, record));
    if (w->reader->reason != DF_DATA_USED) {
        entry.reason = (uint8_t) w->reader->reason;
        return append(chunk, &entry);
    }
    for (size_t part = 0; part < w->reader->parts; part++) {
        DF_TRY(df_reader_part(w->reader, part, &entry, &sample));
        entry.at = chunk->tokens;
        DF_TRY(append(chunk, &entry));
        if (entry.reason == DF_DATA_USED)
            DF_TRY(keep(w->job, chunk, &sample));
    }
    return DF_OK;
}

static df_status
index_chunk(struct worker *w, size_t number)
{
    struct df_dataset *ds = w->job->ds;
    size_t from = number * DF_CHUNK, to = from + DF_CHUNK;

    for (size_t i = from; i < to && i < ds->n_records; i++) {
        DF_TRY(index_record(w, &ds->chunks[number], i));
        atomic_fetch_add(&w->job->records, 1);
        atomic_fetch_add(&w->job->bytes, ds->places[i].len + 1);
    }
    return DF_OK;
}

/* Leave out the chunks from NUMBER on.  */
static void
stop_at(struct job *job, size_t number)
{
    size_t end = atomic_load(&job->end);

    while (number < end
           && !atomic_compare_exchange_weak(&job->end, &end, number))
        ;
}

static void
report(struct job *job)
{
    const struct df_dataset *ds = job->ds;
    struct df_data_progress p = {
        .records = atomic_load(&job->records),
        .total_records = ds->n_records,
        .bytes = atomic_load(&job->bytes),
        .total_bytes = ds->bytes,
    };

    if (p.records == p.total_records || p.bytes > p.total_bytes)
        p.bytes = p.total_bytes;
    if (ds->o.progress && !ds->o.progress(ds->o.arg, &p)) {
        atomic_store(&job->canceled, true);
        stop_at(job, 0);
    }
}

static void *
work(void *arg)
{
    struct worker *w = arg;
    struct job *job = w->job;
    size_t number;

    while ((number = atomic_fetch_add(&job->next, 1))
           < atomic_load(&job->end)) {
        if (index_chunk(w, number) != DF_OK) {
            job->ds->chunks[number].err = *df_error_last();
            stop_at(job, number);
        }
        if (w->reports)
            report(job);
    }
    return NULL;
}

/* Run the workers; the calling thread is the first of them.  */
static df_status
run(struct worker *workers, size_t n)
{
    df_status status = DF_OK;
    size_t started;

    for (started = 1; started < n; started++)
        if (pthread_create(&workers[started].thread, NULL, work,
                           &workers[started])) {
            status = DF_FAIL(DF_NO_MEMORY, "thread %zu of %zu to read data",
                             started + 1, n);
            stop_at(workers->job, 0);
            break;
        }
    work(&workers[0]);
    for (size_t i = 1; i < started; i++)
        pthread_join(workers[i].thread, NULL);
    return status;
}

/* What came of the job.  */
static df_status
result(struct job *job)
{
    struct df_dataset *ds = job->ds;

    if (!atomic_load(&job->canceled) && job->end == ds->n_chunks)
        report(job);
    if (atomic_load(&job->canceled))
        return DF_CANCELED;
    if (job->end < ds->n_chunks)
        return df_error_set(&ds->chunks[job->end].err);
    ds->cached = atomic_load(&job->keep);
    return DF_OK;
}

df_status
df_dataset_index(struct df_dataset *ds)
{
    struct job job = {.ds = ds, .end = ds->n_chunks, .keep = true};
    size_t n = ds->o.threads < ds->n_chunks ? ds->o.threads : ds->n_chunks;
    struct worker *workers = calloc(n + 1, sizeof *workers);
    df_status status = DF_OK;

    if (!workers)
        return DF_FAIL(DF_NO_MEMORY, "%zu threads to read data", n);
    for (size_t i = 0; i < n && status == DF_OK; i++) {
        workers[i].job = &job;
        workers[i].reports = i == 0;
        status = df_reader_new(&workers[i].reader, ds);
    }
    if (status == DF_OK && n > 0)
        status = run(workers, n);
    if (status == DF_OK)
        status = result(&job);
    for (size_t i = 0; i < n; i++)
        df_reader_free(workers[i].reader);
    free(workers);
    return status;
}
