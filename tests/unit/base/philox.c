#include <config.h>

#include "dflash/philox.h"
#include "tap/tap.h"

/* The vectors that Random123 publishes for philox4x32-10.  The last one is
   digits of pi.  */
/* clang-format off */
static const struct {
    const char *label;
    uint64_t key;
    uint32_t counter[4], wanted[4];
} vectors[] = {
    {"zeros", 0,
     {0, 0, 0, 0},
     {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
    {"ones", UINT64_C(0xffffffffffffffff),
     {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff},
     {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
    {"pi", UINT64_C(0x299f31d0a4093822),
     {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
     {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
};
/* clang-format on */

int
main(void)
{
    plan(3 + 3);
    for (int i = 0; i < 3; i++) {
        const uint32_t *c = vectors[i].counter, *w = vectors[i].wanted;
        struct df_philox p = df_philox(vectors[i].key, c[0], c[1], c[2], c[3]);

        ok(p.v[0] == w[0] && p.v[1] == w[1] && p.v[2] == w[2]
               && p.v[3] == w[3],
           "philox of %s", vectors[i].label);
    }
    ok(df_uniform(0) == 0 && df_uniform(0xff) == 0, "uniform begins at 0");
    ok(df_uniform(0xffffffff) == 1 - 0x1p-24f, "and ends below 1");
    ok(df_key(1, DF_KEY_NOISE) != df_key(1, DF_KEY_ANCHORS)
           && df_key(1, DF_KEY_NOISE) != df_key(2, DF_KEY_NOISE),
       "keys differ by purpose and by seed");
    return 0;
}
