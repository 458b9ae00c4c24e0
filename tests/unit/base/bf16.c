#include <config.h>

#include <math.h>

#include "dflash/dtype.h"
#include "tap/tap.h"

static const struct {
    uint32_t f32;
    uint16_t bf16;
    const char *label;
} cases[] = {
    {0x3f800000, 0x3f80, "1"                                },
    {0x3f808000, 0x3f80, "a tie goes down to even"          },
    {0x3f818000, 0x3f82, "a tie goes up to even"            },
    {0x3f808001, 0x3f81, "a little above a tie goes up"     },
    {0x3f80ffff, 0x3f81, "the most below the next"          },
    {0x3fffffff, 0x4000, "the carry reaches the exponent"   },
    {0x7f7fc99e, 0x7f80, "3.4e38 becomes infinity"          },
    {0x7f7f7fff, 0x7f7f, "the largest that doesn't"         },
    {0x7f800000, 0x7f80, "infinity"                         },
    {0xff800000, 0xff80, "minus infinity"                   },
    {0x7fc00000, 0x7fc0, "NaN"                              },
    {0x7f800001, 0x7fc0, "a NaN whose payload would vanish" },
    {0xffc12345, 0xffc1, "a NaN keeps its sign and payload" },
    {0x7fffffff, 0x7fff, "a NaN that rounding would make -0"},
    {0x00010000, 0x0001, "the least subnormal"              },
    {0x00008000, 0x0000, "half of it: a tie"                },
    {0x00008001, 0x0001, "a little more"                    },
    {0x00000001, 0x0000, "the least float"                  },
    {0x80000000, 0x8000, "-0"                               },
    {0x80008000, 0x8000, "a tie to -0"                      },
};

int
main(void)
{
    int n = sizeof cases / sizeof *cases, exact = 1;

    plan(n + 1);
    for (int i = 0; i < n; i++) {
        float f;

        memcpy(&f, &cases[i].f32, sizeof f);
        is_long(cases[i].bf16, df_bf16_from_f32(f), "%s", cases[i].label);
    }
    for (uint32_t bits = 0; bits <= 0xffff; bits++) {
        float f = df_f32_from_bf16((uint16_t) bits);
        uint32_t back = df_bf16_from_f32(f);

        exact &= back == bits || (isnan(f) && back == (bits | 0x40));
    }
    ok(exact, "all 65536 values survive the way to float and back");
    return 0;
}
