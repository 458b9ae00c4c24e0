/* Captures whose headers were damaged at random: reading them may fail, but
   neither crash, nor hang, nor leak.  DFLASH_FUZZ is how many of each kind,
   and DFLASH_FUZZ_SEED where they begin.  */

#include <config.h>

#include <fcntl.h>
#include <hdf5.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dflash/philox.h"
#include "dflash/scan.h"
#include "fixture.h"

enum {
    USUAL = 1000, /* mutants of a kind */
    LIMIT = 10,   /* seconds for one; it takes a millisecond */
    MAX_EDITS = 4,
    BLOCK = 4096,
    MAX_PLACES = 256,
    NEAR = 200 /* bytes behind a place that belong to it */
};

/* A file, and where its headers are.  */
struct subject {
    const char *label, *read, *damaged; /* the paths may be one */
    bool piped;
    char *data;
    size_t size;
    size_t places[MAX_PLACES], n_places;
};

struct progress {
    unsigned long at, opened;
};

/* HDF5 1.10 loses a block of its own for each structure whose checksum is
   wrong.  What we forget to close is counted below.  */
DF_EXPORT const char *__lsan_default_suppressions(void);

const char *
__lsan_default_suppressions(void)
{
    return "leak:libhdf5";
}

static uint64_t
draw(uint64_t seed, uint32_t *n)
{
    struct df_philox x = df_philox(seed, ++*n, 0, 0, 0);

    return x.v[0] | (uint64_t) x.v[1] << 32;
}

static void
add_place(struct subject *s, size_t at)
{
    if (s->n_places < MAX_PLACES)
        s->places[s->n_places++] = at;
}

/* HDF5 begins each of its structures with four letters.  */
static void
find_places(struct subject *s)
{
    static const char *const names[] = {
        "\211HDF", "OHDR", "OCHK", "GCOL", "EAHD",  "EAIB",
        "EASB",    "EADB", "FRHP", "FHDB", "FHIB",  "BTHD",
        "BTLF",    "BTIN", "FSHD", "dfla", "{\"__", "DFLA"};

    for (size_t at = 0; at + 4 <= s->size; at++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (memcmp(s->data + at, names[i], 4) == 0)
                add_place(s, at >= 16 && names[i][0] == '{' ? at - 16 : at);
}

static uint64_t
awkward(uint64_t r, size_t size)
{
    const uint64_t values[] = {
        0,         1,          0xff,
        INT32_MAX, UINT32_MAX, (uint64_t) UINT32_MAX + 1,
        INT64_MAX, UINT64_MAX, UINT64_MAX - 7,
        size,      size - 1,   size * 2};

    return values[r % (sizeof values / sizeof *values)];
}

/* One edit of DATA; returns its size, which may be less.  */
static size_t
edit(const struct subject *s, char *data, size_t size, uint64_t seed,
     uint32_t *n)
{
    size_t at = s->places[draw(seed, n) % s->n_places] + draw(seed, n) % NEAR;
    uint64_t r = draw(seed, n), value = awkward(r >> 8, size);
    size_t from = draw(seed, n) % size, len = 1 + (r >> 40) % 32;

    at = at < size ? at : size - 1;
    len = at + len <= size && from + len <= size ? len : 1;
    switch (r % 8) {
    case 0:
    case 1:
    case 2:
        data[at] ^= (char) (1 << (r >> 8) % 8);
        break;
    case 3:
        data[at] = (char) (r >> 8);
        break;
    case 4:
    case 5:
        memcpy(data + at, &value,
               at + 8 > size ? 1 : (size_t) 1 << (r >> 16) % 4);
        break;
    case 6:
        memmove(data + at, data + from, len);
        break;
    default:
        return (r >> 8) % 4 == 0 && at > 0 ? at : size;
    }
    return size;
}

static void
keep_quiet(void *arg, df_status status, const char *message)
{
    (void) arg;
    (void) status;
    (void) message;
}

static df_status
count_hole(void *arg, const char *path, const char *field, uint64_t first,
           uint64_t last)
{
    (void) path;
    (void) field;
    *(uint64_t *) arg += last - first;
    return DF_OK;
}

static void
look_at_samples(struct df_captures *c, struct df_capture_scratch *scratch)
{
    const struct df_scan_options o = {.table_bytes = 4096};
    struct df_capture_sample sample;
    struct df_scan *scan;
    uint64_t holes = 0;
    bool good;

    if (df_scan_new(&scan, df_captures_header(c, 0), &o) != DF_OK)
        return;
    (void) !df_captures_holes(c, count_hole, &holes);
    for (size_t i = 0; i < 100; i++) {
        df_status status = DF_END;

        if (df_captures_is_pipe(c))
            status = df_captures_next(c, scratch, &sample);
        else if (i < df_captures_count(c))
            status = df_captures_read(c, i, scratch, &sample);
        if (status == DF_END)
            break;
        if (status == DF_OK)
            (void) !df_scan_sample(scan, df_captures_header(c, 0), "", &sample,
                                   &good);
    }
    df_scan_free(scan);
}

static bool
look_at(const struct subject *s, struct df_capture_scratch *scratch)
{
    static unsigned times;
    const struct df_captures_options o = {.problem = keep_quiet,
                                          .in_place = times++ % 2 == 1};
    const char *path = s->piped ? "-" : s->read;
    struct df_captures *c;

    if (s->piped && lseek(STDIN_FILENO, 0, SEEK_SET) != 0)
        _exit(2);
    if (df_captures_open(&c, &path, 1, &o) != DF_OK)
        return false;
    look_at_samples(c, scratch);
    df_captures_free(c);
    return true;
}

/* Write what DATA[SIZE] and the WAS of as many bytes differ in: that is much
   less than the file.  */
static void
put(int fd, const char *data, const char *was, size_t size)
{
    for (size_t at = 0, n; at < size; at += n) {
        n = at + BLOCK < size ? BLOCK : size - at;
        if (memcmp(data + at, was + at, n) != 0
            && pwrite(fd, data + at, n, (off_t) at) != (ssize_t) n)
            _exit(2);
    }
}

/* The mutants FIRST to END - 1.  Ends the process: 0 if all went well.  */
static _Noreturn void
work(const struct subject *s, unsigned long first, unsigned long end,
     struct progress *p)
{
    char *data = malloc(s->size);
    int fd = open(s->damaged, O_RDWR);
    struct df_capture_scratch *scratch;

    if (!data || fd < 0 || df_capture_scratch_new(&scratch) != DF_OK
        || (s->piped && dup2(fd, STDIN_FILENO) < 0))
        _exit(2);
    for (p->at = first; p->at < end; p->at++) {
        size_t size = s->size;
        uint32_t n = 0;

        alarm(LIMIT);
        memcpy(data, s->data, s->size);
        for (uint64_t k = 1 + draw(p->at, &n) % MAX_EDITS; k > 0; k--)
            size = edit(s, data, size, p->at, &n);
        put(fd, data, s->data, s->size);
        if (ftruncate(fd, (off_t) size))
            _exit(2);
        p->opened += look_at(s, scratch);
        if (size < s->size
            && pwrite(fd, s->data + size, s->size - size, (off_t) size) < 0)
            _exit(2);
        put(fd, s->data, data, s->size);
        if (H5Fget_obj_count((hid_t) H5F_OBJ_ALL, H5F_OBJ_ALL) > 0)
            _exit(3); /* HDF5's objects are what leaks at first */
    }
    alarm(0);
    df_capture_scratch_free(scratch);
    free(data);
    exit(0); /* where leaks are looked for */
}

static void
fuzz(struct subject *s, unsigned long first, unsigned long n)
{
    struct progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    int status = -1;
    pid_t pid;

    if (p == MAP_FAILED)
        bail("no memory");
    s->data = fix_load(s->damaged, &s->size);
    find_places(s);
    pid = fork();
    if (pid == 0)
        work(s, first, first + n, p);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        bail("no process");
    if (!ok(status == 0, "%s: %lu mutants do no harm", s->label, n))
        diag("the one of seed %lu ended the process with %#x", p->at, status);
    diag("%lu of them could be opened", p->opened);
    munmap(p, sizeof *p);
    free(s->data);
}

static unsigned long
from_environment(const char *name, unsigned long usual)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : usual;
}

static const char *
write_file(const char *name, enum df_capture_format format,
           enum df_capture_layout layout)
{
    struct df_capture_header h = fix_header(layout, true, true);
    const char *path = fix_path(name);

    if (fix_write(path, format, &h, 1, 5, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    return path;
}

/* A file whose writer is killed, and its journal.  */
static void
write_journal(struct subject *s)
{
    const struct df_capture_writer_options o = {.flush_every = 1};
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, true, true);
    struct df_capture_writer *w;
    pid_t pid = fork();

    s->read = fix_path("killed.h5");
    s->damaged = fix_path("killed.h5.journal");
    if (pid == 0) {
        if (df_capture_writer_open(&w, s->read, DF_CAPTURE_HDF5, &h, &o)
            != DF_OK)
            _exit(1);
        for (uint64_t i = 1; i < 5; i++) {
            struct fix_sample f = fix_sample(&h, i, fix_tokens(i));

            if (df_capture_writer_put(w, &f.s) != DF_OK)
                _exit(1);
        }
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

int
main(void)
{
    unsigned long n = from_environment("DFLASH_FUZZ", USUAL);
    unsigned long first = from_environment("DFLASH_FUZZ_SEED", 0);
    static const char *const labels[] = {"HDF5, packed", "HDF5, split",
                                         "HDF5 and its journal", "a stream",
                                         "a stream in a pipe"};
    enum {
        N = sizeof labels / sizeof *labels
    };
    struct subject subjects[N] = {0};

    plan(N);
    subjects[0].read = subjects[0].damaged =
        write_file("a.h5", DF_CAPTURE_HDF5, DF_CAPTURE_PACKED);
    subjects[1].read = subjects[1].damaged =
        write_file("b.h5", DF_CAPTURE_HDF5, DF_CAPTURE_SPLIT);
    write_journal(&subjects[2]);
    subjects[3].read = subjects[3].damaged =
        write_file("a.df", DF_CAPTURE_STREAM, DF_CAPTURE_PACKED);
    subjects[4].read = subjects[4].damaged =
        write_file("b.df", DF_CAPTURE_STREAM, DF_CAPTURE_SPLIT);
    subjects[4].piped = true;
    for (int i = 0; i < N; i++) {
        subjects[i].label = labels[i];
        fuzz(&subjects[i], first, n);
    }
    fix_remove();
    return 0;
}
