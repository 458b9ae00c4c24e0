/* cache_internal.h - a drafter that drafts: blocks of several requests, each
   behind a context whose keys and values lie in a cache.

       features [T,K*H] -- fc, hidden_norm, keys and values --> cache rows
       blocks [M] --------- L layers over cache and block ----> hidden [M,H]

   It has the drafter's weights, and buffers of its own: so a drafter in
   training can be tried between two steps.  */

#ifndef DF_CACHE_INTERNAL_H
#define DF_CACHE_INTERNAL_H

#include "draft/drafter_internal.h"

struct df_draft_cache;

/* Of DRAFTER, which must outlive it, with ROWS rows of context; for up to
   MAX_T rows of features and MAX_M slots at a time.  POSITIONS: places of a
   request's slots are less.  */
DF_MUST_USE df_status df_draft_cache_new(struct df_draft_cache **out,
                                         const struct df_drafter *drafter,
                                         size_t rows, size_t max_T,
                                         size_t max_M, size_t positions);
void df_draft_cache_free(struct df_draft_cache *c);

/* [max_T,K*H] act, where features go before df_draft_extend.  */
void *df_draft_features(struct df_draft_cache *c);

/* Queue: the keys and values of T rows of features, whose places are POS, go
   to the rows ROW of the cache, or nowhere where that is -1.  */
DF_MUST_USE df_status df_draft_extend(struct df_draft_cache *c,
                                      struct df_stream *stream, size_t T,
                                      const int32_t *pos, const int32_t *row);

/* Queue the blocks of MAP, whose context rows are the cache's: ids and places
   of their slots.  *HIDDEN [N*b,H] act is what the final norm leaves.  */
DF_MUST_USE df_status df_draft_blocks(struct df_draft_cache *c,
                                      struct df_stream *stream,
                                      const struct df_block_map *map,
                                      const int32_t *ids, const int32_t *pos,
                                      const void **hidden);

#endif
