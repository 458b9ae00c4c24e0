/* fixture.h - a scratch folder with a tokenizer whose tokens are bytes.  */

#ifndef DF_FIXTURE_H
#define DF_FIXTURE_H

#include <stddef.h>

#include "dflash/tokenizer.h"

/* Ids: 0..255 the bytes, then a special token and a merge.  */
enum {
    ID_END = 256, /* <end> */
    ID_BLANK_Y,   /* " y" */
    N_IDS
};

/* A new folder, emptied and removed when the program exits.  */
const char *fixture_dir(void);

/* Write the LEN bytes at TEXT to NAME in the folder; its path, for good.  */
const char *fixture_file(const char *name, const char *text, size_t len);

/* Open the tokenizer; it is freed when the program exits.  */
struct df_tokenizer *fixture_tokenizer(void);

#endif
