/* Tokens and masks, equal rows that may be, norms, statistics, memory.  */

#include <config.h>

#include <math.h>

#include "unit/inspect/samples.h"

static struct capture *
clean(void)
{
    return capture_new(DF_CAPTURE_PACKED, false, true);
}

static void
test_ids(void)
{
    struct capture *c = clean();

    c->samples[0].ids[0] = -1;
    c->samples[1].ids[N - 1] = 1000;
    c->samples[2].ids[3] = c->samples[2].ids[4] = INT32_MAX;
    c->samples[2].ids[6] = 1001;
    c->samples[3].ids[0] = 999;
    says("id 0:0-0 x1 id 1:69-69 x1 id 2:3-4 x2 id 2:6-6 x1", c,
         "ids outside the vocabulary");
    c->h.vocab_size = 0;
    says("id 0:0-0 x1", c, "without one only negative ids are");
    struct df_scan *scan =
        scan_all(c, (struct df_scan_options){.vocab_size = 1001});
    is_long(2, (long) df_scan_counts(scan)->invalid_ids,
            "the caller knows the vocabulary better");
    df_scan_free(scan);
    free(c);
}

static void
test_masks(void)
{
    struct capture *c = clean();

    memset(c->samples[0].mask, 0, N);
    memset(c->samples[1].mask, 0, N);
    c->samples[1].mask[4] = c->samples[1].mask[6] = 1;
    memset(c->samples[2].mask, 0, N);
    c->samples[2].mask[N - 2] = c->samples[2].mask[N - 1] = 1;
    c->samples[3].mask[0] = 2;
    c->samples[3].mask[N - 1] = 255;
    says("anchor 0 x0 anchor 1 x0 mask 3:0-0 x1 mask 3:69-69 x1", c,
         "masks of other numbers, and without an anchor");
    struct df_scan *scan = scan_all(c, (struct df_scan_options){0});
    is_long(1, (long) df_scan_counts(scan)->zero_supervision,
            "one has no supervision at all");
    is_long(1, (long) df_scan_counts(scan)->non_binary_masks,
            "one isn't binary");
    is_long(1, (long) df_scan_counts(scan)->good, "one is good");
    df_scan_free(scan);
    free(c);
}

static void
test_samples(void)
{
    struct capture *c = clean();

    c->samples[2].s.id = c->samples[0].s.id;
    c->samples[3].s.n = 0;
    says("twin 2 x1 empty 3 x0", c, "an id twice, a sample without tokens");
    struct df_scan *scan = scan_all(c, (struct df_scan_options){0});
    is_long(1, (long) df_scan_counts(scan)->nulls, "which counts as null");
    df_scan_free(scan);
    free(c);
}

static void
test_prefixes(void)
{
    struct capture *c = clean();
    size_t row = K * H * sizeof(uint16_t);

    /* 40 tokens alike, and so are their rows.  */
    memcpy(c->samples[2].ids, c->samples[1].ids, 40 * sizeof(int32_t));
    memcpy(c->samples[2].hidden, c->samples[1].hidden, 40 * row);
    seal(c);
    says("", c, "rows of the same beginning may be equal");
    c->samples[2].ids[20]++;
    says("copy 2:20-20/0 x1=1:20/0 copy 2:20-20/1 x1=1:20/1 "
         "copy 2:20-20/2 x1=1:20/2",
         c, "but not that of another token");
    free(c);
}

/* Rows of one token, whatever is before it: low layers may hardly see.  */
static void
test_repetition(void)
{
    struct capture *c = clean();

    for (size_t t = 5; t < N; t++)
        c->samples[0].ids[t] = c->samples[3].ids[9] = 7;
    for (size_t t = 6; t < N; t++)
        memcpy(row_of(c, 0, 0, t), row_of(c, 0, 0, 5),
               K * H * sizeof(uint16_t));
    memcpy(row_of(c, 3, 0, 9), row_of(c, 0, 0, 5), K * H * sizeof(uint16_t));
    seal(c);
    says("", c, "rows of the same token may be equal");
    c->samples[0].ids[20] = 8;
    says("repeat 0:20-21/0 x2=0:19/0 repeat 0:20-21/1 x2=0:19/1 "
         "repeat 0:20-21/2 x2=0:19/2",
         c, "rows of others may not");
    free(c);

    c = clean();
    for (size_t t = 1; t < N; t++)
        c->samples[1].ids[t] = (int32_t) t;
    for (size_t t = 1; t < N; t++)
        memcpy(row_of(c, 1, 1, t), row_of(c, 1, 1, 0), H * sizeof(uint16_t));
    seal(c);
    says("repeat 1:1-69/1 x69=1:0/1", c, "a stuck buffer");
    free(c);
}

static void
scale_rows(struct capture *c, size_t i, size_t k, size_t first, size_t last,
           float by)
{
    for (size_t t = first; t <= last; t++)
        for (size_t e = 0; e < H; e++) {
            uint16_t *x = row_of(c, i, k, t) + e;

            *x = df_bf16_from_f32(df_f32_from_bf16(*x) * by);
        }
    seal(c);
}

static void
test_norms(void)
{
    static const struct {
        const char *label;
        float by;
        const char *wanted;
    } cases[] = {
        {"a norm of a thousand times the usual is usual", 1000,  ""               },
        {"of a hundred thousand times is absurd",         1e5f,  "norm 2:0-1/1 x2"},
        {"and a hundred thousandth",                      1e-5f, "norm 2:0-1/1 x2"},
        {"near the end of what floats can",               1e36f, "norm 2:0-1/1 x2"},
    };

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct capture *c = clean();

        scale_rows(c, 2, 1, 0, 1, cases[n].by);
        says(cases[n].wanted, c, cases[n].label);
        free(c);
    }
    struct capture *c = clean();
    scale_rows(c, 0, 0, 0, 0, 1e30f);
    says("norm 0:0-0/0 x1", c, "also in the very first row");
    struct df_scan *scan =
        scan_all(c, (struct df_scan_options){.norm_ratio = 1e35});
    ok(strcmp(said, "norm 0:0-0/0 x1") == 0, "whatever is usual");
    df_scan_free(scan);
    free(c);
}

static int
near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

static void
test_statistics(void)
{
    struct capture *c = clean();
    double sum = 0, squares = 0, logs = 0, min = 0, max = 0;
    double count = SAMPLES * N * H;

    row_of(c, 1, 2, 5)[7] = 0x7fc0;
    for (size_t e = 0; e < H; e++)
        row_of(c, 3, 2, 0)[e] = (uint16_t) (0x4100 + e);
    scale_rows(c, 3, 2, 1, 1, 50);
    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t t = 0; t < N; t++) {
            double norm = 0;

            if (i == 1 && t == 5) {
                count -= H;
                continue;
            }
            for (size_t e = 0; e < H; e++) {
                double x = df_f32_from_bf16(row_of(c, i, 2, t)[e]);

                sum += x;
                norm += x * x;
                min = fmin(min, x);
                max = fmax(max, x);
            }
            squares += norm;
            logs += log(norm) / 2;
        }
    struct df_scan *scan = scan_all(c, (struct df_scan_options){0});
    struct df_layer_stats s = df_scan_layer(scan, 2);
    is_long(SAMPLES * N - 1, (long) s.rows, "statistics are of whole rows");
    is_long(1, (long) s.damaged, "damaged ones are counted");
    ok(near(s.mean, sum / count), "mean");
    ok(near(s.deviation, sqrt(squares / count - pow(sum / count, 2))),
       "deviation");
    ok(near(s.norm, exp(logs * H / count)), "norm");
    ok(s.min == min && s.max == max, "range");
    is_long(1, (long) s.outliers, "outliers");
    is_long(0, (long) df_scan_layer(scan, 1).outliers, "by layer");
    df_scan_free(scan);
    free(c);
}

/* With a table of few rows, what is recent is found all the same.  */
static void
test_memory(void)
{
    struct capture *c = clean();
    struct df_scan_options o = {.table_bytes = 1024};

    memcpy(row_of(c, 2, 1, 9), row_of(c, 2, 1, 7), H * sizeof(uint16_t));
    seal(c);
    struct df_scan *scan = scan_all(c, o);
    ok(strcmp(said, "copy 2:9-9/1 x1=2:7/1") == 0, "a table of 32 rows");
    df_scan_free(scan);
    free(c);
}

static void
test_words(void)
{
    int distinct = 1;

    for (int i = 0; i < DF_N_FINDINGS; i++)
        for (int j = 0; j < i; j++)
            distinct &= strcmp(df_finding_word((enum df_finding_kind) i),
                               df_finding_word((enum df_finding_kind) j))
                        != 0;
    ok(distinct && df_finding_text(DF_FIND_NAN)[0] != '\0',
       "kinds have words of their own");
}

/* What others found: counted in the six counts of an audit.  */
static void
test_audit(void)
{
    struct capture *c = clean();
    struct df_scan *scan = scan_all(c, (struct df_scan_options){0});
    /* clang-format off */
    static const struct df_finding found[] = {
        {.kind = DF_FIND_READ, .k = DF_NO_LAYER},
        {.kind = DF_FIND_FILE, .k = DF_NO_LAYER},
        {.kind = DF_FIND_SHAPE, .k = DF_NO_LAYER},
        {.kind = DF_FIND_HOLE, .has_sample = true, .index = 3, .k = 0},
        {.kind = DF_FIND_HOLE, .has_sample = true, .index = 3, .k = 1},
        {.kind = DF_FIND_HOLE, .has_sample = true, .index = 4, .k = 0},
    };
    /* clang-format on */

    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        df_scan_add(scan, &found[i]);
    const struct df_scan_counts *n = df_scan_counts(scan);
    ok(n->read_errors == 2 && n->length_mismatches == 1 && n->nulls == 3
           && n->findings == 6 && n->by_kind[DF_FIND_HOLE] == 3,
       "findings of others are counted");
    df_scan_free(scan);
    free(c);
}

int
main(void)
{
    plan(3 + 4 + 2 + 2 + 3 + 6 + 8 + 1 + 1 + 1);
    test_ids();
    test_masks();
    test_samples();
    test_prefixes();
    test_repetition();
    test_norms();
    test_statistics();
    test_memory();
    test_words();
    test_audit();
    return 0;
}
