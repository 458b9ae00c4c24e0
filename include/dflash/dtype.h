/* dtype.h - the element types of tensors in files and in memory, and the
   exact conversions between the 16-bit floats and float32.

   The order of the rows is that of the safetensors reference library, which
   lays the tensors of a file out by descending type: so alignment never
   grows from one tensor to the next.  */

#ifndef DFLASH_DTYPE_H
#define DFLASH_DTYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dflash/error.h"

DF_BEGIN_DECLS

/* One row a type: name, as a safetensors header spells it, and bytes.  */
#define DF_DTYPES(X)  \
    X(BOOL, 1)        \
    X(U8, 1)          \
    X(I8, 1)          \
    X(F8_E5M2, 1)     \
    X(F8_E4M3, 1)     \
    X(F8_E8M0, 1)     \
    X(F8_E4M3FNUZ, 1) \
    X(F8_E5M2FNUZ, 1) \
    X(I16, 2)         \
    X(U16, 2)         \
    X(F16, 2)         \
    X(BF16, 2)        \
    X(I32, 4)         \
    X(U32, 4)         \
    X(F32, 4)         \
    X(C64, 8)         \
    X(F64, 8)         \
    X(I64, 8)         \
    X(U64, 8)

enum df_dtype {
#define X(name, size) DF_##name,
    DF_DTYPES(X)
#undef X
};

/* Bytes an element.  */
DF_EXPORT size_t df_dtype_size(enum df_dtype dtype);

/* "BF16" and so on.  Never NULL.  */
DF_EXPORT const char *df_dtype_name(enum df_dtype dtype);

/* The type called NAME.  False if there is none, and *OUT stays.  */
DF_EXPORT bool df_dtype_from_name(const char *name, enum df_dtype *out);

/* True for the types that weights may have here: BF16, F16 and F32.  */
DF_EXPORT bool df_dtype_is_float(enum df_dtype dtype);

/* Convert COUNT elements of a type for which df_dtype_is_float holds.  The
   side that is not float32 may lie at any address.  Widening is exact,
   narrowing rounds to nearest even.  No overlap.  */
DF_EXPORT void df_convert_to_f32(float *dst, const void *src,
                                 enum df_dtype dtype, size_t count);
DF_EXPORT void df_convert_from_f32(void *dst, enum df_dtype dtype,
                                   const float *src, size_t count);

static inline uint32_t
df_f32_bits(float x)
{
    uint32_t u;

    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float
df_f32_from_bits(uint32_t u)
{
    float x;

    memcpy(&x, &u, sizeof x);
    return x;
}

static inline float
df_f32_from_bf16(uint16_t h)
{
    return df_f32_from_bits((uint32_t) h << 16);
}

/* Round to nearest even; a NaN becomes a quiet NaN of the same sign, with
   the upper bits of its payload.  */
static inline uint16_t
df_bf16_from_f32(float x)
{
    uint32_t u = df_f32_bits(x);

    if ((u & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t) (u >> 16 | 0x40u);
    return (uint16_t) ((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

/* Exact, subnormals included.  A NaN becomes quiet.  */
static inline float
df_f32_from_f16(uint16_t h)
{
    uint32_t sign = (uint32_t) (h & 0x8000u) << 16;
    uint32_t exponent = h >> 10 & 31u;
    uint32_t mantissa = h & 0x3ffu;

    if (exponent == 0) {
        float x = (float) mantissa * 0x1p-24f;

        return df_f32_from_bits(sign | df_f32_bits(x));
    }
    if (exponent == 31) {
        uint32_t quiet = mantissa ? 0x400000u : 0;

        return df_f32_from_bits(sign | 0x7f800000u | quiet | mantissa << 13);
    }
    return df_f32_from_bits(sign | (exponent + 112) << 23 | mantissa << 13);
}

/* Round to nearest even, into subnormals and to infinity as IEEE 754 says;
   a NaN becomes quiet.  */
static inline uint16_t
df_f16_from_f32(float x)
{
    uint32_t u = df_f32_bits(x);
    uint32_t sign = u >> 16 & 0x8000u;
    uint32_t magnitude = u & 0x7fffffffu;

    if (magnitude > 0x7f800000u)
        return (uint16_t) (sign | 0x7e00u | (magnitude >> 13 & 0x3ffu));
    if (magnitude >= 0x477ff000u) /* 65520 and more round to infinity */
        return (uint16_t) (sign | 0x7c00u);
    if (magnitude >= 0x38800000u) { /* a normal number, at least 2^-14 */
        uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);

        return (uint16_t) (sign | (rounded - (112u << 23)) >> 13);
    }
    /* 0.5 has an ulp of 2^-24, the smallest half: the sum rounds for us.  */
    float shifted = df_f32_from_bits(magnitude) + 0.5f;

    return (uint16_t) (sign | (df_f32_bits(shifted) - 0x3f000000u));
}

DF_END_DECLS
#endif
