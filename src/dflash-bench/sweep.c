/* Live training over a grid of settings, and the fastest of them as options
   of dflash-train.  */
#include <config.h>

#include <stdio.h>

#include "dflash-bench/live.h"
#include "dflash-bench/options.h"

enum {
    MOST_SAMPLES = 8
};

static const char *const transports[] = {"auto", "host", "peer", "local"};
static const size_t depths[] = {1, 2, 4}, readies[] = {2, 8};

struct sweep {
    struct live l;
    struct live_reference ref;
    struct live best;
    double best_rate;
};

static df_status
measure(struct sweep *s)
{
    const struct live *l = &s->l;
    size_t samples = opt.repeat < MOST_SAMPLES ? (size_t) opt.repeat
                                               : (size_t) MOST_SAMPLES;
    char name[80];
    double rate;

    snprintf(name, sizeof name, "%zu%s%s/%s/%s/depth%zu/ready%zu",
             l->shape.seqs * l->shape.length, *l->place->name ? "/" : "",
             l->place->name, transports[l->transport],
             l->split ? "split" : "packed", l->depth, l->ready);
    DF_TRY(live_case(l, name, samples, &s->ref, false, &rate));
    if (rate > s->best_rate) {
        s->best_rate = rate;
        s->best = *l;
    }
    return DF_OK;
}

/* Without copies nothing is in flight.  */
static df_status
sweep_depths(struct sweep *s)
{
    size_t n = s->l.transport == DF_TRANSPORT_LOCAL
                   ? 1
                   : sizeof depths / sizeof *depths;

    for (int split = 1; split >= 0; split--)
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < sizeof readies / sizeof *readies; k++) {
                s->l.split = split;
                s->l.depth = depths[i];
                s->l.ready = readies[k];
                DF_TRY(measure(s));
            }
    return DF_OK;
}

static df_status
sweep_transports(struct sweep *s)
{
    const struct placement *p = s->l.place;
    bool several = p->n_devices > 1;

    s->l.transport = several ? DF_TRANSPORT_PEER : DF_TRANSPORT_LOCAL;
    if (!several || placement_has_peers(p))
        DF_TRY(sweep_depths(s));
    s->l.transport = DF_TRANSPORT_HOST;
    return sweep_depths(s);
}

static void
print_devices(const char *option, struct df_device *const *devices, size_t n)
{
    fprintf(remarks(), " %s ", option);
    for (size_t i = 0; i < n; i++)
        fprintf(remarks(), "%s%s", i ? "," : "", df_device_name(devices[i]));
}

static void
print_best(const struct sweep *s)
{
    const struct live *l = &s->best;
    const struct placement *p = s->l.place;
    FILE *fp = remarks();

    if (s->best_rate <= 0)
        return;
    fprintf(fp,
            "# best on %s%s%s: %.0f tokens/s\n#   --token-budget %zu "
            "--max-length %zu --max-batch-size %zu --transport %s %s "
            "--target-postprocess-depth %zu --min-ready %zu",
            df_device_name(p->targets[0]), *p->name ? ", " : "", p->name,
            s->best_rate, l->shape.seqs * l->shape.length, l->shape.length,
            l->shape.seqs, transports[l->transport],
            l->split ? "--split-fc-layers" : "--no-split-fc-layers", l->depth,
            l->ready);
    print_devices("--target-devices", p->targets, p->n_targets);
    print_devices("--drafter-devices", p->drafters, p->n_drafters);
    putc('\n', fp);
}

/* The budget as told, and half of it.  */
static df_status
sweep_placement(struct bench *b, const struct placement *p)
{
    struct sweep s = {
        .l = {.b = b, .place = p, .shape = workload_shape()}
    };

    DF_TRY(sweep_transports(&s));
    if (s.l.shape.seqs > 1) {
        s.l.shape.seqs /= 2;
        DF_TRY(sweep_transports(&s));
    }
    print_best(&s);
    return DF_OK;
}

df_status
bench_sweep(struct bench *b)
{
    DF_TRY(workload_open(b));
    return each_placement(b, sweep_placement);
}
