/* One sample as text: a line for each stretch of equal loss mask.  */

#include <config.h>

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dflash-inspect/options.h"
#include "dflash-inspect/session.h"

/* What --dump names.  */
struct wish {
    uint64_t number;
    bool is_id;
};

static struct wish
parse_wish(void)
{
    struct wish w = {0};
    const char *text = opt.dump;

    w.is_id = strncmp(text, "id:", 3) == 0;
    text += w.is_id ? 3 : 0;
    errno = 0;
    w.number = strtoull(text, NULL, 10);
    if (!*text || strspn(text, "0123456789") != strlen(text) || errno)
        option_reject(&inspect_tool, &opt.dump,
                      "'%s' is neither an index nor id:N", opt.dump);
    return w;
}

static bool
is_wanted(struct wish w, uint64_t index, uint64_t id)
{
    return w.number == (w.is_id ? id : index);
}

/* Read until the sample comes; DF_END if it doesn't.  Bad ones on the way
   don't matter.  */
static df_status
find_in_pipe(struct session *s, struct wish w, struct df_capture_sample *out)
{
    df_status status;
    size_t size;
    bool bad;

    do {
        status = df_captures_next(s->captures, s->scratch, out);
        bad = status != DF_OK && status != DF_NO_MEMORY
              && df_capture_image(s->scratch, &size);
    } while (bad || (status == DF_OK && !is_wanted(w, out->index, out->id)));
    return status;
}

static df_status
find(struct session *s, struct wish w, struct df_capture_sample *out)
{
    const struct df_capture_entry *e = df_captures_entries(s->captures);

    if (df_captures_is_pipe(s->captures))
        return find_in_pipe(s, w, out);
    for (size_t i = 0; i < df_captures_count(s->captures); i++)
        if (is_wanted(w, e[i].index, e[i].id))
            return df_captures_read(s->captures, i, s->scratch, out);
    return DF_END;
}

/* The text of tokens FIRST to END, to be freed.  Ids that the tokenizer
   doesn't have, and all of them without one, are numbers.  */
static char *
text_of(const struct session *s, const struct df_capture_sample *x,
        size_t first, size_t end)
{
    char *text = NULL;
    size_t len;
    FILE *fp;

    if (s->tokenizer
        && df_tokenizer_decode(s->tokenizer, x->ids + first, end - first,
                               false, &text, &len)
               == DF_OK)
        return text;
    fp = open_memstream(&text, &len);
    for (size_t t = first; fp && t < end; t++)
        fprintf(fp, "%s%d", t > first ? " " : "", (int) x->ids[t]);
    if (fp)
        fclose(fp);
    return text;
}

/* TEXT in one line: control characters as JSON escapes them.  */
static void
print_quoted(FILE *fp, const char *text)
{
    json_t *string = json_string(text);

    if (string)
        json_dumpf(string, fp, JSON_ENCODE_ANY);
    json_decref(string);
}

static void
print_stretch(const struct session *s, const struct df_capture_sample *x,
              size_t first, size_t end)
{
    char *text = text_of(s, x, first, end), range[48];

    if (opt.json) {
        json_t *o = json_object();

        put_count(o, "first", first);
        put_count(o, "last", end - 1);
        put_count(o, "loss_mask", x->loss_mask[first]);
        json_object_set_new(o, s->tokenizer ? "text" : "ids",
                            json_string(text ? text : ""));
        print_json(o);
    } else {
        snprintf(range, sizeof range, "%zu-%zu", first, end - 1);
        printf("%11s %s ", range,
               x->loss_mask[first] == 0   ? " "
               : x->loss_mask[first] == 1 ? "*"
                                          : "?");
        print_quoted(stdout, text ? text : "");
        putchar('\n');
    }
    free(text);
}

static void
print_head(const struct df_capture_sample *x)
{
    uint64_t supervised = 0;

    for (size_t t = 0; t < x->n; t++)
        supervised += x->loss_mask[t] > 0;
    if (opt.json) {
        json_t *o = json_object();

        put_count(o, "sample", x->index);
        put_count(o, "id", x->id);
        put_count(o, "tokens", x->n);
        put_count(o, "supervised", supervised);
        print_json(o);
        return;
    }
    printf("sample %" PRIu64 " (id %" PRIu64 "): %zu tokens, %" PRIu64
           " supervised (*)\n",
           x->index, x->id, x->n, supervised);
}

df_status
dump_sample(struct session *s)
{
    struct wish w = parse_wish();
    struct df_capture_sample x;
    df_status status = find(s, w, &x);

    if (status == DF_END)
        return DF_FAIL(DF_INVALID, "%s: no sample of %s %" PRIu64,
                       df_captures_path(s->captures, 0),
                       w.is_id ? "id" : "index", w.number);
    DF_TRY(status);
    print_head(&x);
    for (size_t t = 0, end; t < x.n; t = end) {
        for (end = t; end < x.n && x.loss_mask[end] == x.loss_mask[t];)
            end++;
        print_stretch(s, &x, t, end);
    }
    return DF_OK;
}
