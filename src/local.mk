tool_cppflags = $(public_cppflags) -I$(top_srcdir)/src
tool_ldadd = src/common/libcommon.la lib/libdflashcore.la

include $(srcdir)/src/common/local.mk
include $(srcdir)/src/opcases/local.mk
include $(srcdir)/src/dflash-bench/local.mk
include $(srcdir)/src/dflash-capture/local.mk
include $(srcdir)/src/dflash-train/local.mk
include $(srcdir)/src/dflash-inspect/local.mk
