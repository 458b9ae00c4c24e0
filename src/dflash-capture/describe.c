/* The plan, the header, and how much space they will take.  */
#include <config.h>

#include <jansson.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include "dflash-capture/options.h"
#include "dflash-capture/session.h"

enum {
    /* What a sample takes beside its tokens, at most, and what a file does:
       HDF5's last chunk of each dataset is whole.  */
    HDF5_SAMPLE = 128,
    HDF5_FILE = 320 << 10,
    HDF5_CHUNK = 256 << 10,
    STREAM_SAMPLE = 1024
};

static df_status
make_plan(struct session *s)
{
    const struct df_plan_options o = {
        .seed = (uint64_t) input.seed,
        .token_budget = (size_t) input.token_budget,
        .max_seqs = (size_t) input.max_batch_size,
        .epochs = 1,
        .per_step = 1};

    return df_plan_new(&s->plan, s->lengths, s->n, NULL, 0, &o);
}

static df_status
make_notes(struct session *s)
{
    json_t *files = json_array();
    json_t *o = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:s}", "samples",
        (json_int_t) s->n, "tokens", (json_int_t) s->tokens, "batches",
        (json_int_t) df_plan_steps(s->plan), "token_budget",
        (json_int_t) input.token_budget, "max_batch_size",
        (json_int_t) input.max_batch_size, "max_length",
        (json_int_t) input.max_length, "train_on", turn_names[input.train_on],
        "shard", opt.shard_text ? opt.shard_text : "1/1");

    for (size_t i = 0; i < input.data.count; i++)
        json_array_append_new(files, json_string(input.data.items[i]));
    json_object_set_new(o, "data", files);
    s->notes = json_dumps(o, JSON_COMPACT);
    json_decref(o);
    return s->notes ? DF_OK : DF_FAIL(DF_NO_MEMORY, "notes of the capture");
}

void
describe_header(struct session *s)
{
    s->header = model_header(&s->model, &s->layers);
    s->header.layout = (enum df_capture_layout) opt.layout;
    s->header.has_last_hidden = opt.last_hidden;
    s->header.seed = (uint64_t) input.seed;
    s->header.tool = "dflash-capture " PACKAGE_VERSION;
}

df_status
describe_capture(struct session *s)
{
    DF_TRY(make_plan(s));
    DF_TRY(make_notes(s));
    s->header.notes = s->notes;
    return DF_OK;
}

double
bytes_needed(const struct session *s)
{
    double tokens = (double) s->tokens, samples = (double) s->n;
    double token = (double) df_capture_token_bytes(&s->header);
    size_t wide; /* datasets */

    switch ((enum df_capture_format) opt.format) {
    case DF_CAPTURE_HDF5:
        wide = (opt.layout == DF_CAPTURE_SPLIT ? s->layers.n : 1)
               + opt.last_hidden;
        return tokens * token + samples * HDF5_SAMPLE + HDF5_FILE
               + (double) (wide * HDF5_CHUNK);
    case DF_CAPTURE_STREAM:
        return tokens * token + samples * STREAM_SAMPLE;
    case DF_CAPTURE_SPECULATORS:
        break;
    }
    /* The states, the tokens as 64 bits and as text.  */
    token = 2.0 * (double) ((s->layers.n + 1) * s->header.hidden_size);
    return tokens * (token + 8 + 10) + samples * STREAM_SAMPLE;
}

double
bytes_free(void)
{
    struct statvfs fs;
    struct stat st;
    char *copy;
    double bytes = 0;
    bool failed;

    if (to_stdout())
        return -1;
    if (stat(opt.output, &st) == 0) {
        if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
            return -1;
        if (S_ISREG(st.st_mode) && opt.overwrite)
            bytes = (double) st.st_blocks * 512;
    }
    copy = strdup(opt.output);
    failed = !copy || statvfs(dirname(copy), &fs) != 0;
    free(copy);
    return failed ? -1 : bytes + (double) fs.f_bavail * (double) fs.f_frsize;
}
