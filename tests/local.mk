LOG_DRIVER = env AM_TAP_AWK='$(AWK)' $(SHELL) \
  $(top_srcdir)/build-aux/tap-driver.sh
TEST_EXTENSIONS = .sh
SH_LOG_DRIVER = $(LOG_DRIVER)
SH_LOG_COMPILER = $(SHELL)
AM_TESTS_ENVIRONMENT = \
  PATH='$(abs_top_builddir)$(PATH_SEPARATOR)'"$$PATH"; \
  abs_top_srcdir='$(abs_top_srcdir)'; abs_top_builddir='$(abs_top_builddir)'; \
  VERSION='$(PACKAGE_VERSION)'; LC_ALL=C; CC='$(CC)'; CFLAGS='$(CFLAGS)'; \
  : "$${DFLASH_SHARED=$(abs_top_srcdir)/../shared}"; \
  export PATH abs_top_srcdir abs_top_builddir VERSION LC_ALL CC CFLAGS \
    DFLASH_SHARED;

check_LTLIBRARIES += tests/tap/libtap.la
tests_tap_libtap_la_SOURCES = tests/tap/tap.c tests/tap/tap.h

## A unit test NAME.t has one source, NAME.c, and sees the library's private
## headers.  Each folder lists its own.
unit_tests =
tool_tests =
check_PROGRAMS += $(unit_tests)
TESTS += $(unit_tests) $(tool_tests)
EXTRA_DIST += tests/init.sh $(tool_tests)
unit_cppflags = $(core_cppflags) -I$(top_srcdir)/tests
unit_ldadd = tests/tap/libtap.la lib/libcore.la

include $(srcdir)/tests/tiny/local.mk
include $(srcdir)/tests/unit/base/local.mk
include $(srcdir)/tests/unit/bench/local.mk
include $(srcdir)/tests/unit/common/local.mk
include $(srcdir)/tests/unit/cpu/local.mk
include $(srcdir)/tests/unit/cuda/local.mk
include $(srcdir)/tests/unit/text/local.mk
include $(srcdir)/tests/unit/model/local.mk
include $(srcdir)/tests/unit/decode/local.mk
include $(srcdir)/tests/unit/draft/local.mk
include $(srcdir)/tests/unit/pipe/local.mk
include $(srcdir)/tests/unit/store/local.mk
include $(srcdir)/tests/unit/inspect/local.mk
include $(srcdir)/tests/ops/local.mk
include $(srcdir)/tests/golden/local.mk
include $(srcdir)/tests/tool/local.mk
