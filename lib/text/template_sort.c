#include <config.h>

#include "text/template_value_internal.h"

struct row {
    struct df_tpl_value key, item;
};

/* Merge the sorted halves of the N rows at ROWS, the first of which has
   HALF, by way of SPACE.  */
static df_status
merge(struct df_tpl_run *run, struct row *rows, size_t half, size_t n,
      struct row *space, bool reverse)
{
    size_t a = 0, b = half;

    for (size_t i = 0; i < n; i++) {
        int order = a < half ? -1 : 1;

        if (a < half && b < n) {
            DF_TRY(df_tpl_order(run, rows[a].key, rows[b].key, "<", &order));
            if (reverse)
                order = -order;
        }
        space[i] = order <= 0 ? rows[a++] : rows[b++];
    }
    for (size_t i = 0; i < n; i++)
        rows[i] = space[i];
    return DF_OK;
}

static df_status
sort(struct df_tpl_run *run, struct row *rows, size_t n, struct row *space,
     bool reverse)
{
    if (n < 2)
        return DF_OK;
    DF_TRY(sort(run, rows, n / 2, space, reverse));
    DF_TRY(sort(run, rows + n / 2, n - n / 2, space, reverse));
    return merge(run, rows, n / 2, n, space, reverse);
}

df_status
df_tpl_sort(struct df_tpl_run *run, struct df_tpl_seq *items,
            const struct df_tpl_seq *keys, bool reverse)
{
    struct row *rows, *space;

    DF_TRY(df_tpl_new(run, items->n * sizeof *rows, &rows));
    DF_TRY(df_tpl_new(run, items->n * sizeof *rows, &space));
    for (size_t i = 0; i < items->n; i++)
        rows[i] = (struct row){keys->items[i], items->items[i]};
    DF_TRY(sort(run, rows, items->n, space, reverse));
    for (size_t i = 0; i < items->n; i++)
        items->items[i] = rows[i].item;
    return DF_OK;
}
