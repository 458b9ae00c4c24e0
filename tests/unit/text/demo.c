#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "dflash/data.h"
#include "tap/tap.h"
#include "text/jsonl_internal.h"

static struct df_tokenizer *tok;

static const char *
content(const json_t *record, size_t turn)
{
    const json_t *messages = json_object_get(record, "messages");

    return json_string_value(
        json_object_get(json_array_get(messages, turn), "content"));
}

/* Append the tokens of BEFORE, TEXT and BEHIND to IDS.  */
static void
encode(struct df_ids *ids, const char *before, const char *text,
       const char *behind)
{
    char *all;
    int len = asprintf(&all, "%s%s%s", before, text, behind);

    if (len < 0
        || df_tokenizer_encode(tok, all, (size_t) len, 0, ids) != DF_OK)
        exit(99);
    free(all);
}

/* Whether S is what RECORD, a question and an answer, should become.  */
static int
matches(const struct df_sample *s, const json_t *record)
{
    struct df_ids ids = {0};
    size_t prompt;
    int same = 1;

    encode(&ids, "<|im_start|>user\n", content(record, 0),
           "<|im_end|>\n<|im_start|>assistant\n");
    prompt = ids.n;
    encode(&ids, "", content(record, 1), "<|im_end|>\n");
    if (s->n != ids.n)
        same = 0;
    for (size_t i = 0; same && i < s->n; i++)
        same = s->ids[i] == ids.data[i] && s->loss_mask[i] == (i >= prompt);
    df_ids_free(&ids);
    return same;
}

/* Compare all samples with the lines of the file.  */
static long
count_matches(const struct df_dataset *ds, const char *path)
{
    struct df_reader *reader;
    struct df_sample s;
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t size = 0, i = 0;
    ssize_t len;
    long n = 0;

    if (!f || df_reader_new(&reader, ds) != DF_OK)
        exit(99);
    while ((len = getline(&line, &size, f)) > 0 && i < df_dataset_size(ds)) {
        json_t *record;

        if (df_jsonl_parse(&record, line, (size_t) len, path, i + 1) != DF_OK
            || df_reader_read(reader, i, &s) != DF_OK)
            exit(99);
        n += s.id == (uint64_t) i << 16 && matches(&s, record);
        json_decref(record);
        i++;
    }
    free(line);
    fclose(f);
    df_reader_free(reader);
    return n;
}

int
main(void)
{
    static const struct df_batch_limits limits = {.num_anchors = 8,
                                                  .block_size = 8};
    const char *shared = getenv("DFLASH_SHARED");
    char model[512], path[512];
    const char *file = path;
    struct df_dataset *ds;
    struct df_data_options o = {
        .limits = &limits, .max_length = 1 << 20, .threads = 2};

    snprintf(model, sizeof model, "%s/models/tiny", shared ? shared : "");
    snprintf(path, sizeof path, "%s/data/tiny-train.jsonl",
             shared ? shared : "");
    if (!shared || access(model, R_OK) || access(path, R_OK))
        skip_all("no %s and %s", model, path);
    plan(6);
    if (df_tokenizer_open(&tok, model) != DF_OK) {
        diag("%s", df_error_last()->message);
        return 1;
    }
    o.tokenizer = tok;
    o.vocab_size = df_tokenizer_size(tok);
    for (int cached = 0; cached < 2; cached++) {
        o.cache_bytes = cached ? 64 << 20 : 0;
        if (df_dataset_open(&ds, &file, 1, &o) != DF_OK) {
            diag("%s", df_error_last()->message);
            return 1;
        }
        const struct df_data_report *r = df_dataset_report(ds);
        is_long((long) r->records, (long) r->samples,
                "all conversations are used");
        ok(df_dataset_cached(ds) == (cached == 1), "cached or not");
        is_long((long) r->records, count_matches(ds, path),
                "the answers with their closing token are supervised, "
                "nothing else");
        df_dataset_free(ds);
    }
    df_tokenizer_free(tok);
    return 0;
}
