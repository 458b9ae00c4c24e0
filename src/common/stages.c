#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "common/stages.h"

void
stages_print(FILE *fp, const struct df_run_stats *r)
{
    fprintf(fp, "%-12s %7s %8s %8s %9s %9s\n", "stage", "threads", "items",
            "busy", "starved", "blocked");
    for (size_t i = 0; i < r->n_stages; i++) {
        const struct df_stage_stats *s = &r->stages[i];
        double all = r->seconds * (double) r->stage_threads[i] / 100;

        fprintf(fp, "%-12s %7zu %8llu %6.1f %% %7.1f %% %7.1f %%\n",
                r->stage_names[i], r->stage_threads[i],
                (unsigned long long) s->items, s->busy / all, s->starved / all,
                s->blocked / all);
    }
    fprintf(fp, "bottleneck: %s\n", r->stage_names[df_run_bottleneck(r)]);
}

json_t *
stages_as_json(const struct df_run_stats *r)
{
    json_t *list = json_array();

    for (size_t i = 0; i < r->n_stages; i++)
        json_array_append_new(
            list,
            json_pack("{s:s, s:I, s:I, s:f, s:f, s:f}", "name",
                      r->stage_names[i], "threads",
                      (json_int_t) r->stage_threads[i], "items",
                      (json_int_t) r->stages[i].items, "busy_s",
                      r->stages[i].busy, "starved_s", r->stages[i].starved,
                      "blocked_s", r->stages[i].blocked));
    return list;
}

df_status
stages_write(json_t *json, const char *path)
{
    df_status status = DF_OK;

    if (!json || json_dump_file(json, path, JSON_INDENT(2)))
        status = DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
    json_decref(json);
    return status;
}

double
peak_memory(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return (double) usage.ru_maxrss * 1024;
}
