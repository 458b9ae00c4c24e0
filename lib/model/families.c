/* The families there are.  */

#include <config.h>

#include <stdio.h>
#include <string.h>

#include "model/config_internal.h"

static const struct df_family *const families[] = {
    &df_family_llama,
    &df_family_qwen3,
};

enum {
    N_FAMILIES = sizeof families / sizeof families[0]
};

const struct df_family *
df_family_find(const char *model_type)
{
    for (int i = 0; i < N_FAMILIES; i++)
        if (strcmp(families[i]->model_type, model_type) == 0)
            return families[i];
    return NULL;
}

const char *
df_family_list(char *buf, size_t size)
{
    size_t used = 0;

    buf[0] = '\0';
    for (int i = 0; i < N_FAMILIES && used < size; i++)
        used += (size_t) snprintf(buf + used, size - used, "%s%s",
                                  i ? ", " : "", families[i]->model_type);
    return buf;
}
