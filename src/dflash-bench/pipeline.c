/* Live training: through each transport that the placement has, split and
   packed, one and two batches in flight.  */
#include <config.h>

#include <stdio.h>

#include "dflash-bench/live.h"
#include "dflash-bench/options.h"

enum {
    READY = 2
};

static const char *const transports[] = {"auto", "host", "peer", "local"};

static df_status
measure(struct live *l, struct live_reference *ref)
{
    char name[80];
    double rate;

    snprintf(name, sizeof name, "%zux%zu%s%s/%s/%s/depth%zu%s", l->shape.seqs,
             l->shape.length, *l->place->name ? "/" : "", l->place->name,
             transports[l->transport], l->split ? "split" : "packed", l->depth,
             l->compile ? "/graph" : "");
    return live_case(l, name, (size_t) opt.repeat, ref, true, &rate);
}

static df_status
measure_transport(struct live *l, struct live_reference *ref)
{
    bool local = l->transport == DF_TRANSPORT_LOCAL;

    for (int split = 1; split >= 0; split--)
        for (size_t depth = 1; depth <= (local ? 1 : 2); depth++) {
            l->split = split;
            l->depth = depth;
            DF_TRY(measure(l, ref));
        }
    if (df_device_is_cpu(l->place->drafters[0]))
        return DF_OK;
    l->split = l->compile = true;
    DF_TRY(measure(l, ref));
    l->compile = false;
    return DF_OK;
}

static df_status
measure_placement(struct bench *b, const struct placement *p)
{
    struct live_reference ref = {0};
    struct live l = {
        .b = b, .place = p, .shape = workload_shape(), .ready = READY};
    bool several = p->n_devices > 1;

    l.transport = several ? DF_TRANSPORT_PEER : DF_TRANSPORT_LOCAL;
    if (!several || placement_has_peers(p))
        DF_TRY(measure_transport(&l, &ref));
    l.transport = DF_TRANSPORT_HOST;
    return measure_transport(&l, &ref);
}

df_status
bench_pipeline(struct bench *b)
{
    DF_TRY(workload_open(b));
    return each_placement(b, measure_placement);
}
