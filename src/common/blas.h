/* blas.h - matrix products as fast as the processor allows.

   OpenBLAS chooses its inner loops when it is loaded, by the model number of
   the processor.  One that is newer than the library, or hides behind a
   virtual machine, gets loops for processors of 2004, a third as fast as
   those it could run.  OPENBLAS_CORETYPE tells OpenBLAS better, but only
   before it is loaded.  */

#ifndef DF_BLAS_H
#define DF_BLAS_H

/* If OpenBLAS misjudged the processor and OPENBLAS_CORETYPE isn't set: set
   it and start the program ARGV again.  Call this first in main.  */
void choose_blas(char **argv);

#endif
