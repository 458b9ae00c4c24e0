/* Copies beside a matrix product: what each costs the other.  */

#include <config.h>

#include "dflash-bench/copy.h"

enum {
    LOAD_MOST = 400 /* products that are queued at once */
};

/* Seconds of a product when nothing else runs.  */
static df_status
time_product(struct copy_work *w)
{
    for (int i = 0; i < 3; i++) {
        double seconds;

        DF_TRY(df_event_record(w->begin, w->compute));
        DF_TRY(load_queue(&w->load, w->compute));
        DF_TRY(df_event_record(w->end, w->compute));
        DF_TRY(df_event_seconds(w->begin, w->end, &seconds));
        if (i == 0 || seconds < w->product_alone)
            w->product_alone = seconds;
    }
    return DF_OK;
}

df_status
copy_load_open(struct copy_work *w)
{
    struct df_device *dev = w->suite->dev;
    double seconds;

    DF_TRY(load_open(&w->load, dev));
    DF_TRY(df_stream_new(&w->compute, dev, "product"));
    DF_TRY(df_event_new_timed(&w->begin, dev));
    DF_TRY(df_event_new_timed(&w->end, dev));
    DF_TRY(df_event_new(&w->last, dev));
    DF_TRY(time_product(w));
    DF_TRY(copy_some(w, w->depth, &seconds));
    DF_TRY(copy_some(w, w->depth, &seconds));
    w->copy_alone = seconds / (double) w->depth;
    return DF_OK;
}

void
copy_load_close(struct copy_work *w)
{
    df_stream_free(w->compute);
    df_event_free(w->begin);
    df_event_free(w->end);
    df_event_free(w->last);
    load_close(&w->load);
}

/* Queue N products, timing as many as certainly run beside the copies.  */
static df_status
queue_products(struct copy_work *w, size_t n)
{
    DF_TRY(df_event_record(w->begin, w->compute));
    for (size_t i = 0; i < n; i++) {
        DF_TRY(load_queue(&w->load, w->compute));
        if (i + 1 == w->counted)
            DF_TRY(df_event_record(w->end, w->compute));
    }
    return df_event_record(w->last, w->compute);
}

/* CALLS copies, or more, so that some products take place beside them, and
   products until the copies are done.  */
df_status
copy_beside(struct copy_work *w, size_t calls, double *seconds)
{
    double least = 4 * w->product_alone / w->copy_alone, span;
    size_t copies = calls > least ? calls : (size_t) least + 1;
    double wanted = (double) copies * w->copy_alone / w->product_alone;
    bool beside = false;

    w->counted =
        wanted / 2 > LOAD_MOST / 2 ? LOAD_MOST / 2 : (size_t) (wanted / 2) + 1;
    for (size_t n = (size_t) (1.5 * wanted) + 2; !beside; n *= 2) {
        size_t most = n < LOAD_MOST ? n : LOAD_MOST;

        DF_TRY(queue_products(w, most));
        DF_TRY(copy_some(w, copies, seconds));
        beside = !df_event_reached(w->last) || most == LOAD_MOST;
        DF_TRY(df_stream_sync(w->compute));
    }
    DF_TRY(df_event_seconds(w->begin, w->end, &span));
    w->product_loaded += span / (double) w->counted;
    w->runs++;
    *seconds *= (double) calls / (double) copies;
    return DF_OK;
}
