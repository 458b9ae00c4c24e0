/* Speculative decoding against the reference decoder: the same tokens, and
   accept lengths as long.  Then token by token, through a cache, against the
   same.  In bf16, tokens are those of plain decoding.  */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/decode.h"
#include "golden/cases.h"
#include "golden/golden.h"
#include "tap/tap.h"

enum {
    MAX_CASES = 120,
    QUICK = 24,
    MAX_NEW = 96,
    MAX_LENGTH = 256
};

#define CHECKED(call)                             \
    do {                                          \
        if ((call) != DF_OK)                      \
            bail("%s", df_error_last()->message); \
    } while (0)

struct text {
    int32_t ids[MAX_LENGTH];
    int32_t wanted[MAX_NEW], seen[MAX_NEW + 1];
    size_t n, n_wanted, n_seen;
    size_t rounds, accepted;           /* of the reference */
    size_t seen_rounds, seen_accepted; /* of ours */
};

struct job {
    struct text *texts;
    size_t n, next;
};

static struct df_device *dev;
static struct df_stream *stream;

struct models {
    struct df_model_config config;
    struct df_tensors *weights, *drafter_weights;
    struct df_embeddings embeddings;
    struct df_target *target;
    struct df_drafter_config drafter_config;
    struct df_drafter *drafter;
};

static size_t
read_ids(int32_t *out, const json_t *ids, size_t most)
{
    size_t n = json_array_size(ids);

    if (n > most)
        bail("%zu ids, more than %zu", n, most);
    for (size_t i = 0; i < n; i++)
        out[i] = (int32_t) json_integer_value(json_array_get(ids, i));
    return n;
}

/* The cases of FILE, whose answers are called KEY.  */
static size_t
load_texts(const char *folder, const char *file, const char *key,
           struct text *texts, size_t most)
{
    json_t *json = golden_json(folder, file), *one, *length;
    size_t i, j;

    json_array_foreach(json_object_get(json, "cases"), i, one)
    {
        struct text *t = &texts[i];
        json_t *accept = json_object_get(one, "accept");

        if (i == most)
            break;
        *t = (struct text){0};
        t->n = read_ids(t->ids, json_object_get(one, "prompt_ids"),
                        MAX_LENGTH - MAX_NEW);
        t->n_wanted = read_ids(t->wanted, json_object_get(one, key), MAX_NEW);
        t->rounds = json_array_size(accept);
        json_array_foreach(accept, j, length) t->accepted +=
            (size_t) json_integer_value(length);
    }
    json_decref(json);
    return i;
}

static df_status
next_prompt(void *arg, struct df_prompt *out)
{
    struct job *job = arg;
    struct text *t = &job->texts[job->next];

    if (job->next == job->n)
        return DF_END;
    *out = (struct df_prompt){job->next++, t->ids, t->n};
    return DF_OK;
}

static df_status
take_answer(void *arg, const struct df_answer *a)
{
    struct job *job = arg;
    struct text *t = &job->texts[a->index];

    t->n_seen = a->n;
    memcpy(t->seen, a->ids, a->n * sizeof *a->ids);
    t->seen_rounds = a->rounds;
    t->seen_accepted = 0;
    for (size_t i = 0; i < a->rounds; i++)
        t->seen_accepted += a->accept[i];
    return DF_OK;
}

/* The reference has one token more when it counts 96: what is behind those
   that it tells isn't compared.  */
static bool
same(const struct text *t)
{
    size_t n = t->n_seen < MAX_NEW ? t->n_seen : MAX_NEW;

    return n == t->n_wanted
           && memcmp(t->seen, t->wanted, n * sizeof *t->seen) == 0;
}

/* What was seen is what is wanted from now on.  */
static void
adopt(struct text *texts, size_t n)
{
    for (struct text *t = texts; t < texts + n; t++) {
        t->n_wanted = t->n_seen < MAX_NEW ? t->n_seen : MAX_NEW;
        memcpy(t->wanted, t->seen, t->n_wanted * sizeof *t->seen);
    }
}

static void
decode(struct models *m, const struct df_generator_options *o,
       struct text *texts, size_t n, bool plain)
{
    struct job job = {texts, n, 0};
    struct df_decode_stats stats;
    struct df_generator *d;

    CHECKED(df_generator_new(&d, m->target, m->drafter, stream, o));
    CHECKED(df_generator_warm_up(d));
    CHECKED(df_generate(d, &(struct df_decode_job){.arg = &job,
                                                   .next = next_prompt,
                                                   .done = take_answer,
                                                   .plain = plain}));
    df_generator_get_stats(d, &stats);
    diag("%.1f s, %llu tokens, %llu passes", stats.seconds,
         (unsigned long long) stats.tokens, (unsigned long long) stats.passes);
    df_generator_free(d);
}

static size_t
count_same(const struct text *texts, size_t n)
{
    size_t good = 0;

    for (size_t i = 0; i < n; i++) {
        if (same(&texts[i]))
            good++;
        else
            diag("text %zu differs", i);
    }
    return good;
}

static double
mean(const struct text *texts, size_t n, bool ours)
{
    size_t rounds = 0, accepted = 0;

    for (size_t i = 0; i < n; i++) {
        rounds += ours ? texts[i].seen_rounds : texts[i].rounds;
        accepted += ours ? texts[i].seen_accepted : texts[i].accepted;
    }
    return (double) accepted / (double) rounds;
}

static void
set_up(struct models *m, const char *target, const char *drafter,
       const struct df_generator_options *o)
{
    struct df_batch_limits limits;

    CHECKED(df_model_config_load(&m->config, target));
    CHECKED(df_tensors_open(&m->weights, target));
    CHECKED(df_drafter_config_load(&m->drafter_config, drafter));
    CHECKED(df_tensors_open(&m->drafter_weights, drafter));
    limits = df_generator_limits(o, (size_t) m->drafter_config.block_size);
    limits.mask_token_id = m->drafter_config.mask_token_id;
    CHECKED(
        df_embeddings_load(&m->embeddings, m->weights, &m->config, dev, true));
    CHECKED(df_target_new(&m->target, &m->config, m->weights, &m->embeddings,
                          &limits, m->config.d.num_hidden_layers - 1));
    CHECKED(df_drafter_new(&m->drafter, &m->drafter_config, &m->embeddings,
                           &limits));
    CHECKED(df_drafter_load(m->drafter, m->drafter_weights));
}

static void
clear(struct models *m)
{
    df_drafter_free(m->drafter);
    df_target_free(m->target);
    df_embeddings_free(&m->embeddings);
    df_tensors_free(m->drafter_weights);
    df_tensors_free(m->weights);
}

static bool
expensive(void)
{
    const char *wanted = getenv("RUN_EXPENSIVE_TESTS");

    return wanted && strcmp(wanted, "yes") == 0;
}

static void
test(struct models *m, const char *folder, struct df_generator_options *o,
     struct text *texts)
{
    bool exact = df_device_is_cpu(dev);
    size_t n = load_texts(folder, "tiny-spec.json", "ids", texts,
                          expensive() ? MAX_CASES : QUICK);
    double wanted = mean(texts, n, false), seen;

    if (!exact) {
        decode(m, o, texts, n, true);
        adopt(texts, n);
    }
    decode(m, o, texts, n, false);
    is_long((long) n, (long) count_same(texts, n),
            "drafted answers are the %s",
            exact ? "reference's" : "plain ones");
    seen = mean(texts, n, true);
    ok(fabs(seen - wanted) <= (exact ? 0.01 : 0.03),
       "mean accept length %.4f, reference %.4f", seen, wanted);
    if (!exact) {
        skip("token by token as transformers does: on the CPU alone");
        skip("and drafted");
        return;
    }
    n = load_texts(folder, "tiny-greedy.json", "greedy_ids", texts, MAX_CASES);
    decode(m, o, texts, n, true);
    is_long((long) n, (long) count_same(texts, n),
            "token by token as transformers does");
    n = load_texts(folder, "tiny-greedy.json", "greedy_ids", texts, MAX_CASES);
    decode(m, o, texts, n, false);
    is_long((long) n, (long) count_same(texts, n), "and drafted");
}

int
main(void)
{
    char *folder = golden_shared("golden");
    char *drafter = golden_shared("models/tiny-drafter");
    char *target =
        golden_path("%s/share/demo/target", getenv("abs_top_srcdir"));
    static struct text texts[MAX_CASES];
    struct models m = {0};
    int32_t stop;
    struct df_generator_options o = {.concurrency = 24,
                                     .max_seqlen = MAX_LENGTH,
                                     .max_new_tokens = MAX_NEW + 1,
                                     .prefill_rows = 192,
                                     .graphs = true,
                                     .stop_ids = &stop,
                                     .n_stop_ids = 1};

    if (!folder || !drafter)
        skip_all("no golden folder: set DFLASH_SHARED");
    dev = golden_device();
    plan(4);
    CHECKED(df_stream_new(&stream, dev, "test"));
    set_up(&m, target, drafter, &o);
    stop = m.config.eos_token_ids[0];
    test(&m, folder, &o, texts);
    clear(&m);
    df_stream_free(stream);
    df_device_close(dev);
    free(target);
    free(drafter);
    free(folder);
    return 0;
}
