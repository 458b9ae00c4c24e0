/* value.h - numbers, words and lists as people write them, read strictly.

   One parser serves options, environment variables and files.  It takes the
   whole string or refuses it: no blanks, no sign '+', no hexadecimal, no
   trailing text, and a number outside its range is never clipped.  The
   decimal point is '.' in every locale.

   All readers return DF_OK with the result in *OUT, or DF_INVALID with
   *OUT as it was; the message quotes the text and says what is wrong
   ("'7x' is not a whole number", "-1 is not within 1 and 64"), and the
   caller adds whose value it is.  No argument may be NULL.  */

#ifndef DFLASH_VALUE_H
#define DFLASH_VALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

DF_BEGIN_DECLS

/* A whole decimal number from MIN to MAX: "-12", "0", "640".  INT64_MIN or
   INT64_MAX stands for no limit on that side.  */
DF_EXPORT DF_MUST_USE df_status df_value_int(const char *text, int64_t min,
                                             int64_t max, int64_t *out);

/* Which real numbers are allowed: from MIN to MAX, the ends included unless
   ABOVE_MIN or BELOW_MAX.  -INFINITY or INFINITY stands for no limit.  */
struct df_real_range {
    double min, max;
    bool above_min; /* MIN itself is refused */
    bool below_max; /* MAX itself is refused */
};

/* A finite decimal number in RANGE: "0.5", ".5", "6e-4", "-3".  One that
   is too large for a double, or that would become 0, is refused.  */
DF_EXPORT DF_MUST_USE df_status df_value_real(
    const char *text, const struct df_real_range *range, double *out);

/* true, yes, on or 1; false, no, off or 0.  Lower case only.  */
DF_EXPORT DF_MUST_USE df_status df_value_bool(const char *text, bool *out);

/* The index in CHOICES, which ends with NULL, of the word TEXT.  */
DF_EXPORT DF_MUST_USE df_status df_value_choice(const char *text,
                                                const char *const *choices,
                                                int *out);

/* A number of bytes from MIN to MAX: a whole number, alone or with one of
   the suffixes K, M, G, T or KiB, MiB, GiB, TiB (powers of 1024) or kB,
   MB, GB, TB (powers of 1000).  UINT64_MAX stands for no limit.  */
DF_EXPORT DF_MUST_USE df_status df_value_size(const char *text, uint64_t min,
                                              uint64_t max, uint64_t *out);

/* One or more whole numbers from MIN to MAX with commas between: "1,9,17".
   *OUT is an array of *COUNT numbers, to be freed by the caller.  Also
   DF_NO_MEMORY.  */
DF_EXPORT DF_MUST_USE df_status df_value_int_list(const char *text,
                                                  int64_t min, int64_t max,
                                                  int64_t **out,
                                                  size_t *count);

/* Room for what the two writers below make of any value.  */
enum {
    DF_VALUE_TEXT_MAX = 32
};

/* The shortest text that df_value_real reads as VALUE, which is finite.
   Writes to BUF, of at least DF_VALUE_TEXT_MAX bytes, and returns it.  */
DF_EXPORT const char *df_value_real_text(char *buf, double value);

/* The same for df_value_size: "64KiB", "1000".  */
DF_EXPORT const char *df_value_size_text(char *buf, uint64_t value);

DF_END_DECLS
#endif
