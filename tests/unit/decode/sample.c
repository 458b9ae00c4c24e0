/* Sampling: what is drafted and verified is distributed as the target says,
   by chi-square tests whose numbers are drawn from a fixed seed.  */
#include <config.h>

#include <math.h>

#include "ops/handy.h"
#include "unit/decode/rig.h"

enum {
    V = 9,
    B = 5,
    BLOCKS = 40000,
    ROWS = BLOCKS * B,
    REQUESTS = 4000,
    MOST_CELLS = 64
};

/* The chi-square statistic of SEEN against WANTED, which have the same sum;
   cells of few are put together.  *FREE: degrees of freedom.  */
static double
chi_square(const double *wanted, const double *seen, size_t n, size_t *cells)
{
    double rest_wanted = 0, rest_seen = 0, sum = 0;

    *cells = 0;
    for (size_t i = 0; i < n; i++) {
        if (wanted[i] < 8) {
            rest_wanted += wanted[i];
            rest_seen += seen[i];
            continue;
        }
        sum += (seen[i] - wanted[i]) * (seen[i] - wanted[i]) / wanted[i];
        ++*cells;
    }
    if (rest_wanted > 0) {
        sum += (rest_seen - rest_wanted) * (rest_seen - rest_wanted)
               / rest_wanted;
        ++*cells;
    }
    return sum;
}

/* Whether SUM is one that all but one in ten thousand are below, by the
   cube-root approximation of Wilson and Hilferty.  */
static bool
plausible(double sum, size_t cells)
{
    double k = (double) cells - 1, d = 2 / (9 * k);

    return k < 1 || cbrt(sum / k) < 1 - d + 3.72 * sqrt(d);
}

static void
softmax(const float *z, double temperature, double *p)
{
    double sum = 0;

    for (int v = 0; v < V; v++)
        sum += p[v] = exp((double) z[v] / temperature);
    for (int v = 0; v < V; v++)
        p[v] /= sum;
}

struct blocks {
    float z[ROWS * V], draft[ROWS * V];
    int32_t ids[ROWS], place[ROWS], result[BLOCKS * (B + 1)];
    uint64_t request[ROWS];
};

/* All blocks have the same logits, and numbers of their own.  */
static void
fill(struct blocks *x, float distance)
{
    for (size_t r = 0; r < ROWS; r++) {
        for (size_t v = 0; v < V; v++) {
            float z = 2 * tiny_random(1, r % B * V + v);

            x->z[r * V + v] = z;
            /* of the row before: what the slot's token is judged by */
            x->draft[r * V + v] = 2 * tiny_random(1, (r % B - 1) * V + v)
                                  + distance * tiny_random(2, r % B * V + v);
        }
        x->ids[r] = 0;
        x->place[r] = (int32_t) (r % B);
        x->request[r] = r / B;
    }
}

static void
run_blocks(struct blocks *x, float temperature)
{
    struct df_draw draw = {.temperature = temperature, .key = 5};
    float *z = ON_DEVICE(x->z), *drafted = ON_DEVICE(x->draft);
    int32_t *ids = ON_DEVICE(x->ids), *place = ON_DEVICE(x->place);
    int32_t *result = on_device(NULL, sizeof x->result);
    uint64_t *request = ON_DEVICE(x->request);

    draw.request = request;
    draw.place = place;
    NEED(df_pick(stream, &(struct df_pick_args){.token = ids,
                                                .z = drafted,
                                                .draw = draw,
                                                .R = ROWS,
                                                .V = V,
                                                .keep = B,
                                                .drafter = true}));
    NEED(df_verify(stream, &(struct df_verify_args){.result = result,
                                                    .z = z,
                                                    .draft = drafted,
                                                    .ids = ids,
                                                    .draw = draw,
                                                    .B = BLOCKS,
                                                    .b = B,
                                                    .V = V}));
    take_back(x->result, result, sizeof x->result);
    take_back(x->ids, ids, sizeof x->ids);
    df_device_free(dev, DF_MEM_DEVICE, z);
    df_device_free(dev, DF_MEM_DEVICE, drafted);
    df_device_free(dev, DF_MEM_DEVICE, place);
    df_device_free(dev, DF_MEM_DEVICE, request);
}

/* The tokens that came at each place of the blocks that got so far; and how
   many blocks kept the first drafted one, which is the overlap of p and
   q.  */
static void
test_blocks(float distance, float temperature)
{
    static struct blocks x;
    double p[V], q[V], overlap = 0, kept = 0, sigma;

    fill(&x, distance);
    run_blocks(&x, temperature);
    for (size_t j = 0; j < B; j++) {
        double wanted[V], seen[V] = {0}, n = 0, sum;
        size_t cells;

        softmax(x.z + j * V, (double) temperature, p);
        for (size_t i = 0; i < BLOCKS; i++) {
            const int32_t *result = x.result + i * (B + 1);

            if ((size_t) result[0] > j) {
                seen[result[j + 1]]++;
                n++;
            }
        }
        for (size_t v = 0; v < V; v++)
            wanted[v] = n * p[v];
        sum = chi_square(wanted, seen, V, &cells);
        ok(n > 100 && plausible(sum, cells),
           "drafter off by %g, temperature %g, place %zu: chi-square %.1f of "
           "%zu cells, %.0f tokens",
           (double) distance, (double) temperature, j, sum, cells, n);
    }
    softmax(x.z, (double) temperature, p);
    softmax(x.draft + V, (double) temperature, q);
    for (size_t v = 0; v < V; v++)
        overlap += fmin(p[v], q[v]);
    for (size_t i = 0; i < BLOCKS; i++)
        kept += x.result[i * (B + 1)] > 1;
    sigma = sqrt(overlap * (1 - overlap) / BLOCKS) + 1e-4;
    ok(fabs(kept / BLOCKS - overlap) < 4 * sigma,
       "first drafted token kept in %.4f, overlap %.4f", kept / BLOCKS,
       overlap);
}

static struct df_generator_options
options(uint64_t seed)
{
    return (struct df_generator_options){.concurrency = 32,
                                         .max_seqlen = 32,
                                         .max_new_tokens = 6,
                                         .prefill_rows = 128,
                                         .temperature = 0.4f,
                                         .seed = seed};
}

static struct rig_answer *
answers_of(struct rig *r, const struct df_generator_options *o, size_t n,
           bool plain)
{
    struct rig_answer *answers = calloc(n, sizeof *answers);
    struct rig_job job = {.n = n, .same = true, .answers = answers};
    struct df_decode_stats stats;

    if (!answers)
        bail("no memory");
    CHECKED(rig_try(r, o, plain, &job, &stats));
    diag("mean accept length %.2f", df_decode_mean_accept(&stats));
    return answers;
}

/* Tokens at each place of many answers to one prompt, drafted and plain: two
   samples of one distribution.  */
static void
test_answers(struct rig *r)
{
    struct df_generator_options o = options(1), other = options(2);
    struct rig_answer *drafted = answers_of(r, &o, REQUESTS, false);
    struct rig_answer *plain = answers_of(r, &other, REQUESTS, true);

    for (size_t t = 0; t < 6; t++) {
        double a[MOST_CELLS] = {0}, b[MOST_CELLS] = {0}, sum = 0;
        size_t cells = 0;

        for (size_t i = 0; i < REQUESTS; i++) {
            a[drafted[i].ids[t]]++;
            b[plain[i].ids[t]]++;
        }
        for (size_t v = 0; v < MOST_CELLS; v++)
            if (a[v] + b[v] > 0) {
                sum += (a[v] - b[v]) * (a[v] - b[v]) / (a[v] + b[v]);
                cells++;
            }
        ok(plausible(sum, cells),
           "token %zu, drafted and plain: chi-square %.1f of %zu cells", t,
           sum, cells);
    }
    free(drafted);
    free(plain);
}

/* A request draws the same whatever is beside it.  */
static void
test_alone(struct rig *r)
{
    struct df_generator_options o = options(1);
    struct rig_answer *many = answers_of(r, &o, 40, false), *few;
    struct rig_answer *other;
    size_t good = 0, changed = 0;

    o.concurrency = 3;
    o.prefill_rows = 5;
    few = answers_of(r, &o, 40, false);
    o.seed = 7;
    other = answers_of(r, &o, 40, false);
    for (size_t i = 0; i < 40; i++) {
        good += memcmp(many[i].ids, few[i].ids, 6 * sizeof *few[i].ids) == 0;
        changed +=
            memcmp(many[i].ids, other[i].ids, 6 * sizeof *few[i].ids) != 0;
    }
    is_long(40, (long) good, "answers don't depend on the requests beside");
    ok(changed > 30, "but on the seed");
    free(many);
    free(few);
    free(other);
}

int
main(void)
{
    struct rig r = {0};

    plan(3 * (B + 1) + 6 + 2);
    rig_make(&r, 0);
    dev = r.dev;
    stream = r.stream;
    test_blocks(0, 1);
    test_blocks(1.5f, 1);
    test_blocks(3, 0.6f);
    test_answers(&r);
    test_alone(&r);
    rig_clear(&r);
    return 0;
}
