/* Streams passed on, left, and read by others.  */

#include <config.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"

enum {
    SAMPLES = 13
};

/* A reader that leaves is an error, and no signal.  */
static void
test_reader_gone(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, false, true);
    const char *fifo = fix_path("gone");
    df_status status;
    pid_t pid;

    if (mkfifo(fifo, 0600))
        bail("mkfifo failed");
    pid = fork();
    if (pid == 0) {
        char buf[1000];
        int fd = open(fifo, O_RDONLY);

        _exit(read(fd, buf, sizeof buf) <= 0);
    }
    h.hidden_size = 4096;
    status = fix_write(fifo, DF_CAPTURE_STREAM, &h, 0, 200, NULL);
    waitpid(pid, NULL, 0);
    fix_refused(DF_IO, "its reader is gone", status, "a reader that leaves");
}

/* What comes in goes out, byte for byte.  */
static void
test_pass(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    const char *in = fix_path("in.df"), *out = fix_path("out.df");
    const char *fifo = fix_path("passed");
    struct df_captures *c;
    struct df_capture_scratch *scratch;
    struct df_capture_sample seen;
    struct df_capture_writer *w;
    char *a, *b;
    size_t na, nb, size;
    df_status status;
    pid_t pid;

    if (fix_write(in, DF_CAPTURE_STREAM, &h, 0, SAMPLES, NULL) != DF_OK
        || df_capture_scratch_new(&scratch) != DF_OK || mkfifo(fifo, 0600))
        bail("%s", df_error_last()->message);
    a = fix_load(in, &na);
    pid = fix_feed(fifo, a, na, 100000);
    if (df_captures_open(&c, &fifo, 1, NULL) != DF_OK
        || df_capture_writer_open(&w, out, DF_CAPTURE_STREAM,
                                  df_captures_header(c, 0), NULL)
               != DF_OK)
        bail("%s", df_error_last()->message);
    while ((status = df_captures_next(c, scratch, &seen)) == DF_OK) {
        const uint8_t *image = df_capture_image(scratch, &size);

        if (df_capture_writer_put_image(w, image, size) != DF_OK)
            bail("%s", df_error_last()->message);
    }
    waitpid(pid, NULL, 0);
    ok(status == DF_END && df_capture_writer_close(w, DF_OK) == DF_OK,
       "a stream is passed on");
    b = fix_load(out, &nb);
    ok(na == nb && memcmp(a, b, na) == 0, "byte for byte");
    free(a);
    free(b);
    df_captures_free(c);
    df_capture_scratch_free(scratch);
}

/* A sample of more than 2 GiB is no matter: here, all zeros in a file that
   has holes.  */
static void
test_large(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, false, false);
    const char *path = fix_path("large.df");
    struct df_capture_scratch *scratch;
    struct df_capture_sample seen;
    struct df_captures *c;
    char json[400], line[16];
    const char *small = fix_path("small.df");
    uint64_t n = (uint64_t) 22 << 20, bytes = n * 3 * FIX_H * 2;
    uint64_t len, length, end[2] = {0, 1};
    size_t size, header;
    char *data;
    int fd;

    if (strcmp(getenv("RUN_EXPENSIVE_TESTS") ? getenv("RUN_EXPENSIVE_TESTS")
                                             : "no",
               "yes")
        != 0) {
        skip("more than 2 GiB: expensive; run by make check-expensive");
        return;
    }
    if (fix_write(small, DF_CAPTURE_STREAM, &h, 0, 0, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    data = fix_load(small, &size);
    header = size - 16;
    snprintf(json, sizeof json,
             "{\"__metadata__\":{\"index\":\"1\",\"id\":\"1\"},"
             "\"hidden_states\":{\"dtype\":\"BF16\",\"shape\":[%llu,%d],"
             "\"data_offsets\":[0,%llu]},\"input_ids\":{\"dtype\":\"I32\","
             "\"shape\":[%llu],\"data_offsets\":[%llu,%llu]},\"loss_mask\":{"
             "\"dtype\":\"U8\",\"shape\":[%llu],\"data_offsets\":[%llu,%llu]}"
             "}",
             (unsigned long long) n, 3 * FIX_H, (unsigned long long) bytes,
             (unsigned long long) n, (unsigned long long) bytes,
             (unsigned long long) (bytes + 4 * n), (unsigned long long) n,
             (unsigned long long) (bytes + 4 * n),
             (unsigned long long) (bytes + 5 * n));
    len = strlen(json);
    length = 8 + len + bytes + 5 * n;
    memcpy(line, &length, 8);
    memcpy(line + 8, &len, 8);
    fix_save(path, data, header);
    fd = open(path, O_WRONLY | O_APPEND);
    if (write(fd, line, 16) != 16 || write(fd, json, len) != (ssize_t) len
        || ftruncate(fd, (off_t) (header + 8 + length))
        || write(fd, end, 16) != 16)
        bail("%s can't be written", path);
    close(fd);
    free(data);
    if (df_captures_open(&c, &path, 1, NULL) != DF_OK
        || df_capture_scratch_new(&scratch) != DF_OK)
        bail("%s", df_error_last()->message);
    ok(df_captures_read(c, 0, scratch, &seen) == DF_OK && seen.n == n
           && seen.hidden[0][bytes / 2 - 1] == 0,
       "a sample of %llu bytes", (unsigned long long) length);
    df_captures_free(c);
    df_capture_scratch_free(scratch);
}

static const char python_program[] =
    "f = open(sys.argv[1], 'rb')\n"
    "line = f.readline()\n"
    "good = line.startswith(b'dflash-stream 1 ')\n"
    "h = json.loads(line[16:])\n"
    "K, H = len(h['layer_ids']), h['hidden_size']\n"
    "n = 0\n"
    "while True:\n"
    "    size, = struct.unpack('<Q', f.read(8))\n"
    "    if size == 0:\n"
    "        break\n"
    "    image = f.read(size)\n"
    "    x = dict(safetensors.deserialize(image))\n"
    "    t = x['input_ids']['shape'][0]\n"
    "    good &= x['input_ids']['dtype'] == 'I32'\n"
    "    good &= x['hidden_states.1']['dtype'] == 'BF16'\n"
    "    good &= x['hidden_states.1']['shape'] == [t, H]\n"
    "    good &= x['checks']['shape'] == [t, K + 1]\n"
    "    ids = struct.unpack('<%di' % t, bytes(x['input_ids']['data']))\n"
    "    good &= list(ids) == [(n * 7 + i) % 1000 for i in range(t)]\n"
    "    if t:\n"
    "        s = bytes(x['hidden_states.0']['data'])[:18]\n"
    "        good &= s.hex() == '813fc07fa5ff807f80ff010000807f7f817f'\n"
    "    n += 1\n"
    "count, = struct.unpack('<Q', f.read(8))\n"
    "good &= count == n == 13 and f.read() == b''\n"
    "sys.exit(not good)\n";

static void
test_python(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    const char *path = fix_path("python.df");
    int status;

    if (fix_write(path, DF_CAPTURE_STREAM, &h, 0, SAMPLES, NULL) != DF_OK)
        bail("%s", df_error_last()->message);
    status = fix_python("safetensors, json, struct", python_program, path, "");
    if (status == 77)
        skip("safetensors: it can't be imported");
    else
        is_long(0, status, "Python's safetensors reads the same bits");
}

int
main(void)
{
    plan(1 + 2 + 1 + 1);
    test_reader_gone();
    test_pass();
    test_large();
    test_python();
    fix_remove();
    return 0;
}
