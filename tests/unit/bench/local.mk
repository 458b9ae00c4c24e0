## Ratios of times, in a sound library and in one with mistakes that they
## must show; and what dflash-bench makes of samples.
unit_tests += tests/unit/bench/ratios.t tests/unit/bench/ratios-slower.t
tests_unit_bench_ratios_t_SOURCES = tests/unit/bench/ratios.c
tests_unit_bench_ratios_t_LDADD = $(tiny_ldadd)
tests_unit_bench_ratios_slower_t_SOURCES = tests/unit/bench/ratios.c \
  lib/cpu/hidden.c lib/pipe/postprocess.c lib/pipe/slot.c
tests_unit_bench_ratios_slower_t_CPPFLAGS = $(unit_cppflags) $(core_cppflags) \
  -DDF_TEST_SLOWER
tests_unit_bench_ratios_slower_t_LDADD = $(tiny_ldadd)
unit_tests += tests/unit/bench/stats.t
tests_unit_bench_stats_t_SOURCES = tests/unit/bench/stats.c \
  src/dflash-bench/compare.c src/dflash-bench/stats.c
tests_unit_bench_stats_t_CPPFLAGS = $(unit_cppflags) -I$(top_srcdir)/src
