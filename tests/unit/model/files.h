/* files.h - a scratch folder, and asking what a failing call said.  */

#ifndef DF_TESTS_FILES_H
#define DF_TESTS_FILES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dflash/error.h"
#include "tap/tap.h"

static char scratch[64] = "/tmp/dflash.XXXXXX";

__attribute__((unused)) static void
remove_scratch(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf '%s'", scratch);
    if (system(command))
        diag("%s stays", scratch);
}

__attribute__((unused)) static void
make_scratch(void)
{
    if (!mkdtemp(scratch))
        skip_all("no scratch folder in /tmp");
    atexit(remove_scratch);
}

/* The path of NAME in the scratch folder; good until the 32nd next call.  */
__attribute__((unused)) static const char *
in_scratch(const char *name)
{
    static char paths[32][256];
    static int turn;
    char *path = paths[turn++ % 32];

    snprintf(path, sizeof paths[0], "%s/%s", scratch, name);
    return path;
}

/* Write SIZE bytes to NAME in the scratch folder.  Returns its path.  */
__attribute__((unused)) static const char *
put_file(const char *name, const void *data, size_t size)
{
    const char *path = in_scratch(name);
    FILE *f = fopen(path, "wb");

    if (!f || (size > 0 && fwrite(data, 1, size, f) != size) || fclose(f))
        diag("%s: cannot write", path);
    return path;
}

__attribute__((unused)) static const char *
put_text(const char *name, const char *text)
{
    return put_file(name, text, strlen(text));
}

/* TEXT with ' turned into ", to be freed.  */
__attribute__((unused)) static char *
double_quoted(const char *text)
{
    char *copy = strdup(text);

    for (char *p = copy; *p; p++)
        if (*p == '\'')
            *p = '"';
    return copy;
}

/* Write TEXT, JSON with ' for ", to NAME in the scratch folder.  */
__attribute__((unused)) static const char *
put_json(const char *name, const char *text)
{
    char *json = double_quoted(text);
    const char *path = put_text(name, json);

    free(json);
    return path;
}

/* An image of HEADER, written with ' for ", and of SIZE bytes at DATA, or of
   zeros if that is NULL.  To be freed.  */
__attribute__((unused)) static uint8_t *
make_image(const char *header, const void *data, size_t size, size_t *total)
{
    size_t len = strlen(header);
    uint8_t *image = calloc(1, 8 + len + size);
    char *json = double_quoted(header);

    for (int i = 0; i < 8; i++)
        image[i] = (uint8_t) ((uint64_t) len >> 8 * i);
    memcpy(image + 8, json, len);
    if (data)
        memcpy(image + 8 + len, data, size);
    free(json);
    *total = 8 + len + size;
    return image;
}

/* Write such an image to NAME in the scratch folder.  */
__attribute__((unused)) static const char *
put_tensors(const char *name, const char *header, const void *data,
            size_t size)
{
    size_t total;
    uint8_t *image = make_image(header, data, size, &total);
    const char *path = put_file(name, image, total);

    free(image);
    return path;
}

/* JSON with ' for " to be read, and what comes of it.  Behind a header
   follow DATA_SIZE zero bytes.  */
struct json_case {
    const char *label;
    const char *json;
    size_t data_size;
    df_status status;
    const char *words;
};

/* A row of a table that clang-format need not align.  */
#define ROW(...)    \
    {               \
        __VA_ARGS__ \
    }

/* Read; refused as wrong, as beyond this library, as incomplete.  */
#define GOOD(label, json, size)        \
    {                                  \
        label, json, size, DF_OK, NULL \
    }
#define BAD(label, json, size, words)       \
    {                                       \
        label, json, size, DF_FORMAT, words \
    }
#define BEYOND(label, json, size, words)         \
    {                                            \
        label, json, size, DF_UNSUPPORTED, words \
    }
#define ABSENT(label, json, words)   \
    {                                \
        label, json, 0, DF_IO, words \
    }

/* A test: STATUS is WANTED, and if that is a failure, its message holds
   WORDS.  */
__attribute__((unused)) static void
is_failure(df_status wanted, const char *words, df_status status,
           const char *label)
{
    const char *message = status > DF_CANCELED ? df_error_last()->message : "";
    int pass = status == wanted && (!words || strstr(message, words));

    if (!pass)
        diag("wanted: %s: %s", df_status_text(wanted), words ? words : "");
    if (!pass)
        diag("  seen: %s: %s", df_status_text(status), message);
    ok(pass, "%s", label);
}

/* The path of NAME in the folder of shared data, or NULL with a skipped
   test when it is not there.  */
__attribute__((unused)) static const char *
shared_file(const char *name)
{
    static char path[512];
    const char *dir = getenv("DFLASH_SHARED");

    snprintf(path, sizeof path, "%s/%s", dir ? dir : "../shared", name);
    if (access(path, R_OK) == 0)
        return path;
    skip("%s is not there", path);
    return NULL;
}

#endif
