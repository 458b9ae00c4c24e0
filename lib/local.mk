## libcore is the whole library with every symbol in reach: the tests link
## it to see what is private.  libdflashcore exports df_* alone.
noinst_LTLIBRARIES += lib/libcore.la
lib_LTLIBRARIES += lib/libdflashcore.la

core_cppflags = $(public_cppflags) -I$(top_srcdir)/lib $(HDF5_CFLAGS) \
  $(JANSSON_CFLAGS) $(PCRE2_CFLAGS) $(UNISTRING_CFLAGS) $(CBLAS_CFLAGS)

lib_libcore_la_SOURCES =
lib_libcore_la_CPPFLAGS = $(core_cppflags)
lib_libcore_la_LIBADD = $(HDF5_LIBS) $(JANSSON_LIBS) $(PCRE2_LIBS) \
  $(UNISTRING_LIBS) $(CBLAS_LIBS)

lib_libdflashcore_la_SOURCES =
lib_libdflashcore_la_LIBADD = lib/libcore.la
EXTRA_lib_libdflashcore_la_DEPENDENCIES = lib/libdflashcore.map
lib_libdflashcore_la_LDFLAGS = -no-undefined -version-info 0:0:0 \
  -Wl,--version-script=$(top_srcdir)/lib/libdflashcore.map
EXTRA_DIST += lib/libdflashcore.map

include $(srcdir)/lib/base/local.mk
include $(srcdir)/lib/cpu/local.mk
include $(srcdir)/lib/text/local.mk
include $(srcdir)/lib/model/local.mk
include $(srcdir)/lib/draft/local.mk
include $(srcdir)/lib/decode/local.mk
include $(srcdir)/lib/pipe/local.mk
include $(srcdir)/lib/store/local.mk
