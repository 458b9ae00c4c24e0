#include <config.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "golden/golden.h"
#include "tap/tap.h"

static char *cases[GOLDEN_MAX + 1];
static size_t n_cases;

static int
visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static char *
join(const char *a, const char *b)
{
    char *path;

    if (asprintf(&path, "%s/%s", a, b) < 0)
        bail("no memory");
    return path;
}

static void
add_folder(const char *folder, const char *kind)
{
    char *dir = join(folder, kind);
    struct dirent **entries;
    int n = scandir(dir, &entries, visible, alphasort);

    for (int i = 0; i < n; i++) {
        if (n_cases == GOLDEN_MAX)
            bail("more than %d golden cases", GOLDEN_MAX);
        cases[n_cases++] = join(dir, entries[i]->d_name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    free(dir);
}

char **
golden_cases(const char *kind)
{
    const char *golden = getenv("DFLASH_GOLDEN");
    const char *shared = getenv("DFLASH_SHARED");
    char *save, *list = golden ? strdup(golden)
                               : join(shared ? shared : "../shared", "golden");

    for (char *one = strtok_r(list, ":", &save); one;
         one = strtok_r(NULL, ":", &save))
        add_folder(one, kind);
    if (n_cases == 0)
        skip_all("no %s in %s: set DFLASH_GOLDEN", kind,
                 golden ? golden : "DFLASH_SHARED/golden");
    free(list);
    return cases;
}

json_t *
golden_json(const char *path, const char *name)
{
    char *file = join(path, name);
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
    char *file = join(path, name);
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
