/* header_internal.h - the one description of what a capture has: the keys of
   its header and the fields of its samples, whatever the format.  */

#ifndef DF_HEADER_INTERNAL_H
#define DF_HEADER_INTERNAL_H

#include "dflash/dtype.h"
#include "dflash/record.h"

enum {
    DF_CAPTURE_VERSION = 1,
    DF_MAX_HIDDEN_SIZE = 1 << 20,
    DF_MAX_HEADER_TEXT = 64 << 20, /* bytes of JSON */
    DF_HEAD_TEXTS = 3,
    DF_MAX_FIELDS = DF_MAX_LAYER_IDS + 4
};

/* One key of the JSON object.  A value that is not known is null.  */
enum df_head_kind {
    DF_KEY_CONSTANT, /* the string WHICH */
    DF_KEY_VERSION,
    DF_KEY_STRING, /* 0: anything */
    DF_KEY_HASH,   /* 64 bits as 16 hexadecimal digits; 0: not known */
    DF_KEY_SIZE,   /* 0: not known */
    DF_KEY_LAYERS,
    DF_KEY_LAYOUT,
    DF_KEY_BOOL,
    DF_KEY_CHECK,
    DF_KEY_OBJECT /* JSON */
};

struct df_head_key {
    const char *name;
    enum df_head_kind kind;
    size_t at;         /* offset in struct df_capture_header */
    const char *which; /* of DF_KEY_CONSTANT and DF_KEY_CHECK */
    enum {
        DF_KEY_FREE,   /* may differ */
        DF_KEY_STRICT, /* must agree to append */
        DF_KEY_AGREE   /* must agree */
    } rule;
};

enum {
    DF_N_HEAD_KEYS = 15
};
extern const struct df_head_key df_head_keys[DF_N_HEAD_KEYS];
extern const char *const df_layout_names[]; /* by enum df_capture_layout */

/* A header that owns its strings.  */
struct df_head {
    struct df_capture_header header;
    char *texts[DF_HEAD_TEXTS];
};

/* Check HEADER and copy it; DF_INVALID names the key that is wrong.  On
   failure *OUT is empty.  */
DF_MUST_USE df_status df_head_copy(struct df_head *out,
                                   const struct df_capture_header *header);

/* Parse the LEN bytes of JSON at TEXT, from the file WHERE.  Every key must
   be there, and no other.  DF_FORMAT; DF_UNSUPPORTED for a version, dtype or
   check that this program doesn't know.  */
DF_MUST_USE df_status df_head_parse(struct df_head *out, const char *text,
                                    size_t len, const char *where);

/* HEADER as a line of JSON without a newline, to be freed.  */
DF_MUST_USE df_status df_head_text(char **out,
                                   const struct df_capture_header *header);
void df_head_clear(struct df_head *head);

/* Checks a token: C.  */
static inline size_t
df_head_checks(const struct df_capture_header *h)
{
    return h->has_checks ? h->K + h->has_last_hidden : 0;
}

/* One array of a sample: a tensor of an image, a dataset of a file.  */
enum df_field_part {
    DF_FIELD_IDS,
    DF_FIELD_MASK,
    DF_FIELD_HIDDEN,
    DF_FIELD_LAST,
    DF_FIELD_CHECKS
};

struct df_field {
    char name[32];
    enum df_field_part part;
    size_t k; /* of hidden: which */
    enum df_dtype dtype;
    size_t cols;      /* elements a token */
    int rank;         /* 1: [n], 2: [n,cols] */
    size_t row_bytes; /* of a token */
};

/* The fields of samples under HEADER; returns how many.  */
size_t df_capture_fields(const struct df_capture_header *header,
                         struct df_field out[DF_MAX_FIELDS]);

/* Whether FIELD is what a capture is made for, and nearly all of it.  */
static inline bool
df_field_is_states(const struct df_field *field)
{
    return field->part == DF_FIELD_HIDDEN || field->part == DF_FIELD_LAST;
}

/* The data of FIELD in SAMPLE, and setting it.  */
const void *df_field_get(const struct df_field *field,
                         const struct df_capture_sample *sample);
void df_field_set(const struct df_field *field,
                  struct df_capture_sample *sample, const void *data);

#endif
