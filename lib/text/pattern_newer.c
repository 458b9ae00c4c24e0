/* What Unicode 15 and 16 added: PCRE2 10.42 and libunistring 1.0 know Unicode
   14, and the text of today's models has newer letters.  Newer libraries
   learn nothing from these rows.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text/regex_internal.h"

#define ROW(name, ranges) \
    {                     \
        name, ranges      \
    }

static const struct row {
    const char *name;   /* of a general category or of a script */
    const char *ranges; /* first-last or one, in hexadecimal */
} rows[] = {
    ROW("Lu", "1c89 a7cb-a7cc a7da a7dc 10d50-10d65"),
    ROW("Ll", "1c8a a7cd a7db 10d70-10d85 1df25-1df2a"),
    ROW("Lm", "10d4e 10d6f 16d40-16d42 16d6b-16d6c 1e030-1e06d 1e4eb"),
    ROW("Lo", "105c0-105f3 10d4a-10d4d 10d4f 10ec2-10ec4 1123f-11240 "
              "11380-11389 1138b 1138e 11390-113b5 113b7 113d1 113d3 "
              "11bc0-11be0 11f02 11f04-11f10 11f12-11f33 1342f 13441-13446 "
              "13460-143fa 16100-1611d 16d43-16d6a 18cff 1b132 1b155 "
              "1e4d0-1e4ea 1e5d0-1e5ed 1e5f0 2b739 2ebf0-2ee5d 31350-323af"),
    ROW("Mn", "897 ece 10d69-10d6d 10efc-10eff 11241 113bb-113c0 113ce 113d0 "
              "113d2 113e1-113e2 11f00-11f01 11f36-11f3a 11f40 11f42 11f5a "
              "13440 13447-13455 1611e-16129 1612d-1612f 1e08f 1e4ec-1e4ef "
              "1e5ee-1e5ef"),
    ROW("Mc", "cf3 113b8-113ba 113c2 113c5 113c7-113ca 113cc-113cd 113cf "
              "1171e 11f03 11f34-11f35 11f3e-11f3f 11f41 1612a-1612c"),
    ROW("Nd", "10d40-10d49 116d0-116e3 11bf0-11bf9 11f50-11f59 16130-16139 "
              "16d70-16d79 1ccf0-1ccf9 1e4f0-1e4f9 1e5f1-1e5fa"),
    ROW("No", "1d2c0-1d2d3"),
    ROW("Pd", "10d6e"),
    ROW("Po", "1b4e-1b4f 1b7f 113d4-113d5 113d7-113d8 11b00-11b09 11be1 "
              "11f43-11f4f 16d6d-16d6f 1e5ff"),
    ROW("Sm", "10d8e-10d8f"),
    ROW("So", "2427-2429 2ffc-2fff 31e4-31e5 31ef 1cc00-1ccef 1cd00-1ceb3 "
              "1f6dc 1f774-1f776 1f77b-1f77f 1f7d9 1f8b2-1f8bb 1f8c0-1f8c1 "
              "1fa75-1fa77 1fa87-1fa89 1fa8f 1faad-1faaf 1fabb-1fabf 1fac6 "
              "1face-1facf 1fada-1fadc 1fadf 1fae8-1fae9 1faf7-1faf8 "
              "1fbcb-1fbef"),
    ROW("Cf", "13439-1343f"),
    ROW("Han", "2b739 2ebf0-2ee5d 31350-323af"),
    ROW("Hiragana", "1b132"),
    ROW("Katakana", "1b155"),
};

/* Whether characters of category ROW are in NAME: "Lu" is in "L".  */
static bool
holds(const char *name, const char *row)
{
    return strcmp(name, row) == 0 || (name[0] == row[0] && !name[1]);
}

/* Read the range at *P and go on to the next; false at the end.  */
static bool
next_range(const char **p, uint32_t *first, uint32_t *last)
{
    char *end;

    if (**p == '\0')
        return false;
    *first = *last = (uint32_t) strtoul(*p, &end, 16);
    if (*end == '-')
        *last = (uint32_t) strtoul(end + 1, &end, 16);
    *p = end + strspn(end, " ");
    return true;
}

df_status
df_pattern_newer(struct df_bytes *out, const char *name)
{
    uint32_t first, last;
    char range[40];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *p = rows[i].ranges;

        while (holds(name, rows[i].name) && next_range(&p, &first, &last)) {
            snprintf(range, sizeof range, "\\x{%x}-\\x{%x}", first, last);
            DF_TRY(df_bytes_puts(out, range));
        }
    }
    return DF_OK;
}

bool
df_is_newer(uint32_t c, const char *name)
{
    uint32_t first, last;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *p = rows[i].ranges;

        while (holds(name, rows[i].name) && next_range(&p, &first, &last))
            if (c >= first && c <= last)
                return true;
    }
    return false;
}
