/* Where samples come from: data sets or captures.  */
#include <config.h>

#include "dflash-train/captures.h"
#include "dflash-train/options.h"
#include "dflash-train/session.h"
#include "dflash-train/trial.h"

static void
describe_data(const struct sample_source *source, struct sample_set *out)
{
    const struct df_data_report *r = df_dataset_report(source->dataset);

    *out = (struct sample_set){df_dataset_lengths(source->dataset),
                               df_dataset_size(source->dataset), r->tokens};
}

static df_status
open_live(struct session *s)
{
    DF_TRY(describe_drafter(s));
    DF_TRY(
        samples_open(&s->train, &s->model, &input.data, "data", &s->limits));
    describe_data(&s->train, &s->train_set);
    if (opt.eval_data.count == 0)
        return DF_OK;
    DF_TRY(samples_open(&s->eval, &s->model, &opt.eval_data, "evaluation data",
                        &s->limits));
    describe_data(&s->eval, &s->eval_set);
    return opt.eval_decode > 0 ? trial_open(s) : DF_OK;
}

df_status
open_data(struct session *s)
{
    return from_captures() ? captures_open(s) : open_live(s);
}
