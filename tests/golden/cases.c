#include <config.h>

#include <math.h>
#include <stdlib.h>

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
