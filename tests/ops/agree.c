/* Every operation of a GPU against the CPU, in all cases: both get the same
   inputs, which are exact in bf16.  The outputs held NaN before, and nothing
   else may have been written.  A second run must give the same bits.  */

#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "opcases/opcases.h"
#include "tap/tap.h"

static df_status
run_case(struct oprun **out, const struct opcase *c, struct df_device *dev)
{
    df_status status = oprun_new(out, c, dev);

    if (status == DF_OK)
        status = oprun_call(*out);
    if (status == DF_OK)
        status = oprun_finish(*out);
    return status;
}

/* The worst error of the outputs; its buffer's name into *NAME.  */
static double
worst_error(const struct oprun *wanted, const struct oprun *seen,
            const char **name)
{
    double worst = 0;

    for (size_t b = 0; b < wanted->n_bufs && !isnan(worst); b++) {
        double *w = oprun_after(wanted, b), *s = oprun_after(seen, b);
        double e = normalised_error(w, s, wanted->bufs[b].n);

        if (wanted->bufs[b].output && !(e <= worst)) {
            worst = e;
            *name = wanted->bufs[b].name;
        }
        free(w);
        free(s);
    }
    return worst;
}

static bool
same_bits(const struct oprun *a, const struct oprun *b)
{
    for (size_t i = 0; i < a->n_bufs; i++)
        if (memcmp(a->bufs[i].after, b->bufs[i].after, a->bufs[i].bytes)) {
            diag("%s: other bits in a second run", a->bufs[i].name);
            return false;
        }
    return true;
}

static void
test_case(const struct opcase *c, struct df_device *cpu,
          struct df_device *cuda)
{
    struct oprun *wanted = NULL, *seen = NULL, *again = NULL;
    df_status status = run_case(&wanted, c, cpu);
    const char *name = "nothing";
    double worst = NAN;
    bool same = false;
    char label[80];

    opcase_label(c, label, sizeof label);
    if (status == DF_OK)
        status = run_case(&seen, c, cuda);
    if (status == DF_OK)
        status = run_case(&again, c, cuda);
    if (status == DF_OK) {
        worst = worst_error(wanted, seen, &name);
        same = same_bits(seen, again);
    } else
        diag("%s", df_error_last()->message);
    ok(worst <= c->limit && same, "%s: error %.1e, of %s", label, worst, name);
    oprun_free(wanted);
    oprun_free(seen);
    oprun_free(again);
}

int
main(void)
{
    struct df_device *cpu, *cuda;
    char label[80];

    plan((int) n_opcases);
    if (df_device_open(&cuda, "cuda:0") != DF_OK) {
        for (size_t i = 0; i < n_opcases; i++) {
            opcase_label(&opcases[i], label, sizeof label);
            skip("%s: %s", label, df_error_last()->message);
        }
        return 0;
    }
    if (df_device_open(&cpu, "cpu") != DF_OK)
        bail("%s", df_error_last()->message);
    for (size_t i = 0; i < n_opcases; i++)
        test_case(&opcases[i], cpu, cuda);
    df_device_close(cpu);
    df_device_close(cuda);
    return 0;
}
