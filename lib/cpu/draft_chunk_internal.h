/* draft_chunk_internal.h - neighbouring blocks of one sequence and the query
   heads of one key/value head, side by side: what the drafter's attention
   multiplies at a time.

   A chunk's rows are (block, head, slot), the slot running fastest: a block
   is `block_rows` rows, the chunk `rows`.  Its matrix of scores has a column
   for each context row from `base` on, and behind a block's anchor come the
   block's own slots:

       block 0   .. edge | left | common ...... | own
       block 1      .. edge | left | common ... | right | own
       block 2         .. edge | common ....... | right  right | own
                              f0               f1

   What a row sees is one range of columns.  All rows see the common part,
   so there is one product for it; as anchors are sorted, it is nearly all
   of a long context.  All rows of a block see its left and right parts and,
   without a window, its own slots: a small product each.  The edge of a
   window and own slots under a window differ from slot to slot, and are
   done row by row.  So nothing that a row doesn't see is multiplied, not
   even by 0, and what isn't seen cannot change a bit: not even by a NaN.

   How large a chunk is depends on the sizes of the arguments alone.  */

#ifndef DF_DRAFT_CHUNK_INTERNAL_H
#define DF_DRAFT_CHUNK_INTERNAL_H

#include "dflash/ops.h"

struct df_chunk {
    const struct df_block_map *map;
    size_t D, heads;    /* heads: query heads of a key/value head */
    int32_t window;     /* 0: none */
    size_t first, n;    /* blocks */
    size_t block_rows;  /* heads * b */
    size_t rows;        /* n * block_rows */
    size_t base, width; /* column 0's context row; columns allocated */
    size_t f0, f1;      /* common part; empty: both 0 */
};

/* A [rows, heads, D] matrix of the queries' side: DATA at the chunk's first
   head, rows LD apart.  */
struct df_heads {
    float *data;
    size_t ld;
};

/* Keys or values of one key/value head: of the context and of blocks.  */
struct df_sides {
    float *ctx, *own;
    size_t ldctx, ldown;
};

/* Most blocks that a chunk holds.  */
size_t df_chunk_blocks(const struct df_block_map *map, size_t heads);

/* Columns that any chunk needs at most.  */
size_t df_chunk_width(const struct df_block_map *map);

/* The chunk of the N blocks from FIRST on.  */
void df_chunk_init(struct df_chunk *c, const struct df_block_map *map,
                   size_t D, size_t heads, int32_t window, size_t first,
                   size_t n);

/* Columns [*LO, *HI) are what row SLOT of block N of the chunk sees.  */
void df_chunk_seen(const struct df_chunk *c, size_t n, size_t slot, size_t *lo,
                   size_t *hi);

/* The row of [N*b] that row M of the chunk is, and its head.  */
size_t df_chunk_row(const struct df_chunk *c, size_t m, size_t *head);

/* X[rows,D] = SCALE * the chunk's rows of SRC, and back.  */
void df_chunk_load(const struct df_chunk *c, float *x, struct df_heads src,
                   float scale);
void df_chunk_store(const struct df_chunk *c, struct df_heads dst,
                    const float *x, float scale);

/* S[rows,width] = X[rows,D] KEYS^T.  Columns that a row doesn't see hold
   anything afterwards.  */
void df_chunk_scores(const struct df_chunk *c, float *s, const float *x,
                     struct df_sides keys);

/* Y[rows,D] = S VALUES, over what each row sees.  */
void df_chunk_gather(const struct df_chunk *c, float *y, const float *s,
                     struct df_sides values);

/* GRAD += S^T X[rows,D], over what each row sees: the context's rows added
   to, those of the chunk's blocks set.  */
void df_chunk_scatter(const struct df_chunk *c, struct df_sides grad,
                      const float *s, const float *x);

#endif
