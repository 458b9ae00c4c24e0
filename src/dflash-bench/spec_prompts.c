#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/answer.h"
#include "common/input.h"
#include "common/samples.h"
#include "dflash-bench/options.h"
#include "dflash-bench/spec.h"

static df_status
make_room(struct spec_prompts *p, size_t n)
{
    p->items = calloc(n, sizeof *p->items);
    if (!p->items)
        return DF_FAIL(DF_NO_MEMORY, "%zu prompts", n);
    p->n = n;
    return DF_OK;
}

static df_status
put(struct spec_prompts *p, size_t index, const struct df_sample *sample)
{
    int32_t *ids = malloc(sample->n * sizeof *ids);

    if (!ids)
        return DF_FAIL(DF_NO_MEMORY, "prompt %zu", index);
    memcpy(ids, sample->ids, sample->n * sizeof *ids);
    p->items[index] = (struct df_prompt){sample->id, ids, sample->n};
    p->length = sample->n > p->length ? sample->n : p->length;
    return DF_OK;
}

static df_status
take_all(struct spec_prompts *p, struct sample_source *source)
{
    DF_TRY(make_room(p, df_dataset_size(source->dataset)));
    for (size_t i = 0; i < p->n; i++) {
        struct df_sample sample;

        DF_TRY(samples_read(source, 0, (uint32_t) i, &sample));
        DF_TRY(put(p, i, &sample));
    }
    return DF_OK;
}

static df_status
take_stops(struct spec_prompts *p, const struct model *m)
{
    struct stop_list stops;

    model_stops(m, &stops);
    p->stop_ids = malloc(sizeof stops.ids);
    if (!p->stop_ids)
        return DF_FAIL(DF_NO_MEMORY, "stop tokens");
    memcpy(p->stop_ids, stops.ids, sizeof stops.ids);
    p->n_stop_ids = stops.n;
    return DF_OK;
}

static df_status
read_files(struct spec_prompts *p, const struct workload *w)
{
    struct sample_source source = {0};
    df_status status;

    input.max_length = (long) workload_length() + 1;
    status = prompts_open(&source, &w->model, &opt.prompts, "prompts");
    if (status == DF_OK)
        status = take_all(p, &source);
    samples_close(&source);
    return status == DF_OK ? take_stops(p, &w->model) : status;
}

static df_status
draw(struct spec_prompts *p, const struct workload *w, size_t n)
{
    size_t length = workload_length();
    int32_t *ids = calloc(length, sizeof *ids);
    uint8_t *mask = calloc(length, sizeof *mask);
    df_status status =
        ids && mask ? make_room(p, n) : DF_FAIL(DF_NO_MEMORY, "a prompt");

    for (size_t i = 0; i < n && status == DF_OK; i++) {
        workload_sample(w, i, length, ids, mask);
        status = put(p, i, &(struct df_sample){i, length, ids, mask});
    }
    free(ids);
    free(mask);
    return status;
}

df_status
spec_prompts_open(struct spec_prompts *p, const struct workload *w, size_t n)
{
    return opt.prompts.count > 0 ? read_files(p, w) : draw(p, w, n);
}

void
spec_prompts_free(struct spec_prompts *p)
{
    for (size_t i = 0; p->items && i < p->n; i++)
        free((void *) p->items[i].ids);
    free(p->items);
    free(p->stop_ids);
    *p = (struct spec_prompts){0};
}
