/* Numbers for people.  Declared in progress.h.  */
#include <config.h>

#include <math.h>
#include <stdio.h>

#include "common/progress.h"

struct short_text
format_duration(double seconds)
{
    struct short_text t = {"?"};
    long s, minute = 60, hour = 3600, day = 86400;

    if (!(seconds >= 0 && seconds < 1000.0 * (double) day))
        return t;
    s = lround(seconds);
    if (s < minute)
        snprintf(t.text, sizeof t.text, "%lds", s);
    else if (s < hour)
        snprintf(t.text, sizeof t.text, "%ldm%02lds", s / minute, s % minute);
    else if (s < day)
        snprintf(t.text, sizeof t.text, "%ldh%02ldm", s / hour,
                 s % hour / minute);
    else
        snprintf(t.text, sizeof t.text, "%ldd%02ldh", s / day, s % day / hour);
    return t;
}

/* N in the smallest of the COUNT UNITS, each STEP times the one before, in
   which it prints with fewer than four figures (or five, below 1024).  */
static struct short_text
scaled(double n, double step, const char *const *units, int count)
{
    struct short_text t = {"?"};
    int u = 0;

    if (!(n >= 0) || isinf(n))
        return t;
    /* What rounds up to STEP belongs to the next unit.  */
    for (; u + 1 < count && n >= step - 0.5; u++)
        n /= step;
    if (n >= 1e6)
        return t;
    snprintf(t.text, sizeof t.text, "%.*f%s",
             u == 0 || n >= 99.95 ? 0
             : n >= 9.995         ? 1
                                  : 2,
             n, units[u]);
    return t;
}

struct short_text
format_count(double n)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};

    return scaled(n, 1000, units, 5);
}

struct short_text
format_bytes(double bytes)
{
    static const char *const units[] = {" B",   " KiB", " MiB",
                                        " GiB", " TiB", " PiB"};

    return scaled(bytes, 1024, units, 6);
}
