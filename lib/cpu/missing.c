/* Operations that are not written yet.  */

#include <config.h>

#include "cpu/cpu_internal.h"

#define MISSING(op)                                       \
    df_status cpu_##op(const struct df_##op##_args *args) \
    {                                                     \
        (void) args;                                      \
        return DF_FAIL(DF_UNSUPPORTED, #op ": missing");  \
    }
MISSING(attention)
MISSING(draft_attention)
MISSING(draft_attention_bwd)
MISSING(head_loss)
MISSING(objective)

#ifdef HAVE_CUDA
df_status
df_cuda_open(struct df_device **out, int index)
{
    (void) out;
    return DF_FAIL(DF_UNSUPPORTED, "device cuda:%d: not written yet", index);
}
#endif
