/* What a run says of itself at its end: on standard output, unless the
   samples are there.  */
#include <config.h>

#include <string.h>
#include <sys/stat.h>

#include "common/progress.h"
#include "common/stages.h"
#include "dflash-capture/options.h"
#include "dflash-capture/session.h"

static df_status
write_json(const struct session *s, const struct df_run_stats *r)
{
    json_t *json = json_pack(
        "{s:I, s:f, s:I, s:I, s:f, s:I, s:I, s:I, s:f, s:s, s:o}", "samples",
        (json_int_t) s->written, "seconds", r->seconds, "tokens",
        (json_int_t) r->tokens, "token_bytes",
        (json_int_t) df_capture_token_bytes(&s->header), "flops", r->flops,
        "allocations_after_warm_up", (json_int_t) r->allocations,
        "device_bytes", (json_int_t) r->device_bytes, "host_bytes",
        (json_int_t) r->host_bytes, "peak_memory_bytes", peak_memory(),
        "bottleneck", r->stage_names[df_run_bottleneck(r)], "stages",
        stages_as_json(r));

    return stages_write(json, opt.stats);
}

df_status
report(struct session *s)
{
    FILE *fp = to_stdout() ? stderr : stdout;
    struct df_run_stats r;
    double bytes;

    df_run_get_stats(s->run, &r);
    bytes = (double) r.tokens * (double) df_capture_token_bytes(&s->header);
    stages_print(fp, &r);
    fprintf(fp, "%zu samples, %s tokens in %s (%s tokens/s)\n",
            atomic_load(&s->written), format_count((double) r.tokens).text,
            format_duration(r.seconds).text,
            format_count((double) r.tokens / r.seconds).text);
    fprintf(fp, "hidden states: %s (%s/s)\n", format_bytes(bytes).text,
            format_bytes(bytes / r.seconds).text);
    if (opt.stats) {
        fprintf(fp, "allocations after warm-up: %llu\n",
                (unsigned long long) r.allocations);
        fprintf(fp, "arithmetic: %.1f GFLOP/s\n", r.flops / r.seconds * 1e-9);
        fprintf(fp, "device memory: %s, host memory for copies: %s\n",
                format_bytes((double) r.device_bytes).text,
                format_bytes((double) r.host_bytes).text);
        fprintf(fp, "peak memory: %s\n", format_bytes(peak_memory()).text);
    }
    if (atomic_load(&s->written) < s->n)
        fprintf(fp, "stopped%s\n",
                opt.format == DF_CAPTURE_STREAM ? ""
                                                : "; go on with --resume");
    if (opt.stats && strcmp(opt.stats, "-") != 0)
        return write_json(s, &r);
    return DF_OK;
}
