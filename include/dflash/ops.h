/* ops.h - the operations.

   Every operation is one row of DF_OPS.  The row makes its enum constant,
   its name, its place in the devices' tables and its checked entry point:

       struct df_rmsnorm_args args = {.y = y, .x = x, ...};
       DF_TRY(df_rmsnorm(stream, &args));

   The call checks the arguments, copies them, queues the work and returns;
   what the pointers lead to must stay valid until the work is done.  All
   pointers are device memory of the stream's device.  The CPU has every
   operation and is the reference that others are compared with.

   Letters: T rows (tokens), C columns, H hidden size, K captured layers,
   A query heads, G key/value heads, D head size, I MLP size, V vocabulary,
   B sequences, N blocks, b slots a block, R supervised slots.

   "act" is the type df_device_act() tells: float on a CPU.  "ld" is the
   distance between two rows in elements; 0 says that rows are contiguous.
   Outputs don't overlap inputs unless a comment allows it.  Sizes of 0 rows
   are allowed everywhere and do nothing, except that outputs that gather
   over rows are still set.  */

#ifndef DFLASH_OPS_H
#define DFLASH_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/device.h"
#include "dflash/error.h"
#include "dflash/op_args.h"

DF_BEGIN_DECLS

/*    op                flow                                              */
#define DF_OPS(X)                                                          \
    X(embed, "x[T,H] <- table[V,H], ids[T]")                               \
    X(rmsnorm, "y[T,C], rstd[T] <- x[T,C], w[C]")                          \
    X(rmsnorm_bwd, "dx[T,C], dw[C] <- dy[T,C], x[T,C], w[C], rstd[T]")     \
    X(head_norm_rope, "y[T,N,D], rstd[T,N] <- x[T,N,D], w[D], pos[T]")     \
    X(head_norm_rope_bwd, "dx, dw[D] <- dy[T,N,D], x, w, rstd, pos[T]")    \
    X(linear, "y[T,N] <- x[T,K], w[N,K], bias[N]")                         \
    X(linear_dx, "dx[T,K] <- dy[T,N], w[N,K]")                             \
    X(linear_dw, "dw[N,K] <- dy[T,N], x[T,K]")                             \
    X(swiglu, "h[T,I] <- gu[T,2I]")                                        \
    X(swiglu_bwd, "dgu[T,2I] <- dh[T,I], gu[T,2I]")                        \
    X(attention, "out[T,A,D] <- q[T,A,D], k[T,G,D], v[T,G,D]")             \
    X(draft_attention, "out[Nb,A,D], lse[Nb,A] <- q, ctx k v, block k v")  \
    X(draft_attention_bwd, "dq, ctx dk dv, block dk dv <- dout, ...")      \
    X(pack_hidden, "out[T,H] bf16, check[T] <- x[T,H], noise")             \
    X(unpack_hidden, "f[T,KH] <- K times h[T,H] bf16, noise")              \
    X(gather_rows, "y[R,C] <- x[T,C], index[R]")                           \
    X(put_rows, "y[T,C] <- x[R,C], index[R]")                              \
    X(scatter_rows, "y[T,C] <- x[R,C], index[R], scale[R]")                \
    X(head_loss, "nll[R], pred[R], dh[R,H] <- h[R,H], u[V,H], labels[R]")  \
    X(pick, "token[R] <- z[R,V], draw")                                    \
    X(verify, "result[B,b+1] <- z[Bb,V], draft[Bb,V], ids[Bb], draw")      \
    X(objective, "weight[R], sums <- nll[R], pred[R], labels[R], slot[R]") \
    X(add, "a[N] <- a[N], b[N]")                                           \
    X(sum_squares, "sum <- x[N]")                                          \
    X(clip, "state <- sum")                                                \
    X(adamw, "w[N], m[N], v[N] <- g[N], state")

enum df_op {
#define X(op, flow) DF_OP_##op,
    DF_OPS(X)
#undef X
    DF_N_OPS
};

DF_EXPORT const char *df_op_name(enum df_op op);
DF_EXPORT const char *df_op_flow(enum df_op op);
DF_EXPORT bool df_device_has(const struct df_device *dev, enum df_op op);

/* df_rmsnorm(stream, args) and so on.  DF_SHAPE for sizes that don't fit,
   DF_UNSUPPORTED if the device lacks the operation.  */
#define X(op, flow)                          \
    DF_EXPORT DF_MUST_USE df_status df_##op( \
        struct df_stream *stream, const struct df_##op##_args *args);
DF_OPS(X)
#undef X

DF_END_DECLS
#endif
