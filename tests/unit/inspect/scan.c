/* What a scan finds, and where: one kind of damage after another.  */

#include <config.h>

#include "unit/inspect/samples.h"

enum {
    QUIET_NAN = 0x7fc0,
    INFINITE = 0x7f80
};

static void
test_clean(void)
{
    for (int i = 0; i < 8; i++) {
        struct capture *c = capture_new(
            i & 1 ? DF_CAPTURE_SPLIT : DF_CAPTURE_PACKED, i & 2, i & 4);

        says("", c, "random states are clean");
        struct df_scan *scan = scan_all(c, (struct df_scan_options){0});
        const struct df_scan_counts *n = df_scan_counts(scan);

        ok(n->good == SAMPLES && n->samples == SAMPLES
               && n->tokens == SAMPLES * N && n->supervised == SAMPLES * N / 2
               && n->bytes == SAMPLES * N * df_capture_token_bytes(&c->h),
           "and counted: %s%s%s", i & 1 ? "split" : "packed",
           i & 2 ? ", last hidden state" : "", i & 4 ? ", checks" : "");
        df_scan_free(scan);
        free(c);
    }
}

/* One element in any corner: found there, and as what.  */
static void
test_elements(uint16_t bits, const char *word)
{
    static const struct {
        size_t i, k, t, e;
    } places[] = {
        {0, 0, 0,     0    },
        {0, 0, 0,     H - 1},
        {1, 2, N - 1, 15   },
        {2, 1, 31,    16   },
        {2, 3, 32,    31   },
        {3, 3, N - 1, H - 1},
        {3, 2, 1,     32   },
    };

    for (size_t p = 0; p < sizeof places / sizeof *places; p++)
        for (int layout = 0; layout < 2; layout++) {
            struct capture *c =
                capture_new((enum df_capture_layout) layout, true, true);
            size_t i = places[p].i, k = places[p].k, t = places[p].t;
            char wanted[160];
            int at;

            row_of(c, i, k, t)[places[p].e] = bits;
            snprintf(wanted, sizeof wanted, "%s %zu:%zu-%zu/%zu x1", word, i,
                     t, t, k);
            at = (int) strlen(wanted);
            snprintf(wanted + at, sizeof wanted - (size_t) at,
                     " check %zu:%zu-%zu/%zu x1", i, t, t, k);
            says(wanted, c, "one element that changed after packing");
            seal(c);
            wanted[at] = '\0';
            says(wanted, c, "one element that was so before");
            free(c);
        }
}

/* Rows FIRST to LAST of sample I, layer KK.  */
struct rows {
    size_t i, k, first, last;
};

static void
set_rows(struct capture *c, struct rows r, size_t from, size_t to,
         uint16_t bits)
{
    for (size_t t = r.first; t <= r.last; t++)
        for (size_t e = from; e < to; e++)
            row_of(c, r.i, r.k, t)[e] = bits;
}

static void
test_fills(void)
{
    /* clang-format off */
    static const struct {
        const char *label;
        struct rows rows;
        size_t from, to;
        uint16_t bits;
        const char *wanted;
    } cases[] = {
        {"rows of zeros",                    {1, 0, 0, 3}, 0, H,     0,      "zero 1:0-3/0 x4"                    },
        {"of negative zeros",
         {1, 2, N - 1, N - 1},
         0,                                                   H,
         0x8000,                                                             "zero 1:69-69/2 x1"                  },
        {"half a row of zeros",              {1, 0, 0, 3}, 0, H / 2, 0,      ""                                   },
        {"a whole sample of zeros",
         {3, 1, 0, N - 1},
         0,                                                   H,
         0,                                                                  "zero 3:0-69/1 x70"                  },
        {"rows of one value",
         {2, 1, 5, 9},
         0,                                                   H,
         0x3f80,                                                             "constant 2:5-9/1 x5"                },
        {"all but one element of one value", {2, 1, 5, 9}, 1, H,     0x3f80, ""                                   },
        {"a NaN everywhere",
         {0, 3, 7, 8},
         0,                                                   H,
         0xffc0,                                                             "nan 0:7-8/3 x66 constant 0:7-8/3 x2"},
        {"memory set to FF",
         {0, 3, 7, 8},
         0,                                                   H,
         0xffff,                                                             "nan 0:7-8/3 x66 poison 0:7-8/3 x66" },
        {"memory set to CD",                 {0, 0, 0, 0}, 0, H,     0xcdcd, "poison 0:0-0/0 x33"                 },
        {"eight elements of it",
         {0, 0, 0, 1},
         25,                                                  H,
         0xcdcd,                                                             "poison 0:0-1/0 x16"                 },
        {"memory of quiet NaN",
         {2, 0, 1, 2},
         0,                                                   16,
         QUIET_NAN,                                                          "nan 2:1-2/0 x32 poison 2:1-2/0 x32" },
        {"memory set to AB",                 {2, 0, 1, 2}, 0, H,     0xabab, "poison 2:1-2/0 x66"                 },
    };
    /* clang-format on */

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct capture *c = capture_new(DF_CAPTURE_PACKED, true, true);

        set_rows(c, cases[n].rows, cases[n].from, cases[n].to, cases[n].bits);
        seal(c);
        says(cases[n].wanted, c, cases[n].label);
        free(c);
    }
}

/* Rows of R get those from token T of sample J, layer L.  */
static void
copy_rows(struct capture *c, struct rows r, size_t j, size_t l, size_t from)
{
    for (size_t t = r.first; t <= r.last; t++)
        memcpy(row_of(c, r.i, r.k, t), row_of(c, j, l, t - r.first + from),
               H * sizeof(uint16_t));
}

static void
test_copies(void)
{
    /* clang-format off */
    static const struct {
        const char *label;
        struct rows rows;
        size_t i, k, t;
        bool sealed;
        const char *wanted;
    } cases[] = {
        {"a stale buffer, packed",
         {2, 1, 10, 19},
         1, 1,
         10, true,
         "copy 2:10-19/1 x10=1:10/1"                 },
        {"a stale buffer, copied out",
         {2, 1, 10, 19},
         1, 1,
         10, false,
         "check 2:10-19/1 x10=1:10/1"                },
        {"shifted by a token",
         {2, 0, 1, N - 1},
         1, 0,
         0,  false,
         "check 2:1-69/0 x69=1:0/0"                  },
        {"a row twice",
         {2, 2, 5, 5},
         2, 2,
         4,  true,
         "repeat 2:5-5/2 x1=2:4/2"                   },
        {"a row twice, copied out",
         {2, 2, 5, 5},
         2, 2,
         4,  false,
         "check 2:5-5/2 x1=2:4/2"                    },
        {"another layer's",
         {0, 2, 0, N - 1},
         0, 0,
         0,  true,
         "copy 0:0-69/2 x70=0:0/0"                   },
        {"the last layer as last hidden state",
         {0, 3, 0, N - 1},
         0, 2,
         0,  true,
         ""                                          },
        {"what comes only later",
         {0, 1, 3, 4},
         2, 1,
         50, false,
         "check 0:3-4/1 x2 source 2:50-51/1 x2=0:3/1"},
    };
    /* clang-format on */

    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct capture *c = capture_new(DF_CAPTURE_SPLIT, true, true);

        copy_rows(c, cases[n].rows, cases[n].i, cases[n].k, cases[n].t);
        if (cases[n].sealed)
            seal(c);
        says(cases[n].wanted, c, cases[n].label);
        free(c);
    }
}

static void
test_torn(void)
{
    struct capture *c = capture_new(DF_CAPTURE_PACKED, false, true);

    copy_rows(c, (struct rows){3, 1, 20, 29}, 0, 1, 20);
    copy_rows(c, (struct rows){3, 1, 30, 44}, 2, 1, 30);
    says("check 3:20-29/1 x10=0:20/1 check 3:30-44/1 x15=2:30/1", c,
         "a torn buffer: each part with its source");
    free(c);
}

static void
test_swap(void)
{
    struct capture *c = capture_new(DF_CAPTURE_PACKED, false, true);
    static uint16_t aside[N * K * H];

    memcpy(aside, c->samples[0].hidden, sizeof aside);
    memcpy(c->samples[0].hidden, c->samples[2].hidden, sizeof aside);
    memcpy(c->samples[2].hidden, aside, sizeof aside);
    says("check 0:0-69/0 x70 check 0:0-69/1 x70 check 0:0-69/2 x70 "
         "check 2:0-69/0 x70=0:0/0 source 2:0-69/0 x70=0:0/0 "
         "check 2:0-69/1 x70=0:0/1 source 2:0-69/1 x70=0:0/1 "
         "check 2:0-69/2 x70=0:0/2 source 2:0-69/2 x70=0:0/2",
         c, "swapped samples, and whose rows they have");
    free(c);
}

static void
test_bits(void)
{
    struct capture *c = capture_new(DF_CAPTURE_PACKED, true, true);
    int found = 0;

    for (int n = 0; n < 500; n++) {
        size_t i = rnd() % SAMPLES, k = rnd() % 4, t = rnd() % N;
        uint16_t *at = row_of(c, i, k, t) + rnd() % H;
        uint16_t bit = (uint16_t) (1u << rnd() % 16);
        char wanted[64];
        struct df_scan *scan;

        *at ^= bit;
        scan = scan_all(c, (struct df_scan_options){0});
        snprintf(wanted, sizeof wanted, "check %zu:%zu-%zu/%zu x1", i, t, t,
                 k);
        found += strstr(said, wanted) != NULL
                 && df_scan_counts(scan)->good == SAMPLES - 1;
        df_scan_free(scan);
        *at ^= bit;
    }
    is_long(500, found, "any flipped bit is found where it is");
    free(c);
}

int
main(void)
{
    plan(16 + 2 * 28 + 12 + 8 + 3);
    test_clean();
    test_elements(QUIET_NAN, "nan");
    test_elements(INFINITE, "inf");
    test_fills();
    test_copies();
    test_torn();
    test_swap();
    test_bits();
    return 0;
}
