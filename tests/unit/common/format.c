#include <config.h>

#include <math.h>
#include <string.h>

#include "common/progress.h"
#include "tap/tap.h"

static const struct {
    struct short_text (*format)(double);
    double value;
    const char *text;
} cases[] = {
    {format_duration, 0,                    "0s"      },
    {format_duration, 0.4,                  "0s"      },
    {format_duration, 59.4,                 "59s"     },
    {format_duration, 59.6,                 "1m00s"   },
    {format_duration, 65,                   "1m05s"   },
    {format_duration, 3599.6,               "1h00m"   },
    {format_duration, 3725,                 "1h02m"   },
    {format_duration, 86400 * 3 + 3600 * 4, "3d04h"   },
    {format_duration, 86400 * 999.0,        "999d00h" },
    {format_duration, 86400 * 1000.0,       "?"       },
    {format_duration, -1,                   "?"       },
    {format_duration, NAN,                  "?"       },
    {format_duration, INFINITY,             "?"       },
    {format_count,    0,                    "0"       },
    {format_count,    7,                    "7"       },
    {format_count,    950,                  "950"     },
    {format_count,    999.4,                "999"     },
    {format_count,    999.6,                "1.00k"   },
    {format_count,    1234,                 "1.23k"   },
    {format_count,    9996,                 "10.0k"   },
    {format_count,    45600,                "45.6k"   },
    {format_count,    99960,                "100k"    },
    {format_count,    999600,               "1.00M"   },
    {format_count,    1.2e6,                "1.20M"   },
    {format_count,    3e9,                  "3.00G"   },
    {format_count,    5e15,                 "5000T"   },
    {format_count,    1e300,                "?"       },
    {format_count,    -1,                   "?"       },
    {format_count,    NAN,                  "?"       },
    {format_count,    INFINITY,             "?"       },
    {format_bytes,    512,                  "512 B"   },
    {format_bytes,    1023,                 "1023 B"  },
    {format_bytes,    1024,                 "1.00 KiB"},
    {format_bytes,    1536,                 "1.50 KiB"},
    {format_bytes,    1048575,              "1.00 MiB"},
    {format_bytes,    123.0 * 1048576,      "123 MiB" },
    {format_bytes,    2147483648.0,         "2.00 GiB"},
    {format_bytes,    NAN,                  "?"       },
};

int
main(void)
{
    size_t n = sizeof cases / sizeof *cases;

    plan((int) n);
    for (size_t i = 0; i < n; i++) {
        struct short_text t = cases[i].format(cases[i].value);

        if (!ok(strcmp(t.text, cases[i].text) == 0, "%.17g is \"%s\"",
                cases[i].value, cases[i].text))
            diag("seen: %s", t.text);
    }
    return 0;
}
