#include <config.h>

#include <math.h>
#include <stdbool.h>

#include "cpu/cpu_internal.h"

/* Block after block in one thread: there are few numbers, and the sums keep
   their order.  */

/* The rows [first, end) of one block, and where row I's slot is.  */
struct block {
    const struct df_objective_args *args;
    size_t first, end;
};

static size_t
slot_of(const struct df_objective_args *a, size_t r)
{
    return (size_t) a->slot[r] % a->b;
}

static void
weigh_dflash(const struct block *k)
{
    const struct df_objective_args *a = k->args;

    for (size_t r = k->first; r < k->end; r++)
        a->weight[r] = 1;
    for (size_t r = k->first; a->gamma > 0 && r < k->end; r++)
        a->weight[r] =
            (float) exp(-(double) (slot_of(a, r) - 1) / (double) a->gamma);
}

/* Slots without a row have s = 1, and nothing to add to the suffix sums: so
   going over the rows is going over the slots.  */
static void
weigh_dpace(const struct block *k)
{
    const struct df_objective_args *a = k->args;
    double prefix[DF_MAX_BLOCK], alpha = (double) a->alpha, w = 0, p = 1;

    for (size_t r = k->first; r < k->end; r++) {
        p *= (1 - alpha) * exp(-(double) a->nll[r]) + alpha;
        prefix[r - k->first] = p;
    }
    for (size_t r = k->end; r-- > k->first;) {
        w += prefix[r - k->first];
        a->weight[r] = (float) w;
    }
}

static void
add_sums(const struct block *k)
{
    const struct df_objective_args *a = k->args;
    size_t accepted = 1; /* slots from the anchor on, up to a wrong one */

    for (size_t r = k->first; r < k->end; r++) {
        size_t j = slot_of(a, r);
        bool correct = a->pred[r] == a->labels[r];

        a->sums->loss += (double) a->weight[r] * (double) a->nll[r];
        a->sums->weight += (double) a->weight[r];
        a->sums->total[j] += 1;
        a->sums->correct[j] += correct;
        if (correct && j == accepted)
            accepted++;
    }
    a->sums->accept += (double) accepted;
    a->sums->blocks += 1;
}

df_status
cpu_objective(const struct df_objective_args *args)
{
    struct block k = {.args = args};

    for (size_t n = 0; n < args->N; n++) {
        k.first = k.end;
        while (k.end < args->R && (size_t) args->slot[k.end] / args->b == n)
            k.end++;
        if (args->dpace)
            weigh_dpace(&k);
        else
            weigh_dflash(&k);
        add_sums(&k);
    }
    return DF_OK;
}
