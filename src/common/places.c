#include <config.h>

#include <stdlib.h>
#include <string.h>

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

df_status
places_parse(struct places *places, struct place_list *out,
             const struct tool *tool, const void *option, const char *text)
{
    char *copy = strdup(strcmp(text, "auto") == 0 ? "cpu" : text);
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
places_close(struct places *places)
{
    for (size_t i = 0; i < places->n; i++)
        df_device_close(places->devices[i]);
}
