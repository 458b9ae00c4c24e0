## Every public header compiles alone; what it declares is exported, and
## nothing else; quickstart does as it says; the manual has what there is.
tool_tests += tests/tool/headers.sh tests/tool/exports.sh \
  tests/tool/quickstart.sh tests/tool/hooks.sh tests/tool/manual.sh

## make installcheck: a program compiled against the installed tree.
EXTRA_DIST += tests/install/run.sh tests/install/uses.c
installcheck-local:
	$(AM_V_at)PKG_CONFIG_PATH='$(DESTDIR)$(pkgconfigdir)' \
	  PKG_CONFIG_SYSROOT_DIR='$(DESTDIR)' CC='$(CC)' CFLAGS='$(CFLAGS)' \
	  $(SHELL) $(srcdir)/tests/install/run.sh \
	  $(srcdir)/tests/install/uses.c '$(DESTDIR)$(libdir)'

## A tool that has nothing but options.
check_PROGRAMS += tests/tool/option-demo
tests_tool_option_demo_SOURCES = tests/tool/option-demo.c
tests_tool_option_demo_CPPFLAGS = $(tool_cppflags)
tests_tool_option_demo_LDADD = $(tool_ldadd)
tool_tests += tests/tool/options.sh

## The tool that trains, on the demo's target.
tool_tests += tests/tool/train-usage.sh tests/tool/train-bad-input.sh \
  tests/tool/train-same.sh tests/tool/train-resume.sh \
  tests/tool/train-kill.sh tests/tool/train-failures.sh \
  tests/tool/train-sum.sh tests/tool/train-options.sh \
  tests/tool/train-gpu.sh tests/tool/train-gpus.sh \
  tests/tool/train-captures.sh tests/tool/capture-usage.sh \
  tests/tool/capture-recover.sh tests/tool/capture-files.sh \
  tests/tool/capture-real.sh tests/tool/pipe-silent.sh \
  tests/tool/capture-ratios.sh tests/tool/decode.sh \
  tests/tool/decode-real.sh
EXTRA_DIST += tests/tool/train.sh tests/tool/capture.sh
## The tool that captures with a mistake: see tests/unit/pipe/lifetime.c.
check_PROGRAMS += tests/tool/capture-early
tests_tool_capture_early_SOURCES = $(dflash_capture_SOURCES) \
  lib/pipe/postprocess.c
tests_tool_capture_early_CPPFLAGS = $(unit_cppflags) \
  $(dflash_capture_CPPFLAGS) -DDF_TEST_RELEASE_EARLY
tests_tool_capture_early_LDADD = src/common/libcommon.la lib/libcore.la \
  $(JANSSON_LIBS)
tool_tests += tests/tool/capture-early.sh

## Captures to look at, and what is said of them.
check_PROGRAMS += tests/tool/make-capture
tests_tool_make_capture_SOURCES = tests/tool/make-capture.c
tests_tool_make_capture_CPPFLAGS = $(tool_cppflags) $(HDF5_CFLAGS)
tests_tool_make_capture_LDADD = $(tool_ldadd) $(HDF5_LIBS)
tool_tests += tests/tool/inspect-findings.sh tests/tool/inspect-pipe.sh \
  tests/tool/inspect-files.sh

## Drafters in both layouts.
tool_tests += tests/tool/drafter-files.sh

## The benchmark, and one that packs more than it says.
check_PROGRAMS += tests/tool/bench-slower
tests_tool_bench_slower_SOURCES = $(bench_sources)
tests_tool_bench_slower_CPPFLAGS = $(dflash_bench_CPPFLAGS) -DDF_TEST_SLOWER
tests_tool_bench_slower_LDADD = $(dflash_bench_LDADD)
tool_tests += tests/tool/bench.sh tests/tool/bench-usage.sh \
  tests/tool/bench-baseline.sh tests/tool/bench-suites.sh \
  tests/tool/bench-spec.sh
