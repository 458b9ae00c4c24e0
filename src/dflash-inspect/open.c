#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/signals.h"
#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"
#include "dflash/config.h"

static df_status
open_target(struct session *s)
{
    struct df_model_config config;

    if (!opt.target)
        return DF_OK;
    DF_TRY(df_model_config_load(&config, opt.target));
    s->vocab_size = (size_t) config.d.vocab_size;
    return df_tokenizer_open(&s->tokenizer, opt.target);
}

/* Files are opened before there is a scan to tell.  */
static void
keep_problem(void *arg, df_status status, const char *message)
{
    struct session *s = arg;
    char **grown = realloc(s->problems, (s->n_problems + 1) * sizeof *grown);

    s->trouble |= status == DF_IO;
    s->incomplete = true;
    if (!grown)
        return;
    s->problems = grown;
    s->problems[s->n_problems] = strdup(message);
    s->n_problems += s->problems[s->n_problems] != NULL;
}

static void
note_problems(struct session *s)
{
    for (size_t i = 0; i < s->n_problems; i++)
        df_scan_add(s->scan, &(struct df_finding){
                                 .kind = DF_FIND_FILE,
                                 .message = s->problems[i],
                                 .k = DF_NO_LAYER,
                                 .count = 1,
                             });
}

static bool
was_interrupted(void *arg)
{
    (void) arg;
    return signals_caught() != 0;
}

static df_status
open_captures(struct session *s)
{
    int32_t ids[DF_MAX_LAYER_IDS];
    struct df_captures_options o = {
        .verify = DF_VERIFY_OFF, /* the scan does that */
        .data_file = opt.data_file,
        .problem = keep_problem,
        .leave_out = true,
        /* Who writes or compares wants arrays.  */
        .in_place = !opt.pass && !opt.repair && !opt.compare && !opt.dump,
        .gives_up = was_interrupted,
        .arg = s,
    };
    df_status status;

    if (opt.target_layer_ids.count > DF_MAX_LAYER_IDS)
        option_reject(&inspect_tool, &opt.target_layer_ids,
                      "more than %d layers", DF_MAX_LAYER_IDS);
    for (size_t i = 0; i < opt.target_layer_ids.count; i++)
        ids[i] = (int32_t) opt.target_layer_ids.items[i];
    if (opt.target_layer_ids.count > 0)
        o.layer_ids = ids;
    o.n_layer_ids = opt.target_layer_ids.count;
    status = df_captures_open(&s->captures, s->paths, s->n_paths, &o);
    if (status == DF_OK)
        s->trouble |= df_captures_files(s->captures) < s->n_paths;
    else /* the last problem is the failure */
        for (size_t i = 0; i + 1 < s->n_problems; i++)
            message_warn("%s", s->problems[i]);
    return status;
}

static df_status
check_tokenizer(const struct session *s)
{
    for (size_t i = 0; s->tokenizer && i < df_captures_files(s->captures);
         i++) {
        uint64_t hash = df_captures_header(s->captures, i)->tokenizer_hash;

        if (hash && hash != df_tokenizer_hash(s->tokenizer))
            return DF_FAIL(DF_INVALID,
                           "%s: made with another tokenizer than that of %s",
                           df_captures_path(s->captures, i), opt.target);
    }
    return DF_OK;
}

static int
by_place(const void *a, const void *b, void *arg)
{
    const struct df_capture_entry *e = arg;
    const struct df_capture_entry *x = &e[*(const size_t *) a];
    const struct df_capture_entry *y = &e[*(const size_t *) b];

    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    return x->record < y->record ? -1 : x->record > y->record;
}

/* Entries come by index; they are read as they lie.  */
static df_status
make_order(struct session *s)
{
    size_t n = df_captures_count(s->captures);

    s->order = calloc(n + 1, sizeof *s->order);
    if (!s->order)
        return DF_FAIL(DF_NO_MEMORY, "%zu samples", n);
    for (size_t i = 0; i < n; i++)
        s->order[i] = i;
    qsort_r(s->order, n, sizeof *s->order, by_place,
            (void *) df_captures_entries(s->captures));
    return DF_OK;
}

static df_status
open_scan(struct session *s)
{
    const struct df_scan_options o = {
        .report = print_finding,
        .arg = s,
        .vocab_size = s->vocab_size,
        .norm_ratio = opt.norm_ratio,
        .table_bytes = opt.table,
    };

    DF_TRY(df_scan_new(&s->scan, df_captures_header(s->captures, 0), &o));
    note_problems(s);
    return DF_OK;
}

df_status
open_session(struct session *s)
{
    s->started = now();
    DF_TRY(df_capture_scratch_new(&s->scratch));
    DF_TRY(open_target(s));
    DF_TRY(open_captures(s));
    DF_TRY(check_tokenizer(s));
    DF_TRY(make_order(s));
    DF_TRY(open_scan(s));
    return opt.compare ? open_other(s) : DF_OK;
}

void
close_session(struct session *s)
{
    df_compare_free(s->compare);
    free(s->by_id);
    df_capture_scratch_free(s->other_scratch);
    df_captures_free(s->other);
    for (size_t i = 0; i < s->n_problems; i++)
        free(s->problems[i]);
    free(s->problems);
    free(s->order);
    df_scan_free(s->scan);
    df_tokenizer_free(s->tokenizer);
    df_capture_scratch_free(s->scratch);
    df_captures_free(s->captures);
}
