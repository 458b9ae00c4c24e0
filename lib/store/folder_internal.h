/* folder_internal.h - a capture as speculators keeps it: a folder with a
   file hs_I.safetensors a sample, and a data file whose row I has its loss
   mask.

       hidden_states  bf16 [n, K+1, H], the last being the last hidden state
       token_ids      int64 [n]

   Our writer adds capture.json, the header, and to each file's metadata the
   sample's id; others have neither, and then the layers aren't known and the
   id is I << 16, as a data set of one sample a record counts.  */

#ifndef DF_FOLDER_INTERNAL_H
#define DF_FOLDER_INTERNAL_H

#include "base/file_internal.h"
#include "store/backend_internal.h"

#define DF_FOLDER_HEADER "capture.json"
#define DF_FOLDER_DATA   "data.jsonl"

/* The rows of a data file: JSON lines with input_ids and loss_mask.  A row's
   number is that of its line, from 0 and without blank ones, unless the line
   begins with {"index":I, as ours do, or {"index": I, as Python's; of two rows
   I the later counts.  */
struct df_row {
    uint64_t index;
    size_t at, size; /* bytes of the file */
};
struct df_rows {
    char *path;
    struct df_file file;
    struct df_row *rows; /* by index */
    size_t n;
};
DF_MUST_USE df_status df_rows_open(struct df_rows *out, const char *path);
void df_rows_clear(struct df_rows *rows);

/* Put the loss mask of row INDEX into MASK[n]; its ids must be IDS[n], which
   WHERE has.  */
DF_MUST_USE df_status df_rows_mask(const struct df_rows *rows, uint64_t index,
                                   const int32_t *ids, size_t n, uint8_t *mask,
                                   const char *where);

#endif
