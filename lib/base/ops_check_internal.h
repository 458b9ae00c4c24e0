/* ops_check_internal.h - the words of the checks of arguments.

   In a function with the argument struct A, each macro checks the member
   that it names and returns DF_SHAPE from the function if it doesn't fit.
   OP is the operation's name, written as a plain word.  */

#ifndef DF_OPS_CHECK_INTERNAL_H
#define DF_OPS_CHECK_INTERNAL_H

#include "base/ops_internal.h"

/* VALUE, the size NAME of OP, is in [LEAST, MOST].  */
DF_MUST_USE df_status df_check_size(const char *op, const char *name,
                                    size_t value, size_t least, size_t most);

/* LD, the row distance NAME of OP, is 0 or at least WIDTH.  */
DF_MUST_USE df_status df_check_ld(const char *op, const char *name, size_t ld,
                                  size_t width);

/* Sizes are ints to CBLAS, and so are the indices in device memory.  */
#define ROWS(op, m)     DF_TRY(df_check_size(#op, #m, a->m, 0, INT32_MAX))
#define POSITIVE(op, m) DF_TRY(df_check_size(#op, #m, a->m, 1, INT32_MAX))
#define IN(op, m, least, most) \
    DF_TRY(df_check_size(#op, #m, a->m, (least), (most)))
#define LD(op, m, width) DF_TRY(df_check_ld(#op, #m, a->m, (width)))

#endif
