/* opbuild.h - what the files with the builders share.  */

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
    return r->c->flags & OPCASE_WIDE_ROWS ? width + 5 : 0;
}

/* Number I of buffer number B, which an earlier call has filled.  */
double op_value(const struct oprun *r, size_t b, size_t i);

#endif
