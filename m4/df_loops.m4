# DF_LOOPS
# --------
# Put every flag of the list that $CC takes into LOOP_CFLAGS: what the CPU's
# operations are compiled with.  They stand before CFLAGS, hence no -O3,
# which a later -O2 would undo.
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
 AC_SUBST([LOOP_CFLAGS])])
