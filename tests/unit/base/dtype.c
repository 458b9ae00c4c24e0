#include <config.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "dflash/dtype.h"
#include "tap/tap.h"

static const struct {
    uint32_t f32;
    uint16_t bf16, f16;
    const char *what;
} narrowing[] = {
    {0x00000000, 0x0000, 0x0000, "zero"                            },
    {0x80000000, 0x8000, 0x8000, "minus zero"                      },
    {0x3f800000, 0x3f80, 0x3c00, "one"                             },
    {0x3f808000, 0x3f80, 0x3c04, "a tie of bf16 goes to even below"},
    {0x3f818000, 0x3f82, 0x3c0c, "a tie of bf16 goes to even above"},
    {0x3f808001, 0x3f81, 0x3c04, "just above the tie"              },
    {0x3f801000, 0x3f80, 0x3c00, "a tie of f16 goes to even below" },
    {0x3f803000, 0x3f80, 0x3c02, "a tie of f16 goes to even above" },
    {0x7f7fffff, 0x7f80, 0x7c00, "the largest float is infinite"   },
    {0x7f7f7fff, 0x7f7f, 0x7c00, "the largest that bf16 keeps"     },
    {0x477fefff, 0x4780, 0x7bff, "the largest that f16 keeps"      },
    {0x477ff000, 0x4780, 0x7c00, "65520 is infinite in f16"        },
    {0x7f800000, 0x7f80, 0x7c00, "infinity"                        },
    {0xff800000, 0xff80, 0xfc00, "minus infinity"                  },
    {0x7fc00000, 0x7fc0, 0x7e00, "NaN"                             },
    {0x7f800001, 0x7fc0, 0x7e00, "a signalling NaN becomes quiet"  },
    {0xffc12345, 0xffc1, 0xfe09, "a NaN keeps sign and payload"    },
    {0x00000001, 0x0000, 0x0000, "the smallest float"              },
    {0x00010000, 0x0001, 0x0000, "the smallest bf16"               },
    {0x00008000, 0x0000, 0x0000, "a tie of bf16 subnormals"        },
    {0x00018000, 0x0002, 0x0000, "another one"                     },
    {0x33800000, 0x3380, 0x0001, "the smallest f16"                },
    {0x33000000, 0x3300, 0x0000, "a tie of f16 subnormals"         },
    {0x33000001, 0x3300, 0x0001, "just above it"                   },
    {0x33c00000, 0x33c0, 0x0002, "another tie"                     },
    {0xb8800000, 0xb880, 0x8400, "the smallest normal f16"         },
    {0x387fffff, 0x3880, 0x0400, "a subnormal that rounds to it"   },
};

enum {
    N_NARROWING = sizeof narrowing / sizeof narrowing[0]
};

/* What a half is worth, from its definition.  */
static double
worth(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 0x3ff;
    double x = exponent ? ldexp(1024 + mantissa, exponent - 25)
                        : ldexp(mantissa, -24);

    return h >> 15 ? -x : x;
}

static int
halves_are_exact(void)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        float x = df_f32_from_f16((uint16_t) h);
        int special = (h & 0x7c00) == 0x7c00;

        if (special && (h & 0x3ff ? !isnan(x) : !isinf(x)))
            return 0;
        if (!special && x != worth((uint16_t) h))
            return 0;
        if ((signbit(x) != 0) != h >> 15 && !isnan(x))
            return 0;
        if (!isnan(x) && df_f16_from_f32(x) != h)
            return 0;
    }
    return 1;
}

static int
bf16_returns(void)
{
    for (uint32_t h = 0; h < 0x10000; h++) {
        uint16_t back = df_bf16_from_f32(df_f32_from_bf16((uint16_t) h));
        int nan = (h & 0x7fff) > 0x7f80;

        if (back != (nan ? (h | 0x40) : h))
            return 0;
    }
    return 1;
}

/* A random float becomes that of its two neighbouring halves which is
   nearer, or at equal distance the even one.  */
static int
rounds_to_nearest(void)
{
    uint64_t state = 1;

    for (int i = 0; i < 1000000; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        uint32_t bits = 0x33000000u + (uint32_t) (state >> 32) % 0x147fefffu;
        float x = df_f32_from_bits(bits);
        uint16_t h = df_f16_from_f32(x);
        double error = fabs(x - worth(h));

        for (int step = -1; step <= 1; step += 2) {
            double other = fabs(x - worth((uint16_t) (h + step)));

            if (h == 0 && step < 0)
                continue;
            if (other < error || (other == error && h & 1))
                return 0;
        }
    }
    return 1;
}

static void
check_arrays(void)
{
    uint8_t odd[1 + 3 * 4];
    const float in[3] = {1.5f, -2, 0.25f};
    float out[3];
    static const enum df_dtype types[] = {DF_BF16, DF_F16, DF_F32};

    for (int i = 0; i < 3; i++) {
        memset(out, 0, sizeof out);
        df_convert_from_f32(odd + 1, types[i], in, 3);
        df_convert_to_f32(out, odd + 1, types[i], 3);
        ok(memcmp(in, out, sizeof in) == 0,
           "%s arrays convert at an odd address", df_dtype_name(types[i]));
    }
}

int
main(void)
{
    enum df_dtype type = DF_BOOL;

    plan(2 * N_NARROWING + 3 + 3 + 5);
    for (int i = 0; i < N_NARROWING; i++) {
        float x = df_f32_from_bits(narrowing[i].f32);

        is_long(narrowing[i].bf16, df_bf16_from_f32(x), "bf16: %s",
                narrowing[i].what);
        is_long(narrowing[i].f16, df_f16_from_f32(x), "f16: %s",
                narrowing[i].what);
    }
    ok(halves_are_exact(), "every f16 widens to its worth and returns");
    ok(bf16_returns(), "every bf16 returns, NaN quiet");
    ok(rounds_to_nearest(), "a million floats round to the nearest f16");
    check_arrays();
    ok(df_dtype_from_name("BF16", &type) && type == DF_BF16,
       "BF16 is found by name");
    ok(!df_dtype_from_name("F99", &type), "F99 is not");
    is_long(8, (long) df_dtype_size(DF_I64), "I64 has 8 bytes");
    is_long(1, (long) df_dtype_size(DF_F8_E4M3), "F8_E4M3 has 1 byte");
    ok(!df_dtype_is_float(DF_F64), "F64 is no type for weights");
    return 0;
}
