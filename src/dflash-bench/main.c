#include <config.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/blas.h"
#include "common/message.h"
#include "common/signals.h"
#include "dflash-bench/baseline.h"
#include "dflash-bench/options.h"
#include "dflash-bench/workload.h"

static const struct suite *
find_suite(const char *name)
{
    for (const struct suite *s = suites; s->name; s++)
        if (strcmp(s->name, name) == 0)
            return s;
    return NULL;
}

static void
check_options(int n, char **names)
{
    if (opt.json && opt.csv)
        option_mistake(&bench_tool, "--json and --csv exclude each other");
    if (opt.check && (opt.baseline || opt.save_baseline || opt.plot))
        option_mistake(&bench_tool, "--check takes no times: nothing to "
                                    "compare, save or draw");
    if (opt.list && (opt.baseline || opt.save_baseline || opt.plot))
        option_mistake(&bench_tool, "--list measures nothing: nothing to "
                                    "compare, save or draw");
    if (opt.check_lossless
        && (opt.temperature > 0 || opt.force_accept.count > 0))
        option_mistake(&bench_tool, "--check-lossless needs temperature 0 and "
                                    "no --force-accept");
    for (int i = 0; i < n; i++)
        if (!find_suite(names[i]))
            option_mistake(&bench_tool, "no suite is called '%s'", names[i]);
    workload_check();
}

static void
compile_only(struct bench *b)
{
    char text[200];
    int error;

    if (!opt.only)
        return;
    error = regcomp(&b->only, opt.only, REG_EXTENDED | REG_NOSUB);
    if (error != 0) {
        regerror(error, &b->only, text, sizeof text);
        option_reject(&bench_tool, &opt.only, "'%s': %s", opt.only, text);
    }
    b->has_only = true;
}

static df_status
join(int argc, char **argv, char **out)
{
    size_t bytes = 0;
    FILE *fp = open_memstream(out, &bytes);

    if (!fp)
        return DF_FAIL(DF_NO_MEMORY, "command line");
    for (int i = 0; i < argc; i++)
        fprintf(fp, "%s%s", i ? " " : "", i ? argv[i] : bench_tool.name);
    return fclose(fp) == 0 ? DF_OK : DF_FAIL(DF_NO_MEMORY, "command line");
}

static df_status
open_bench(struct bench *b)
{
    time_t now = time(NULL);
    struct tm tm;

    strftime(b->date, sizeof b->date, "%Y-%m-%dT%H:%M:%SZ",
             gmtime_r(&now, &tm));
    DF_TRY(places_parse(&b->places, &b->devices, &bench_tool, &opt.devices,
                        opt.devices, PLACE_TARGET));
    for (size_t i = 0; i < b->devices.n; i++) {
        struct station *st = &b->stations[i];

        st->dev = b->devices.devices[i];
        DF_TRY(df_device_describe(st->dev, &st->info));
        if (!opt.list)
            DF_TRY(sampler_open(&st->sampler, st->dev));
    }
    if (opt.baseline)
        DF_TRY(baseline_read(&b->baseline, opt.baseline, b));
    if (opt.list)
        return DF_OK;
    places_tell(&b->places);
    return opt.check ? DF_OK : bench_ceilings(b);
}

static void
close_bench(struct bench *b)
{
    for (size_t i = 0; i < b->devices.n; i++)
        sampler_close(&b->stations[i].sampler);
    workload_free(b->workload);
    baseline_free(b->baseline);
    results_clear(&b->results);
    places_close(&b->places);
    if (b->has_only)
        regfree(&b->only);
    free(b->command);
}

/* All suites, or those of NAMES, in the order of the table.  */
static df_status
run_suites(struct bench *b, int n, char **names)
{
    for (const struct suite *s = suites; s->name; s++) {
        bool wanted = n == 0;

        for (int i = 0; i < n; i++)
            wanted = wanted || strcmp(names[i], s->name) == 0;
        if (!wanted || signals_caught())
            continue;
        b->suite = s->name;
        DF_TRY(s->run(b));
    }
    if (b->selected == 0 && !signals_caught())
        return DF_FAIL(DF_INVALID, "no case matches '%s'",
                       opt.only ? opt.only : "");
    return DF_OK;
}

static df_status
write_baseline(const struct bench *b, const char *path)
{
    FILE *fp = fopen(path, "w");
    df_status status = DF_OK;
    bool failed;

    if (!fp)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", opt.save_baseline,
                             strerror(errno));
    for (size_t i = 0; status == DF_OK && i < b->results.n; i++)
        status = json_write(fp, b, b->results.items[i]);
    failed = ferror(fp) != 0;
    failed |= fclose(fp) != 0;
    if (failed && status == DF_OK)
        status =
            DF_FAIL_ERRNO(DF_IO, "%s: %s", opt.save_baseline, strerror(errno));
    return status;
}

/* Beside an old one, then in its place, unless that is a device.  */
static df_status
save_baseline(const struct bench *b)
{
    struct stat st;
    char *aside;
    df_status status;

    if (stat(opt.save_baseline, &st) == 0 && !S_ISREG(st.st_mode))
        return write_baseline(b, opt.save_baseline);
    if (asprintf(&aside, "%s.new", opt.save_baseline) < 0)
        return DF_FAIL(DF_NO_MEMORY, "%s", opt.save_baseline);
    status = write_baseline(b, aside);
    if (status == DF_OK && rename(aside, opt.save_baseline))
        status =
            DF_FAIL_ERRNO(DF_IO, "%s: %s", opt.save_baseline, strerror(errno));
    if (status != DF_OK)
        unlink(aside);
    free(aside);
    return status;
}

/* What comes behind the results; *NO: one of them, or the comparison, says
   no.  They are saved first: what may fail afterwards doesn't lose them.  */
static df_status
conclude(struct bench *b, bool *no)
{
    size_t slower = 0;

    for (size_t i = 0; i < b->results.n; i++)
        *no = *no || b->results.items[i]->verdict == RESULT_WRONG;
    DF_TRY(print_footer(b));
    if (opt.save_baseline)
        DF_TRY(save_baseline(b));
    if (b->baseline)
        DF_TRY(baseline_report(b->baseline, &b->results, &slower));
    *no = *no || slower > 0;
    return opt.plot ? plot_results(&b->results, opt.plot) : DF_OK;
}

static int
run(struct bench *b, int n, char **names)
{
    bool no = false;
    df_status status = open_bench(b);

    if (status == DF_OK && !opt.list) {
        print_header(b);
        print_columns();
    }
    if (status == DF_OK)
        status = run_suites(b, n, names);
    if (signals_caught())
        return signals_status(signals_caught());
    if (status == DF_OK && !opt.list)
        status = conclude(b, &no);
    if (status != DF_OK)
        return message_fail_last();
    return no ? EXIT_NO : EXIT_OK;
}

int
main(int argc, char **argv)
{
    static struct bench bench;
    int first, status;

    choose_blas(argv);
    if (join(argc, argv, &bench.command) != DF_OK)
        return message_fail_last();
    first = parse_options(&bench_tool, argc, argv);
    check_options(argc - first, argv + first);
    compile_only(&bench);
    signals_install();
    status = run(&bench, argc - first, argv + first);
    close_bench(&bench);
    return status;
}
