/* Captures in HDF5: what is written is read, by us and by others.  */

#include <config.h>

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixture.h"

enum {
    SAMPLES = 23
};

static const struct df_capture_writer_options resume = {.resume = true,
                                                        .flush_every = 4};

static void
test_shapes(void)
{
    for (int i = 0; i < 8; i++) {
        struct df_capture_header h = fix_header(i & 1, i & 2, i & 4);
        char name[32];
        const char *path;

        snprintf(name, sizeof name, "shape%d.h5", i);
        path = fix_path(name);
        if (fix_write(path, DF_CAPTURE_HDF5, &h, 0, SAMPLES, NULL) != DF_OK)
            diag("%s", df_error_last()->message);
        is_long(SAMPLES, fix_count(path, &h), "%s, last %d, checks %d",
                i & 1 ? "split" : "packed", !!(i & 2), !!(i & 4));
    }
}

/* Python adds up what it sees and compares it with the stream of the same
   samples, which it reads by other means.  */
static const char h5py_program[] =
    "f = h5py.File(sys.argv[1], 'r')\n"
    "good = f.attrs['format'] == b'dflash-hdf5 1'\n"
    "h = json.loads(f['header'][()])\n"
    "n, tokens = f['committed'][:]\n"
    "o = f['offsets'][:]\n"
    "good &= n == 23 and len(o) == 24 and o[-1] == tokens\n"
    "K, H = len(h['layer_ids']), h['hidden_size']\n"
    "x = f['hidden_states']\n"
    "good &= x.dtype == numpy.uint16 and x.shape == (tokens, K * H)\n"
    "good &= x.attrs['dtype'] == b'bfloat16'\n"
    "good &= f['checks'].shape == (tokens, K + 1)\n"
    "M = 2 ** 64\n"
    "def check(row):\n"
    "    b = row.tobytes() + bytes(-len(row.tobytes()) % 16)\n"
    "    s = 0\n"
    "    for p in range(len(b) // 16):\n"
    "        lo = int.from_bytes(b[16 * p:16 * p + 8], 'little')\n"
    "        hi = int.from_bytes(b[16 * p + 8:16 * p + 16], 'little')\n"
    "        a = lo ^ (0x9E3779B97F4A7C15 + p * 0xD1342543DE82EF95) % M\n"
    "        c = hi ^ (0xC2B2AE3D27D4EB4F + p * 0xAF251AF3B0F025B5) % M\n"
    "        s += (a * c) % M ^ a * c // M\n"
    "    return s % M\n"
    "for i in range(3):\n"
    "    for t in range(o[i], o[i + 1]):\n"
    "        for k in range(K):\n"
    "            row = x[t, k * H:k * H + H]\n"
    "            good &= check(row) == f['checks'][t, k]\n"
    "good &= list(x[0, 0:9]) == [0x3f81, 0x7fc0, 0xffa5, 0x7f80, 0xff80,\n"
    "                            1, 0x8000, 0x7f7f, 0x7f81]\n"
    "sys.exit(not good)\n";

static void
test_python(void)
{
    int status = fix_python("h5py, json, numpy", h5py_program,
                            fix_path("shape6.h5"), "");

    if (status == 77)
        skip("h5py: it can't be imported");
    else
        is_long(0, status, "h5py reads the same bits, and checks agree");
}

static void
test_resume(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *path = fix_path("resume.h5");
    struct df_capture_writer *w;
    char name[300];

    snprintf(name, sizeof name, "%s.journal", path);
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 10, 15, &resume),
            "resuming nothing begins");
    fix_refused(DF_INVALID, "exists",
                fix_write(path, DF_CAPTURE_HDF5, &h, 0, 1, NULL),
                "what exists is kept unless said otherwise");
    ok(access(name, F_OK) != 0, "no journal stays behind");
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 0, SAMPLES, &resume),
            "resuming adds what isn't there");
    is_long(SAMPLES, fix_count(path, &h), "in any order, each once");
    is_long(DF_OK,
            df_capture_writer_open(&w, path, DF_CAPTURE_HDF5, &h, &resume),
            "a finished file can be resumed");
    is_long(SAMPLES, (long) df_capture_writer_count(w), "all are there");
    fix_refused(DF_IO, "another process uses this file",
                fix_write(path, DF_CAPTURE_HDF5, &h, 0, 1, &resume),
                "a second writer is refused");
    is_long(-1, fix_count(path, &h), "and so is a reader");
    is_long(DF_OK, df_capture_writer_close(w, DF_OK), "nothing to do is fine");
    h.config_hash++;
    fix_refused(DF_INVALID, "config_hash is",
                fix_write(path, DF_CAPTURE_HDF5, &h, 0, 1, &resume),
                "another model can't be added");
    h.config_hash--;
    is_long(SAMPLES, fix_count(path, &h), "that left all as it was");
}

/* What is no HDF5 file stays as it is.  */
static void
test_resume_none(void)
{
    static const char text[] = "These are notes, not a capture.\n";
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *path = fix_path("notes.h5");
    size_t size;
    char *data;

    fix_save(path, text, sizeof text);
    fix_refused(DF_FORMAT, "notes.h5: is not an HDF5 file",
                fix_write(path, DF_CAPTURE_HDF5, &h, 0, 1, &resume),
                "a text isn't resumed");
    data = fix_load(path, &size);
    ok(size == sizeof text && memcmp(data, text, size) == 0,
       "and is as it was");
    free(data);
}

static void
test_refused_samples(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, true, true);
    struct df_capture_writer *w;
    struct fix_sample f = fix_sample(&h, 3, 5);
    const char *path = fix_path("refused.h5");

    if (df_capture_writer_open(&w, path, DF_CAPTURE_HDF5, &h, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    ((int32_t *) f.s.ids)[4] = FIX_V;
    fix_refused(DF_INVALID, "token 4 is 1000", df_capture_writer_put(w, &f.s),
                "an id beyond the vocabulary");
    ((int32_t *) f.s.ids)[4] = 0;
    ((uint8_t *) f.s.loss_mask)[1] = 2;
    fix_refused(DF_INVALID, "token 1 is 2", df_capture_writer_put(w, &f.s),
                "a mask that is neither 0 nor 1");
    ((uint8_t *) f.s.loss_mask)[1] = 1;
    f.s.last = NULL;
    fix_refused(DF_INVALID, "no last_hidden_state",
                df_capture_writer_put(w, &f.s), "a part that is missing");
    fix_free(&f);
    f = fix_sample(&h, 3, 5);
    is_long(DF_OK, df_capture_writer_put(w, &f.s), "right, it is taken");
    fix_refused(DF_INVALID, "there already", df_capture_writer_put(w, &f.s),
                "but not twice");
    fix_free(&f);
    is_long(DF_CANCELED, df_capture_writer_close(w, DF_CANCELED),
            "a writer that is canceled says so");
    is_long(0, fix_count(path, &h), "and keeps what was committed: nothing");
}

/* Change the file by HDF5 itself.  */
static hid_t
edit(const char *path, const char *set, hid_t *file)
{
    *file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    return H5Dopen2(*file, set, H5P_DEFAULT);
}

static df_status
note_hole(void *arg, const char *path, const char *field, uint64_t first,
          uint64_t last)
{
    char *text = arg;

    (void) path;
    snprintf(text + strlen(text), 100, "%s %llu-%llu;", field,
             (unsigned long long) first, (unsigned long long) last);
    return DF_OK;
}

/* A capture whose marker and tables say more than was stored.  */
static void
make_holes(const char *path, const struct df_capture_header *h)
{
    hsize_t dims[2] = {20000, FIX_H};
    const char *sets[] = {"input_ids", "loss_mask", "hidden_states.0",
                          "hidden_states.1", "hidden_states.2"};
    uint64_t marker[2] = {1, 20000}, offsets[2] = {0, 20000};
    hid_t file, set;

    if (fix_write(path, DF_CAPTURE_HDF5, h, 1, 2, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    for (int i = 0; i < 5; i++) {
        set = edit(path, sets[i], &file);
        H5Dset_extent(set, dims);
        H5Dclose(set);
        H5Fclose(file);
    }
    set = edit(path, "committed", &file);
    H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, marker);
    H5Dclose(set);
    H5Fclose(file);
    set = edit(path, "offsets", &file);
    H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, offsets);
    H5Dclose(set);
    H5Fclose(file);
}

static void
test_holes(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, false);
    const char *path = fix_path("holes.h5");
    struct df_captures *c = NULL;
    struct df_capture_scratch *scratch;
    struct df_capture_sample seen;
    char text[2000] = "";

    make_holes(path, &h);
    if (df_capture_scratch_new(&scratch) != DF_OK)
        bail("no memory");
    is_long(DF_OK, df_captures_open(&c, &path, 1, NULL),
            "a file with rows never stored opens");
    fix_refused(DF_FORMAT, "input_ids: rows 8192 to 19999 were never stored",
                df_captures_read(c, 0, scratch, &seen),
                "but its sample is refused");
    is_long(DF_OK, df_captures_holes(c, note_hole, text), "holes are found");
    ok(strcmp(text, "input_ids 8192-19999;hidden_states.0 819-19999;"
                    "hidden_states.1 819-19999;hidden_states.2 819-19999;")
           == 0,
       "in every field: %s", text);
    df_captures_free(c);
    df_capture_scratch_free(scratch);
}

/* How many samples of PATH are right, of a reader who minds problems himself;
   MESSAGE gets the last of them.  */
struct problem {
    int n;
    char message[300];
};

static void
keep(void *arg, df_status status, const char *message)
{
    struct problem *p = arg;

    (void) status;
    p->n++;
    snprintf(p->message, sizeof p->message, "%s", message);
}

static long
count_right(const char *path, const struct df_capture_header *h,
            struct problem *p)
{
    const struct df_captures_options lenient = {.problem = keep, .arg = p};
    struct df_capture_scratch *scratch;
    struct df_captures *c;
    char holes[200] = "";
    long right = 0;

    if (df_captures_open(&c, &path, 1, &lenient) != DF_OK
        || df_capture_scratch_new(&scratch) != DF_OK)
        bail("%s", df_error_last()->message);
    for (size_t i = 0; i < df_captures_count(c); i++) {
        struct fix_sample f = fix_sample(h, i, fix_tokens(i));
        struct df_capture_sample seen;

        right += df_captures_read(c, i, scratch, &seen) == DF_OK
                 && fix_same(h, &f.s, h, &seen);
        fix_free(&f);
    }
    if (right != (long) df_captures_count(c)
        || df_captures_holes(c, note_hole, holes) != DF_OK || *holes)
        right = -1;
    df_captures_free(c);
    df_capture_scratch_free(scratch);
    return right;
}

/* Extents and offsets that disagree: samples before can be had.  */
static void
test_extents(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *path = fix_path("short.h5");
    const hsize_t dims[2] = {110, FIX_H};
    const uint64_t offsets[9] = {0, 1, 39, 53, 20, 131, 131, 171, 187};
    struct df_captures *c;
    struct problem p = {0};
    hid_t file, set;

    if (fix_write(path, DF_CAPTURE_HDF5, &h, 0, 8, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    set = edit(path, "hidden_states.1", &file);
    H5Dset_extent(set, dims);
    H5Dclose(set);
    H5Fclose(file);
    fix_refused(DF_FORMAT, "hidden_states.1 has 110 rows, but 187 tokens are",
                df_captures_open(&c, &path, 1, NULL), "a field too short");
    is_long(4, count_right(path, &h, &p), "the samples before are there");
    ok(p.n == 1 && strstr(p.message, "hidden_states.1 has 110 rows"),
       "what is wrong is told: %s", p.message);
    fix_refused(DF_FORMAT, "hidden_states.1 has 110 rows",
                fix_write(path, DF_CAPTURE_HDF5, &h, 0, 9, &resume),
                "it can't be resumed");
    set = edit(path, "offsets", &file);
    H5Dwrite(set, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, offsets);
    H5Dclose(set);
    H5Fclose(file);
    fix_refused(DF_FORMAT, "record 3 begins at token 53 and ends at 20",
                df_captures_open(&c, &path, 1, NULL), "offsets that fall");
    is_long(3, count_right(path, &h, &p), "the samples before are there");
}

/* PATH's hidden_states replaced by what TYPE makes of them.  */
static void
retype(const char *path, hid_t type, bool chunked)
{
    hid_t file, set = edit(path, "hidden_states", &file);
    hid_t space = H5Dget_space(set), create = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t n = (hsize_t) H5Sget_simple_extent_npoints(space);
    hsize_t chunk[2] = {7, 13}, dims[2];
    uint16_t *bits = malloc(n * 2);

    H5Dread(set, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits);
    H5Dclose(set);
    H5Ldelete(file, "hidden_states", H5P_DEFAULT);
    H5Sget_simple_extent_dims(space, dims, NULL);
    H5Sclose(space);
    space = H5Screate_simple(2, dims, NULL);
    if (chunked)
        H5Pset_chunk(create, 2, chunk);
    set = H5Dcreate2(file, "hidden_states", type, space, H5P_DEFAULT, create,
                     H5P_DEFAULT);
    H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bits);
    H5Pclose(create);
    H5Sclose(space);
    H5Dclose(set);
    H5Fclose(file);
    free(bits);
}

static void
test_types(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, false, true);
    const char *path = fix_path("types.h5");
    struct df_captures *c;
    hid_t bf16 = H5Tcopy(H5T_IEEE_F32LE);

    H5Tset_fields(bf16, 15, 7, 8, 0, 7);
    H5Tset_size(bf16, 2);
    H5Tset_ebias(bf16, 127);
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 0, 9, NULL),
            "nine samples");
    retype(path, bf16, true);
    is_long(9, fix_count(path, &h), "bf16 as a custom float is read");
    retype(path, H5T_STD_U16LE, false);
    fix_refused(DF_FORMAT, "hidden_states isn't BF16",
                df_captures_open(&c, &path, 1, NULL),
                "plain uint16 is refused");
    retype(path, H5T_STD_I16LE, false);
    fix_refused(DF_FORMAT, "hidden_states isn't BF16",
                df_captures_open(&c, &path, 1, NULL), "and so is int16");
    H5Tclose(bf16);
}

int
main(void)
{
    plan(8 + 1 + 12 + 2 + 7 + 4 + 6 + 4);
    test_shapes();
    test_python();
    test_resume();
    test_resume_none();
    test_refused_samples();
    test_holes();
    test_extents();
    test_types();
    fix_remove();
    return 0;
}
