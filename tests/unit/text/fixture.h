/* fixture.h - data sets in a scratch folder, with a tokenizer whose tokens
   are bytes.  */

#ifndef DF_FIXTURE_H
#define DF_FIXTURE_H

#include <stddef.h>

#include "dflash/data.h"

/* Ids: 0..255 the bytes, then a merge and a special token.  */
enum {
    ID_BLANK_Y = 256, /* " y" */
    ID_END,           /* <end> */
    N_IDS
};

/* A new folder, emptied and removed when the program exits.  */
const char *fixture_dir(void);

/* Write the LEN bytes at TEXT to NAME in the folder; its path, for good.  */
const char *fixture_file(const char *name, const char *text, size_t len);

/* Write TEXT with " for each '.  */
const char *fixture_json(const char *name, const char *text);

/* Options for this tokenizer, a chat template that writes turns as
   "r:content<end>" with the first letter of the role and refuses system, at
   most 100 tokens, and blocks of 4.  */
struct df_data_options fixture_options(void);

/* Open a data set or end the program.  */
struct df_dataset *fixture_open(const char *const *files, size_t n,
                                const struct df_data_options *options);

#endif
