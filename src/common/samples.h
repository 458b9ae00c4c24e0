/* samples.h - data sets of a tool, and what it says of them.  */

#ifndef DF_SAMPLES_H
#define DF_SAMPLES_H

#include "common/model.h"
#include "common/places.h"
#include "dflash/data.h"

/* A data set with a reader for each prefetch thread.  */
struct sample_source {
    struct df_dataset *dataset;
    struct df_reader *readers[MAX_PLACES];
};

/* Open FILES as the options say, with a progress line that calls them NAME,
   and note what is in them.  DF_CANCELED after a signal.  */
df_status samples_open(struct sample_source *source, const struct model *m,
                       const struct string_list *files, const char *name,
                       const struct df_batch_limits *limits);

/* The same with prompts as samples.  */
df_status prompts_open(struct sample_source *source, const struct model *m,
                       const struct string_list *files, const char *name);
void samples_close(struct sample_source *source);

/* Sample INDEX for prefetch thread THREAD; ARG is the source.  */
df_status samples_read(void *arg, size_t thread, uint32_t index,
                       struct df_sample *out);

#endif
