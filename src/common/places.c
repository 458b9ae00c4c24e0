#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/places.h"

/* The device NAME, opened once however often it is named.  */
static df_status
device(struct places *p, const char *name, struct df_device **out)
{
    if (strcmp(name, "cpu") == 0)
        name = "cpu:0";
    for (size_t i = 0; i < p->n; i++)
        if (strcmp(df_device_name(p->devices[i]), name) == 0) {
            *out = p->devices[i];
            return DF_OK;
        }
    if (p->n == MAX_PLACES)
        return DF_FAIL(DF_INVALID, "more than %d devices", MAX_PLACES);
    DF_TRY(df_device_open(out, name));
    p->devices[p->n++] = *out;
    return DF_OK;
}

/* The list that "auto" stands for, to be freed.  */
static char *
choose(struct places *p, enum place_role role)
{
    const char *why;
    int n = df_cuda_devices(&why);
    char *list;

    if (n == 0) {
        p->no_gpu = why;
        return strdup("cpu");
    }
    if (asprintf(&list, "cuda:%d", role == PLACE_TARGET ? 0 : n - 1) < 0)
        return NULL;
    return list;
}

df_status
places_parse(struct places *places, struct place_list *out,
             const struct tool *tool, const void *option, const char *text,
             enum place_role role)
{
    char *copy =
        strcmp(text, "auto") == 0 ? choose(places, role) : strdup(text);
    char *rest = copy, *name;
    df_status status = DF_OK;

    if (!copy)
        return DF_FAIL(DF_NO_MEMORY, "a list of devices");
    while (status == DF_OK && (name = strsep(&rest, ","))) {
        if (out->n == MAX_PLACES)
            option_reject(tool, option, "more than %d devices", MAX_PLACES);
        status = device(places, name, &out->devices[out->n]);
        if (status == DF_INVALID)
            option_reject(tool, option, "%s", df_error_last()->message);
        out->n++;
    }
    free(copy);
    return status;
}

void
places_tell(const struct places *places)
{
    if (places->no_gpu)
        message_note("no GPU (%s): running on the CPU", places->no_gpu);
}

void
places_close(struct places *places)
{
    for (size_t i = 0; i < places->n; i++)
        df_device_close(places->devices[i]);
}
