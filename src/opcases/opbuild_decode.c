/* The buffers and arguments of the cases, continued: tokens drawn.  */

#include <config.h>

#include "opcases/opbuild.h"

static double
some_request(const struct oprun *r, size_t i)
{
    (void) r;
    return (double) (i / 5) * 0x1p33;
}

static double
some_place(const struct oprun *r, size_t i)
{
    (void) r;
    return (double) (3 * i + 7);
}

static struct df_draw
build_draw(struct oprun *r, size_t R)
{
    struct df_draw draw = {.key = 0x123456789abcdef0u};

    if (r->c->flags & OPCASE_PLAIN)
        return draw;
    draw.temperature = 0.75f;
    draw.request = op_filled(r, "request", OPBUF_U64, R, some_request);
    draw.place = op_filled(r, "place", OPBUF_I32, R, some_place);
    return draw;
}

/* Sizes: R, V, keep.  Logits are exact in bf16, so that there are ties.  */
void
op_build_pick(struct oprun *r)
{
    size_t R = r->c->d[0], V = r->c->d[1];
    struct df_pick_args *a = &r->args.pick;

    *a = (struct df_pick_args){.R = R,
                               .V = V,
                               .keep = r->c->d[2],
                               .ldz = op_ld(r, V),
                               .drafter = r->c->d[2] > 0};
    a->token = op_added_to(r, "token", OPBUF_I32, R);
    a->z = op_input(r, "z", OPBUF_F32, op_spread(R, V, a->ldz), -4, 4);
    a->draw = build_draw(r, R);
}

/* Sizes: B, b, V, forced.  With few tokens, some stay.  */
void
op_build_verify(struct oprun *r)
{
    size_t B = r->c->d[0], b = r->c->d[1], V = r->c->d[2];
    struct df_verify_args *a = &r->args.verify;

    *a = (struct df_verify_args){
        .B = B, .b = b, .V = V, .ldz = op_ld(r, V), .forced = r->c->d[3]};
    a->result = op_added_to(r, "result", OPBUF_I32, B * (b + 1));
    a->z = op_input(r, "z", OPBUF_F32, op_spread(B * b, V, a->ldz), -2, 2);
    a->draft =
        op_input(r, "draft", OPBUF_F32, op_spread(B * b, V, a->ldz), -2, 2);
    if (r->c->flags & OPCASE_PLAIN)
        op_moves(r, 0); /* what is likeliest needs no look at the drafter */
    a->ids = op_input(r, "ids", OPBUF_I32, B * b, 0, (double) V);
    a->draw = build_draw(r, B * b);
}
