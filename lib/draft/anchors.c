#include <config.h>

#include "draft/anchors_internal.h"
#include "draft/draw_internal.h"

/* One past the last place that may be an anchor.  */
static size_t
candidates_end(size_t n, const struct df_batch_limits *limits)
{
    size_t beyond = limits->whole_blocks_only ? limits->block_size : 1;

    return n > beyond ? n - beyond : 0;
}

size_t
df_anchor_candidates(const uint8_t *mask, size_t n,
                     const struct df_batch_limits *limits)
{
    size_t end = candidates_end(n, limits), count = 0;

    for (size_t p = 0; p < end; p++)
        count += mask[p] && mask[p + 1];
    return count;
}

/* Selection sampling: going through the candidates in order, take each with
   the chance still wanted / still there.  Every subset of that size is
   equally likely, it comes out ascending, and nothing has to be stored.  */
size_t
df_anchors_draw(int32_t *out, const uint8_t *mask, size_t n,
                const struct df_batch_limits *limits, uint64_t key,
                uint64_t sample, int64_t epoch)
{
    size_t left = df_anchor_candidates(mask, n, limits), count = 0;
    size_t wanted = left < limits->num_anchors ? left : limits->num_anchors;

    for (size_t p = 0; count < wanted; p++) {
        if (!mask[p] || !mask[p + 1])
            continue;
        double u = df_draw(key, (uint32_t) p, (uint32_t) epoch,
                           (uint32_t) sample, (uint32_t) (sample >> 32));
        if (u * (double) left < (double) (wanted - count))
            out[count++] = (int32_t) p;
        left--;
    }
    return count;
}
