#include <config.h>

#include <assert.h>
#include <string.h>

#include "dflash/dtype.h"

static const struct {
    const char *name;
    size_t size;
} types[] = {
#define X(name, size) [DF_##name] = {#name, size},
    DF_DTYPES(X)
#undef X
};

enum {
    N_TYPES = sizeof types / sizeof types[0]
};

size_t
df_dtype_size(enum df_dtype dtype)
{
    return (unsigned) dtype < N_TYPES ? types[dtype].size : 0;
}

const char *
df_dtype_name(enum df_dtype dtype)
{
    return (unsigned) dtype < N_TYPES ? types[dtype].name : "unknown";
}

bool
df_dtype_from_name(const char *name, enum df_dtype *out)
{
    for (unsigned i = 0; i < N_TYPES; i++)
        if (strcmp(types[i].name, name) == 0) {
            *out = (enum df_dtype) i;
            return true;
        }
    return false;
}

bool
df_dtype_is_float(enum df_dtype dtype)
{
    return dtype == DF_BF16 || dtype == DF_F16 || dtype == DF_F32;
}

/* The 16-bit element I of BASE, which may lie at an odd address.  */
static uint16_t
load16(const uint8_t *base, size_t i)
{
    uint16_t h;

    memcpy(&h, base + 2 * i, sizeof h);
    return h;
}

static void
store16(uint8_t *base, size_t i, uint16_t h)
{
    memcpy(base + 2 * i, &h, sizeof h);
}

void
df_convert_to_f32(float *dst, const void *src, enum df_dtype dtype,
                  size_t count)
{
    assert(df_dtype_is_float(dtype));
    if (count == 0)
        return;
    if (dtype == DF_F32)
        memcpy(dst, src, count * sizeof *dst);
    else if (dtype == DF_BF16)
        for (size_t i = 0; i < count; i++)
            dst[i] = df_f32_from_bf16(load16(src, i));
    else
        for (size_t i = 0; i < count; i++)
            dst[i] = df_f32_from_f16(load16(src, i));
}

void
df_convert_from_f32(void *dst, enum df_dtype dtype, const float *src,
                    size_t count)
{
    assert(df_dtype_is_float(dtype));
    if (count == 0)
        return;
    if (dtype == DF_F32)
        memcpy(dst, src, count * sizeof *src);
    else if (dtype == DF_BF16)
        for (size_t i = 0; i < count; i++)
            store16(dst, i, df_bf16_from_f32(src[i]));
    else
        for (size_t i = 0; i < count; i++)
            store16(dst, i, df_f16_from_f32(src[i]));
}
