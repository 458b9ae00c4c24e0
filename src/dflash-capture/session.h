/* session.h - all that a run of dflash-capture has open.

   The steps of main, in this order:

       open_input (which generates), describe_header, choose_samples,
   describe_capture, check_space, open_run, capture, report  */

#ifndef DF_CAPTURE_SESSION_H
#define DF_CAPTURE_SESSION_H

#include <stdatomic.h>

#include "common/model.h"
#include "common/places.h"
#include "common/samples.h"
#include "dflash/train.h"

struct session {
    struct places places;
    struct place_list targets;
    struct model model;
    struct layer_list layers;
    struct df_batch_limits limits;
    struct sample_source source;

    /* What is left to capture.  */
    uint32_t *chosen;  /* [n] numbers in the data set, ascending */
    uint32_t *lengths; /* [n] */
    size_t n;
    size_t there; /* samples of this shard that were captured before */
    uint64_t tokens;
    struct df_plan *plan;

    struct df_capture_header header;
    char *notes;
    struct df_capture_writer *writer;
    struct df_run *run;
    atomic_size_t written;
    bool told; /* that a signal came */

    const char *answers; /* file of them, or NULL */
    char *temporary;     /* the same file, if it is to go */
};

/* The header but for its notes.  */
void describe_header(struct session *s);

/* Each returns DF_OK or a failure with its message.  */
df_status choose_samples(struct session *s);
df_status describe_capture(struct session *s);
df_status open_run(struct session *s);
df_status capture(struct session *s);
df_status report(struct session *s);

/* The bytes that the samples left to capture will take.  */
double bytes_needed(const struct session *s);

/* The bytes that are free where the output is; negative if that isn't a file
   system to be filled.  */
double bytes_free(void);

#endif
