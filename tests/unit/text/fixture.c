#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap/tap.h"
#include "unit/text/fixture.h"

static char dir[] = "/tmp/dflash.XXXXXX";
static char *paths[64];
static size_t n_paths;
static struct df_tokenizer *tok;

static void
clean_up(void)
{
    df_tokenizer_free(tok);
    for (size_t i = 0; i < n_paths; i++) {
        unlink(paths[i]);
        free(paths[i]);
    }
    rmdir(dir);
}

const char *
fixture_dir(void)
{
    static int made;

    if (!made) {
        if (!mkdtemp(dir))
            skip_all("no scratch folder in /tmp");
        atexit(clean_up);
        made = 1;
    }
    return dir;
}

const char *
fixture_file(const char *name, const char *text, size_t len)
{
    char *path;
    size_t i = 0;

    if (asprintf(&path, "%s/%s", fixture_dir(), name) < 0)
        exit(99);
    while (i < n_paths && strcmp(paths[i], path) != 0)
        i++;
    if (i < n_paths)
        free(path);
    else
        paths[n_paths++] = path;
    FILE *f = fopen(paths[i], "wb");
    if (!f || fwrite(text, 1, len, f) != len || fclose(f) || n_paths == 64)
        exit(99);
    return paths[i];
}

/* Byte-level vocabularies write bytes as letters: printable ones as they
   are, the others from U+0100 on.  */
static void
put_byte(FILE *f, int byte)
{
    int printable = (byte > 32 && byte < 127) || (byte > 160 && byte != 173);
    int code = byte, others = 0;

    for (int b = 0; b < byte && !printable; b++)
        others += !((b > 32 && b < 127) || (b > 160 && b != 173));
    if (!printable)
        code = 256 + others;
    fprintf(f, "\"\\u%04x\": %d, ", (unsigned) code, byte);
}

static void
open_tokenizer(void)
{
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);

    fputs("{\"version\": \"1.0\", \"truncation\": null, \"padding\": null,"
          " \"added_tokens\": [{\"id\": 257, \"content\": \"<end>\","
          " \"single_word\": false, \"lstrip\": false, \"rstrip\": false,"
          " \"normalized\": false, \"special\": true}], \"normalizer\": null,"
          " \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\":"
          " false, \"trim_offsets\": true, \"use_regex\": false},"
          " \"post_processor\": null, \"decoder\": {\"type\": \"ByteLevel\","
          " \"add_prefix_space\": true, \"trim_offsets\": true, \"use_regex\":"
          " true}, \"model\": {\"type\": \"BPE\", \"dropout\": null,"
          " \"unk_token\": null, \"continuing_subword_prefix\": null,"
          " \"end_of_word_suffix\": null, \"fuse_unk\": false,"
          " \"byte_fallback\": false, \"ignore_merges\": false, \"vocab\": {",
          f);
    for (int byte = 0; byte < 256; byte++)
        put_byte(f, byte);
    fputs("\"\\u0120y\": 256}, \"merges\": [[\"\\u0120\", \"y\"]]}}", f);
    fclose(f);
    fixture_file("tokenizer.json", text, len);
    free(text);
    if (df_tokenizer_open(&tok, fixture_dir()) != DF_OK) {
        diag("%s", df_error_last()->message);
        exit(99);
    }
}

const char *
fixture_json(const char *name, const char *text)
{
    char *copy = strdup(text);
    size_t len = strlen(copy);

    for (size_t i = 0; i < len; i++)
        if (copy[i] == '\'')
            copy[i] = '"';
    const char *path = fixture_file(name, copy, len);
    free(copy);
    return path;
}

struct df_data_options
fixture_options(void)
{
    static const struct df_batch_limits limits = {
        .max_tokens = 100,
        .max_seqs = 1,
        .max_seqlen = 100,
        .num_anchors = 1,
        .block_size = 4,
    };

    if (!tok)
        open_tokenizer();
    return (struct df_data_options){
        .tokenizer = tok,
        .chat_template =
            "{% for m in messages %}{% if m['role'] == 'system' %}"
            "{{ raise_exception('no system here') }}{% endif %}"
            "{{ m['role'][0] + ':' + m['content'] + '<end>' }}"
            "{% endfor %}{% if add_generation_prompt %}a:{% endif %}",
        .vocab_size = N_IDS,
        .max_length = 100,
        .limits = &limits,
        .threads = 3,
        .cache_bytes = 1 << 20,
    };
}

struct df_dataset *
fixture_open(const char *const *files, size_t n,
             const struct df_data_options *options)
{
    struct df_dataset *ds;

    if (df_dataset_open(&ds, files, n, options) == DF_OK)
        return ds;
    diag("%s", df_error_last()->message);
    exit(99);
}
