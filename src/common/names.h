/* names.h - what the end of a file's name says of it.  */

#ifndef DF_NAMES_H
#define DF_NAMES_H

#include <stdbool.h>

/* Whether NAME is something and then END.  */
bool ends_in(const char *name, const char *end);

/* The format of captures (enum df_capture_format) that NAME says: .h5 and
   .hdf5 are HDF5, .dfs a stream; -1 for any other.  */
int format_by_name(const char *name);

#endif
