#include <config.h>

#include <stdio.h>
#include <stdlib.h>

#include "common/input.h"
#include "common/message.h"
#include "common/progress.h"
#include "common/samples.h"
#include "common/signals.h"

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
    if (n > 0 && text[n - 1] == '\0') {
        free(text);
        return DF_FAIL(DF_FORMAT, "%s: has a NUL byte", file);
    }
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
open_dataset(struct sample_source *source, const struct model *m,
             const struct string_list *files, const char *name,
             const struct df_batch_limits *limits, bool prompts)
{
    struct df_data_options o = {.tokenizer = m->tokenizer,
                                .chat_template_name = input.chat_template,
                                .vocab_size = m->config.d.vocab_size,
                                .max_length = (size_t) input.max_length,
                                .last_turn_only =
                                    input.train_on == TRAIN_ON_LAST,
                                .prompts = prompts,
                                .strict = input.strict,
                                .limits = limits,
                                .threads = (size_t) input.prefetch_threads,
                                .cache_bytes = input.cache,
                                .progress = show_indexing,
                                .arg = (void *) name};
    char *text = NULL;
    df_status status;

    if (input.chat_template)
        DF_TRY(read_text(input.chat_template, &text));
    o.chat_template = text;
    status = df_dataset_open(&source->dataset, files->items, files->count, &o);
    free(text);
    return status;
}

static df_status
open_source(struct sample_source *source, const struct model *m,
            const struct string_list *files, const char *name,
            const struct df_batch_limits *limits, bool prompts)
{
    DF_TRY(open_dataset(source, m, files, name, limits, prompts));
    progress_end();
    note_report(df_dataset_report(source->dataset), files);
    for (long i = 0; i < input.prefetch_threads; i++)
        DF_TRY(df_reader_new(&source->readers[i], source->dataset));
    return DF_OK;
}

df_status
samples_open(struct sample_source *source, const struct model *m,
             const struct string_list *files, const char *name,
             const struct df_batch_limits *limits)
{
    return open_source(source, m, files, name, limits, false);
}

df_status
prompts_open(struct sample_source *source, const struct model *m,
             const struct string_list *files, const char *name)
{
    return open_source(source, m, files, name, NULL, true);
}

void
samples_close(struct sample_source *source)
{
    for (size_t i = 0; i < MAX_PLACES; i++)
        df_reader_free(source->readers[i]);
    df_dataset_free(source->dataset);
}

df_status
samples_read(void *arg, size_t thread, uint32_t index, struct df_sample *out)
{
    struct sample_source *source = arg;

    return df_reader_read(source->readers[thread], index, out);
}
