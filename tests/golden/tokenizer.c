/* The ids and texts that Hugging Face's tokenizers gives, text by text.

   A set is tokenizers/NAME.json of a golden folder: a list of {"text",
   "ids", "decoded"}.  Its tokenizer is tokenizers/NAME or models/NAME or
   models/NAME-hf of the shared folder, or the folder tokenizers/NAME beside
   the set.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_internal.h"
#include "dflash/tokenizer.h"
#include "golden/golden.h"
#include "tap/tap.h"

enum {
    LINES = 3 /* a set */
};

/* The folder with the tokenizer of set NAME, or NULL.  */
static char *
find_tokenizer(const char *folder, const char *name)
{
    char *path = golden_shared("tokenizers/%s/tokenizer.json", name);

    if (!path)
        path = golden_shared("models/%s/tokenizer.json", name);
    if (!path)
        path = golden_shared("models/%s-hf/tokenizer.json", name);
    if (!path) {
        path = golden_path("%s/tokenizers/%s/tokenizer.json", folder, name);
        if (access(path, F_OK)) {
            free(path);
            return NULL;
        }
    }
    *strrchr(path, '/') = '\0';
    return path;
}

/* Whether IDS are those that ROW wants.  */
static bool
same_ids(const json_t *row, const struct df_ids *ids)
{
    const json_t *wanted = json_object_get(row, "ids");
    bool same = json_array_size(wanted) == ids->n;

    for (size_t i = 0; same && i < ids->n; i++)
        same = json_integer_value(json_array_get(wanted, i)) == ids->data[i];
    return same;
}

/* Whether the tokens' ranges go through the LEN bytes from left to right,
   and leave none out.  */
static bool
covers(const struct df_ids *ids, size_t len)
{
    uint32_t done = 0;

    for (size_t i = 0; i < ids->n; i++) {
        if (ids->starts[i] > done || ids->ends[i] < done)
            return false;
        done = ids->ends[i];
    }
    return done == len;
}

static bool
same_text(const struct df_tokenizer *tok, const json_t *row)
{
    const json_t *list = json_object_get(row, "ids");
    const json_t *decoded = json_object_get(row, "decoded");
    size_t n = json_array_size(list), len;
    int32_t *ids = calloc(n + 1, sizeof *ids);
    char *text;
    bool same = false;

    for (size_t i = 0; ids && i < n; i++)
        ids[i] = (int32_t) json_integer_value(json_array_get(list, i));
    if (ids && df_tokenizer_decode(tok, ids, n, false, &text, &len) == DF_OK) {
        same = len == json_string_length(decoded)
               && memcmp(text, json_string_value(decoded), len) == 0;
        free(text);
    }
    free(ids);
    return same;
}

static void
check_set(const struct df_tokenizer *tok, const json_t *set, const char *name)
{
    size_t rows = json_array_size(set), bad[LINES] = {0};
    struct df_ids ids = {0};

    for (size_t i = 0; i < rows; i++) {
        const json_t *row = json_array_get(set, i);
        const json_t *text = json_object_get(row, "text");
        size_t len = json_string_length(text);

        df_ids_clear(&ids);
        if (df_tokenizer_encode(tok, json_string_value(text), len, 0, &ids)
                != DF_OK
            || !same_ids(row, &ids)) {
            diag("text %zu: %s", i, json_string_value(text));
            bad[0]++;
        }
        bad[1] += !covers(&ids, len);
        bad[2] += !same_text(tok, row);
    }
    is_long(0, (long) bad[0], "%s: ids of %zu texts", name, rows);
    is_long(0, (long) bad[1], "%s: tokens cover %zu texts", name, rows);
    is_long(0, (long) bad[2], "%s: %zu texts from their ids", name, rows);
    df_ids_free(&ids);
}

/* LINES lines about the set at PATH, called NAME.  */
static void
run_set(const char *folder, const char *path, const char *name)
{
    char *dir = find_tokenizer(folder, name);
    struct df_tokenizer *tok = NULL;
    json_t *set;

    if (!dir) {
        for (int i = 0; i < LINES; i++)
            skip("%s: no folder with its tokenizer", path);
        return;
    }
    if (df_json_load(&set, path) != DF_OK
        || df_tokenizer_open(&tok, dir) != DF_OK) {
        for (int i = 0; i < LINES; i++)
            ok(false, "%s: %s", path, df_error_last()->message);
    } else {
        check_set(tok, set, path);
    }
    df_tokenizer_free(tok);
    json_decref(set);
    free(dir);
}

/* Rendered chats lie beside the sets.  */
static bool
is_set(const char *name)
{
    return strcmp(name, "chat.json") != 0;
}

int
main(void)
{
    char **folders = golden_folders();
    int sets = 0;

    for (int run = 0; run < 2; run++) {
        for (size_t i = 0; folders[i]; i++) {
            char **names = golden_names(folders[i], "tokenizers", ".json");

            for (size_t k = 0; names[k]; k++) {
                char *path =
                    golden_path("%s/tokenizers/%s", folders[i], names[k]);

                sets += run == 0 && is_set(names[k]);
                names[k][strlen(names[k]) - strlen(".json")] = '\0';
                if (run == 1 && is_set(strrchr(path, '/') + 1))
                    run_set(folders[i], path, names[k]);
                free(path);
            }
            golden_free(names);
        }
        if (run == 0 && sets == 0)
            skip_all("no tokenizers/*.json in the golden folders");
        if (run == 0)
            plan(LINES * sets);
    }
    golden_free(folders);
    return 0;
}
