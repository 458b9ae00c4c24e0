#include <config.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "dflash/check.h"
#include "store/header_internal.h"
#include "fixture.h"

/* A tie, NaN, NaN with payload, both infinities, a subnormal, minus zero. */
static const uint16_t awkward[] = {0x3f81, 0x7fc0, 0xffa5, 0x7f80, 0xff80,
                                   0x0001, 0x8000, 0x7f7f, 0x7f81};

struct df_capture_header
fix_header(enum df_capture_layout layout, bool last, bool checks)
{
    return (struct df_capture_header){
        .model = "tiny \"one\" \303\251",
        .config_hash = 0x8123456789abcdefu,
        .tokenizer_hash = 17,
        .K = FIX_K,
        .layer_ids = {1, 4, 7},
        .hidden_size = FIX_H,
        .vocab_size = FIX_V,
        .layout = layout,
        .has_last_hidden = last,
        .has_checks = checks,
        .seed = 42,
        .tool = "test 1",
        .notes = "{\"why\":\"because\"}",
    };
}

size_t
fix_tokens(uint64_t index)
{
    return index % 8 == 5 ? 0 : (index * 37 + 1) % 61;
}

static void
fill_rows(const struct df_capture_header *h, struct df_capture_sample *s)
{
    for (size_t k = 0; k < h->K + h->has_last_hidden; k++)
        for (size_t t = 0; t < s->n; t++) {
            uint16_t *row = (uint16_t *) df_capture_row(h, s, t, k);

            for (size_t c = 0; c < h->hidden_size; c++)
                row[c] = (uint16_t) (df_philox(s->index, (uint32_t) t,
                                               (uint32_t) k, (uint32_t) c, 0)
                                         .v[0]);
            if (t == 0 || t + 1 == s->n)
                memcpy(row + k, awkward, sizeof awkward);
        }
}

static void
fill_checks(const struct df_capture_header *h, struct df_capture_sample *s)
{
    size_t C = df_head_checks(h);

    for (size_t t = 0; t < s->n; t++)
        for (size_t k = 0; k < C; k++)
            ((uint64_t *) s->checks)[t * C + k] =
                df_check_row(df_capture_row(h, s, t, k), h->hidden_size);
}

struct fix_sample
fix_sample(const struct df_capture_header *h, uint64_t index, size_t n)
{
    struct df_field fields[DF_MAX_FIELDS];
    size_t n_fields = df_capture_fields(h, fields);
    struct fix_sample f = {
        .s = {.index = index, .id = index << 16, .n = n}
    };
    char *at =
        calloc(1, n * df_capture_token_bytes(h) + DF_MAX_FIELDS * (size_t) 64);

    if (!at)
        bail("no memory");
    f.memory = at;
    for (size_t i = n_fields; i-- > 0;) {
        df_field_set(&fields[i], &f.s, at);
        at += (n * fields[i].row_bytes + 63) / 64 * 64;
    }
    for (size_t t = 0; t < n; t++) {
        ((int32_t *) f.s.ids)[t] = (int32_t) ((index * 7 + t) % FIX_V);
        ((uint8_t *) f.s.loss_mask)[t] = t % 3 != 0;
    }
    fill_rows(h, &f.s);
    if (h->has_checks)
        fill_checks(h, &f.s);
    return f;
}

void
fix_free(struct fix_sample *sample)
{
    free(sample->memory);
}

bool
fix_same(const struct df_capture_header *ha, const struct df_capture_sample *a,
         const struct df_capture_header *hs,
         const struct df_capture_sample *seen)
{
    size_t last = ha->has_last_hidden && hs->has_last_hidden;
    bool same = a->index == seen->index && a->id == seen->id && a->n == seen->n
                && memcmp(a->ids, seen->ids, a->n * sizeof *a->ids) == 0
                && memcmp(a->loss_mask, seen->loss_mask, a->n) == 0;

    if (!same)
        diag("sample %llu: index, id, length, tokens or mask differ",
             (unsigned long long) a->index);
    for (size_t t = 0; same && t < a->n; t++)
        for (size_t k = 0; same && k < ha->K + last; k++)
            if (memcmp(df_capture_row(ha, a, t, k),
                       df_capture_row(hs, seen, t, k),
                       ha->hidden_size * sizeof(uint16_t))
                != 0) {
                diag("sample %llu: token %zu, layer %zu differ",
                     (unsigned long long) a->index, t, k);
                same = false;
            }
    if (same && ha->has_checks && hs->has_checks)
        same = memcmp(a->checks, seen->checks,
                      a->n * df_head_checks(ha) * sizeof *a->checks)
               == 0;
    return same;
}

df_status
fix_write(const char *path, enum df_capture_format format,
          const struct df_capture_header *h, uint64_t first, uint64_t end,
          const struct df_capture_writer_options *options)
{
    struct df_capture_writer *w;
    df_status status = DF_OK;

    DF_TRY(df_capture_writer_open(&w, path, format, h, options));
    for (uint64_t i = first; i < end && status == DF_OK; i++) {
        struct fix_sample f = fix_sample(h, i, fix_tokens(i));

        if (!df_capture_writer_has(w, f.s.id))
            status = df_capture_writer_put(w, &f.s);
        fix_free(&f);
    }
    return df_capture_writer_close(w, status);
}

long
fix_count(const char *path, const struct df_capture_header *h)
{
    struct df_captures *c;
    struct df_capture_scratch *scratch;
    long good = 0;

    if (df_captures_open(&c, &path, 1, NULL) != DF_OK
        || df_capture_scratch_new(&scratch) != DF_OK) {
        diag("%s", df_error_last()->message);
        return -1;
    }
    for (size_t i = 0; i < df_captures_count(c); i++) {
        uint64_t index = df_captures_entries(c)[i].index;
        struct fix_sample f = fix_sample(h, index, fix_tokens(index));
        struct df_capture_sample seen;

        if (df_captures_read(c, i, scratch, &seen) != DF_OK)
            diag("%s", df_error_last()->message);
        else
            good += fix_same(h, &f.s, df_captures_header(c, 0), &seen);
        fix_free(&f);
    }
    df_capture_scratch_free(scratch);
    df_captures_free(c);
    return good;
}

static char folder[] = "/tmp/dflash-store.XXXXXX";

const char *
fix_folder(void)
{
    static bool made;

    if (!made && !mkdtemp(folder))
        bail("mkdtemp failed");
    made = true;
    return folder;
}

const char *
fix_path(const char *name)
{
    static char paths[32][PATH_MAX];
    char path[PATH_MAX];

    snprintf(path, sizeof path, "%s/%s", fix_folder(), name);
    for (int i = 0; i < 32; i++) {
        if (!*paths[i])
            memcpy(paths[i], path, sizeof path);
        if (strcmp(paths[i], path) == 0)
            return paths[i];
    }
    bail("too many paths");
}

void
fix_remove(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        execlp("rm", "rm", "-rf", fix_folder(), (char *) NULL);
        _exit(1);
    }
    waitpid(pid, NULL, 0);
}

char *
fix_load(const char *path, size_t *size)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    char *data;

    if (fd < 0 || fstat(fd, &st))
        bail("%s can't be read", path);
    *size = (size_t) st.st_size;
    data = malloc(*size + 1);
    if (!data || read(fd, data, *size) != (ssize_t) *size)
        bail("%s can't be read", path);
    close(fd);
    return data;
}

void
fix_save(const char *path, const char *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (fd < 0 || write(fd, data, size) != (ssize_t) size)
        bail("%s can't be written", path);
    close(fd);
}

pid_t
fix_feed(const char *path, const char *data, size_t size, size_t step)
{
    const struct timespec pause = {0, 2000000};
    pid_t pid = fork();
    int fd;

    if (pid != 0)
        return pid;
    signal(SIGPIPE, SIG_IGN);
    fd = open(path, O_WRONLY);
    for (size_t at = 0, i = 0; at < size; at += step, i++) {
        size_t n = size - at < step ? size - at : step;

        if (write(fd, data + at, n) < 0)
            break;
        if (i % 2000 == 100)
            nanosleep(&pause, NULL);
    }
    _exit(0);
}

void
fix_refused(df_status wanted, const char *text, df_status status,
            const char *label)
{
    const char *message = df_error_last()->message;

    if (!ok(status == wanted && strstr(message, text), "%s", label))
        diag("status %d, wanted %d: '%s', wanted '%s'", (int) status,
             (int) wanted, message, text);
}

int
fix_python(const char *modules, const char *program, const char *a,
           const char *b)
{
    char text[8192];
    int status;
    pid_t pid;

    snprintf(text, sizeof text,
             "import sys\n"
             "try:\n"
             "    import %s\n"
             "except ImportError:\n"
             "    sys.exit(77)\n"
             "%s",
             modules, program);
    pid = fork();
    if (pid == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        unsetenv("LD_PRELOAD");
        execlp("python3", "python3", "-c", text, a, b, (char *) NULL);
        _exit(77);
    }
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
