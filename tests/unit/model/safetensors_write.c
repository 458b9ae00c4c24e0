#include <config.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "dflash/safetensors.h"
#include "files.h"

static const int64_t shape23[] = {2, 3}, shape0[] = {0, 5}, shape3[] = {3};
static const float floats[] = {1, 2, 3, 4, 5, 6};
static const uint16_t halves[] = {0x3f80, 0xc000, 0x7fc0};
static const int64_t longs[] = {-1, 2, 1LL << 60};
static const float scalar = 0.5f;
static const uint8_t bytes[] = {7, 8, 9};

static const struct df_tensor_def tensors[] = {
    {"z.weight",       DF_F32,  2, shape23, floats },
    {"bytes",          DF_U8,   1, shape3,  bytes  },
    {"a.weight",       DF_BF16, 1, shape3,  halves },
    {"scalar",         DF_F32,  0, NULL,    &scalar},
    {"none",           DF_F32,  2, shape0,  NULL   },
    {"ids",            DF_I64,  1, shape3,  longs  },
    {"\xc3\xa9\"\\\n", DF_U8,   1, shape3,  bytes  },
};
static const struct df_metadata_def metadata[] = {
    {"format", "pt"}
};
static const struct df_safetensors_def def = {
    tensors, sizeof tensors / sizeof tensors[0], metadata, 1};

/* Reads the file, then writes the same with the reference library and
   compares all bytes.  */
static const char script[] =
    "import sys, numpy as np\n"
    "from safetensors.numpy import save\n"
    "from safetensors import safe_open\n"
    "raw = open(sys.argv[1], 'rb').read()\n"
    "n = int.from_bytes(raw[:8], 'little')\n"
    "assert (8 + n) % 8 == 0\n"
    "with safe_open(sys.argv[1], 'np') as f:\n"
    "    assert f.metadata() == {'format': 'pt'}\n"
    "    assert len(f.keys()) == 7\n"
    "    assert f.get_slice('a.weight').get_dtype() == 'BF16'\n"
    "    assert f.get_slice('none').get_shape() == [0, 5]\n"
    "    z = f.get_tensor('z.weight')\n"
    "    assert (z == np.arange(1, 7, dtype='f4').reshape(2, 3)).all()\n"
    "    assert f.get_tensor('scalar') == 0.5\n"
    "    assert list(f.get_tensor('ids')) == [-1, 2, 1 << 60]\n"
    "    same = {k: f.get_tensor(k) for k in f.keys() if k != 'a.weight'}\n"
    "raw = open(sys.argv[2], 'rb').read()\n"
    "assert save(same, {'format': 'pt'}) == raw\n";

static int
python(const char *arguments)
{
    char command[700];

    snprintf(command, sizeof command, "python3 %s >'%s' 2>&1", arguments,
             in_scratch("python.log"));
    return system(command);
}

static void
check_against_reference(const char *path)
{
    struct df_tensor_def most[7];
    struct df_safetensors_def others = {most, 0, metadata, 1};
    char arguments[600];

    if (python("-c 'import safetensors, numpy'")) {
        skip("python3 cannot import safetensors and numpy");
        return;
    }
    for (size_t i = 0; i < def.n_tensors; i++)
        if (tensors[i].dtype != DF_BF16) /* which NumPy doesn't have */
            most[others.n_tensors++] = tensors[i];
    const char *second = in_scratch("second.safetensors");
    if (df_safetensors_write(second, &others) != DF_OK)
        diag("%s", df_error_last()->message);
    snprintf(arguments, sizeof arguments, "'%s' '%s' '%s'",
             put_text("check.py", script), path, second);
    ok(python(arguments) == 0,
       "the reference library reads the file and writes the same bytes");
}

static void
check_round_trip(struct df_tensors *ts, const char *how)
{
    int same = 1;

    for (size_t i = 0; i < def.n_tensors; i++) {
        const struct df_tensor *t = df_tensors_find(ts, tensors[i].name);

        same = same && t && t->dtype == tensors[i].dtype
               && t->rank == tensors[i].rank
               && (t->rank == 0
                   || !memcmp(t->shape, tensors[i].shape,
                              (size_t) t->rank * sizeof *t->shape))
               && (t->size == 0 || !memcmp(t->data, tensors[i].data, t->size));
    }
    ok(same && df_tensors_count(ts) == def.n_tensors, "%s: tensors return",
       how);
    const char *format = df_tensors_metadata(ts, "format");
    ok(format && strcmp(format, "pt") == 0, "%s: metadata returns", how);
}

static void
check_forms(void)
{
    const char *path = in_scratch("x.safetensors");
    const char *stream = in_scratch("stream");
    struct df_tensors *ts;
    struct stat st;
    uint8_t *image = NULL;
    size_t size = 0, said = 0;

    is_failure(DF_OK, NULL, df_safetensors_write(path, &def),
               "a file is written");
    ok(access(in_scratch("x.safetensors.tmp"), F_OK) != 0,
       "and nothing beside it");
    is_failure(DF_OK, NULL, df_tensors_open(&ts, path), "it opens");
    check_round_trip(ts, "file");
    df_tensors_free(ts);
    check_against_reference(path);

    is_failure(DF_OK, NULL, df_safetensors_pack(&image, &size, &def),
               "an image is packed");
    is_failure(DF_OK, NULL, df_safetensors_size(&said, &def),
               "its size is known before");
    ok(stat(path, &st) == 0 && st.st_size == (off_t) size && said == size,
       "image, file and forecast have one size");
    is_failure(DF_OK, NULL, df_tensors_view(&ts, image, size, "image"),
               "an image opens");
    check_round_trip(ts, "image");
    df_tensors_free(ts);
    is_failure(DF_FORMAT,
               "image: ", df_tensors_view(&ts, image, size - 1, "image"),
               "a short image doesn't");

    int fd = open(stream, O_CREAT | O_RDWR, 0666);
    is_failure(DF_OK, NULL, df_safetensors_write_fd(fd, "stream", &def),
               "an image goes to a descriptor");
    uint8_t *back = malloc(size + 1);
    ok(pread(fd, back, size + 1, 0) == (ssize_t) size
           && memcmp(back, image, size) == 0,
       "with the same bytes");
    close(fd);
    free(back);
    free(image);
}

static const int64_t negative[] = {-1}, huge[] = {INT64_MAX, 4};

/* Each is written after a good tensor called "w".  */
static const struct {
    const char *label;
    const char *name;
    int rank;
    const int64_t *shape;
    const char *words;
} wrong[] = {
    ROW("a name given twice", "w", 1, shape3,
        "wrong.safetensors: w is given twice"),
    ROW("a name that is taken", "__metadata__", 1, shape3,
        "may not be called __metadata__"),
    ROW("a name that is not UTF-8", "\xff", 1, shape3, "is not UTF-8"),
    ROW("rank 9", "x", 9, shape3, "tensor x: rank 9"),
    ROW("a negative dimension", "x", 1, negative,
        "tensor x: its shape is negative or overflows"),
    ROW("a shape that overflows", "x", 2, huge,
        "tensor x: its shape is negative or overflows"),
};

enum {
    N_WRONG = sizeof wrong / sizeof wrong[0]
};

static void
check_refusals(void)
{
    const char *path = in_scratch("wrong.safetensors");
    char deep[300];

    for (int i = 0; i < N_WRONG; i++) {
        struct df_tensor_def two[2] = {
            {.name = "w", .dtype = DF_F32, .data = &scalar}
        };
        struct df_safetensors_def bad = {two, 2, NULL, 0};

        two[1] = (struct df_tensor_def){wrong[i].name, DF_U8, wrong[i].rank,
                                        wrong[i].shape, bytes};
        is_failure(DF_INVALID, wrong[i].words,
                   df_safetensors_write(path, &bad), wrong[i].label);
    }
    ok(access(path, F_OK) != 0, "none of them left a file");
    snprintf(deep, sizeof deep, "%s", in_scratch("no/such/folder"));
    is_failure(DF_IO, "No such file", df_safetensors_write(deep, &def),
               "a folder that isn't there");
}

/* A full disk: the old file stays.  */
static void
check_full_disk(void)
{
    const char *path = in_scratch("old.safetensors");

    if (access("/dev/full", W_OK)) {
        skip("no /dev/full");
        skip("no /dev/full");
        return;
    }
    put_text("old.safetensors", "old");
    if (symlink("/dev/full", in_scratch("old.safetensors.tmp")))
        diag("no symlink");
    is_failure(DF_IO, "No space left", df_safetensors_write(path, &def),
               "a full disk is reported");
    char back[4] = "";
    FILE *f = fopen(path, "r");
    ok(f && fread(back, 1, 3, f) == 3 && strcmp(back, "old") == 0,
       "and the old file stays");
    if (f)
        fclose(f);
}

int
main(void)
{
    plan(15 + N_WRONG + 2 + 2);
    make_scratch();
    check_forms();
    check_refusals();
    check_full_disk();
    return 0;
}
