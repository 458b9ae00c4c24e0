/* The buffers and arguments of the cases, continued: hidden states, rows,
   optimizer.  */

#include <config.h>

#include <math.h>

#include "opcases/opbuild.h"

static double
count_up(const struct oprun *r, size_t i)
{
    (void) r;
    return (double) i;
}

static double
some_sample(const struct oprun *r, size_t i)
{
    (void) r;
    return (double) (i / 7) * 0x1p31; /* beyond 32 bits too */
}

static struct df_noise
build_noise(struct oprun *r, size_t T)
{
    struct df_noise noise = {0};

    if (!(r->c->flags & OPCASE_NOISE))
        return noise;
    noise.amplitude = 0.25f;
    noise.key = 0x123456789abcdef0u;
    noise.sample = op_filled(r, "sample", OPBUF_U64, T, some_sample);
    noise.token = op_filled(r, "token", OPBUF_I32, T, count_up);
    return noise;
}

void
op_build_pack_hidden(struct oprun *r)
{
    size_t T = r->c->d[0], H = r->c->d[1];
    struct df_pack_hidden_args *a = &r->args.pack_hidden;

    *a = (struct df_pack_hidden_args){.T = T,
                                      .H = H,
                                      .feature = r->c->d[2],
                                      .ldo = op_ld(r, H),
                                      .ldx = op_ld(r, H + 1)};
    a->out = op_output(r, "out", OPBUF_BF16, op_spread(T, H, a->ldo));
    a->x = op_input(r, "x", OPBUF_ACT, op_spread(T, H, a->ldx), -8, 8);
    a->noise = build_noise(r, T);
    if (!(r->c->flags & OPCASE_CHECK))
        return;
    a->ldcheck = r->c->flags & OPCASE_WIDE_ROWS ? 3 : 0;
    a->check = op_output(r, "check", OPBUF_U64, op_spread(T, 1, a->ldcheck));
}

void
op_build_unpack_hidden(struct oprun *r)
{
    size_t T = r->c->d[0], H = r->c->d[1], K = r->c->d[2];
    struct df_unpack_hidden_args *a = &r->args.unpack_hidden;

    *a = (struct df_unpack_hidden_args){.T = T, .H = H, .K = K};
    a->f = op_output(r, "f", OPBUF_ACT, T * K * H);
    for (size_t i = 0; i < K; i++)
        a->src[i] = op_input(r, "src", OPBUF_BF16, T * H, -8, 8);
    a->noise = build_noise(r, T);
}

/* R rows of T, ascending and distinct.  */
static double
every_few(const struct oprun *r, size_t i)
{
    return floor((double) (i * r->c->d[2]) / (double) r->c->d[0]);
}

void
op_build_gather_rows(struct oprun *r)
{
    size_t R = r->c->d[0], C = r->c->d[1], T = r->c->d[2];
    struct df_gather_rows_args *a = &r->args.gather_rows;

    *a = (struct df_gather_rows_args){
        .R = R, .C = C, .T = T, .ldy = op_ld(r, C)};
    a->y = op_output(r, "y", OPBUF_ACT, op_spread(R, C, a->ldy));
    a->x = op_input(r, "x", OPBUF_ACT, T * C, -1, 1);
    op_moves(r, R * C);
    a->index = op_input(r, "index", OPBUF_I32, R, 0, (double) T);
}

/* Every third row is left out.  */
static double
some_rows(const struct oprun *r, size_t i)
{
    return i % 3 == 2 ? -1 : (double) (r->c->d[2] - 1) - every_few(r, i);
}

void
op_build_put_rows(struct oprun *r)
{
    size_t R = r->c->d[0], C = r->c->d[1], T = r->c->d[2], put = R - R / 3;
    struct df_put_rows_args *a = &r->args.put_rows;

    *a = (struct df_put_rows_args){
        .R = R, .C = C, .T = T, .ldy = op_ld(r, C), .ldx = op_ld(r, C + 1)};
    a->y = op_added_to(r, "y", OPBUF_ACT, op_spread(T, C, a->ldy));
    op_moves(r, put * C);
    a->x = op_input(r, "x", OPBUF_ACT, op_spread(R, C, a->ldx), -1, 1);
    op_moves(r, put * C);
    a->index = op_filled(r, "index", OPBUF_I32, R, some_rows);
}

void
op_build_scatter_rows(struct oprun *r)
{
    size_t R = r->c->d[0], C = r->c->d[1], T = r->c->d[2];
    struct df_scatter_rows_args *a = &r->args.scatter_rows;

    *a = (struct df_scatter_rows_args){.R = R, .C = C, .T = T};
    a->y = op_output(r, "y", OPBUF_ACT, T * C);
    a->x = op_input(r, "x", OPBUF_ACT, R * C, -1, 1);
    a->index = op_filled(r, "index", OPBUF_I32, R, every_few);
    a->scale = op_input(r, "scale", OPBUF_F32, R, 0, 2);
}

void
op_build_add(struct oprun *r)
{
    size_t N = r->c->d[0];

    r->args.add = (struct df_add_args){.N = N};
    r->args.add.a = op_added_to(r, "a", OPBUF_F32, N);
    r->args.add.b = op_input(r, "b", OPBUF_F32, N, -1, 1);
}

void
op_build_sum_squares(struct oprun *r)
{
    size_t N = r->c->d[0];

    r->args.sum_squares = (struct df_sum_squares_args){.N = N};
    r->args.sum_squares.sum = op_output(r, "sum", OPBUF_F64, 1);
    r->args.sum_squares.x = op_input(r, "x", OPBUF_F32, N, -1, 1);
}

/* norm, factor, applied, skipped, skipped in a row.  */
static double
some_state(const struct oprun *r, size_t i)
{
    const double state[] = {3, r->c->flags & OPCASE_PLAIN ? 0 : 0.25, 7, 2, 1};

    return state[i];
}

void
op_build_clip(struct oprun *r)
{
    r->args.clip = (struct df_clip_args){.scale = 0.5, .max_norm = 1};
    r->args.clip.state = op_filled(r, "state", OPBUF_STATE, 5, some_state);
    r->bufs[0].output = true;
    r->args.clip.sum = op_input(r, "sum", OPBUF_F64, 1, (double) r->c->d[0],
                                (double) r->c->d[0] + 1);
}

void
op_build_adamw(struct oprun *r)
{
    size_t N = r->c->d[0];
    struct df_adamw_args *a = &r->args.adamw;

    *a = (struct df_adamw_args){.N = N,
                                .lr = 1e-2f,
                                .beta1 = 0.9f,
                                .beta2 = 0.999f,
                                .eps = 1e-8f,
                                .weight_decay = 0.1f};
    a->w = op_added_to(r, "w", OPBUF_F32, N);
    a->m = op_added_to(r, "m", OPBUF_F32, N);
    a->v = op_input(r, "v", OPBUF_F32, N, 0, 1);
    r->bufs[2].output = true;
    a->g = op_input(r, "g", OPBUF_F32, N, -4, 4);
    a->state = op_filled(r, "state", OPBUF_STATE, 5, some_state);
    if (!(r->c->flags & OPCASE_PLAIN))
        a->w_act = op_output(r, "w_act", OPBUF_ACT, N);
}
