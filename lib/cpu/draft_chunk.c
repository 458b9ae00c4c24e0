#include <config.h>

#include <string.h>

#include "cpu/draft_chunk_internal.h"
#include "cpu/simd_internal.h"

enum {
    CHUNK_ROWS = 128,      /* where products reach their speed */
    CHUNK_CELLS = 4 << 20, /* of scores: 16 MiB */
};

/* What one block sees, in context rows, besides the common part.  */
struct parts {
    size_t lo, edge;    /* the window's edge is [lo, edge) */
    size_t left, right; /* [edge, left) and [right, anchor) */
    size_t anchor;
    float *own; /* the block's row 0 of some matrix of own slots */
};

static size_t
min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t
max(size_t a, size_t b)
{
    return a > b ? a : b;
}

size_t
df_chunk_width(const struct df_block_map *map)
{
    /* An odd number of cache lines: rows don't all fall on one set.  */
    return ((map->max_seqlen + map->b + 15) / 16 | 1) * 16;
}

size_t
df_chunk_blocks(const struct df_block_map *map, size_t heads)
{
    size_t rows = CHUNK_CELLS / df_chunk_width(map);

    return max(1, min(rows, CHUNK_ROWS) / (heads * map->b));
}

/* First context row that SLOT of BLOCK sees; its anchor if it sees none.  */
static size_t
first_seen(const struct df_chunk *c, size_t block, size_t slot)
{
    size_t begin = (size_t) c->map->begin[block];
    size_t anchor = (size_t) c->map->anchor[block];
    size_t reach = c->window > 0 ? (size_t) c->window - 1 : SIZE_MAX;

    if (reach >= anchor - begin + slot)
        return begin;
    return min(anchor + slot - reach, anchor);
}

void
df_chunk_init(struct df_chunk *c, const struct df_block_map *map, size_t D,
              size_t heads, int32_t window, size_t first, size_t n)
{
    *c = (struct df_chunk){.map = map,
                           .D = D,
                           .heads = heads,
                           .window = window,
                           .first = first,
                           .n = n,
                           .block_rows = heads * map->b,
                           .rows = n * heads * map->b,
                           .base = SIZE_MAX,
                           .width = df_chunk_width(map),
                           .f1 = SIZE_MAX};
    for (size_t i = first; i < first + n; i++) {
        c->base = min(c->base, first_seen(c, i, 0));
        c->f0 = max(c->f0, first_seen(c, i, map->b - 1));
        c->f1 = min(c->f1, (size_t) map->anchor[i]);
    }
    if (c->f0 >= c->f1)
        c->f0 = c->f1 = 0;
}

static struct parts
block_parts(const struct df_chunk *c, size_t n, const struct df_sides *sides)
{
    size_t block = c->first + n;
    struct parts p = {.lo = first_seen(c, block, 0),
                      .edge = first_seen(c, block, c->map->b - 1),
                      .anchor = (size_t) c->map->anchor[block],
                      .own = sides->own + block * c->map->b * sides->ldown};

    p.left = max(p.edge, c->f0);
    p.right = c->f1;
    if (c->f1 == 0)
        p.left = p.right = p.edge;
    return p;
}

static size_t
common_column(const struct df_chunk *c)
{
    return c->f1 > 0 ? c->f0 - c->base : 0;
}

void
df_chunk_seen(const struct df_chunk *c, size_t n, size_t slot, size_t *lo,
              size_t *hi)
{
    size_t block = c->first + n, anchor = (size_t) c->map->anchor[block];

    *lo = first_seen(c, block, slot) - c->base;
    *hi = anchor - c->base + (c->window > 0 ? slot + 1 : c->map->b);
}

size_t
df_chunk_row(const struct df_chunk *c, size_t m, size_t *head)
{
    size_t b = c->map->b;

    *head = m / b % c->heads;
    return (c->first + m / c->block_rows) * b + m % b;
}

void
df_chunk_load(const struct df_chunk *c, float *x, struct df_heads src,
              float scale)
{
    for (size_t m = 0; m < c->rows; m++) {
        size_t head, row = df_chunk_row(c, m, &head);

        cpu_scale_row(x + m * c->D, src.data + row * src.ld + head * c->D,
                      scale, c->D);
    }
}

void
df_chunk_store(const struct df_chunk *c, struct df_heads dst, const float *x,
               float scale)
{
    for (size_t m = 0; m < c->rows; m++) {
        size_t head, row = df_chunk_row(c, m, &head);

        cpu_scale_row(dst.data + row * dst.ld + head * c->D, x + m * c->D,
                      scale, c->D);
    }
}

void
df_chunk_scores(const struct df_chunk *c, float *s, const float *x,
                struct df_sides k)
{
    size_t D = c->D, R = c->block_rows, w = c->width;
    size_t at = common_column(c);

    df_gemm_nt(c->rows, c->f1 - c->f0, D, x, D, k.ctx + c->f0 * k.ldctx,
               k.ldctx, s + at, w);
    for (size_t n = 0; n < c->n; n++, s += R * w, x += R * D) {
        struct parts p = block_parts(c, n, &k);

        df_gemm_nt(R, p.left - p.lo, D, x, D, k.ctx + p.lo * k.ldctx, k.ldctx,
                   s + p.lo - c->base, w);
        df_gemm_nt(R, p.anchor - p.right, D, x, D, k.ctx + p.right * k.ldctx,
                   k.ldctx, s + p.right - c->base, w);
        df_gemm_nt(R, c->map->b, D, x, D, p.own, k.ldown,
                   s + p.anchor - c->base, w);
    }
}

void
df_chunk_gather(const struct df_chunk *c, float *y, const float *s,
                struct df_sides v)
{
    size_t D = c->D, R = c->block_rows, w = c->width, b = c->map->b;
    size_t at = common_column(c);

    memset(y, 0, c->rows * D * sizeof *y);
    df_gemm_nn(c->rows, D, c->f1 - c->f0, s + at, w, v.ctx + c->f0 * v.ldctx,
               v.ldctx, 0.0f, y, D);
    for (size_t n = 0; n < c->n; n++, s += R * w, y += R * D) {
        struct parts p = block_parts(c, n, &v);
        const float *own = s + p.anchor - c->base;

        df_gemm_nn(R, D, p.left - p.edge, s + p.edge - c->base, w,
                   v.ctx + p.edge * v.ldctx, v.ldctx, 1.0f, y, D);
        df_gemm_nn(R, D, p.anchor - p.right, s + p.right - c->base, w,
                   v.ctx + p.right * v.ldctx, v.ldctx, 1.0f, y, D);
        if (c->window == 0) {
            df_gemm_nn(R, D, b, own, w, p.own, v.ldown, 1.0f, y, D);
            continue;
        }
        for (size_t m = 0; m < R; m++) {
            size_t lo = first_seen(c, c->first + n, m % b);

            cpu_weigh_rows(y + m * D, s + m * w + lo - c->base,
                           v.ctx + lo * v.ldctx, v.ldctx, p.edge - lo, D);
            cpu_weigh_rows(y + m * D, own + m * w, p.own, v.ldown, m % b + 1,
                           D);
        }
    }
}

/* The rows of one block under a window, over the window's edge and its own
   slots.  */
static void
scatter_edges(const struct df_chunk *c, size_t n, const struct parts *p,
              struct df_sides grad, const float *s, const float *x)
{
    size_t D = c->D, b = c->map->b;

    for (size_t m = 0; m < c->block_rows; m++, s += c->width, x += D) {
        size_t lo = first_seen(c, c->first + n, m % b);

        cpu_add_outer(grad.ctx + lo * grad.ldctx, grad.ldctx, s + lo - c->base,
                      x, p->edge - lo, D);
        cpu_add_outer(p->own, grad.ldown, s + p->anchor - c->base, x,
                      m % b + 1, D);
    }
}

void
df_chunk_scatter(const struct df_chunk *c, struct df_sides grad,
                 const float *s, const float *x)
{
    size_t D = c->D, R = c->block_rows, w = c->width, b = c->map->b;
    size_t at = common_column(c);

    df_gemm_tn(c->f1 - c->f0, D, c->rows, s + at, w, x, D,
               grad.ctx + c->f0 * grad.ldctx, grad.ldctx);
    for (size_t n = 0; n < c->n; n++, s += R * w, x += R * D) {
        struct parts p = block_parts(c, n, &grad);

        df_gemm_tn(p.left - p.edge, D, R, s + p.edge - c->base, w, x, D,
                   grad.ctx + p.edge * grad.ldctx, grad.ldctx);
        df_gemm_tn(p.anchor - p.right, D, R, s + p.right - c->base, w, x, D,
                   grad.ctx + p.right * grad.ldctx, grad.ldctx);
        for (size_t i = 0; i < b; i++)
            memset(p.own + i * grad.ldown, 0, D * sizeof(float));
        if (c->window == 0)
            df_gemm_tn(b, D, R, s + p.anchor - c->base, w, x, D, p.own,
                       grad.ldown);
        else
            scatter_edges(c, n, &p, grad, s, x);
    }
}
