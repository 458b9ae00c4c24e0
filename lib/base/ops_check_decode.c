/* Checks of what decoding needs: rows put into a cache, tokens drawn.  */

#include <config.h>

#include <assert.h>
#include <math.h>

#include "base/ops_check_internal.h"

df_status
df_check_put_rows(const struct df_put_rows_args *a, struct df_work *work)
{
    ROWS(put_rows, R);
    POSITIVE(put_rows, C);
    LD(put_rows, ldy, a->C);
    LD(put_rows, ldx, a->C);
    work->nothing = a->R == 0;
    if (work->nothing)
        return DF_OK;
    POSITIVE(put_rows, T);
    assert(a->y && a->x && a->index);
    return DF_OK;
}

static df_status
check_draw(const char *op, const struct df_draw *draw)
{
    if (!(draw->temperature >= 0) || isinf(draw->temperature))
        return DF_FAIL(DF_INVALID, "%s: temperature is %g", op,
                       (double) draw->temperature);
    assert(draw->temperature == 0 || (draw->request && draw->place));
    return DF_OK;
}

df_status
df_check_pick(const struct df_pick_args *a, struct df_work *work)
{
    ROWS(pick, R);
    POSITIVE(pick, V);
    LD(pick, ldz, a->V);
    work->nothing = a->R == 0;
    if (work->nothing)
        return DF_OK;
    assert(a->token && a->z);
    return check_draw("pick", &a->draw);
}

df_status
df_check_verify(const struct df_verify_args *a, struct df_work *work)
{
    IN(verify, b, 1, DF_MAX_BLOCK);
    IN(verify, B, 0, INT32_MAX / (a->b + 1));
    POSITIVE(verify, V);
    LD(verify, ldz, a->V);
    IN(verify, forced, 0, a->b);
    work->nothing = a->B == 0;
    if (work->nothing)
        return DF_OK;
    assert(a->result && a->z && a->ids);
    assert(a->draw.temperature == 0 || a->draft);
    return check_draw("verify", &a->draw);
}
