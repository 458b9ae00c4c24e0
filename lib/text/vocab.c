#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "base/hash_internal.h"
#include "text/vocab_internal.h"

/* The slot that has TEXT, or the free one where it would go.  */
static size_t
find_slot(const struct df_vocab *v, const char *text, size_t len)
{
    size_t i = df_hash_bytes(text, len) & (v->slots - 1);

    for (; v->slot[i] >= 0; i = (i + 1) & (v->slots - 1)) {
        const struct df_entry *e = &v->entry[v->slot[i]];

        if (e->len == len && memcmp(v->bytes.data + e->begin, text, len) == 0)
            break;
    }
    return i;
}

static df_status
grow_slots(struct df_vocab *v)
{
    size_t slots = v->slots ? v->slots * 2 : 64;
    int32_t *slot = malloc(slots * sizeof *slot);

    if (!slot)
        return DF_FAIL(DF_NO_MEMORY, "a vocabulary of %zu tokens", v->n);
    for (size_t i = 0; i < slots; i++)
        slot[i] = -1;
    free(v->slot);
    v->slot = slot;
    v->slots = slots;
    for (size_t id = 0; id < v->size; id++) {
        const struct df_entry *e = &v->entry[id];

        if (e->begin != UINT32_MAX)
            slot[find_slot(v, v->bytes.data + e->begin, e->len)] =
                (int32_t) id;
    }
    return DF_OK;
}

static df_status
check_free(const struct df_vocab *v, const char *text, size_t len, int64_t id,
           const char *where)
{
    int32_t other = df_vocab_find(v, text, len);

    if (id < 0 || id >= DF_ID_LIMIT)
        return DF_FAIL(DF_FORMAT,
                       "%s: token %.80s has id %lld, not within 0 "
                       "and %d",
                       where, text, (long long) id, DF_ID_LIMIT - 1);
    if (df_vocab_text(v, (int32_t) id, NULL))
        return DF_FAIL(DF_FORMAT,
                       "%s: tokens %.80s and %.80s both have id "
                       "%lld",
                       where, df_vocab_text(v, (int32_t) id, NULL), text,
                       (long long) id);
    if (other >= 0)
        return DF_FAIL(DF_FORMAT, "%s: token %.80s has the ids %d and %lld",
                       where, text, other, (long long) id);
    if (v->bytes.len + len >= UINT32_MAX)
        return DF_FAIL(DF_FORMAT, "%s: more than 4 GiB of tokens", where);
    return DF_OK;
}

df_status
df_vocab_add(struct df_vocab *v, const char *text, size_t len, int64_t id,
             bool added, const char *where)
{
    size_t begin = v->bytes.len;

    DF_TRY(check_free(v, text, len, id, where));
    if (v->slots < 2 * (v->n + 1))
        DF_TRY(grow_slots(v));
    DF_TRY(df_bytes_put(&v->bytes, text, len));
    DF_TRY(df_bytes_put(&v->bytes, "", 1));
    DF_TRY(df_grow(&v->entry, &v->cap, (size_t) id + 1, sizeof *v->entry));
    for (; v->size <= (size_t) id; v->size++)
        v->entry[v->size].begin = UINT32_MAX;
    v->slot[find_slot(v, text, len)] = (int32_t) id;
    v->entry[id] = (struct df_entry){(uint32_t) begin, (uint32_t) len, added};
    v->n++;
    return DF_OK;
}

int32_t
df_vocab_find(const struct df_vocab *v, const char *text, size_t len)
{
    return v->slots ? v->slot[find_slot(v, text, len)] : -1;
}

int32_t
df_vocab_find_own(const struct df_vocab *v, const char *text, size_t len)
{
    int32_t id = df_vocab_find(v, text, len);

    return id >= 0 && !v->entry[id].added ? id : -1;
}

const char *
df_vocab_text(const struct df_vocab *v, int32_t id, size_t *len)
{
    if (id < 0 || (size_t) id >= v->size || v->entry[id].begin == UINT32_MAX)
        return NULL;
    if (len)
        *len = v->entry[id].len;
    return v->bytes.data + v->entry[id].begin;
}

void
df_vocab_free(struct df_vocab *v)
{
    free(v->bytes.data);
    free(v->entry);
    free(v->slot);
    *v = (struct df_vocab){0};
}

static struct df_pair *
find_pair(const struct df_pairs *p, uint64_t key)
{
    size_t i = df_hash_u64(key) & (p->slots - 1);

    while (p->slot[i].key != key && p->slot[i].key != UINT64_MAX)
        i = (i + 1) & (p->slots - 1);
    return &p->slot[i];
}

static df_status
grow_pairs(struct df_pairs *p)
{
    struct df_pairs old = *p;
    size_t slots = old.slots ? old.slots * 2 : 64;

    p->slot = malloc(slots * sizeof *p->slot);
    if (!p->slot) {
        *p = old;
        return DF_FAIL(DF_NO_MEMORY, "a table of %zu pairs", p->n);
    }
    p->slots = slots;
    for (size_t i = 0; i < slots; i++)
        p->slot[i].key = UINT64_MAX;
    for (size_t i = 0; i < old.slots; i++)
        if (old.slot[i].key != UINT64_MAX)
            *find_pair(p, old.slot[i].key) = old.slot[i];
    free(old.slot);
    return DF_OK;
}

df_status
df_pairs_put(struct df_pairs *p, uint64_t key, uint32_t rank, int32_t id)
{
    if (p->slots < 2 * (p->n + 1))
        DF_TRY(grow_pairs(p));
    struct df_pair *pair = find_pair(p, key);
    p->n += pair->key == UINT64_MAX;
    *pair = (struct df_pair){key, rank, id};
    return DF_OK;
}

const struct df_pair *
df_pairs_find(const struct df_pairs *p, uint64_t key)
{
    const struct df_pair *pair = p->slots ? find_pair(p, key) : NULL;

    return pair && pair->key == key ? pair : NULL;
}

void
df_pairs_free(struct df_pairs *p)
{
    free(p->slot);
    *p = (struct df_pairs){0};
}
