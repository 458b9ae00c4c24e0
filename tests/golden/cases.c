#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "base/transfer_internal.h"
#include "golden/cases.h"
#include "golden/golden.h"
#include "tap/tap.h"

char **
golden_cases(const char *kind)
{
    char **folders = golden_folders(), **cases = NULL;
    size_t n = 0;

    for (char **f = folders; *f; f++) {
        char **names = golden_names(*f, kind, "");

        for (char **name = names; *name; name++) {
            cases = realloc(cases, (n + 2) * sizeof *cases);
            if (!cases)
                bail("no memory");
            cases[n++] = golden_path("%s/%s/%s", *f, kind, *name);
            cases[n] = NULL;
        }
        golden_free(names);
    }
    golden_free(folders);
    if (n == 0)
        skip_all("no golden %s: set DFLASH_SHARED or DFLASH_GOLDEN", kind);
    return cases;
}

json_t *
golden_json(const char *path, const char *name)
{
    char *file = golden_path("%s/%s", path, name);
    json_error_t err;
    json_t *json = json_load_file(file, 0, &err);

    if (!json)
        bail("%s:%d: %s", file, err.line, err.text);
    free(file);
    return json;
}

struct df_tensors *
golden_tensors(const char *path, const char *name)
{
    char *file = golden_path("%s/%s", path, name);
    struct df_tensors *ts;

    if (df_tensors_open(&ts, file) != DF_OK)
        bail("%s", df_error_last()->message);
    free(file);
    return ts;
}

static const struct df_tensor *
find(const struct df_tensors *ts, const char *name)
{
    const struct df_tensor *t = df_tensors_find(ts, name);

    if (!t)
        bail("%s: no tensor %s", df_tensors_path(ts), name);
    return t;
}

float *
golden_floats(const struct df_tensors *ts, const char *name)
{
    const struct df_tensor *t = find(ts, name);
    float *data = malloc(t->count * sizeof *data + 1);

    if (!data || df_tensor_read_f32(t, data) != DF_OK)
        bail("%s: %s", name, df_error_last()->message);
    return data;
}

int32_t *
golden_ints(const struct df_tensors *ts, const char *name)
{
    const struct df_tensor *t = find(ts, name);
    int32_t *data = malloc(t->size + 1);

    if (!data || t->dtype != DF_I32)
        bail("%s: not a tensor of I32", name);
    df_tensor_copy(t, data);
    return data;
}

struct df_device *
golden_device(void)
{
    const char *name = getenv("DFLASH_TEST_DEVICE");
    struct df_device *dev;

    if (df_device_open(&dev, name ? name : "cpu") != DF_OK)
        skip_all("%s", df_error_last()->message);
    return dev;
}

void *
golden_alloc(struct df_device *dev, size_t count)
{
    size_t size = df_dtype_size(df_device_act(dev));
    void *memory;

    if (df_device_alloc(dev, DF_MEM_DEVICE, count * size, &memory) != DF_OK)
        bail("%s", df_error_last()->message);
    return memory;
}

float *
golden_download(struct df_device *dev, const void *src, size_t count)
{
    size_t size = df_dtype_size(df_device_act(dev));
    float *wide = malloc(count * sizeof *wide + 1);
    void *raw = malloc(count * size + 1);

    if (!wide || !raw || df_copy_now(dev, raw, src, count * size) != DF_OK)
        bail("%s", df_error_last()->message);
    df_convert_to_f32(wide, raw, df_device_act(dev), count);
    free(raw);
    return wide;
}

void
golden_upload(struct df_device *dev, void *dst, const float *src, size_t count)
{
    size_t size = df_dtype_size(df_device_act(dev));
    void *raw = malloc(count * size + 1);

    if (!raw)
        bail("no memory");
    df_convert_from_f32(raw, df_device_act(dev), src, count);
    if (df_copy_now(dev, dst, raw, count * size) != DF_OK)
        bail("%s", df_error_last()->message);
    free(raw);
}

double
golden_error(const float *a, const float *b, size_t n)
{
    double difference = 0, norm = 0;

    for (size_t i = 0; i < n; i++) {
        double d = (double) a[i] - (double) b[i];

        difference += d * d;
        norm += (double) b[i] * (double) b[i];
    }
    return norm > 0 ? sqrt(difference / norm) : sqrt(difference);
}
