/* samples.h - a small capture in memory, and what a scan says of it.  */

#ifndef DF_TESTS_SAMPLES_H
#define DF_TESTS_SAMPLES_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/check.h"
#include "dflash/dtype.h"
#include "dflash/scan.h"
#include "tap/tap.h"

enum {
    K = 3,
    H = 33, /* no multiple of anything */
    N = 70, /* tokens a sample */
    SAMPLES = 4,
    MAX_C = K + 1
};

struct own_sample {
    struct df_capture_sample s;
    int32_t ids[N];
    uint8_t mask[N];
    uint16_t hidden[N * K * H], last[N * H];
    uint64_t checks[N * MAX_C];
};

struct capture {
    struct df_capture_header h;
    struct own_sample samples[SAMPLES];
};

static uint64_t random_state = 1;

static inline uint32_t
rnd(void)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (random_state >> 33);
}

static inline uint16_t *
row_of(struct capture *c, size_t i, size_t k, size_t t)
{
    return (uint16_t *) df_capture_row(&c->h, &c->samples[i].s, t, k);
}

static inline size_t
checks_of(const struct capture *c)
{
    return c->h.K + c->h.has_last_hidden;
}

/* Make the checks agree again.  */
static inline void
seal(struct capture *c)
{
    size_t C = checks_of(c);

    for (size_t i = 0; i < SAMPLES; i++)
        for (size_t t = 0; t < c->samples[i].s.n; t++)
            for (size_t k = 0; k < C; k++)
                c->samples[i].checks[t * C + k] =
                    df_check_row(row_of(c, i, k, t), H);
}

/* Values like those of a model: around 0, a few orders of magnitude.  */
static inline void
fill(uint16_t *data, size_t n, float scale)
{
    for (size_t i = 0; i < n; i++) {
        float x = 0;

        for (int j = 0; j < 4; j++)
            x += (float) (rnd() % 20001) / 10000.0f - 1.0f;
        data[i] = df_bf16_from_f32(x * scale);
    }
}

/* Clean samples of random tokens, K layers of growing norms.  */
static inline struct capture *
capture_new(enum df_capture_layout layout, bool last, bool checks)
{
    struct capture *c = calloc(1, sizeof *c);

    c->h = (struct df_capture_header){
        .K = K,
        .layer_ids = {1, 9, 17},
        .hidden_size = H,
        .vocab_size = 1000,
        .layout = layout,
        .has_last_hidden = last,
        .has_checks = checks,
    };
    for (size_t i = 0; i < SAMPLES; i++) {
        struct own_sample *o = &c->samples[i];

        o->s = (struct df_capture_sample){
            .index = 10 + i,
            .id = (10 + i) << 16,
            .n = N,
            .ids = o->ids,
            .loss_mask = o->mask,
            .last = last ? o->last : NULL,
            .checks = checks ? o->checks : NULL,
        };
        for (size_t k = 0; k < K; k++)
            o->s.hidden[k] = layout == DF_CAPTURE_SPLIT ? o->hidden + k * N * H
                             : k == 0                   ? o->hidden
                                                        : NULL;
        for (size_t t = 0; t < N; t++) {
            o->ids[t] = (int32_t) (rnd() % 1000);
            o->mask[t] = t >= N / 2;
        }
        for (size_t k = 0; k < checks_of(c); k++)
            for (size_t t = 0; t < N; t++)
                fill(row_of(c, i, k, t), H, 1.0f + (float) k * 3);
    }
    seal(c);
    return c;
}

/* What a scan says, as one text: findings "KIND SAMPLE:FIRST-LAST/K xCOUNT",
   with "=SAMPLE:FIRST/K" for where the rows are too, joined by blanks.  */
static char said[1 << 16];

static inline void
say(void *arg, const struct df_finding *f)
{
    size_t at = strlen(said);
    char *p = said + at;
    size_t room = sizeof said - at;
    int n = snprintf(p, room, "%s%s %d", at ? " " : "",
                     df_finding_word(f->kind), (int) f->index - 10);

    (void) arg;
    if (f->has_tokens)
        n += snprintf(p + n, room - (size_t) n, ":%d-%d", (int) f->first,
                      (int) f->last);
    if (f->k != DF_NO_LAYER)
        n += snprintf(p + n, room - (size_t) n, "/%d", f->k);
    n += snprintf(p + n, room - (size_t) n, " x%d", (int) f->count);
    if (f->other.rows > 0)
        snprintf(
            p + n, room - (size_t) n, "=%d:%d/%d", (int) f->other.index - 10,
            (int) (f->other.first + f->first - f->other.skip), f->other.k);
}

/* Scan all samples of C; SAID has the findings.  The caller frees it.  */
static inline struct df_scan *
scan_all(const struct capture *c, struct df_scan_options o)
{
    struct df_scan *scan;
    bool good;

    said[0] = '\0';
    o.report = say;
    if (df_scan_new(&scan, &c->h, &o) != DF_OK)
        bail("%s", df_error_last()->message);
    for (size_t i = 0; i < SAMPLES; i++)
        if (df_scan_sample(scan, &c->h, "file", &c->samples[i].s, &good)
            != DF_OK)
            bail("%s", df_error_last()->message);
    return scan;
}

/* A test: scanning C says WANTED.  */
static inline void
says(const char *wanted, const struct capture *c, const char *label)
{
    struct df_scan *scan = scan_all(c, (struct df_scan_options){0});
    int pass = strcmp(wanted, said) == 0;

    if (!pass) {
        diag("wanted: %s", wanted);
        diag("  seen: %s", said);
    }
    ok(pass, "%s", label);
    df_scan_free(scan);
}

#endif
