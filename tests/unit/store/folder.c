/* Speculators' folders: ours, and those of others.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "dflash/safetensors.h"
#include "fixture.h"

enum {
    SAMPLES = 13
};

static const struct df_capture_writer_options resume = {.resume = true};

static void
test_ours(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    const char *path = fix_path("ours"), *data = fix_path("ours/data.jsonl");
    char *text;
    size_t size;

    is_long(DF_OK, fix_write(path, DF_CAPTURE_SPECULATORS, &h, 3, 9, NULL),
            "a folder is written");
    is_long(6, fix_count(path, &h), "and read");
    fix_refused(DF_INVALID, "exists",
                fix_write(path, DF_CAPTURE_SPECULATORS, &h, 0, 9, NULL),
                "it is kept unless said otherwise");
    text = fix_load(data, &size);
    fix_save(data, text, size - 40);
    unlink(fix_path("ours/hs_8.safetensors"));
    free(text);
    is_long(5, fix_count(path, &h), "a row cut short isn't minded");
    is_long(DF_OK,
            fix_write(path, DF_CAPTURE_SPECULATORS, &h, 0, SAMPLES, &resume),
            "it is resumed");
    is_long(SAMPLES, fix_count(path, &h), "each sample once");
    h.layer_ids[0] = 2;
    fix_refused(DF_INVALID, "layer_ids is [1,4,7] and [2,4,7]",
                fix_write(path, DF_CAPTURE_SPECULATORS, &h, 0, 1, &resume),
                "other layers can't be added");
    h.has_last_hidden = false;
    fix_refused(
        DF_UNSUPPORTED, "need the last hidden state",
        fix_write(fix_path("none"), DF_CAPTURE_SPECULATORS, &h, 0, 1, NULL),
        "without the last hidden state there is none");
}

/* A folder as another program leaves it: hs_I with N tokens of 2 layers, the
   last, and width 4.  */
static void
save_theirs(const char *name, int64_t n, enum df_dtype dtype, bool more)
{
    uint16_t hidden[3 * 3 * 4];
    int64_t ids[3] = {5, 6, 7};
    const int64_t shape[3] = {n, 3, 4};
    const struct df_tensor_def tensors[] = {
        {"hidden_states", dtype,  3, shape, hidden},
        {"token_ids",     DF_I64, 1, shape, ids   },
        {"extra",         DF_I64, 1, shape, ids   },
    };
    const struct df_safetensors_def def = {tensors, more ? 3 : 2, NULL, 0};

    for (int i = 0; i < 36; i++)
        hidden[i] = (uint16_t) (100 + i);
    if (df_safetensors_write(fix_path(name), &def) != DF_OK)
        bail("%s", df_error_last()->message);
}

/* Open the folder and read its sample I.  */
static df_status
read_theirs(const struct df_captures_options *options, size_t i,
            struct df_capture_sample *out, struct df_captures **c,
            struct df_capture_scratch *scratch)
{
    const char *path = fix_path("theirs");

    DF_TRY(df_captures_open(c, &path, 1, options));
    return df_captures_read(*c, i, scratch, out);
}

static void
put_rows(const char *text)
{
    fix_save(fix_path("data.jsonl"), text, strlen(text));
}

static void
test_theirs(struct df_capture_scratch *scratch)
{
    static const char rows[] =
        "{\"input_ids\":[5,6],\"loss_mask\":[0,1]}\n\n"
        "{\"input_ids\":[9],\"loss_mask\":[0]}\r\n"
        "{\"loss_mask\":[0,1,1],\"input_ids\":[5,6,7],\"seq_len\":3}";
    const int32_t ids[] = {3, 9};
    const struct df_captures_options options = {.layer_ids = ids,
                                                .n_layer_ids = 2};
    const struct df_capture_header ours =
        fix_header(DF_CAPTURE_PACKED, true, true);
    const struct df_capture_header *h;
    struct df_capture_sample s;
    struct df_captures *c = NULL;

    mkdir(fix_path("theirs"), 0700);
    save_theirs("theirs/hs_0.safetensors", 2, DF_BF16, false);
    save_theirs("theirs/hs_2.safetensors", 3, DF_BF16, false);
    save_theirs("theirs/hs_02.safetensors", 3, DF_BF16, false);
    save_theirs("theirs/hs_x.safetensors", 3, DF_BF16, false);
    fix_refused(DF_INVALID, "another program's folder isn't added to",
                fix_write(fix_path("theirs"), DF_CAPTURE_SPECULATORS, &ours, 0,
                          1, &resume),
                "theirs isn't added to");
    fix_refused(DF_IO, "no data file", read_theirs(NULL, 0, &s, &c, scratch),
                "no data file");
    put_rows(rows);
    is_long(DF_OK, read_theirs(NULL, 1, &s, &c, scratch), "theirs is read");
    h = df_captures_header(c, 0);
    ok(h->K == 2 && h->hidden_size == 4 && h->layer_ids[0] == -1
           && h->has_last_hidden && !h->has_checks,
       "its layers aren't known");
    ok(df_captures_count(c) == 2 && s.index == 2 && s.id == 2 << 16 && s.n == 3
           && s.ids[2] == 7 && s.loss_mask[2] == 1,
       "tokens and mask");
    ok(df_capture_row(h, &s, 1, 1)[0] == 100 + 12 + 4
           && df_capture_row(h, &s, 2, 2)[3] == 100 + 35,
       "hidden states, and the last apart");
    df_captures_free(c);
    is_long(DF_OK, read_theirs(&options, 0, &s, &c, scratch),
            "with layer ids given");
    is_long(9, df_captures_header(c, 0)->layer_ids[1], "these are its");
    df_captures_free(c);
}

/* Rows in any order that say which they are, as Python writes them.  */
static void
test_numbered(struct df_capture_scratch *scratch)
{
    static const char rows[] =
        "{\"index\": 2, \"input_ids\": [5,6,7], \"loss_mask\": [0,1,1]}\n"
        "{\"index\": 0, \"input_ids\": [5,6], \"loss_mask\": [1,1]}";
    struct df_capture_sample s;
    struct df_captures *c = NULL;

    put_rows(rows);
    is_long(DF_OK, read_theirs(NULL, 1, &s, &c, scratch),
            "rows with numbers behind a blank");
    ok(s.index == 2 && s.n == 3 && s.loss_mask[1] == 1, "by their numbers");
    df_captures_free(c);
    is_long(DF_OK, read_theirs(NULL, 0, &s, &c, scratch),
            "the last without a newline");
    ok(s.index == 0 && s.n == 2 && s.loss_mask[0] == 1, "as well");
    df_captures_free(c);
}

static void
count_problem(void *arg, df_status status, const char *message)
{
    (void) status;
    (void) message;
    ++*(int *) arg;
}

/* One bad file among others spoils its sample alone, for who wants that.  */
static void
test_bad_among_good(struct df_capture_scratch *scratch)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, true, true);
    const char *path = fix_path("ours");
    const char *file = fix_path("ours/hs_3.safetensors");
    int problems = 0;
    const struct df_captures_options lenient = {.problem = count_problem,
                                                .arg = &problems};
    struct df_capture_sample s;
    struct df_captures *c = NULL;
    size_t size;
    char *data = fix_load(file, &size);

    fix_save(file, data, size - 40);
    free(data);
    fix_refused(DF_FORMAT, "hs_3.safetensors",
                df_captures_open(&c, &path, 1, NULL), "a file that was cut");
    is_long(DF_OK, df_captures_open(&c, &path, 1, &lenient),
            "the others can be had");
    ok(df_captures_count(c) == SAMPLES && problems == 0, "all are listed");
    fix_refused(DF_FORMAT, "hs_3.safetensors",
                df_captures_read(c, 3, scratch, &s), "the bad one is told");
    is_long(DF_OK, df_captures_read(c, 4, scratch, &s), "not the next");
    df_captures_free(c);
    is_long(DF_OK,
            fix_write(path, DF_CAPTURE_SPECULATORS, &h, 0, SAMPLES, &resume),
            "resuming");
    is_long(SAMPLES, fix_count(path, &h), "writes it again");
}

static void
test_refused(struct df_capture_scratch *scratch)
{
    static const struct {
        const char *rows;
        const char *message;
    } wrong[] = {
        {"{\"input_ids\":[5,6],\"loss_mask\":[0,1]}\n",           "no row 2"            },
        {"{}\n{}\n{\"input_ids\":[5,6,7]}",                       "loss_mask is nothing"},
        {"{}\n{}\n{\"input_ids\":[5],\"loss_mask\":[0]}",         "has 1 elements"      },
        {"{}\n{}\n{\"input_ids\":[5,8,7],\"loss_mask\":[0,1,1]}",
         "token 1 is 8, but in"                                                         },
        {"{}\n{}\n{\"input_ids\":[5,6,7],\"loss_mask\":[0,3,1]}",
         "token 1 isn't 0 or 1"                                                         },
        {"{}\n{}\n{\"input_ids\":[5,6",                           "not JSON"            },
    };
    struct df_capture_sample s;
    struct df_captures *c = NULL;
    const struct df_captures_options arrow = {.data_file = "data.arrow"};

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_rows(wrong[i].rows);
        fix_refused(DF_FORMAT, wrong[i].message,
                    read_theirs(NULL, 1, &s, &c, scratch), wrong[i].message);
        df_captures_free(c);
    }
    fix_refused(DF_UNSUPPORTED, "Arrow",
                read_theirs(&arrow, 0, &s, &c, scratch),
                "Arrow is refused by name");
    save_theirs("theirs/hs_2.safetensors", 3, DF_F16, false);
    fix_refused(DF_UNSUPPORTED, "hidden_states is F16",
                read_theirs(NULL, 0, &s, &c, scratch), "another type");
    save_theirs("theirs/hs_2.safetensors", 3, DF_BF16, true);
    fix_refused(DF_UNSUPPORTED, "tensor extra",
                read_theirs(NULL, 0, &s, &c, scratch),
                "a tensor that isn't known");
}

int
main(void)
{
    struct df_capture_scratch *scratch;

    plan(8 + 7 + 8 + 4 + 9);
    if (df_capture_scratch_new(&scratch) != DF_OK)
        bail("no memory");
    test_ours();
    test_bad_among_good(scratch);
    test_theirs(scratch);
    test_numbered(scratch);
    test_refused(scratch);
    df_capture_scratch_free(scratch);
    fix_remove();
    return 0;
}
