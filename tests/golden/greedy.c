/* Greedy continuations that other programs made: token by token, a forward
   pass over the whole text for each; and in one pass, where every row has to
   choose the token behind it.  */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash/target.h"
#include "golden/cases.h"
#include "golden/golden.h"
#include "tap/tap.h"

enum {
    MAX_CASES = 24,
    QUICK = 3,        /* of them token by token, and... */
    QUICK_TOKENS = 16 /* tokens of each, where not all are wanted */
};

#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

/* One text: its first GIVEN ids are the prompt; those behind were chosen by
   the other program.  */
struct text {
    int32_t *ids;
    uint8_t *mask; /* none is supervised */
    size_t given, n;
    size_t at;    /* ids before this came out the same */
    bool differs; /* the one at it did not */
};

static struct df_device *dev;
static struct df_stream *stream;

struct model {
    struct df_model_config config;
    struct df_tensors *weights;
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_batch *batch;
    struct df_batch_arrays arrays;
    void *memory, *norm, *logits; /* device memory */
};

static void
set_up(struct model *m, const char *path, size_t tokens, size_t seqs,
       size_t rows)
{
    const struct df_batch_limits limits = {.max_tokens = tokens,
                                           .max_seqs = seqs,
                                           .max_seqlen = tokens,
                                           .num_anchors = 1,
                                           .block_size = 2};
    struct df_embeddings *e = &m->embeddings;

    CHECKED(df_model_config_load(&m->config, path));
    CHECKED(df_tensors_open(&m->weights, path));
    CHECKED(df_embeddings_load(e, m->weights, &m->config, dev, true));
    CHECKED(df_target_new(&m->target, &m->config, m->weights, e, &limits,
                          m->config.d.num_hidden_layers - 1));
    CHECKED(df_batch_new(&m->batch, &limits, NULL));
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, m->batch->bytes, &m->memory));
    df_batch_layout(&limits, m->memory, &m->arrays);
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, rows * e->H * sizeof(float),
                            &m->norm));
    CHECKED(df_device_alloc(dev, DF_MEM_DEVICE, rows * e->V * sizeof(float),
                            &m->logits));
}

static void
clear(struct model *m)
{
    df_device_free(dev, DF_MEM_DEVICE, m->logits);
    df_device_free(dev, DF_MEM_DEVICE, m->norm);
    df_device_free(dev, DF_MEM_DEVICE, m->memory);
    df_batch_free(m->batch);
    df_target_free(m->target);
    df_embeddings_free(&m->embeddings);
    df_tensors_free(m->weights);
}

static int32_t
best(const float *logits, size_t n)
{
    size_t most = 0;

    for (size_t i = 1; i < n; i++)
        if (logits[i] > logits[most])
            most = i;
    return (int32_t) most;
}

/* Logits of ROWS[R] of the batch.  */
static void
forward(struct model *m, const int32_t *rows, size_t R)
{
    CHECKED(df_batch_finish(m->batch, 0, 0));
    CHECKED(df_copy(stream, m->memory, m->batch->memory, m->batch->bytes));
    CHECKED(df_target_forward(m->target, stream, m->batch, &m->arrays, NULL,
                              NULL));
    CHECKED(df_target_logits(m->target, stream, rows, R, m->norm, m->logits));
    CHECKED(df_stream_sync(stream));
}

/* Whether T's next token is to be found still.  */
static bool
goes_on(const struct text *t)
{
    return !t->differs && t->at < t->n;
}

/* One more token of each of N texts that agreed so far.  False when none is
   left.  */
static bool
advance(struct model *m, struct text *texts, size_t n)
{
    size_t V = m->embeddings.V, R = 0;
    int32_t rows[MAX_CASES];
    struct text *which[MAX_CASES];
    const float *logits = m->logits;

    df_batch_clear(m->batch);
    for (struct text *t = texts; t < texts + n; t++) {
        if (!goes_on(t))
            continue;
        CHECKED(df_batch_add(m->batch,
                             &(struct df_sample){R, t->at, t->ids, t->mask}));
        which[R] = t;
        rows[R++] = (int32_t) m->batch->T - 1;
    }
    if (R == 0)
        return false;
    forward(m, rows, R);
    for (size_t r = 0; r < R; r++) {
        struct text *t = which[r];

        t->differs = best(logits + r * V, V) != t->ids[t->at];
        t->at += !t->differs;
    }
    return true;
}

static void
append(struct text *t, const json_t *ids)
{
    size_t i;
    json_t *id;

    size_t n = t->n + json_array_size(ids);

    t->ids = realloc(t->ids, n * sizeof *t->ids);
    t->mask = realloc(t->mask, n);
    if (!t->ids || !t->mask)
        bail("no memory");
    memset(t->mask, 0, n);
    json_array_foreach(ids, i, id) t->ids[t->n++] =
        (int32_t) json_integer_value(id);
}

static size_t
longest(const struct text *texts, size_t n)
{
    size_t most = 0;

    for (size_t i = 0; i < n; i++)
        most = texts[i].n > most ? texts[i].n : most;
    return most;
}

/* Token by token, all texts beside each other.  */
static void
test_steps(const char *path, struct text *texts, size_t n, const char *name)
{
    struct model m = {0};

    set_up(&m, path, n * longest(texts, n), n, n);
    while (advance(&m, texts, n))
        ;
    for (size_t i = 0; i < n; i++) {
        const struct text *t = &texts[i];

        ok(!t->differs && t->n > t->given,
           "%s, text %zu: %zu of %zu tokens behind %zu agree", name, i,
           t->at - t->given, t->n - t->given, t->given);
    }
    clear(&m);
}

/* One pass over each text: each row's choice given the tokens before it.  */
static void
test_rows(const char *path, const struct text *texts, size_t n,
          const char *name)
{
    struct model m = {0};
    size_t max = longest(texts, n), V;
    int32_t *rows = calloc(max, sizeof *rows);

    set_up(&m, path, max, 1, max);
    V = m.embeddings.V;
    for (size_t i = 0; i < n; i++) {
        const struct text *t = &texts[i];
        size_t R = t->n - t->given, agree = 0;

        for (size_t r = 0; r < R; r++)
            rows[r] = (int32_t) (t->given + r - 1);
        df_batch_clear(m.batch);
        CHECKED(df_batch_add(m.batch,
                             &(struct df_sample){i, t->n, t->ids, t->mask}));
        forward(&m, rows, R);
        for (size_t r = 0; r < R; r++)
            agree += best((const float *) m.logits + r * V, V)
                     == t->ids[t->given + r];
        is_long((long) R, (long) agree, "%s, text %zu: choices that agree",
                name, i);
    }
    free(rows);
    clear(&m);
}

/* All ids behind the first, which is BOS.  */
static void
test_stories(void)
{
    char *path = golden_shared("models/stories260K-hf");
    struct text text = {.given = 1, .at = 1};
    json_t *ids;

    if (!path) {
        skip("no models/stories260K-hf in the shared folder");
        return;
    }
    ids = golden_json(path, "greedy_ids.json");
    append(&text, ids);
    json_decref(ids);
    test_steps(path, &text, 1, "stories260K");
    free(text.ids);
    free(text.mask);
    free(path);
}

static bool
expensive(void)
{
    const char *wanted = getenv("RUN_EXPENSIVE_TESTS");

    return wanted && strcmp(wanted, "yes") == 0;
}

static size_t
load_texts(const char *folder, struct text *texts)
{
    json_t *json = golden_json(folder, "tiny-greedy.json"), *one;
    size_t i;

    json_array_foreach(json_object_get(json, "cases"), i, one)
    {
        if (i == MAX_CASES)
            break;
        append(&texts[i], json_object_get(one, "prompt_ids"));
        texts[i].given = texts[i].at = texts[i].n;
        append(&texts[i], json_object_get(one, "greedy_ids"));
    }
    json_decref(json);
    return i;
}

static void
test_demo(struct text *texts, size_t n, size_t n_steps)
{
    char *path = golden_path("%s/share/demo/target", getenv("abs_top_srcdir"));

    test_rows(path, texts, n, "demo");
    for (size_t i = 0; i < n_steps && !expensive(); i++)
        texts[i].n = texts[i].given + QUICK_TOKENS;
    test_steps(path, texts, n_steps, "demo");
    free(path);
}

int
main(void)
{
    char *folder = golden_shared("golden");
    struct text texts[MAX_CASES] = {0};
    size_t n, n_steps;

    if (!folder)
        skip_all("no golden folder: set DFLASH_SHARED");
    n = load_texts(folder, texts);
    n_steps = expensive() || n < QUICK ? n : QUICK;
    plan((int) (1 + n + n_steps));
    CHECKED(df_device_open(&dev, "cpu"));
    CHECKED(df_stream_new(&stream, dev, "test"));
    test_stories();
    test_demo(texts, n, n_steps);
    for (size_t i = 0; i < n; i++) {
        free(texts[i].ids);
        free(texts[i].mask);
    }
    df_stream_free(stream);
    df_device_close(dev);
    free(folder);
    return 0;
}
