# DF_SUMMARY(WHAT, FOUND): a row of the table that closes configure.
AC_DEFUN([DF_SUMMARY],
[AS_VAR_APPEND([df_summary], ["  m4_format([%-14s], [$1]) $2
"])])

# DF_FIND(VARIABLE, NAME, WORDS, PROLOGUE, FUNCTION)
# --------------------------------------------------
# Set VARIABLE_CFLAGS and VARIABLE_LIBS to what links FUNCTION, and df_found
# to how it was found, or to "no".  A word is a name that pkg-config may
# know, or "CFLAGS,LIBS" to try without it.  What the user gives in the two
# variables is taken or refused, never replaced.
AC_DEFUN([DF_FIND],
[AC_ARG_VAR([$1_CFLAGS], [compiler flags for $2])
 AC_ARG_VAR([$1_LIBS], [linker flags for $2])
 AC_MSG_CHECKING([for $2])
 df_found=no
 df_save_CPPFLAGS=$CPPFLAGS
 df_save_LIBS=$LIBS
 df_words="$3"
 AS_IF([test -n "$[]$1_LIBS"], [df_words=given])
 for df_word in $df_words; do
   AS_CASE([$df_word],
     [given], [df_how=$[]$1_LIBS],
     [*,*], [$1_CFLAGS=`AS_ECHO(["$df_word"]) | sed 's/,.*//'`
             $1_LIBS=`AS_ECHO(["$df_word"]) | sed 's/.*,//'`
             df_how=$[]$1_LIBS],
     [AS_IF([test -n "$PKG_CONFIG" && $PKG_CONFIG --exists $df_word],
        [$1_CFLAGS=`$PKG_CONFIG --cflags $df_word`
         $1_LIBS=`$PKG_CONFIG --libs $df_word`
         df_how="$df_word `$PKG_CONFIG --modversion $df_word`"],
        [continue])])
   CPPFLAGS="$df_save_CPPFLAGS $[]$1_CFLAGS"
   LIBS="$[]$1_LIBS $df_save_LIBS"
   AC_LINK_IFELSE([AC_LANG_PROGRAM([[$4]],
                      [[return (void *) $5 == (void *) 0;]])],
     [df_found=$df_how])
   test "x$df_found" = xno || break
 done
 CPPFLAGS=$df_save_CPPFLAGS
 LIBS=$df_save_LIBS
 AC_MSG_RESULT([$df_found])])

# DF_LIBRARY(VARIABLE, NAME, WORDS, PROLOGUE, FUNCTION, DEBIAN, FEDORA)
# ---------------------------------------------------------------------
# Find a compulsory library, or end with one line that names its packages.
AC_DEFUN([DF_LIBRARY],
[DF_FIND([$1], [$2], [$3], [$4], [$5])
 AS_IF([test "x$df_found" = xno],
   [AC_MSG_ERROR([$2 not found: install $6 (Debian) or $7 (Fedora)])])
 DF_SUMMARY([$2], [$df_found])])

# DF_LIBRARIES
# ------------
# All that the library cannot do without.  The words after the pkg-config
# names are where Debian and Fedora put what their .pc files describe.
AC_DEFUN([DF_LIBRARIES],
[AC_PATH_TOOL([PKG_CONFIG], [pkg-config])
 AC_ARG_VAR([PKG_CONFIG], [program that knows the flags of libraries])
 AC_ARG_VAR([PKG_CONFIG_PATH], [folders to search for .pc files])
 DF_LIBRARY([HDF5], [HDF5],
   [hdf5 hdf5-serial -I/usr/include/hdf5/serial,-lhdf5_serial ,-lhdf5],
   [#include <hdf5.h>], [H5Dwrite], [libhdf5-dev], [hdf5-devel])
 # json_error_code came with 2.11.
 DF_LIBRARY([JANSSON], [jansson], [jansson ,-ljansson],
   [#include <jansson.h>], [json_error_code], [libjansson-dev],
   [jansson-devel])
 DF_LIBRARY([PCRE2], [PCRE2], [libpcre2-8 ,-lpcre2-8],
   [#define PCRE2_CODE_UNIT_WIDTH 8
    #include <pcre2.h>],
   [pcre2_match], [libpcre2-dev], [pcre2-devel])
 DF_LIBRARY([UNISTRING], [libunistring], [libunistring ,-lunistring],
   [#include <uninorm.h>], [u8_normalize], [libunistring-dev],
   [libunistring-devel])
 # Debian keeps the variants of OpenBLAS apart, each with its header, for
 # the plain cblas.h may be another library's.  Fedora has one folder.
 df_blas=/usr/include/`$CC -print-multiarch 2>/dev/null`
 DF_LIBRARY([CBLAS], [OpenBLAS],
   [openblas -I$df_blas/openblas-pthread,-lopenblas
    -I$df_blas/openblas-openmp,-lopenblas
    -I$df_blas/openblas-serial,-lopenblas
    -I/usr/include/openblas,-lopenblas ,-lopenblas],
   [#include <cblas.h>], [openblas_set_num_threads], [libopenblas-dev],
   [openblas-devel])])

# DF_OPTIONAL(OPTION, VARIABLE, NAME, WORDS, PROLOGUE, FUNCTION)
# --------------------------------------------------------------
# --with-OPTION=yes|no|auto: look for a library that the build can do
# without; with "yes" its absence is an error.  Defines HAVE_VARIABLE.
AC_DEFUN([DF_OPTIONAL],
[AC_ARG_WITH([$1],
   [AS_HELP_STRING([--with-$1], [use $3: yes, no or auto @<:@auto@:>@])],
   [], [with_$1=auto])
 df_found=no
 AS_CASE([$with_$1],
   [no], [],
   [yes|auto], [DF_FIND([$2], [$3], [$4], [$5], [$6])],
   [AC_MSG_ERROR([--with-$1=$with_$1: wanted yes, no or auto])])
 AS_IF([test "x$df_found" != xno],
   [AC_DEFINE([HAVE_$2], [1], [Define to 1 if $3 is there.])],
   [test "x$with_$1" = xyes],
   [AC_MSG_ERROR([$3 not found, but --with-$1 asks for it])],
   [$2_CFLAGS= $2_LIBS=])
 DF_SUMMARY([$3], [$df_found])])

# DF_OPTIONAL_LIBRARIES
# ---------------------
# What serves several devices and machines, and cuDNN.
AC_DEFUN([DF_OPTIONAL_LIBRARIES],
[df_save_nv_CPPFLAGS=$CPPFLAGS
 df_save_nv_LDFLAGS=$LDFLAGS
 CPPFLAGS="$CPPFLAGS $CUDA_CFLAGS"
 LDFLAGS="$LDFLAGS $CUDA_LDFLAGS"
 # Both mean nothing without CUDA: a build without does not look.
 AS_IF([test $have_cuda = no],
   [test "x$with_nccl" = xyes || with_nccl=no
    test "x$with_cudnn" = xyes || with_cudnn=no])
 DF_OPTIONAL([nccl], [NCCL], [NCCL], [nccl ,-lnccl],
   [#include <nccl.h>], [ncclAllReduce])
 DF_OPTIONAL([cudnn], [CUDNN], [cuDNN], [cudnn ,-lcudnn],
   [#include <cudnn.h>
    #if CUDNN_MAJOR < 9
    # error "cuDNN is too old"
    #endif],
   [cudnnBackendExecute])
 CPPFLAGS=$df_save_nv_CPPFLAGS
 LDFLAGS=$df_save_nv_LDFLAGS

 AC_PATH_PROG([MPICC], [mpicc])
 AS_IF([test -n "$MPICC" && test -z "$MPI_LIBS" && test "x$with_mpi" != xno],
   [# Open MPI answers the first question, MPICH the second.
    AS_IF([MPI_LIBS=`$MPICC --showme:link 2>/dev/null`],
      [MPI_CFLAGS=`$MPICC --showme:compile`],
      [MPI_LIBS=`$MPICC -link_info 2>/dev/null`],
      [MPI_LIBS=`AS_ECHO(["$MPI_LIBS"]) | sed 's/^@<:@^ @:>@* //'`
       MPI_CFLAGS=`$MPICC -compile_info | sed 's/^@<:@^ @:>@* //; s/ -c / /'`],
      [MPI_LIBS=])])
 DF_OPTIONAL([mpi], [MPI], [MPI], [ompi-c ompi mpich mpi-c ,-lmpi],
   [#include <mpi.h>], [MPI_Init_thread])])
