# DF_LOOPS
# --------
# Put every flag of the list that $CC takes into LOOP_CFLAGS: what the CPU's
# operations are compiled with.  They stand before CFLAGS, hence no -O3,
# which a later -O2 would undo.  Define HAVE_TARGET_CLONES if a function can
# be compiled for several instruction sets and be called from another file: clang
# gives the clones' common name a suffix that only the same file knows.
AC_DEFUN([DF_LOOPS],
[LOOP_CFLAGS=
 for df_flag in -ftree-vectorize -fvect-cost-model=dynamic \
     -fno-math-errno -fno-trapping-math -ffp-contract=off -fopenmp-simd \
     -Wno-pass-failed; do
   df_save=$CFLAGS
   CFLAGS="$CFLAGS $df_flag -Werror"
   AC_COMPILE_IFELSE([AC_LANG_SOURCE([[int x;]])],
     [LOOP_CFLAGS="$LOOP_CFLAGS $df_flag"])
   CFLAGS=$df_save
 done
 AC_SUBST([LOOP_CFLAGS])
 AC_MSG_CHECKING([whether $CC makes clones of functions])
 df_clones=no
 AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#ifdef __clang__
# error "clones can't be called from other files"
#endif
__attribute__ ((target_clones ("avx512f", "avx2", "default")))
int twice (int x) { return 2 * x; }]], [[return twice (0);]])],
   [df_clones=yes
    AC_DEFINE([HAVE_TARGET_CLONES], [1],
      [Define to 1 if target_clones works across files.])])
 AC_MSG_RESULT([$df_clones])])
