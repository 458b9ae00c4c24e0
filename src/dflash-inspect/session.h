/* session.h - one run of dflash-inspect.

       main.c      the order of things
       open.c      options to captures, scan, writers
       walk.c      the samples one by one, wherever they come from
       forward.c   good samples to where they are wanted
       findings.c  what was found, as text or JSON
       compare.c   the other capture
       dump.c      one sample as text
       report.c    layers, counts, speed
       drafter.c   drafters, which are folders with a config.json  */

#ifndef DF_INSPECT_SESSION_H
#define DF_INSPECT_SESSION_H

#include <jansson.h>
#include <stdio.h>

#include "dflash/compare.h"
#include "dflash/scan.h"
#include "dflash/tokenizer.h"

struct session {
    const char *const *paths;
    size_t n_paths;
    struct df_captures *captures;
    struct df_capture_scratch *scratch;
    struct df_scan *scan;
    struct df_tokenizer *tokenizer; /* of --target, or NULL */
    size_t vocab_size;              /* of --target, or 0 */
    size_t *order;                  /* [entries] as they lie in the files */
    char **problems; /* [n_problems] what was wrong on opening */
    size_t n_problems;

    struct df_capture_writer *pass, *repair;
    bool incomplete; /* the input's end wasn't seen */
    uint64_t forwarded;

    struct df_captures *other;
    struct df_capture_scratch *other_scratch;
    size_t *by_id; /* its entries, by id */
    struct df_compare *compare;
    uint64_t unmatched, other_tokens;
    bool too_far;

    bool trouble; /* a file couldn't be read */
    double started;
};

/* A sample that was read.  */
struct seen {
    struct df_capture_sample sample;
    const struct df_capture_header *header;
    const char *path;
};

df_status open_session(struct session *s);
void close_session(struct session *s);

/* Call DO_SAMPLE for every sample that can be read, in the order of the
   files; report the others.  Stops at a failure, which it returns, at a
   signal, and when nobody listens any more, unless a file is repaired.  */
df_status walk(struct session *s,
               df_status (*do_sample)(struct session *s,
                                      const struct seen *seen));

df_status open_writers(struct session *s);
df_status forward(struct session *s, const struct seen *seen);
/* End them; STATUS is how the run went.  Returns it or a new failure.  */
df_status close_writers(struct session *s, df_status status);

df_status open_other(struct session *s);
df_status compare_sample(struct session *s, const struct seen *seen);
void report_distances(struct session *s);

df_status dump_sample(struct session *s);

/* Of df_scan_options.  */
void print_finding(void *arg, const struct df_finding *finding);

/* Layers, counts, speed.  */
void report(struct session *s);

/* Where results go: standard output, but with --pass standard error.  */
FILE *results(void);

/* "layer 17", "the last hidden state" by place K.  */
const char *layer_name(char buf[32], const struct df_capture_header *h, int k);

/* Print OBJECT as a line, and free it.  */
void print_json(json_t *object);
void put_number(json_t *object, const char *key, double x); /* or null */
void put_count(json_t *object, const char *key, uint64_t n);
/* The keys layer and slot.  */
void put_layer(json_t *object, const struct df_capture_header *h, int k);

double now(void);

/* Whether PATH is a folder with a config.json, and so no capture.  */
bool is_drafter(const char *path);

/* Check, and describe or convert, the drafters in PATHS [n].  Returns the
   exit status.  */
int inspect_drafters(const char *const *paths, size_t n);

#endif
