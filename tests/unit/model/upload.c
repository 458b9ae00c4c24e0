/* Weights on their way to a device: tensors of any type and length, at any
   address, arrive in the device's act type.  On the CPU and the first GPU. */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/transfer_internal.h"
#include "dflash/dtype.h"
#include "model/upload_internal.h"
#include "tap/tap.h"

enum {
    MOST = (16 << 20) + 3, /* elements: more than two parts */
    GUARD = 64             /* bytes behind them that nothing may touch */
};

static const struct {
    const char *label;
    enum df_dtype dtype;
    size_t count;
} cases[] = {
    {"no value",             DF_BF16, 0            },
    {"one value",            DF_F32,  1            },
    {"bf16, one part",       DF_BF16, 8 << 20      },
    {"bf16, one value more", DF_BF16, (8 << 20) + 1},
    {"bf16, three parts",    DF_BF16, MOST         },
    {"f16, three parts",     DF_F16,  MOST         },
    {"f32, three parts",     DF_F32,  MOST         },
};

#define NEED(expr)                                                   \
    do {                                                             \
        if ((expr) != DF_OK)                                         \
            bail("line %d: %s", __LINE__, df_error_last()->message); \
    } while (0)

/* Values that both 16-bit types hold exactly.  */
static float
value(size_t i)
{
    return (float) (i * 2654435761u >> 8 & 0xff) - 128;
}

/* COUNT values of DTYPE at an odd address; free what it returns.  */
static uint8_t *
make(enum df_dtype dtype, size_t count)
{
    size_t size = df_dtype_size(dtype);
    uint8_t *memory = malloc(count * size + 1);

    if (!memory)
        bail("no memory");
    for (size_t i = 0; i < count; i++) {
        float v = value(i);

        df_convert_from_f32(memory + 1 + i * size, dtype, &v, 1);
    }
    return memory;
}

/* BACK holds COUNT values of act type, then what was there before.  */
static int
arrived(struct df_device *dev, const uint8_t *back, size_t count)
{
    enum df_dtype act = df_device_act(dev);
    size_t size = df_dtype_size(act);

    for (size_t i = 0; i < count; i++) {
        float seen;

        df_convert_to_f32(&seen, back + i * size, act, 1);
        if (seen != value(i)) {
            diag("value %zu: wanted %g, seen %g", i, (double) value(i),
                 (double) seen);
            return 0;
        }
    }
    for (size_t i = 0; i < GUARD; i++)
        if (back[count * size + i] != 0xa5)
            return 0;
    return 1;
}

static void
test_case(struct df_device *dev, struct df_uploader *up, size_t k)
{
    size_t bytes = cases[k].count * df_dtype_size(df_device_act(dev)) + GUARD;
    uint8_t *data = make(cases[k].dtype, cases[k].count);
    uint8_t *back = malloc(bytes);
    struct df_tensor t = {.name = "t",
                          .path = "test",
                          .dtype = cases[k].dtype,
                          .count = cases[k].count,
                          .size =
                              cases[k].count * df_dtype_size(cases[k].dtype),
                          .data = data + 1};
    void *memory;

    if (!back)
        bail("no memory");
    NEED(df_device_alloc(dev, DF_MEM_DEVICE, bytes, &memory));
    memset(back, 0xa5, bytes);
    NEED(df_copy_now(dev, memory, back, bytes));
    NEED(df_upload_tensor(up, memory, &t));
    NEED(df_copy_now(dev, back, memory, bytes));
    ok(arrived(dev, back, cases[k].count), "%s: %s", df_device_name(dev),
       cases[k].label);
    df_device_free(dev, DF_MEM_DEVICE, memory);
    free(back);
    free(data);
}

int
main(void)
{
    static const char *const names[] = {"cpu", "cuda:0"};
    size_t n = sizeof cases / sizeof *cases;

    plan((int) (2 * n));
    for (size_t i = 0; i < 2; i++) {
        struct df_uploader up;
        struct df_device *dev;

        if (df_device_open(&dev, names[i]) != DF_OK) {
            for (size_t k = 0; k < n; k++)
                skip("%s", df_error_last()->message);
            continue;
        }
        NEED(df_uploader_begin(&up, dev));
        for (size_t k = 0; k < n; k++)
            test_case(dev, &up, k);
        df_uploader_end(&up);
        df_device_close(dev);
    }
    return 0;
}
