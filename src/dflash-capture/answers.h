/* answers.h - the file of answers, and going on with one that was cut off.  */

#ifndef DF_CAPTURE_ANSWERS_H
#define DF_CAPTURE_ANSWERS_H

#include <stdio.h>

#include "dflash-capture/session.h"

/* PATH while it is written: PATH.tmp, with PATH.tmp.json beside it, which says
   what the answers depend on besides their prompts.  */
struct answer_file {
    const char *path;
    char *aside, *notes; /* names */
    FILE *fp;
    bool whole;   /* PATH itself, which was there: nothing is written */
    bool begun;   /* by this run; what is gone on with stays */
    size_t lines; /* that were there, and answer their prompts */
    off_t good;   /* where the last of them ends */
};

/* Begin PATH, or, with --resume, go on with what is there of it.  Refused:
   what is there without that; what another process is writing, or another
   target or other options have written.  */
df_status answer_file_open(struct answer_file *f, const char *path,
                           const struct model *m);

/* The next line that is there must answer PROMPT.  DF_END behind the last
   whole one.  */
df_status answer_file_recall(struct answer_file *f,
                             const struct df_sample *prompt);

/* Write behind what was recalled; whatever is there goes.  */
df_status answer_file_go_on(struct answer_file *f);

/* Put the file into place if STATUS is good, else leave its N answers for
   --resume.  Returns STATUS, or what went wrong here.  */
df_status answer_file_close(struct answer_file *f, df_status status, size_t n);

#endif
