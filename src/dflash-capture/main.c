#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/blas.h"
#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "dflash-capture/generate.h"
#include "dflash-capture/options.h"
#include "dflash-capture/session.h"

/* The data, or the target's answers to it: then all of them are captured,
   as the choice was among the prompts.  */
static df_status
find_data(struct session *s, struct string_list *files)
{
    *files = input.data;
    if (!opt.generate)
        return DF_OK;
    DF_TRY(generate(s, files));
    opt.max_samples = 0;
    opt.shard = 0;
    opt.shards = 1;
    return DF_OK;
}

static df_status
open_input(struct session *s)
{
    struct string_list files;

    DF_TRY(places_parse(&s->places, &s->targets, &capture_tool,
                        &input.target_devices, input.target_devices,
                        PLACE_TARGET));
    DF_TRY(model_open(&s->model));
    if (opt.answers_only)
        return generate(s, &files);
    model_layers(&s->model, &capture_tool, &s->layers);
    describe_header(s);
    /* Blocks aren't captured; the limits have samples left out that no
       drafter could learn from, as training does.  */
    s->limits =
        (struct df_batch_limits){.max_tokens = (size_t) input.token_budget,
                                 .max_seqs = (size_t) input.max_batch_size,
                                 .max_seqlen = (size_t) input.max_length,
                                 .num_anchors = 1,
                                 .block_size = 2};
    DF_TRY(find_data(s, &files));
    return samples_open(&s->source, &s->model, &files, "data", &s->limits);
}

static bool
fits(double needed)
{
    double room = bytes_free();

    return room < 0 || needed <= room;
}

static int
estimate(const struct session *s)
{
    double needed = bytes_needed(s), room = bytes_free();

    printf("%zu samples, %s tokens, %llu bytes a token\n", s->n,
           format_count((double) s->tokens).text,
           (unsigned long long) df_capture_token_bytes(&s->header));
    printf("a sample: %.0f bytes (%s), on average\n", needed / (double) s->n,
           format_bytes(needed / (double) s->n).text);
    printf("in all: %.0f bytes (%s)\n", needed, format_bytes(needed).text);
    if (room < 0)
        printf("free: no limit is known\n");
    else
        printf("free: %.0f bytes (%s): %s\n", room, format_bytes(room).text,
               fits(needed) ? "they fit" : "they don't fit");
    return fits(needed) ? EXIT_OK : EXIT_NO;
}

static df_status
check_space(const struct session *s)
{
    double needed = bytes_needed(s);

    if (opt.force || fits(needed))
        return DF_OK;
    return DF_FAIL(DF_IO,
                   "%s: %.0f bytes are needed, but only %.0f are free; "
                   "--force begins nevertheless",
                   opt.output, needed, bytes_free());
}

/* A full disk is told in numbers.  */
static int
fail(const struct session *s)
{
    int error = df_error_last()->sys_errno;
    int status = message_fail_last();

    if (s->tokens > 0 && (error == ENOSPC || error == EDQUOT))
        message_hint("%.0f bytes are needed in all, and %.0f are free",
                     bytes_needed(s), bytes_free());
    return status;
}

static int
run(struct session *s)
{
    df_status status = open_input(s);

    if (status == DF_OK && opt.answers_only)
        return EXIT_OK;
    if (status == DF_OK)
        status = choose_samples(s);
    if (status == DF_OK && s->n + s->there == 0)
        status =
            DF_FAIL(DF_INVALID, "%s: no samples in this shard", opt.output);
    if (status == DF_OK && s->n == 0) {
        message_note("%s: all %zu samples are there: nothing to do",
                     opt.output, s->there);
        return EXIT_OK;
    }
    if (status == DF_OK && s->there > 0)
        message_note("%s: %zu samples are there, %zu are left", opt.output,
                     s->there, s->n);
    if (status == DF_OK)
        status = describe_capture(s);
    if (status == DF_OK && opt.estimate)
        return estimate(s);
    if (status == DF_OK)
        status = check_space(s);
    if (status == DF_OK)
        status = open_run(s);
    if (status == DF_OK)
        status = capture(s);
    progress_end();
    if (status == DF_CANCELED)
        return signals_status(signals_caught());
    if (status == DF_OK)
        status = report(s);
    if (status != DF_OK)
        return fail(s);
    return s->written < s->n ? signals_status(signals_caught()) : EXIT_OK;
}

static void
close_session(struct session *s)
{
    df_run_free(s->run);
    df_plan_free(s->plan);
    samples_close(&s->source);
    model_close(&s->model);
    places_close(&s->places);
    if (s->temporary)
        unlink(s->temporary);
    free(s->temporary);
    free(s->chosen);
    free(s->lengths);
    free(s->notes);
}

int
main(int argc, char **argv)
{
    struct session session = {0};
    int status;

    choose_blas(argv);
    parse_options(&capture_tool, argc, argv);
    check_options();
    signals_install();
    status = run(&session);
    close_session(&session);
    return status;
}
