# DF_LIBRARY(VARIABLE, PKG-CONFIG NAMES, HEADER, LIB, FUNCTION, DEBIAN, FEDORA)
# ------------------------------------------------------------------------
# Find a compulsory library: by the first of the pkg-config names that is
# known, else by header and function.  Sets VARIABLE_CFLAGS and
# VARIABLE_LIBS, or ends with one line that names the packages.
AC_DEFUN([DF_LIBRARY],
[AC_MSG_CHECKING([for $4])
 df_found=no
 for df_pkg in $2; do
   AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $df_pkg],
     [$1_CFLAGS=`$PKG_CONFIG --cflags $df_pkg`
      $1_LIBS=`$PKG_CONFIG --libs $df_pkg`
      df_found="$df_pkg `$PKG_CONFIG --modversion $df_pkg`"; break])
 done
 AS_IF([test "x$df_found" = xno],
   [df_save_LIBS=$LIBS
    LIBS="-l$4 $LIBS"
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <$3>]],
                      [[return (void *) $5 == (void *) 0;]])],
      [df_found=yes; $1_LIBS=-l$4])
    LIBS=$df_save_LIBS])
 AC_MSG_RESULT([$df_found])
 AS_IF([test "x$df_found" = xno],
   [AC_MSG_ERROR([$4 not found: install $6 (Debian) or $7 (Fedora)])])
 DF_SUMMARY([$4], [$df_found])
 AC_SUBST([$1_CFLAGS])
 AC_SUBST([$1_LIBS])])

# DF_SUMMARY(WHAT, FOUND): a row of the table that closes configure.
AC_DEFUN([DF_SUMMARY],
[AS_VAR_APPEND([df_summary], ["  m4_format([%-14s], [$1]) $2
"])])

# DF_LIBRARIES: all that the library cannot do without.
AC_DEFUN([DF_LIBRARIES],
[DF_LIBRARY([HDF5], [hdf5 hdf5-serial], [hdf5.h], [hdf5], [H5open],
   [libhdf5-dev], [hdf5-devel])
 DF_LIBRARY([JANSSON], [jansson], [jansson.h], [jansson], [json_loadb],
   [libjansson-dev], [jansson-devel])
 DF_LIBRARY([PCRE2], [libpcre2-8], [pcre2.h], [pcre2-8], [pcre2_config_8],
   [libpcre2-dev], [pcre2-devel])
 DF_LIBRARY([UNISTRING], [libunistring], [uninorm.h], [unistring],
   [u8_normalize], [libunistring-dev], [libunistring-devel])
 DF_LIBRARY([CBLAS], [openblas], [cblas.h], [openblas], [cblas_sgemm],
   [libopenblas-dev], [openblas-devel])
 df_save_LIBS=$LIBS
 LIBS="$CBLAS_LIBS $LIBS"
 AC_CHECK_FUNCS([openblas_set_num_threads])
 LIBS=$df_save_LIBS])
