#include <config.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "dflash/philox.h"
#include "base/fault_internal.h"

enum {
    MAX_FAULTS = 8
};

struct fault {
    char point[24];
    bool fail;
    bool always, exact; /* at every number; for as long as it says */
    unsigned long long n;
    unsigned ms;
};

static struct fault faults[MAX_FAULTS];
static size_t n_faults;
static bool poisoned;
static df_error parse_error;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool
parse_one(const char *text, struct fault *f)
{
    int end = 0;

    /* Which sscanf would let pass before a number.  */
    if (strpbrk(text, " \t\n\v\f\r+-"))
        return false;
    *f = (struct fault){.fail = true};
    if (strcmp(text, "memory=poison") == 0)
        return poisoned = true;
    if (sscanf(text, "%23[a-z]=fail@%llu%n", f->point, &f->n, &end) == 2
        && text[end] == '\0')
        return true;
    f->fail = false;
    if (sscanf(text, "%23[a-z]=stall@%llu:%u%n", f->point, &f->n, &f->ms, &end)
            == 3
        && text[end] == '\0')
        return true;
    f->always = true;
    if (sscanf(text, "%23[a-z]=stall:%u%n", f->point, &f->ms, &end) == 2
        && text[end] == '\0')
        return true;
    f->exact = true;
    return sscanf(text, "%23[a-z]=delay:%u%n", f->point, &f->ms, &end) == 2
           && text[end] == '\0';
}

static void
parse(void)
{
    char *text = getenv("DFLASH_FAULT"), *copy, *save = NULL;

    if (!text || !(copy = strdup(text)))
        return;
    for (char *one = strtok_r(copy, ",", &save); one;
         one = strtok_r(NULL, ",", &save))
        if (n_faults == MAX_FAULTS || !parse_one(one, &faults[n_faults++])) {
            (void) DF_FAIL(DF_INVALID,
                           "DFLASH_FAULT: '%s' is not POINT=fail@N, "
                           "POINT=stall@N:MS, POINT=stall:MS, POINT=delay:MS "
                           "or memory=poison (at most %d)",
                           one, MAX_FAULTS);
            parse_error = *df_error_last();
            n_faults = 0;
            break;
        }
    free(copy);
}

df_status
df_fault_check(void)
{
    pthread_once(&once, parse);
    return parse_error.status ? df_error_set(&parse_error) : DF_OK;
}

bool
df_fault_poison(void)
{
    pthread_once(&once, parse);
    return poisoned;
}

static const struct fault *
find(const char *point, uint64_t n, bool fail)
{
    pthread_once(&once, parse);
    for (size_t i = 0; i < n_faults; i++)
        if (faults[i].fail == fail && strcmp(faults[i].point, point) == 0
            && (faults[i].always || faults[i].n == n))
            return &faults[i];
    return NULL;
}

double
df_fault_stall(const char *point, uint64_t n)
{
    const struct fault *f = find(point, n, false);

    if (!f)
        return 0;
    double part =
        f->always && !f->exact ? df_uniform(
            df_philox(f->ms, (uint32_t) n, (uint32_t) point[0], 0, 0).v[0])
                               : 1;
    return f->ms * 1e-3 * part;
}

df_status
df_fault(const char *point, uint64_t n)
{
    double s = df_fault_stall(point, n);

    if (s > 0)
        nanosleep(&(struct timespec){(time_t) s,
                                     (long) ((s - (double) (time_t) s) * 1e9)},
                  NULL);
    if (find(point, n, true))
        return DF_FAIL(DF_DEVICE, "%s: failure injected at number %llu", point,
                       (unsigned long long) n);
    return DF_OK;
}
