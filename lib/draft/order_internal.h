/* order_internal.h - cutting samples into batches.

   A df_order holds one epoch at a time: the samples in the order of its
   batches, and where each batch starts.  It needs 12 bytes a sample and 20
   a sample of the window.  */

#ifndef DF_ORDER_INTERNAL_H
#define DF_ORDER_INTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

struct df_order {
    uint32_t *lengths; /* [n], a copy */
    size_t n;
    size_t budget, max_seqs, window;

    uint32_t *samples; /* [n] in the order of the batches */
    uint32_t *starts;  /* [batches+1] into SAMPLES; room for n+1 */
    size_t batches;

    /* Scratch, one a sample of the window.  */
    uint64_t *keys;
    uint32_t *sorted;
    uint32_t *cuts, *perm; /* room for one more */
};

/* Prepare *ORDER, all zero, for samples of LENGTHS[n], copied.  WHAT is what
   messages call them.  DF_INVALID for a sample of no tokens or of more than
   BUDGET.  Undo with df_order_clear, after a failure too.  */
DF_MUST_USE df_status df_order_init(struct df_order *order,
                                    const uint32_t *lengths, size_t n,
                                    size_t budget, size_t max_seqs,
                                    size_t window, const char *what);
void df_order_clear(struct df_order *order);

/* Make the batches of EPOCH: samples and batches drawn by (KEY, EPOCH).  */
void df_order_shuffled(struct df_order *order, uint64_t key, int64_t epoch);

/* Make batches without any draw: samples as they come, only sorted by length
   within a window.  */
void df_order_plain(struct df_order *order);

#endif
