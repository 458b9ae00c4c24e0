#include <config.h>

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/message.h"
#include "dflash-capture/answers.h"
#include "dflash-capture/options.h"

static df_status
failed(const char *path)
{
    return DF_FAIL_ERRNO(DF_IO, "%s: %s", path, strerror(errno));
}

/* Prompts are compared one by one.  */
static json_t *
what_matters(const struct model *m)
{
    return json_pack(
        "{s:s, s:o, s:I, s:I, s:f, s:I}", "format", "dflash-answers",
        "target config",
        json_sprintf("%016llx", (unsigned long long) m->config.hash),
        "max-length", (json_int_t) input.max_length, "max-new-tokens",
        (json_int_t) opt.max_new_tokens, "temperature", opt.temperature,
        "seed", (json_int_t) input.seed);
}

static df_status
write_notes(const struct answer_file *f, const json_t *notes)
{
    if (json_dump_file(notes, f->notes,
                       JSON_INDENT(2) | JSON_REAL_PRECISION(17)))
        return failed(f->notes);
    return DF_OK;
}

static df_status
compare_notes(const struct answer_file *f, const json_t *notes)
{
    json_error_t err;
    json_t *found = json_load_file(f->notes, 0, &err), *value;
    const char *key;
    df_status status = DF_OK;

    if (!found)
        return DF_FAIL(DF_FORMAT, "%s: %s", f->notes, err.text);
    json_object_foreach((json_t *) notes, key, value)
    {
        if (status == DF_OK && !json_equal(json_object_get(found, key), value))
            status = DF_FAIL(DF_INVALID,
                             "%s: written with another %s: answers are "
                             "resumed with the options they were begun with",
                             f->aside, key);
    }
    json_decref(found);
    return status;
}

static df_status
lock(const struct answer_file *f)
{
    if (flock(fileno(f->fp), LOCK_EX | LOCK_NB) == 0)
        return DF_OK;
    return errno == EWOULDBLOCK
               ? DF_FAIL(DF_IO, "%s: another process is writing it", f->aside)
               : failed(f->aside);
}

static df_status
begin(struct answer_file *f, const json_t *notes)
{
    if (!opt.overwrite && access(f->path, F_OK) == 0)
        return DF_FAIL(DF_IO, "%s: exists: replace it by --overwrite",
                       f->path);
    if (!opt.overwrite && !opt.resume && access(f->aside, F_OK) == 0)
        return DF_FAIL(DF_IO,
                       "%s: exists: go on with it by --resume, or replace it "
                       "by --overwrite",
                       f->aside);
    f->fp = fopen(f->aside, "a");
    if (!f->fp)
        return failed(f->aside);
    DF_TRY(lock(f));
    f->begun = true;
    if (ftruncate(fileno(f->fp), 0))
        return failed(f->aside);
    return write_notes(f, notes);
}

static df_status
go_on(struct answer_file *f, const json_t *notes)
{
    DF_TRY(compare_notes(f, notes));
    f->fp = fopen(f->aside, "r+");
    return f->fp ? lock(f) : failed(f->aside);
}

df_status
answer_file_open(struct answer_file *f, const char *path,
                 const struct model *m)
{
    json_t *notes = what_matters(m);
    df_status status;

    *f = (struct answer_file){.path = path};
    if (!notes || asprintf(&f->aside, "%s.tmp", path) < 0
        || asprintf(&f->notes, "%s.tmp.json", path) < 0) {
        json_decref(notes);
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    }
    f->whole = opt.resume && access(path, F_OK) == 0;
    if (f->whole) {
        f->fp = fopen(path, "r");
        status = f->fp ? DF_OK : failed(path);
    } else if (opt.resume && access(f->notes, F_OK) == 0
               && access(f->aside, F_OK) == 0)
        status = go_on(f, notes);
    else
        status = begin(f, notes);
    json_decref(notes);
    return status;
}

/* Whether O, a record, has PROMPT's tokens and then others.  */
static bool
answers(const json_t *o, const struct df_sample *prompt)
{
    const json_t *ids = json_object_get(o, "input_ids");
    const json_t *id = json_object_get(o, "id");

    if ((uint64_t) json_integer_value(id) != prompt->id
        || json_array_size(ids) <= prompt->n)
        return false;
    for (size_t i = 0; i < prompt->n; i++)
        if (json_integer_value(json_array_get(ids, i)) != prompt->ids[i])
            return false;
    return true;
}

df_status
answer_file_recall(struct answer_file *f, const struct df_sample *prompt)
{
    const char *name = f->whole ? f->path : f->aside;
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, f->fp);
    json_error_t err;
    json_t *o;
    df_status status = DF_OK;

    if (n < 1 || line[n - 1] != '\n') {
        free(line);
        return ferror(f->fp) ? failed(name) : DF_END;
    }
    o = json_loadb(line, (size_t) n, 0, &err);
    if (!o)
        status =
            DF_FAIL(DF_FORMAT, "%s:%zu: %s", name, f->lines + 1, err.text);
    else if (!answers(o, prompt))
        status = DF_FAIL(DF_INVALID,
                         "%s:%zu: the answer to another prompt than the "
                         "data's: answers are resumed with the data they "
                         "were begun with",
                         name, f->lines + 1);
    else {
        f->lines++;
        f->good = ftello(f->fp);
    }
    json_decref(o);
    free(line);
    return status;
}

df_status
answer_file_go_on(struct answer_file *f)
{
    if (fseeko(f->fp, f->good, SEEK_SET) || ftruncate(fileno(f->fp), f->good))
        return failed(f->aside);
    return DF_OK;
}

static df_status
put_in_place(const struct answer_file *f)
{
    if (rename(f->aside, f->path))
        return failed(f->path);
    unlink(f->notes);
    return DF_OK;
}

/* A file without answers goes.  */
static void
leave(const struct answer_file *f, size_t n)
{
    if (n > f->lines)
        message_note("%s: %zu answers: go on with --resume", f->aside, n);
    else if (n == 0 && f->begun) {
        unlink(f->aside);
        unlink(f->notes);
    }
}

df_status
answer_file_close(struct answer_file *f, df_status status, size_t n)
{
    df_error first = *df_error_last();

    if (f->fp && fclose(f->fp) && status == DF_OK) {
        status = failed(f->aside);
        first = *df_error_last();
    }
    if (!f->whole && status == DF_OK)
        status = put_in_place(f);
    else if (!f->whole)
        leave(f, n);
    if (status != DF_OK && status != DF_CANCELED)
        df_error_set(&first);
    free(f->aside);
    free(f->notes);
    return status;
}
