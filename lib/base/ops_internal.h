/* ops_internal.h - the checks that stand before every device's operations.

   df_check_OP looks at the sizes in ARGS: DF_SHAPE with the operation, the
   size's name and the numbers if they don't fit, DF_INVALID for another
   value outside what is allowed.  Needed pointers that are NULL are the
   caller's mistake and asserted.  */

#ifndef DF_OPS_INTERNAL_H
#define DF_OPS_INTERNAL_H

#include <stdbool.h>

#include "dflash/ops.h"

/* What a check finds out on its way.  */
struct df_work {
    bool nothing; /* no output changes: don't queue */
    double flops; /* of the products: a multiplication and an addition are
                     two.  Where they depend on what device memory holds, an
                     estimate from the sizes.  */
};

#define X(op, flow)                                                        \
    DF_MUST_USE df_status df_check_##op(const struct df_##op##_args *args, \
                                        struct df_work *work);
DF_OPS(X)
#undef X

#endif
