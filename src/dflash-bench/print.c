/* Results for people, and for programs that read columns.  */

#include <config.h>

#include "dflash-bench/bench.h"
#include "dflash-bench/options.h"

void
print_columns(void)
{
    if (opt.json || opt.list)
        return;
    if (opt.csv) {
        puts("suite,case,device,samples,min_us,median_us,p95_us,spread,rate,"
             "unit,of_ceiling,error,result,more");
        return;
    }
    printf("# %-11s %-36s %-7s %9s %9s %9s %6s %9s %-8s %5s %8s %-7s\n",
           "suite", "case", "device", "min", "median", "p95", "spread", "rate",
           "", "of", "error", "result");
    printf("# %-11s %-36s %-7s %9s %9s %9s %6s %9s %-8s %5s %8s\n", "", "", "",
           "us", "us", "us", "%", "", "", "ceil.", "");
}

static void
print_extras(const struct result *r, const char *before)
{
    for (size_t i = 0; i < r->n_extras; i++)
        printf("%s%s=%.6g", i ? " " : before, r->extras[i].key,
               r->extras[i].value);
    if (*r->why)
        fputs(r->n_extras ? " " : before, stdout);
    for (const char *c = r->why; *c; c++) {
        if (opt.csv && *c == '"')
            putchar('"');
        putchar(*c);
    }
}

static void
print_csv(const struct result *r)
{
    printf("%s,%s,%s,%zu,", r->suite, r->name, r->device, r->n);
    if (r->n > 0)
        printf("%.9g,%.9g,%.9g,%.6g,%.6g,%s,", r->s.min * 1e6,
               r->s.median * 1e6, r->s.p95 * 1e6, r->s.spread, result_rate(r),
               r->unit);
    else
        printf(",,,,,,");
    if (r->n > 0 && r->ceiling > 0)
        printf("%.6g", result_rate(r) / r->ceiling);
    putchar(',');
    if (r->error >= 0)
        printf("%.3g", r->error);
    printf(",%s,\"", result_verdict(r));
    print_extras(r, "");
    puts("\"");
}

static void
print_row(const struct result *r)
{
    printf("  %-11s %-36s %-7s ", r->suite, r->name, r->device);
    if (r->n > 0)
        printf("%9.2f %9.2f %9.2f %6.1f %9.4g %-8s ", r->s.min * 1e6,
               r->s.median * 1e6, r->s.p95 * 1e6, r->s.spread * 100,
               result_rate(r), r->unit);
    else
        printf("%9s %9s %9s %6s %9s %-8s ", "-", "-", "-", "-", "-", "-");
    if (r->n > 0 && r->ceiling > 0)
        printf("%5.2f ", result_rate(r) / r->ceiling);
    else
        printf("%5s ", "-");
    if (r->error >= 0)
        printf("%8.1e", r->error);
    else
        printf("%8s", "-");
    printf(" %s", result_verdict(r));
    print_extras(r, " ");
    putchar('\n');
}

void
print_result(const struct bench *b, const struct result *r)
{
    if (opt.json)
        (void) json_write(stdout, b, r);
    else if (opt.csv)
        print_csv(r);
    else
        print_row(r);
    fflush(stdout);
}
