#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file_internal.h"
#include "text/vocab_internal.h"
#include "unit/text/build.h"

static char dir[64];

const char *
build_dir(void)
{
    if (!dir[0]) {
        strcpy(dir, "/tmp/dflash.XXXXXX");
        if (!mkdtemp(dir))
            abort();
    }
    return dir;
}

void
build_plain_file(const char *name, const char *text)
{
    char *path = df_path_join(build_dir(), name);

    if (!path)
        abort();
    unlink(path);
    if (text && df_file_write(path, text, strlen(text)) != DF_OK)
        abort();
    free(path);
}

/* Write JSON, with its quotes turned.  */
static void
put_json(FILE *f, const char *json)
{
    for (; *json; json++)
        putc(*json == '\'' ? '"' : *json == '`' ? '\'' : *json, f);
}

void
build_file(const char *name, const char *text)
{
    char *turned;
    size_t len;
    FILE *f = open_memstream(&turned, &len);

    put_json(f, text);
    fclose(f);
    build_plain_file(name, turned);
    free(turned);
}

void
build_end(void)
{
    build_plain_file("tokenizer.json", NULL);
    build_plain_file("tokenizer_config.json", NULL);
    build_plain_file("chat_template.jinja", NULL);
    rmdir(build_dir());
}

/* Append WORD [LEN], as JSON has it, with ~ for a space if SPACES.  */
static void
put_word(FILE *f, const char *word, size_t len, bool spaces)
{
    putc('"', f);
    for (size_t i = 0; i < len; i++) {
        if (word[i] == '"' || word[i] == '\\')
            putc('\\', f);
        putc(spaces && word[i] == '~' ? ' ' : word[i], f);
    }
    putc('"', f);
}

struct words {
    struct {
        const char *text;
        size_t len;
    } word[512];
    size_t n;
};

/* The id of WORD, which is N more than the last one's if it is new.  */
static size_t
id_of(struct words *w, const char *text, size_t len)
{
    size_t i = 0;

    while (i < w->n
           && (w->word[i].len != len || memcmp(w->word[i].text, text, len)))
        i++;
    if (i == w->n) {
        w->word[w->n].text = text;
        w->word[w->n++].len = len;
    }
    return i;
}

static void
put_model(FILE *f, const struct parts *parts, struct words *w)
{
    static char letters[256][3];
    const char *p = parts->words, *merges = strchr(p, ';');
    size_t letters_n = *p == '@' ? 256 : 0;

    for (size_t i = 0; i < letters_n; i++)
        id_of(w, letters[i], df_byte_spelling((uint8_t) i, letters[i]));
    for (p += *p == '@'; *p && *p != ';'; p += strspn(p, " ")) {
        size_t len = strcspn(p, " ;");

        id_of(w, p, len);
        p += len;
    }
    fputs("{\"type\":\"BPE\",\"vocab\":{", f);
    for (size_t i = 0; i < w->n; i++) {
        fputs(i ? "," : "", f);
        put_word(f, w->word[i].text, w->word[i].len, i >= letters_n);
        fprintf(f, ":%zu", i);
    }
    fputs("},\"merges\":[", f);
    for (p = merges ? merges + 1 : ""; *p; p += strspn(p, ",")) {
        size_t len = strcspn(p, ",");

        const char *plus = memchr(p, '+', len);

        putc(p == merges + 1 ? ' ' : ',', f);
        if (plus) {
            putc('[', f);
            put_word(f, p, (size_t) (plus - p), true);
            putc(',', f);
            put_word(f, plus + 1, (size_t) (p + len - plus - 1), true);
            putc(']', f);
        } else {
            put_word(f, p, len, true);
        }
        p += len;
    }
    putc(']', f);
    put_json(f, parts->model ? parts->model : "");
    putc('}', f);
}

static void
put_added(FILE *f, const struct parts *parts, struct words *w)
{
    const char *p = parts->added ? parts->added : "";
    const char *const keys[] = {"lstrip", "rstrip", "single_word",
                                "normalized", "special"};

    putc('[', f);
    for (int n = 0; *p; n++, p += strspn(p, " ")) {
        const char *end = p + strcspn(p, " ");
        const char *slash = memrchr(p, '/', (size_t) (end - p));
        size_t len = (size_t) (slash - p);

        fprintf(f, "%s{\"id\":%zu,\"content\":", n ? "," : "",
                id_of(w, p, len));
        put_word(f, p, len, true);
        for (int i = 0; i < 5; i++)
            fprintf(f, ",\"%s\":%s", keys[i],
                    memchr(slash, "lrwns"[i], (size_t) (end - slash))
                        ? "true"
                        : "false");
        putc('}', f);
        p = end;
    }
    putc(']', f);
}

static void
put_part(FILE *f, const char *key, const char *json)
{
    fprintf(f, ",\"%s\":", key);
    put_json(f, json ? json : "null");
}

void
build_json(const struct parts *parts)
{
    struct words words = {.n = 0};
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    fputs("{\"version\":\"1.0\",\"model\":", f);
    put_model(f, parts, &words);
    fputs(",\"added_tokens\":", f);
    put_added(f, parts, &words);
    put_part(f, "normalizer", parts->normalizer);
    put_part(f, "pre_tokenizer", parts->pre_tokenizer);
    put_part(f, "post_processor", parts->post);
    put_part(f, "decoder", parts->decoder);
    putc('}', f);
    fclose(f);
    build_plain_file("tokenizer.json", text);
    free(text);
}

struct df_tokenizer *
build(const struct parts *parts)
{
    struct df_tokenizer *tok;

    build_json(parts);
    return df_tokenizer_open(&tok, build_dir()) == DF_OK ? tok : NULL;
}

const char *
build_tokens(const struct df_tokenizer *tok, const struct df_ids *ids)
{
    static char text[4096];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ids->n && at < sizeof text; i++)
        at += (size_t) snprintf(text + at, sizeof text - at, "%s%s",
                                i ? "|" : "",
                                df_tokenizer_token(tok, ids->data[i]));
    return text;
}
