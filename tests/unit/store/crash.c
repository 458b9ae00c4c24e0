/* HDF5 files whose writer was killed, or whose disk was full.  */

#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash_internal.h"
#include "dflash/philox.h"
#include "fixture.h"

enum {
    KILLS = 20,
    SAMPLES = 1000
};

static const struct df_capture_writer_options resume = {.resume = true,
                                                        .flush_every = 3};

/* Write until killed; after each commit say on FD how many are there.  */
static void
write_and_tell(const char *path, const struct df_capture_header *h, int fd)
{
    struct df_capture_writer *w;

    if (df_capture_writer_open(&w, path, DF_CAPTURE_HDF5, h, &resume) != DF_OK)
        _exit(1);
    for (uint64_t i = 0; i < SAMPLES; i++) {
        struct fix_sample f = fix_sample(h, i, fix_tokens(i));
        uint64_t count;

        if (df_capture_writer_has(w, f.s.id))
            continue;
        if (df_capture_writer_put(w, &f.s) != DF_OK)
            _exit(1);
        count = df_capture_writer_count(w);
        if (i % 7 == 0) {
            if (df_capture_writer_commit(w) != DF_OK
                || write(fd, &count, sizeof count) != sizeof count)
                _exit(1);
        }
        fix_free(&f);
    }
    _exit(df_capture_writer_close(w, DF_OK) == DF_OK ? 0 : 1);
}

/* The last number said on FD; START if none.  */
static uint64_t
last_told(int fd, uint64_t start)
{
    uint64_t count;

    while (read(fd, &count, sizeof count) == sizeof count)
        start = count;
    close(fd);
    return start;
}

/* Kill a writer after some time: what it committed must be there and right,
   and what is there must be right.  */
static bool
kill_once(const char *path, const struct df_capture_header *h, int round,
          uint64_t *count)
{
    struct timespec delay = {
        0, (long) (df_philox(1, (uint32_t) round, 0, 0, 0).v[0] % 25000000)};
    int fds[2], status;
    long good;
    uint64_t told;
    pid_t pid;

    if (pipe(fds))
        bail("pipe failed");
    pid = fork();
    if (pid == 0) {
        close(fds[0]);
        write_and_tell(path, h, fds[1]);
    }
    close(fds[1]);
    nanosleep(&delay, NULL);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    told = last_told(fds[0], *count);
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return false;
    if (access(path, F_OK) != 0)
        return told == 0;
    good = fix_count(path, h);
    if (good < 0 && told == 0)
        return true; /* before the first commit */
    *count = good < 0 ? 0 : (uint64_t) good;
    if (good < (long) told)
        diag("%ld good samples, %ld were told of", good, (long) told);
    return good >= (long) told;
}

static void
test_kill(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, true, true);
    const char *path = fix_path("killed.h5");
    uint64_t count = 0;
    long held = 0;

    for (int i = 0; i < KILLS; i++)
        held += kill_once(path, &h, i, &count);
    is_long(KILLS, held, "what was committed outlives %d kills", KILLS);
    diag("%d samples when it was killed last", (int) count);
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 0, SAMPLES, &resume),
            "then it is resumed to the end");
    is_long(SAMPLES, fix_count(path, &h), "and has every sample, right");
}

/* Stop short of all N_WRITES writes in turn: the file system takes no more
   than LIMIT bytes in a file.  */
static df_status
write_limited(const char *path, const struct df_capture_header *h,
              size_t limit, char *message)
{
    struct rlimit before, now;
    df_status status;

    getrlimit(RLIMIT_FSIZE, &before);
    now = before;
    now.rlim_cur = limit;
    setrlimit(RLIMIT_FSIZE, &now);
    status = fix_write(path, DF_CAPTURE_HDF5, h, 0, SAMPLES, &resume);
    snprintf(message, 500, "%s", df_error_last()->message);
    setrlimit(RLIMIT_FSIZE, &before);
    return status;
}

static void
test_limits(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_PACKED, false, true);
    const char *path = fix_path("limited.h5");
    char message[500] = "", journal[300];
    long failed = 0, valid = 0, tries = 0, most = 0;

    signal(SIGXFSZ, SIG_IGN);
    snprintf(journal, sizeof journal, "%s.journal", path);
    for (size_t limit = 1; limit < 900000; limit += 17777, tries++) {
        df_status status;
        long good;

        unlink(path);
        unlink(journal);
        status = write_limited(path, &h, limit, message);
        failed += status == DF_IO && strstr(message, path)
                  && strstr(message, "bytes needed");
        if (status != DF_IO)
            diag("limit %zu: status %d: %s", limit, (int) status, message);
        good = access(path, F_OK) ? 0 : fix_count(path, &h);
        valid += good >= 0 && good % 3 == 0;
        most = good > most ? good : most;
    }
    is_long(tries, failed, "every limit is an error that names the file");
    is_long(tries, valid, "and leaves whole commits");
    ok(most > 30, "of which some are many: %ld", most);
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 0, SAMPLES, &resume),
            "with room again it is resumed");
    is_long(SAMPLES, fix_count(path, &h), "to the end");
}

static void
test_full_disk(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *dir = fix_path("disk");
    char path[200];
    long good;

    if (mkdir(dir, 0700) || mount("none", dir, "tmpfs", 0, "size=2m")) {
        skip("no small disk: mount: %s", strerror(errno));
        skip("no small disk");
        skip("no small disk");
        return;
    }
    snprintf(path, sizeof path, "%s/x.h5", dir);
    h.hidden_size = 256;
    fix_refused(DF_IO, "free",
                fix_write(path, DF_CAPTURE_HDF5, &h, 0, SAMPLES, &resume),
                "a full disk is an error that says what is free");
    ok(strstr(df_error_last()->message, path)
           && strstr(df_error_last()->message, "bytes needed"),
       "and which file, and what is needed");
    good = fix_count(path, &h);
    ok(good > 0 && good % 3 == 0, "%ld committed samples are valid", good);
    umount(dir);
}

/* A file that was never closed is read as of its last commit even when what
   came later overwrote it.  */
static void
test_journal(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *path = fix_path("torn.h5");
    char journal[300];
    int status, fd;
    pid_t pid;

    fix_folder();
    pid = fork();
    if (pid == 0) {
        const struct df_capture_writer_options rare = {.flush_every = 1000};
        struct df_capture_writer *w;

        if (df_capture_writer_open(&w, path, DF_CAPTURE_HDF5, &h, &rare)
            != DF_OK)
            _exit(1);
        for (uint64_t i = 0; i < 200; i++) {
            struct fix_sample f = fix_sample(&h, i, fix_tokens(i));

            if (df_capture_writer_put(w, &f.s) != DF_OK
                || (i == 9 && df_capture_writer_commit(w) != DF_OK))
                _exit(1);
        }
        /* As if in the midst of a flush.  */
        raise(SIGKILL);
    }
    waitpid(pid, &status, 0);
    is_long(10, fix_count(path, &h), "the last commit is read");
    snprintf(journal, sizeof journal, "%s.journal", path);
    fd = open(journal, O_WRONLY | O_APPEND);
    is_long(5, write(fd, "torn!", 5), "a torn end of the journal");
    close(fd);
    is_long(10, fix_count(path, &h), "isn't minded");
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 0, 40, &resume),
            "resumed, it goes back and on");
    is_long(40, fix_count(path, &h), "each sample once");
    ok(access(journal, F_OK) != 0, "and the journal is gone");
}

/* A file whose writer died before its first commit may hold anything.  */
static void
test_uncommitted(void)
{
    struct df_capture_header h = fix_header(DF_CAPTURE_SPLIT, false, true);
    const char *path = fix_path("early.h5");
    struct {
        char magic[16];
        uint64_t committed, hash;
    } journal = {"DFLASH-JOURNAL1", 0, df_hash_u64(0)};
    struct df_captures *c;

    fix_save(path, "what came first", 15);
    fix_save(fix_path("early.h5.journal"), (const char *) &journal,
             sizeof journal);
    fix_refused(DF_FORMAT, "early.h5: empty: its writer ended before its firs",
                df_captures_open(&c, &path, 1, NULL),
                "nothing was committed, and that is said");
    is_long(DF_OK, fix_write(path, DF_CAPTURE_HDF5, &h, 0, 4, &resume),
            "resumed, it begins");
    is_long(4, fix_count(path, &h), "with all samples");
}

int
main(void)
{
    plan(3 + 5 + 3 + 6 + 3);
    test_kill();
    test_limits();
    test_full_disk();
    test_journal();
    test_uncommitted();
    fix_remove();
    return 0;
}
