/* Rows seen before, in a table of fixed size.  A lookup is one cache line,
   and nothing is ever moved elsewhere.  */

#include <config.h>

#include <sys/mman.h>

#include "store/scan_internal.h"

enum {
    WAYS = 2,
    LINE = WAYS * sizeof(struct df_row_entry)
};

df_status
df_row_table_init(struct df_row_table *table, size_t bytes)
{
    int log = 4;

    while (log < 40 && ((size_t) LINE << (log + 1)) <= bytes)
        log++;
    table->shift = 64 - log;
    table->size = (size_t) LINE << log;
    /* The system's zeros cost nothing until they are used.  Rows lie anywhere
       in the table, so small pages would be in no cache of theirs.  */
    table->entries = mmap(NULL, table->size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (table->entries == MAP_FAILED) {
        table->entries = NULL;
        return DF_FAIL(DF_NO_MEMORY, "a table of %zu bytes", table->size);
    }
    (void) !madvise(table->entries, table->size, MADV_HUGEPAGE);
    return DF_OK;
}

void
df_row_table_clear(struct df_row_table *table)
{
    if (table->entries)
        munmap(table->entries, table->size);
    *table = (struct df_row_table){0};
}

static struct df_row_entry *
bucket(const struct df_row_table *table, uint64_t hash)
{
    return table->entries
           + WAYS * (hash * 0x9E3779B97F4A7C15u >> table->shift);
}

void
df_row_table_prefetch(const struct df_row_table *table, uint64_t hash)
{
    __builtin_prefetch(bucket(table, hash), 1);
}

const struct df_row_entry *
df_row_table_find(const struct df_row_table *table, uint64_t hash, int state)
{
    const struct df_row_entry *e = bucket(table, hash);

    for (int i = 0; i < WAYS; i++)
        if (e[i].hash == hash && (int) e[i].state == state)
            return &e[i];
    return NULL;
}

/* Of equal rows the first stays, and becomes the newest again.  */
void
df_row_table_put(struct df_row_table *table, const struct df_row_entry *entry)
{
    struct df_row_entry *e = bucket(table, entry->hash);

    for (int i = 0; i < WAYS; i++)
        if (e[i].hash == entry->hash && e[i].state == entry->state)
            return;
    if (e[0].state != DF_ROW_NONE
        && (e[1].state == DF_ROW_NONE || e[0].hash < e[1].hash))
        e[1] = e[0];
    e[0] = *entry;
}
