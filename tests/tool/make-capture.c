/* Write a capture of random states, for the tests of tools that read them.

       make-capture FILE [WORD...]

   FILE is HDF5 if its name ends in .h5, else a stream; "-" is standard
   output.  A WORD is KEY=NUMBER, see the table below, or some damage
   WHAT@SAMPLE.LAYER.FIRST-LAST to rows: nan, inf, zero, constant, poison, or
   fromN, the rows of sample N.  "late-WHAT" comes after the checks were
   computed.  The same words give the same file.  */

#include <config.h>

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dflash/check.h"
#include "dflash/dtype.h"
#include "dflash/record.h"

static struct {
    const char *key;
    long value;
} settings[] = {
    {"samples", 6   },
    {"tokens",  40  }, /* of the first sample */
    {"grow",    3   }, /* more tokens in each next sample */
    {"hidden",  64  },
    {"layers",  3   },
    {"vocab",   1000}, /* 0: the header says none */
    {"split",   0   },
    {"last",    0   },
    {"checks",  1   },
    {"first",   0   }, /* index of the first sample */
    {"noise",   0   }, /* in thousandths of the values */
    {"unmask",  -1  }, /* the sample without a loss mask */
    {"id",      -1  }, /* the first token of the first sample */
    {"hole",    0   }, /* HDF5: the loss mask is never stored */
    {"fast",    0   }, /* values that are made in less time */
    {"time",    0   }  /* print in how many seconds it was written */
};

static long
get(const char *key)
{
    size_t i = 0;

    while (strcmp(settings[i].key, key) != 0)
        i++;
    return settings[i].value;
}

struct sample {
    struct df_capture_sample s;
    int32_t *ids;
    uint8_t *mask;
    uint16_t *states; /* [n,K*H] or K of [n,H] */
    uint16_t *last;
    uint64_t *checks;
};

static struct df_capture_header header;
static struct sample *samples;
static uint64_t state = 1;

static _Noreturn void
fail(const char *message)
{
    fprintf(stderr, "make-capture: %s\n", message);
    exit(2);
}

static uint32_t
rnd(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33);
}

static uint16_t *
row(size_t i, size_t k, size_t t)
{
    return (uint16_t *) df_capture_row(&header, &samples[i].s, t, k);
}

static size_t
slots(void)
{
    return header.K + header.has_last_hidden;
}

static void
set_header(void)
{
    header = (struct df_capture_header){
        .model = "random",
        .K = (size_t) get("layers"),
        .hidden_size = (size_t) get("hidden"),
        .vocab_size = (size_t) get("vocab"),
        .layout = get("split") ? DF_CAPTURE_SPLIT : DF_CAPTURE_PACKED,
        .has_last_hidden = get("last"),
        .has_checks = get("checks"),
        .seed = 1,
        .tool = "make-capture",
    };
    for (size_t k = 0; k < header.K; k++)
        header.layer_ids[k] = (int32_t) (1 + 8 * k);
}

static void
allocate(struct sample *x, size_t i)
{
    size_t K = header.K, H = header.hidden_size;
    size_t n = (size_t) (get("tokens") + get("grow") * (long) i);

    x->ids = calloc(n, sizeof *x->ids);
    x->mask = calloc(n, 1);
    x->states = calloc(n * K * H, sizeof *x->states);
    x->last = calloc(n * H, sizeof *x->last);
    x->checks = calloc(n * (K + 1), sizeof *x->checks);
    if (!x->ids || !x->mask || !x->states || !x->last || !x->checks)
        fail("no memory");
    x->s = (struct df_capture_sample){
        .index = (uint64_t) get("first") + i,
        .id = ((uint64_t) get("first") + i) << 16,
        .batch = DF_NO_BATCH,
        .n = n,
        .ids = x->ids,
        .loss_mask = x->mask,
        .last = header.has_last_hidden ? x->last : NULL,
        .checks = header.has_checks ? x->checks : NULL,
    };
    for (size_t k = 0; k < (get("split") ? K : 1); k++)
        x->s.hidden[k] = x->states + k * n * H;
}

/* Noise comes from numbers that are drawn in any case.  */
static uint16_t
value(void)
{
    float x = (float) (rnd() % 20001) / 10000.0f - 1.0f;
    float noise = (float) (rnd() % 20001) / 10000.0f - 1.0f;

    return df_bf16_from_f32(x * (1 + noise * (float) get("noise") / 1000));
}

/* Of 0.5 to 2, positive and negative.  */
static void
fill_row_fast(uint16_t *to)
{
    for (size_t e = 0; e < header.hidden_size; e++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        to[e] = (uint16_t) (0x3f00 | (state >> 40 & 0x807f));
    }
}

static void
fill_row(uint16_t *to)
{
    for (size_t e = 0; e < header.hidden_size; e++)
        to[e] = value();
}

static void
fill(size_t i)
{
    struct sample *x = &samples[i];

    for (size_t t = 0; t < x->s.n; t++) {
        x->ids[t] = (int32_t) (rnd() % 1000);
        x->mask[t] = t >= x->s.n / 2 && (long) i != get("unmask");
    }
    if (i == 0 && get("id") >= 0)
        x->ids[0] = (int32_t) get("id");
    for (size_t t = 0; t < x->s.n; t++)
        for (size_t k = 0; k < slots(); k++)
            if (get("fast"))
                fill_row_fast(row(i, k, t));
            else
                fill_row(row(i, k, t));
}

static void
seal(void)
{
    for (size_t i = 0; i < (size_t) get("samples"); i++)
        for (size_t t = 0; t < samples[i].s.n; t++)
            for (size_t k = 0; k < slots(); k++)
                samples[i].checks[t * slots() + k] =
                    df_check_row(row(i, k, t), header.hidden_size);
}

static void
damage_row(const char *what, uint16_t *to, size_t k, size_t t)
{
    static const struct {
        const char *what;
        uint16_t bits;
        bool all;
    } kinds[] = {
        {"nan",      0x7fc1, false},
        {"inf",      0x7f80, false},
        {"zero",     0,      true },
        {"constant", 0x3f80, true },
        {"poison",   0xcdcd, true },
    };
    size_t i = 0, H = header.hidden_size;

    if (strncmp(what, "from", 4) == 0) {
        memcpy(to, row(strtoul(what + 4, NULL, 10), k, t), H * sizeof *to);
        return;
    }
    while (i < 5 && strcmp(kinds[i].what, what) != 0)
        i++;
    if (i == 5)
        fail(what);
    for (size_t e = 0; e < (kinds[i].all ? H : 1); e++)
        to[e] = kinds[i].bits;
}

static void
damage(const char *word, bool late)
{
    char what[32];
    size_t i, k, first, last;
    bool is_late = strncmp(word, "late-", 5) == 0;

    if (strchr(word, '=') || late != is_late)
        return;
    if (sscanf(word + (is_late ? 5 : 0), "%31[^@]@%zu.%zu.%zu-%zu", what, &i,
               &k, &first, &last)
        != 5)
        fail(word);
    for (size_t t = first; t <= last; t++)
        damage_row(what, row(i, k, t), k, t);
}

static void
set(const char *word)
{
    size_t len = strcspn(word, "=");

    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (strlen(settings[i].key) == len
            && strncmp(settings[i].key, word, len) == 0) {
            settings[i].value = strtol(word + len + 1, NULL, 10);
            return;
        }
    fail(word);
}

static df_status
write_all(const char *path)
{
    size_t len = strlen(path);
    bool hdf5 = len > 3 && strcmp(path + len - 3, ".h5") == 0;
    struct df_capture_writer *writer;
    df_status status;

    DF_TRY(df_capture_writer_open(
        &writer, path, hdf5 ? DF_CAPTURE_HDF5 : DF_CAPTURE_STREAM, &header,
        &(struct df_capture_writer_options){.force = true}));
    status = DF_OK;
    for (long i = 0; i < get("samples") && status == DF_OK; i++)
        status = df_capture_writer_put(writer, &samples[i].s);
    return df_capture_writer_close(writer, status);
}

/* Let the dataset of loss masks be as it is, but without data.  */
static void
make_hole(const char *path)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t old = H5Dopen2(file, "loss_mask", H5P_DEFAULT);
    hid_t type = H5Dget_type(old), space = H5Dget_space(old);
    hid_t create = H5Dget_create_plist(old), made;

    H5Dclose(old);
    H5Ldelete(file, "loss_mask", H5P_DEFAULT);
    made = H5Dcreate2(file, "loss_mask", type, space, H5P_DEFAULT, create,
                      H5P_DEFAULT);
    if (made < 0 || H5Dclose(made) < 0 || H5Fclose(file) < 0)
        fail("no hole");
}

int
main(int argc, char **argv)
{
    struct timespec start, end;

    if (argc < 2)
        fail("no file is given");
    for (int i = 2; i < argc; i++)
        if (strchr(argv[i], '='))
            set(argv[i]);
    set_header();
    samples = calloc((size_t) get("samples"), sizeof *samples);
    if (!samples)
        fail("no memory");
    for (size_t i = 0; i < (size_t) get("samples"); i++) {
        allocate(&samples[i], i);
        fill(i);
    }
    for (int i = 2; i < argc; i++)
        damage(argv[i], false);
    seal();
    for (int i = 2; i < argc; i++)
        damage(argv[i], true);
    clock_gettime(CLOCK_MONOTONIC, &start);
    if (write_all(argv[1]) != DF_OK)
        fail(df_error_last()->message);
    clock_gettime(CLOCK_MONOTONIC, &end);
    if (get("time"))
        printf("%.6f\n", (double) (end.tv_sec - start.tv_sec)
                             + (double) (end.tv_nsec - start.tv_nsec) * 1e-9);
    if (get("hole"))
        make_hole(argv[1]);
    return 0;
}
