/* The data file beside speculators' hidden states.  */

#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_internal.h"
#include "store/folder_internal.h"

static const char prefix[] = "{\"index\":";

/* By index, and among equals the one that came later first.  */
static int
by_index(const void *a, const void *b)
{
    const struct df_row *x = a, *y = b;

    if (x->index != y->index)
        return x->index < y->index ? -1 : 1;
    return x->at > y->at ? -1 : x->at < y->at;
}

/* The number that a line says is its row's, or LINE.  */
static uint64_t
index_of(const char *text, size_t size, uint64_t line)
{
    size_t at = sizeof prefix - 1, first;
    uint64_t x = 0;

    if (size <= at || memcmp(text, prefix, at) != 0)
        return line;
    while (at < size && text[at] == ' ')
        at++;
    for (first = at; at < size && text[at] >= '0' && text[at] <= '9'; at++)
        x = x * 10 + (uint64_t) (text[at] - '0');
    return at > first ? x : line;
}

static df_status
add_row(struct df_rows *rows, struct df_row row)
{
    if ((rows->n & (rows->n - 1)) == 0) {
        size_t max = rows->n ? rows->n * 2 : 1;
        void *grown = realloc(rows->rows, max * sizeof row);

        if (!grown)
            return DF_FAIL(DF_NO_MEMORY, "%s: %zu rows", rows->path, max);
        rows->rows = grown;
    }
    rows->rows[rows->n++] = row;
    return DF_OK;
}

static bool
is_blank(const char *text, size_t len)
{
    while (len > 0 && strchr(" \t\r", text[len - 1]))
        len--;
    return len == 0;
}

static df_status
find_rows(struct df_rows *rows)
{
    const char *text = (const char *) rows->file.data;
    size_t size = rows->file.size, kept = 0;
    uint64_t line = 0;

    for (size_t at = 0; at < size;) {
        const char *end = memchr(text + at, '\n', size - at);
        size_t len = end ? (size_t) (end - text) - at : size - at;

        /* One of ours that isn't whole was being written.  */
        if (!end && text[size - 1] != '}'
            && index_of(text + at, len, UINT64_MAX) != UINT64_MAX)
            break;
        if (!is_blank(text + at, len)) {
            DF_TRY(
                add_row(rows, (struct df_row){index_of(text + at, len, line),
                                              at, len}));
            line++;
        }
        at += len + 1;
    }
    if (rows->n > 0)
        qsort(rows->rows, rows->n, sizeof *rows->rows, by_index);
    for (size_t i = 0; i < rows->n; i++)
        if (i == 0 || rows->rows[i].index != rows->rows[i - 1].index)
            rows->rows[kept++] = rows->rows[i];
    rows->n = kept;
    return DF_OK;
}

df_status
df_rows_open(struct df_rows *out, const char *path)
{
    size_t len = strlen(path);

    *out = (struct df_rows){.path = strdup(path)};
    if (!out->path)
        return DF_FAIL(DF_NO_MEMORY, "%s", path);
    if (len > 6 && strcmp(path + len - 6, ".arrow") == 0)
        return DF_FAIL(DF_UNSUPPORTED,
                       "%s: Arrow isn't read: convert it to JSON lines with "
                       "input_ids and loss_mask",
                       path);
    DF_TRY(df_file_map(&out->file, path));
    return find_rows(out);
}

void
df_rows_clear(struct df_rows *rows)
{
    df_file_unmap(&rows->file);
    free(rows->path);
    free(rows->rows);
    *rows = (struct df_rows){0};
}

static df_status
check_array(const json_t *row, const char *key, size_t n, const char *name,
            const json_t **out)
{
    *out = json_object_get(row, key);
    if (!json_is_array(*out))
        return DF_FAIL(DF_FORMAT, "%s: %s is %s, not an array", name, key,
                       df_json_type_name(*out));
    if (json_array_size(*out) != n)
        return DF_FAIL(DF_FORMAT,
                       "%s: %s has %zu elements, but there are hidden states "
                       "of %zu tokens",
                       name, key, json_array_size(*out), n);
    return DF_OK;
}

static df_status
read_row(const json_t *row, const int32_t *ids, size_t n, uint8_t *mask,
         const char *name, const char *where)
{
    const json_t *row_ids, *row_mask;

    DF_TRY(check_array(row, "input_ids", n, name, &row_ids));
    DF_TRY(check_array(row, "loss_mask", n, name, &row_mask));
    for (size_t t = 0; t < n; t++) {
        const json_t *id = json_array_get(row_ids, t);
        const json_t *m = json_array_get(row_mask, t);
        json_int_t x = json_is_true(m) ? 1 : json_integer_value(m);

        if (!json_is_integer(id) || json_integer_value(id) != ids[t])
            return DF_FAIL(
                DF_FORMAT, "%s: token %zu is %lld, but in %s it is %d", name,
                t, (long long) json_integer_value(id), where, ids[t]);
        if ((!json_is_integer(m) && !json_is_boolean(m)) || x < 0 || x > 1)
            return DF_FAIL(DF_FORMAT,
                           "%s: loss_mask of token %zu isn't 0 or 1", name, t);
        mask[t] = (uint8_t) x;
    }
    return DF_OK;
}

df_status
df_rows_mask(const struct df_rows *rows, uint64_t index, const int32_t *ids,
             size_t n, uint8_t *mask, const char *where)
{
    const struct df_row *row = NULL;
    size_t low = 0, high = rows->n;
    char name[300];
    json_t *json;
    df_status status;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (rows->rows[mid].index < index)
            low = mid + 1;
        else
            high = mid;
    }
    if (low < rows->n && rows->rows[low].index == index)
        row = &rows->rows[low];
    if (!row)
        return DF_FAIL(DF_FORMAT,
                       "%s: no row %" PRIu64 ", which %s belongs to",
                       rows->path, index, where);
    snprintf(name, sizeof name, "%.200s: row %" PRIu64, rows->path, index);
    DF_TRY(df_json_parse(&json, (const char *) rows->file.data + row->at,
                         row->size, name));
    status = read_row(json, ids, n, mask, name, where);
    json_decref(json);
    return status;
}
