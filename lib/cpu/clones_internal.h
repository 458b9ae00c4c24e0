/* clones_internal.h - loops compiled for several widths of vectors.

   A function marked DF_CLONES is compiled for several sets of instructions,
   and the loader takes the best that the processor has.  So the last bits of
   a sum depend on the processor, as they do in OpenBLAS, but on nothing
   else.  The loader chooses before the sanitizers are set up, so their
   builds do without.  */

#ifndef DF_CLONES_INTERNAL_H
#define DF_CLONES_INTERNAL_H

#if defined HAVE_TARGET_CLONES && !defined __SANITIZE_ADDRESS__ \
    && !defined __SANITIZE_THREAD__
#    define DF_CLONES \
        __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#    define DF_CLONES
#endif

#endif
