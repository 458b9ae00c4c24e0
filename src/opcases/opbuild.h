/* opbuild.h - what the files of opcases share.  */

#ifndef DF_OPBUILD_H
#define DF_OPBUILD_H

#include "opcases/opcases.h"

#define X(op, flow) void op_build_##op(struct oprun *r);
DF_OPS(X)
#undef X

/* Elements of T rows of WIDTH with distance LD.  */
static inline size_t
op_spread(size_t T, size_t width, size_t ld)
{
    return T == 0 ? 0 : (T - 1) * (ld ? ld : width) + width;
}

/* The distance between rows of WIDTH in this case.  */
static inline size_t
op_ld(const struct oprun *r, size_t width)
{
    if (r->c->flags & OPCASE_EVEN_ROWS)
        return width / 8 * 8 + 16;
    return r->c->flags & OPCASE_WIDE_ROWS ? width + 5 : 0;
}

/* Number I of buffer number B, which an earlier call has filled.  */
double op_value(const struct oprun *r, size_t b, size_t i);

/* opvalues.c: on all processors, since buffers may have gigabytes.  B, of R
   and the last so far, gets random values of [LOW, HIGH); or F's; or those of
   the run that R is a part of.  */
void op_fill_random(const struct oprun *r, const struct opbuf *b, double low,
                    double high);
void op_fill_with(const struct oprun *r, const struct opbuf *b, opfill_fn *f);
void op_fill_like(const struct oprun *r, const struct opbuf *b);

/* IMAGE as B's n values, or NULL if there is no memory.  */
double *op_read(const struct opbuf *b, const void *image);

/* What the run that PART is a part of has after the call in buffer number B,
   where PART's is.  */
double *op_read_whole(const struct oprun *part, size_t b);

/* The first NaN of B after the call; B's n if there is none.  */
size_t op_find_nan(const struct opbuf *b);

#endif
