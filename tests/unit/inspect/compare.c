/* How far captures are apart.  */

#include <config.h>

#include <math.h>

#include "dflash/compare.h"
#include "unit/inspect/samples.h"

static struct df_compare *
compare(const struct capture *a, const struct capture *b)
{
    struct df_compare *c;
    uint64_t token;

    if (df_compare_new(&c, &a->h, &b->h) != DF_OK)
        bail("%s", df_error_last()->message);
    for (size_t i = 0; i < SAMPLES; i++)
        if (!df_compare_sample(c, &a->h, &a->samples[i].s, &b->h,
                               &b->samples[i].s, &token))
            bail("sample %zu differs at token %d", i, (int) token);
    return c;
}

static struct capture *
make(enum df_capture_layout layout)
{
    random_state = 1;
    return capture_new(layout, true, true);
}

static void
test_equal(void)
{
    struct capture *a = make(DF_CAPTURE_PACKED), *b = make(DF_CAPTURE_PACKED);
    struct capture *split = make(DF_CAPTURE_SPLIT);
    int equal = 1;

    row_of(a, 0, 0, 0)[0] = row_of(b, 0, 0, 0)[0] = 0x7fc0;
    struct df_compare *c = compare(a, b);
    for (size_t k = 0; k < MAX_C; k++) {
        struct df_layer_distance d = df_compare_layer(c, k);

        equal &= d.error == 0 && d.worst == 0 && d.rows == SAMPLES * N
                 && d.equal == d.rows;
    }
    ok(equal, "equal captures are equal, NaN included");
    df_compare_free(c);
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t k = 0; k < MAX_C; k++)
            for (size_t t = 0; t < N; t++)
                memcpy(row_of(split, i, k, t), row_of(a, i, k, t),
                       H * sizeof(uint16_t));
    for (size_t i = 0; i < SAMPLES; i++)
        memcpy(split->samples[i].ids, a->samples[i].ids,
               sizeof a->samples->ids);
    c = compare(a, split);
    equal = 1;
    for (size_t k = 0; k < MAX_C; k++)
        equal &= df_compare_layer(c, k).equal == SAMPLES * N;
    ok(equal, "and so are layouts");
    df_compare_free(c);
    free(a);
    free(b);
    free(split);
}

static void
test_apart(void)
{
    struct capture *a = make(DF_CAPTURE_PACKED), *b = make(DF_CAPTURE_PACKED);
    double difference = 0, squares = 0, row = 0, row_squares = 0;

    for (size_t e = 0; e < H; e++) {
        uint16_t *x = row_of(a, 2, 1, 33) + e;
        double y = df_f32_from_bf16(*x);

        *x = df_bf16_from_f32((float) y * 1.25f);
        row += pow(df_f32_from_bf16(*x) - y, 2);
        row_squares += y * y;
    }
    row_of(a, 3, 0, 0)[4] = 0x7fc0;
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t t = 0; t < N; t++)
            for (size_t e = 0; e < H; e++)
                squares += pow(df_f32_from_bf16(row_of(b, i, 1, t)[e]), 2);
    difference = row;
    struct df_compare *c = compare(a, b);
    struct df_layer_distance d = df_compare_layer(c, 1);
    ok(fabs(d.error / sqrt(difference / squares) - 1) < 1e-5,
       "the error of a layer");
    ok(fabs(d.worst / sqrt(row / row_squares) - 1) < 1e-5
           && d.worst_index == 12 && d.worst_token == 33
           && d.equal == SAMPLES * N - 1,
       "and its worst row");
    ok(isinf(df_compare_layer(c, 0).error), "a new NaN is infinitely far");
    ok(df_compare_layer(c, 2).error == 0, "other layers are as they were");
    df_compare_free(c);
    free(a);
    free(b);
}

static void
test_refusals(void)
{
    struct capture *a = make(DF_CAPTURE_PACKED), *b = make(DF_CAPTURE_PACKED);
    struct df_compare *c;
    uint64_t token;

    b->h.hidden_size++;
    is_long(DF_INVALID, df_compare_new(&c, &a->h, &b->h),
            "another hidden size");
    b->h.hidden_size--;
    b->h.layer_ids[1]++;
    is_long(DF_INVALID, df_compare_new(&c, &a->h, &b->h), "other layers");
    b->h.layer_ids[1] = -1;
    is_long(DF_OK, df_compare_new(&c, &a->h, &b->h),
            "a layer that isn't known");
    b->samples[0].ids[N - 1]++;
    ok(!df_compare_sample(c, &a->h, &a->samples[0].s, &b->h, &b->samples[0].s,
                          &token)
           && token == N - 1,
       "the last token differs");
    b->samples[1].s.n--;
    ok(!df_compare_sample(c, &a->h, &a->samples[1].s, &b->h, &b->samples[1].s,
                          &token)
           && token == N - 1,
       "one is shorter");
    is_long(0, (long) df_compare_layer(c, 0).rows, "nothing was added");
    df_compare_free(c);
    free(a);
    free(b);
}

int
main(void)
{
    plan(2 + 4 + 6);
    test_equal();
    test_apart();
    test_refusals();
    return 0;
}
