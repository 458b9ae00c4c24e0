/* The buffers and arguments of the cases, continued: attention, loss.  */

#include <config.h>

#include <math.h>
#include <string.h>

#include "opcases/opbuild.h"

/* Sequences of D[1] rows, every second of them one shorter.  */
static double
seq_begin(const struct oprun *r, size_t i)
{
    return (double) (i * r->c->d[1] - i / 2);
}

/* With a cache, sequences take turns in it from the end.  */
static double
kv_begin(const struct oprun *r, size_t i)
{
    return (double) ((r->c->d[0] - 1 - i) * r->c->d[6]);
}

static double
past(const struct oprun *r, size_t i)
{
    return (double) ((r->c->d[6] - r->c->d[1]) / (i + 1));
}

/* Rows of the cache that a call reads.  */
static size_t
rows_read(const struct oprun *r)
{
    const size_t *d = r->c->d;
    size_t sum = 0;

    for (size_t i = 0; i < d[0]; i++) {
        size_t own = (size_t) (seq_begin(r, i + 1) - seq_begin(r, i));
        size_t before = (size_t) past(r, i);

        if (d[5] > 0 && before > d[5] - 1)
            before = d[5] - 1;
        sum += own + before;
    }
    return sum;
}

/* Sizes: B, rows a sequence, A, G, D, window, places of a sequence in the
   cache or 0.  */
void
op_build_attention(struct oprun *r)
{
    const size_t *d = r->c->d;
    size_t T = (size_t) seq_begin(r, d[0]), q = d[2] * d[4], kv = d[3] * d[4];
    size_t rows = d[6] > 0 ? d[0] * d[6] : T;
    size_t seen = d[6] > 0 ? rows_read(r) : T;
    struct df_attention_args *a = &r->args.attention;

    *a = (struct df_attention_args){.T = T,
                                    .B = d[0],
                                    .A = d[2],
                                    .G = d[3],
                                    .D = d[4],
                                    .window = (int32_t) d[5],
                                    .max_seqlen = d[1],
                                    .max_past = d[6] > 0 ? d[6] - d[1] : 0,
                                    .ldo = op_ld(r, q),
                                    .ldq = op_ld(r, q + 1),
                                    .ldk = op_ld(r, kv),
                                    .ldv = op_ld(r, kv + 2),
                                    .scale = 1 / sqrtf((float) d[4])};
    a->out = op_output(r, "out", OPBUF_ACT, op_spread(T, q, a->ldo));
    a->q = op_input(r, "q", OPBUF_ACT, op_spread(T, q, a->ldq), -2, 2);
    a->k = op_input(r, "k", OPBUF_ACT, op_spread(rows, kv, a->ldk), -2, 2);
    op_moves(r, seen * kv);
    a->v = op_input(r, "v", OPBUF_ACT, op_spread(rows, kv, a->ldv), -2, 2);
    op_moves(r, seen * kv);
    a->cu_seqlens = op_filled(r, "cu_seqlens", OPBUF_I32, d[0] + 1, seq_begin);
    if (d[6] == 0)
        return;
    a->kv_begin = op_filled(r, "kv_begin", OPBUF_I32, d[0], kv_begin);
    a->past = op_filled(r, "past", OPBUF_I32, d[0], past);
}

/* Sizes of the two below: B, rows a sequence, blocks a sequence, b, A, G, D;
   a window of 5 with OPCASE_PLAIN.  */
static double
block_begin(const struct oprun *r, size_t i)
{
    return (double) (i * r->c->d[2]);
}

static double
context_begin(const struct oprun *r, size_t n)
{
    return seq_begin(r, n / r->c->d[2]);
}

static double
anchor(const struct oprun *r, size_t n)
{
    size_t each = r->c->d[2], s = n / each;
    double begin = seq_begin(r, s), end = seq_begin(r, s + 1);

    return begin + floor((end - begin) * (double) (n % each) / (double) each);
}

static struct df_block_map
build_map(struct oprun *r)
{
    const size_t *d = r->c->d;
    struct df_block_map m = {.B = d[0],
                             .N = d[0] * d[2],
                             .b = d[3],
                             .T = (size_t) seq_begin(r, d[0]),
                             .max_seqlen = d[1],
                             .max_blocks = d[2]};

    m.cu_seqlens = op_filled(r, "cu_seqlens", OPBUF_I32, m.B + 1, seq_begin);
    m.cu_blocks = op_filled(r, "cu_blocks", OPBUF_I32, m.B + 1, block_begin);
    m.begin = op_filled(r, "begin", OPBUF_I32, m.N, context_begin);
    m.anchor = op_filled(r, "anchor", OPBUF_I32, m.N, anchor);
    return m;
}

void
op_build_draft_attention(struct oprun *r)
{
    const size_t *d = r->c->d;
    size_t q = d[4] * d[6], kv = d[5] * d[6];
    struct df_draft_attention_args *a = &r->args.draft_attention;

    *a = (struct df_draft_attention_args){
        .A = d[4],
        .G = d[5],
        .D = d[6],
        .map = build_map(r),
        .window = r->c->flags & OPCASE_PLAIN ? 5 : 0,
        .ldo = op_ld(r, q),
        .ldq = op_ld(r, q + 1),
        .ldk_ctx = op_ld(r, kv),
        .ldv_ctx = op_ld(r, kv + 2),
        .ldk = op_ld(r, kv + 1),
        .ldv = op_ld(r, kv),
        .scale = 1 / sqrtf((float) d[6])};
    size_t rows = a->map.N * d[3], T = a->map.T;

    a->out = op_output(r, "out", OPBUF_ACT, op_spread(rows, q, a->ldo));
    a->lse = op_output(r, "lse", OPBUF_F32, rows * d[4]);
    a->q = op_input(r, "q", OPBUF_ACT, op_spread(rows, q, a->ldq), -2, 2);
    a->k_ctx =
        op_input(r, "k_ctx", OPBUF_ACT, op_spread(T, kv, a->ldk_ctx), -2, 2);
    a->v_ctx =
        op_input(r, "v_ctx", OPBUF_ACT, op_spread(T, kv, a->ldv_ctx), -2, 2);
    a->k = op_input(r, "k", OPBUF_ACT, op_spread(rows, kv, a->ldk), -2, 2);
    a->v = op_input(r, "v", OPBUF_ACT, op_spread(rows, kv, a->ldv), -2, 2);
}

/* OUT and LSE need not come from a forward pass: the formulas hold for any,
   and so the inputs are the same on every device.  */
void
op_build_draft_attention_bwd(struct oprun *r)
{
    const size_t *d = r->c->d;
    size_t q = d[4] * d[6], kv = d[5] * d[6];
    struct df_draft_attention_bwd_args *a = &r->args.draft_attention_bwd;

    *a = (struct df_draft_attention_bwd_args){
        .A = d[4],
        .G = d[5],
        .D = d[6],
        .map = build_map(r),
        .window = r->c->flags & OPCASE_PLAIN ? 5 : 0,
        .lddq = op_ld(r, q),
        .lddk_ctx = op_ld(r, kv),
        .lddv_ctx = op_ld(r, kv + 1),
        .lddk = op_ld(r, kv),
        .lddv = op_ld(r, kv + 1),
        .lddo = op_ld(r, q),
        .ldo = op_ld(r, q),
        .ldq = op_ld(r, q + 1),
        .ldk_ctx = op_ld(r, kv),
        .ldv_ctx = op_ld(r, kv + 2),
        .ldk = op_ld(r, kv + 1),
        .ldv = op_ld(r, kv),
        .scale = 1 / sqrtf((float) d[6])};
    size_t rows = a->map.N * d[3], T = a->map.T;

#define OUT(m, n, width) \
    a->m = op_output(r, #m, OPBUF_ACT, op_spread(n, width, a->ld##m))
#define IN(m, ld, n, width) \
    a->m = op_input(r, #m, OPBUF_ACT, op_spread(n, width, a->ld), -2, 2)
    OUT(dq, rows, q);
    OUT(dk_ctx, T, kv);
    OUT(dv_ctx, T, kv);
    OUT(dk, rows, kv);
    OUT(dv, rows, kv);
    a->delta = op_output(r, "delta", OPBUF_F32, rows * d[4]);
    IN(dout, lddo, rows, q);
    IN(out, ldo, rows, q);
    a->lse = op_input(r, "lse", OPBUF_F32, rows * d[4], 3, 5);
    IN(q, ldq, rows, q);
    IN(k_ctx, ldk_ctx, T, kv);
    IN(v_ctx, ldv_ctx, T, kv);
    IN(k, ldk, rows, kv);
    IN(v, ldv, rows, kv);
#undef IN
#undef OUT
}

/* Sizes: R, H, V.  */
void
op_build_head_loss(struct oprun *r)
{
    size_t R = r->c->d[0], H = r->c->d[1], V = r->c->d[2];
    struct df_head_loss_args *a = &r->args.head_loss;

    *a = (struct df_head_loss_args){.R = R, .H = H, .V = V};
    a->pred = op_output(r, "pred", OPBUF_I32, R);
    a->h = op_input(r, "h", OPBUF_ACT, R * H, -2, 2);
    a->u = op_input(r, "u", OPBUF_ACT, V * H, -1, 1);
    if (r->c->flags & OPCASE_PLAIN)
        return;
    a->nll = op_output(r, "nll", OPBUF_F32, R);
    a->dh = op_output(r, "dh", OPBUF_ACT, R * H);
    a->labels = op_input(r, "labels", OPBUF_I32, R, 0, (double) V);
}

static double
every_slot(const struct oprun *r, size_t i)
{
    size_t b = r->c->d[2];

    return (double) (i / (b - 1) * b + i % (b - 1) + 1);
}

/* Sizes: R, N, b.  The first R slots are supervised.  */
void
op_build_objective(struct oprun *r)
{
    size_t R = r->c->d[0];
    bool dpace = r->c->flags & OPCASE_PLAIN;
    struct df_objective_args *a = &r->args.objective;

    *a = (struct df_objective_args){.R = R,
                                    .N = r->c->d[1],
                                    .b = r->c->d[2],
                                    .dpace = dpace,
                                    .gamma = 4,
                                    .alpha = 0.5};
    a->weight = op_output(r, "weight", OPBUF_F32, R);
    a->sums = op_added_to(r, "sums", OPBUF_SUMS, 4 + 2 * DF_MAX_BLOCK);
    a->nll = op_input(r, "nll", OPBUF_F32, R, 0, 8);
    a->pred = op_input(r, "pred", OPBUF_I32, R, 0, 2);
    a->labels = op_input(r, "labels", OPBUF_I32, R, 0, 2);
    a->slot = op_filled(r, "slot", OPBUF_I32, R, every_slot);
}
