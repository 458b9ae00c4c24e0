/* The CPU's operations in all cases: against double precision where there is
   a formula for it, and for every one that the whole output is set, nothing
   else is written, and a second run beside other work has the same bits.
   Operations that the device lacks are skipped.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "opcases/opcases.h"
#include "tap/tap.h"

/* Of the mean square error: float has 24 bits, and sums lose a few.  */
static const double limit = 1e-11;

/* Compare the outputs of R, which has run, with the formula.  */
static int
compare(const struct oprun *r)
{
    double *wanted[OPRUN_MAX_BUFFERS] = {NULL};
    int good = 1;

    for (size_t b = 0; b < r->n_bufs; b++)
        wanted[b] = oprun_before(r, b);
    /* The formulas take their time.  */
    bool known = !(r->c->flags & OPCASE_BENCH) && op_reference(r, wanted);

    for (size_t b = 0; b < r->n_bufs; b++) {
        double *seen = oprun_after(r, b);
        double e = normalised_error(wanted[b], seen, r->bufs[b].n);

        if (known && !(e <= limit)) {
            diag("%s: error %g", r->bufs[b].name, e);
            good = 0;
        }
        free(seen);
        free(wanted[b]);
    }
    return good;
}

static int
same_bits(const struct oprun *a, const struct oprun *b)
{
    for (size_t i = 0; i < a->n_bufs; i++)
        if (memcmp(a->bufs[i].after, b->bufs[i].after, a->bufs[i].bytes)) {
            diag("%s: other bits in a second run", a->bufs[i].name);
            return 0;
        }
    return 1;
}

/* Run C, beside what BUSY does if not NULL.  */
static df_status
run_case(struct oprun **out, const struct opcase *c, struct df_device *dev,
         struct oprun *busy)
{
    df_status status = oprun_new(out, c, dev);

    for (int i = 0; busy && status == DF_OK && i < 4; i++)
        status = oprun_call(busy);
    if (status == DF_OK)
        status = oprun_call(*out);
    if (status == DF_OK)
        status = oprun_finish(*out);
    return status;
}

static void
test_case(const struct opcase *c, struct df_device *dev, struct oprun *busy)
{
    struct oprun *first = NULL, *second = NULL;
    char label[80];
    df_status status = run_case(&first, c, dev, NULL);

    opcase_label(c, label, sizeof label);
    if (status == DF_UNSUPPORTED) {
        skip("%s: %s", label, df_error_last()->message);
        goto out;
    }
    if (status == DF_OK)
        status = run_case(&second, c, dev, busy);
    if (status != DF_OK)
        diag("%s", df_error_last()->message);
    ok(status == DF_OK && compare(first) && same_bits(first, second), "%s",
       label);
out:
    oprun_free(first);
    oprun_free(second);
}

int
main(void)
{
    static const struct opcase other = {
        DF_OP_swiglu, {500, 100},
         0, 0
    };
    struct df_device *dev, *dev1;
    struct oprun *busy = NULL;

    plan((int) n_opcases);
    if (df_device_open(&dev, "cpu") != DF_OK
        || df_device_open(&dev1, "cpu:1") != DF_OK
        || oprun_new(&busy, &other, dev1) != DF_OK) {
        diag("%s", df_error_last()->message);
        return 1;
    }
    for (size_t i = 0; i < n_opcases; i++)
        test_case(&opcases[i], dev, busy);
    oprun_free(busy);
    df_device_close(dev1);
    df_device_close(dev);
    return 0;
}
