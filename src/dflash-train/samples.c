/* Data sets, and the plan of the run over them.  */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "dflash-train/options.h"
#include "dflash-train/session.h"

/* The text of FILE, to be freed.  */
static df_status
read_text(const char *file, char **out)
{
    FILE *fp = fopen(file, "r");
    char *text = NULL;
    size_t size = 0;
    ssize_t n;

    if (!fp)
        return DF_FAIL(DF_IO, "%s: can't be read: %m", file);
    n = getdelim(&text, &size, '\0', fp);
    if (n < 0 && ferror(fp)) {
        free(text);
        fclose(fp);
        return DF_FAIL(DF_IO, "%s: can't be read: %m", file);
    }
    fclose(fp);
    *out = n < 0 ? calloc(1, 1) : text;
    if (n < 0)
        free(text);
    return *out ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%s", file);
}

static bool
show_indexing(void *arg, const struct df_data_progress *p)
{
    progress_show("indexing %s: %llu records, %.0f %%", (const char *) arg,
                  (unsigned long long) p->records,
                  p->total_bytes
                      ? 100 * (double) p->bytes / (double) p->total_bytes
                      : 100.0);
    return signals_caught() == 0;
}

static void
note_report(const struct df_data_report *r, const struct string_list *files)
{
    message_note("%s%s: %llu records, %llu samples used (%llu cut off), "
                 "%s tokens, %s of them supervised",
                 files->items[0], files->count > 1 ? " and others" : "",
                 (unsigned long long) r->records,
                 (unsigned long long) r->samples,
                 (unsigned long long) r->truncated,
                 format_count((double) r->tokens).text,
                 format_count((double) r->supervised).text);
    for (int i = 0; i < DF_DATA_N_REASONS; i++)
        if (r->dropped[i] > 0)
            message_warn("%llu skipped: %s; the first is %s:%llu",
                         (unsigned long long) r->dropped[i],
                         df_data_reason_text((enum df_data_reason) i),
                         files->items[r->first_file[i]],
                         (unsigned long long) r->first_line[i]);
}

static df_status
open_source(struct session *s, struct sample_source *source,
            const struct string_list *files, const char *name)
{
    const struct df_data_options options = {
        .tokenizer = s->tokenizer,
        .chat_template = s->chat_template,
        .chat_template_name = opt.chat_template,
        .vocab_size = s->config.d.vocab_size,
        .max_length = (size_t) opt.max_length,
        .last_turn_only = opt.train_on == TRAIN_ON_LAST,
        .strict = opt.strict,
        .limits = &s->limits,
        .threads = (size_t) opt.prefetch_threads,
        .cache_bytes = opt.cache,
        .progress = show_indexing,
        .arg = (void *) name};

    DF_TRY(df_dataset_open(&source->dataset, files->items, files->count,
                           &options));
    progress_end();
    note_report(df_dataset_report(source->dataset), files);
    for (long i = 0; i < opt.prefetch_threads; i++)
        DF_TRY(df_reader_new(&source->readers[i], source->dataset));
    return DF_OK;
}

df_status
open_data(struct session *s)
{
    if (opt.chat_template)
        DF_TRY(read_text(opt.chat_template, &s->chat_template));
    DF_TRY(open_source(s, &s->train, &opt.data, "data"));
    if (opt.eval_data.count > 0)
        DF_TRY(open_source(s, &s->eval, &opt.eval_data, "evaluation data"));
    return DF_OK;
}
