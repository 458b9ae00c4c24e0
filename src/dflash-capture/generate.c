/* The target answers the prompts of the data set.  Answers come as they end,
   and are written in the order of their prompts, as records of ids: what is
   captured or trained on later is to the token what was generated.  */
#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/answer.h"
#include "common/message.h"
#include "common/progress.h"
#include "common/signals.h"
#include "dflash-capture/answers.h"
#include "dflash-capture/generate.h"
#include "dflash-capture/options.h"

/* Prompts and answers of one run.  */
struct answers {
    const struct model *model;
    struct sample_source prompts;
    struct df_generator *generator;
    size_t first, step; /* of the prompts that are answered */
    size_t n;           /* of them */
    size_t asked, written;
    char **lines;             /* [n] those that wait for an earlier one */
    struct answer_file *file; /* whose lines are of before this run */
};

/* Which prompts: a shard of the first so many.  */
static df_status
choose(struct answers *a)
{
    size_t end = df_dataset_size(a->prompts.dataset);

    if (opt.max_samples > 0 && (size_t) opt.max_samples < end)
        end = (size_t) opt.max_samples;
    a->first = opt.shard;
    a->step = opt.shards;
    a->n = end > a->first ? (end - a->first + a->step - 1) / a->step : 0;
    if (a->n == 0)
        return DF_FAIL(DF_INVALID, "no prompts in this shard");
    a->lines = calloc(a->n, sizeof *a->lines);
    return a->lines ? DF_OK : DF_FAIL(DF_NO_MEMORY, "%zu answers", a->n);
}

static df_status
read_prompt(struct answers *a, size_t index, struct df_sample *out)
{
    return samples_read(&a->prompts, 0,
                        (uint32_t) (a->first + index * a->step), out);
}

static df_status
next_prompt(void *arg, struct df_prompt *out)
{
    struct answers *a = arg;
    struct df_sample sample;

    if (signals_caught())
        return DF_CANCELED;
    if (a->asked == a->n)
        return DF_END;
    DF_TRY(read_prompt(a, a->asked++, &sample));
    *out = (struct df_prompt){sample.id, sample.ids, sample.n};
    return DF_OK;
}

static df_status
no_memory(const struct answers *a)
{
    return DF_FAIL(DF_NO_MEMORY, "%s: no memory for an answer", a->file->path);
}

static bool
append(json_t *ids, json_t *mask, const int32_t *from, size_t n, int bit)
{
    bool good = true;

    for (size_t i = 0; i < n; i++)
        good = good && json_array_append_new(ids, json_integer(from[i])) == 0
               && json_array_append_new(mask, json_integer(bit)) == 0;
    return good;
}

/* The text of the answer, for who reads the file; NULL if there is none.  */
static json_t *
text_of(const struct answers *a, const struct df_answer *answer)
{
    json_t *out;
    char *text;
    size_t len;

    if (!a->model->tokenizer
        || df_tokenizer_decode(a->model->tokenizer, answer->ids, answer->n,
                               true, &text, &len)
               != DF_OK)
        return json_null();
    out = json_stringn(text, len);
    free(text);
    return out;
}

/* The record of ANSWER to PROMPT as a line, to be freed.  */
static df_status
make_line(const struct answers *a, const struct df_sample *prompt,
          const struct df_answer *answer, char **out)
{
    json_t *ids = json_array(), *mask = json_array(), *o;
    bool good = append(ids, mask, prompt->ids, prompt->n, 0)
                && append(ids, mask, answer->ids, answer->n, 1);

    o = json_pack("{s:I, s:b, s:o, s:o, s:o}", "id", (json_int_t) answer->id,
                  "stopped", answer->stopped, "answer", text_of(a, answer),
                  "input_ids", ids, "loss_mask", mask);
    *out = good && o ? json_dumps(o, JSON_COMPACT) : NULL;
    json_decref(o);
    return *out ? DF_OK : no_memory(a);
}

/* Lines outlive the process at once.  */
static df_status
write_lines(struct answers *a)
{
    FILE *fp = a->file->fp;
    bool good = true;

    while (good && a->written < a->n && a->lines[a->written]) {
        char *line = a->lines[a->written];

        good = fputs(line, fp) != EOF && putc('\n', fp) != EOF;
        free(line);
        a->lines[a->written] = NULL;
        a->written += good;
    }
    if (!good || fflush(fp))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", a->file->path, strerror(errno));
    return DF_OK;
}

static void
show(const struct answers *a)
{
    struct df_decode_stats stats;

    if (!progress_wanted())
        return;
    df_generator_get_stats(a->generator, &stats);
    progress_show("answer %zu/%zu, %s tokens", a->written, a->n,
                  format_count((double) stats.tokens).text);
}

static df_status
take_answer(void *arg, const struct df_answer *answer)
{
    struct answers *a = arg;
    size_t index = a->file->lines + answer->index;
    struct df_sample prompt;

    DF_TRY(read_prompt(a, index, &prompt));
    DF_TRY(make_line(a, &prompt, answer, &a->lines[index]));
    DF_TRY(write_lines(a));
    show(a);
    return signals_caught() ? DF_CANCELED : DF_OK;
}

static df_status
answer_all(struct session *s, struct answers *a)
{
    struct answerer with = {0};
    struct df_decode_stats stats;
    struct stop_list stops;
    struct df_generator_options o = {.concurrency = (size_t) opt.concurrency,
                                     .max_seqlen = (size_t) input.max_length,
                                     .max_new_tokens =
                                         (size_t) opt.max_new_tokens,
                                     .prefill_rows = GENERATE_PREFILL,
                                     .temperature = (float) opt.temperature,
                                     .seed = (uint64_t) input.seed,
                                     .stop_ids = stops.ids,
                                     .graphs = true};
    size_t left = a->n - a->file->lines;
    df_status status;

    model_stops(&s->model, &stops);
    o.n_stop_ids = stops.n;
    if (o.concurrency > left)
        o.concurrency = left;
    status = answerer_open(&with, &s->model, s->targets.devices[0], &o);
    a->generator = with.generator;
    if (status == DF_OK)
        status = df_generate(a->generator,
                             &(struct df_decode_job){.arg = a,
                                                     .next = next_prompt,
                                                     .done = take_answer,
                                                     .plain = true});
    progress_end();
    if (status == DF_OK) {
        df_generator_get_stats(a->generator, &stats);
        message_note("%zu answers of %.1f tokens on average, in %s "
                     "(%s tokens/s)",
                     left, (double) stats.tokens / (double) left,
                     format_duration(stats.seconds).text,
                     format_count((double) stats.tokens / stats.seconds).text);
    }
    answerer_close(&with);
    return status;
}

/* What is there answers the first prompts.  */
static df_status
recall(struct answers *a)
{
    struct answer_file *f = a->file;
    df_status status = DF_OK;

    while (status == DF_OK && f->lines < a->n) {
        struct df_sample prompt;

        DF_TRY(read_prompt(a, f->lines, &prompt));
        status = answer_file_recall(f, &prompt);
    }
    a->asked = a->written = f->lines;
    if (status != DF_OK && status != DF_END)
        return status;
    if (f->whole && f->lines < a->n)
        return DF_FAIL(DF_INVALID, "%s: %zu answers to %zu prompts", f->path,
                       f->lines, a->n);
    message_note("%s: %zu answers are there, %zu are left", f->path, f->lines,
                 a->n - f->lines);
    return f->whole ? DF_OK : answer_file_go_on(f);
}

static df_status
answer_into(struct session *s, struct answer_file *f, size_t *written)
{
    struct answers a = {.model = &s->model, .file = f};
    df_status status =
        prompts_open(&a.prompts, &s->model, &input.data, "prompts");

    if (status == DF_OK)
        status = choose(&a);
    if (status == DF_OK && opt.resume)
        status = recall(&a);
    if (status == DF_OK && f->lines < a.n)
        status = answer_all(s, &a);
    for (size_t i = 0; a.lines && i < a.n; i++)
        free(a.lines[i]);
    free(a.lines);
    samples_close(&a.prompts);
    *written = a.written;
    return status;
}

static df_status
answer_to(struct session *s, const char *path)
{
    struct answer_file f;
    size_t written = 0;
    df_status status = answer_file_open(&f, path, &s->model);

    if (status == DF_OK)
        status = answer_into(s, &f, &written);
    return answer_file_close(&f, status, written);
}

/* The name of a new file, to be freed: the caller removes it.  */
static df_status
make_temporary(char **out)
{
    const char *dir = getenv("TMPDIR");
    int fd;

    if (asprintf(out, "%s/dflash-answers-XXXXXX", dir && *dir ? dir : "/tmp")
        < 0)
        return DF_FAIL(DF_NO_MEMORY, "the name of a file for answers");
    fd = mkstemp(*out);
    if (fd >= 0)
        return close(fd), DF_OK;
    df_status status = DF_FAIL_ERRNO(DF_IO, "%s: %s", *out, strerror(errno));

    free(*out);
    *out = NULL;
    return status;
}

/* Into a file that is gone with the session.  */
static df_status
answer_meanwhile(struct session *s)
{
    struct answer_file f = {.path = s->temporary};
    size_t written;
    df_status status;

    f.fp = fopen(s->temporary, "w");
    if (!f.fp)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", f.path, strerror(errno));
    status = answer_into(s, &f, &written);
    fclose(f.fp);
    return status;
}

df_status
generate(struct session *s, struct string_list *files)
{
    s->answers = opt.answers;
    if (!s->answers) {
        DF_TRY(make_temporary(&s->temporary));
        s->answers = s->temporary;
    }
    *files = (struct string_list){&s->answers, 1};
    return s->temporary ? answer_meanwhile(s) : answer_to(s, s->answers);
}
