noinst_LTLIBRARIES += src/common/libcommon.la
src_common_libcommon_la_SOURCES = src/common/option.c src/common/option.h
src_common_libcommon_la_CPPFLAGS = $(tool_cppflags)
