/* dtype.h - element types of tensors, and conversions between them.  */

#ifndef DFLASH_DTYPE_H
#define DFLASH_DTYPE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dflash/defs.h"

DF_BEGIN_DECLS

/*  name, bytes, as safetensors spells it */
#define DF_DTYPES(X)   \
    X(F64, 8, "F64")   \
    X(F32, 4, "F32")   \
    X(BF16, 2, "BF16") \
    X(F16, 2, "F16")   \
    X(I64, 8, "I64")   \
    X(I32, 4, "I32")   \
    X(I16, 2, "I16")   \
    X(I8, 1, "I8")     \
    X(U64, 8, "U64")   \
    X(U32, 4, "U32")   \
    X(U16, 2, "U16")   \
    X(U8, 1, "U8")     \
    X(BOOL, 1, "BOOL")

enum df_dtype {
#define X(name, bytes, text) DF_##name,
    DF_DTYPES(X)
#undef X
    DF_N_DTYPES
};

/* Bytes an element; the name as safetensors spells it.  */
DF_EXPORT size_t df_dtype_size(enum df_dtype type);
DF_EXPORT const char *df_dtype_name(enum df_dtype type);

/* bf16 bits to float: exact.  */
static inline float
df_bf16_to_f32(uint16_t bits)
{
    uint32_t wide = (uint32_t) bits << 16;
    float f;

    memcpy(&f, &wide, sizeof f);
    return f;
}

/* Float to bf16 bits, to the nearest, ties to even; a NaN stays one.  */
static inline uint16_t
df_f32_to_bf16(float f)
{
    uint32_t bits;

    memcpy(&bits, &f, sizeof bits);
    if ((bits & 0x7fffffffu) > 0x7f800000u)
        return (uint16_t) (bits >> 16 | 0x40u);
    return (uint16_t) ((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

/* f16 bits to float: exact.  */
DF_EXPORT float df_f16_to_f32(uint16_t bits);

DF_END_DECLS
#endif
