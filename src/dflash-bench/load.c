#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash-bench/load.h"
#include "dflash/philox.h"

enum {
    SIDE = 8192,    /* of the product, on a GPU */
    SIDE_CPU = 768, /* on a CPU */
    TILE = 65536    /* random values, which repeat */
};

static void
make_tile(void *tile, enum df_dtype type)
{
    for (uint32_t i = 0; i < TILE; i++) {
        float v = 2 * df_uniform(df_philox(5, i, 0, 0, 0).v[0]) - 1;

        if (type == DF_F32)
            ((float *) tile)[i] = v;
        else
            ((uint16_t *) tile)[i] = df_bf16_from_f32(v);
    }
}

/* The tile is copied once, and what is there then doubled.  */
static df_status
spread(struct df_stream *stream, char *data, const void *tile, size_t bytes,
       size_t step)
{
    size_t done = step < bytes ? step : bytes;

    DF_TRY(df_copy(stream, data, tile, done));
    while (done < bytes) {
        size_t more = done < bytes - done ? done : bytes - done;

        DF_TRY(df_copy(stream, data + done, data, more));
        done += more;
    }
    return df_stream_sync(stream);
}

df_status
fill_random(struct df_device *dev, void *data, enum df_dtype type, size_t n)
{
    size_t size = type == DF_F32 ? sizeof(float) : sizeof(uint16_t);
    struct df_stream *stream = NULL;
    void *tile = malloc(TILE * size);
    df_status status;

    if (!tile)
        return DF_FAIL(DF_NO_MEMORY, "random values");
    make_tile(tile, type);
    status = df_stream_new(&stream, dev, "fill");
    if (status == DF_OK)
        status = spread(stream, data, tile, n * size, TILE * size);
    df_stream_free(stream);
    free(tile);
    return status;
}

df_status
load_open(struct load *load, struct df_device *dev)
{
    size_t side = df_device_is_cpu(dev) ? SIDE_CPU : SIDE;
    enum df_dtype act = df_device_act(dev);
    size_t bytes = side * side * (act == DF_F32 ? 4 : 2);

    load->dev = dev;
    load->flops = 2.0 * (double) side * (double) side * (double) side;
    DF_TRY(df_device_alloc(dev, DF_MEM_DEVICE, 3 * bytes, &load->memory));
    DF_TRY(fill_random(dev, load->memory, act, 2 * side * side));
    load->args =
        (struct df_linear_args){.x = load->memory,
                                .w = (char *) load->memory + bytes,
                                .y = (char *) load->memory + 2 * bytes,
                                .T = side,
                                .N = side,
                                .K = side};
    return DF_OK;
}

void
load_close(struct load *load)
{
    if (load->dev)
        df_device_free(load->dev, DF_MEM_DEVICE, load->memory);
}

df_status
load_queue(void *arg, struct df_stream *stream)
{
    struct load *load = arg;

    return df_linear(stream, &load->args);
}
