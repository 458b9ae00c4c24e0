/* opcases.h - cases of every operation: sizes, inputs, limits.

   One table serves the tests of the CPU's operations, the comparison of
   another device with the CPU, and the benchmark.  A case is run like this:

       oprun_new(&run, &opcases[i], dev);    buffers filled, outputs with NaN
       oprun_call(run); oprun_finish(run);   guards and inputs checked
       oprun_read(run, b, values);           buffer B as doubles
       oprun_free(run);

   The inputs depend on the case alone and are exact in bf16, so all devices
   get the same ones; random ones repeat after some millions.  To add a case,
   add a row; to add an operation, write its builder in opbuild.c.  */

#ifndef DF_OPCASES_H
#define DF_OPCASES_H

#include "dflash/ops.h"

enum {
    OPCASE_ACCUMULATE = 1, /* add to what the output holds */
    OPCASE_WIDE_ROWS = 2,  /* rows further apart than they are wide */
    OPCASE_NOISE = 4,      /* noise on hidden states */
    OPCASE_PLAIN = 8,      /* arguments that may be NULL are NULL */
    OPCASE_CHECK = 16,     /* checks of rows */
    OPCASE_EVEN_ROWS = 32, /* the same, by multiples of 16 bytes */
    OPCASE_BENCH = 64,     /* large enough for a time to mean something */
    OPCASE_MAX_SIZES = 7,
    OPRUN_MAX_BUFFERS = 20
};

/* Sizes have the order in which the operation's builder names them.  */
struct opcase {
    enum df_op op;
    size_t d[OPCASE_MAX_SIZES];
    unsigned flags;
    double limit; /* of the normalised mean square error, outputs in bf16 */
};

extern const struct opcase opcases[];
extern const size_t n_opcases;

enum opbuf_type {
    OPBUF_ACT, /* the device's type of activations */
    OPBUF_F32,
    OPBUF_F64,
    OPBUF_BF16,
    OPBUF_I32,
    OPBUF_U64,
    OPBUF_STATE, /* struct df_step_state */
    OPBUF_SUMS   /* struct df_loss_sums */
};

struct opbuf {
    const char *name;
    enum opbuf_type type;
    bool output;
    size_t n, bytes; /* elements; bytes without the guard */
    double moved;    /* bytes that a call moves; below 0: all of it */
    void *data;      /* on the device */
    void *before;    /* its contents before the call; NULL: all ones */
    void *after;     /* and afterwards, once oprun_finish has been called */
};

#define X(op, flow) struct df_##op##_args op;
union opargs {
    DF_OPS(X)
};
#undef X

struct oprun {
    const struct opcase *c;
    struct df_device *dev;
    struct df_stream *stream;
    struct opbuf bufs[OPRUN_MAX_BUFFERS];
    size_t n_bufs;
    union opargs args;
    const struct oprun *like; /* NULL, or what this is a part of */
    bool rows;                /* and so are its rows, which come first in D */
    df_status status;         /* first failure while building */
};

DF_MUST_USE df_status oprun_new(struct oprun **out, const struct opcase *c,
                                struct df_device *dev);
void oprun_free(struct oprun *run);

/* A part of LIKE, which must stay: C is LIKE's case with less of something.
   Inputs are the first elements of LIKE's; or, ROWS, what belongs to C's d[0]
   rows: some from the beginning, some from the end, and some between; not
   with OPCASE_WIDE_ROWS.  */
DF_MUST_USE df_status oprun_new_part(struct oprun **out,
                                     const struct opcase *c,
                                     struct df_device *dev,
                                     const struct oprun *like, bool rows);

/* Queue the case's operation, on the run's stream or another one.  */
DF_MUST_USE df_status oprun_call(struct oprun *run);
DF_MUST_USE df_status oprun_queue(struct oprun *run, struct df_stream *stream);

/* Wait, bring the outputs back, and see that no guard and, but for a part, no
   input has changed, and that no output holds a NaN: DF_DEVICE says which
   does.  */
DF_MUST_USE df_status oprun_finish(struct oprun *run);

/* Buffer number B as it was before the call, or is after oprun_finish: B's n
   values, which the caller frees.  A struct gives its members in order.  */
double *oprun_before(const struct oprun *run, size_t b);
double *oprun_after(const struct oprun *run, size_t b);

/* The largest error of PART's outputs: WANTED against what the run that it's a
   part of has there.  NaN if one of them is, or has no values.  */
double oprun_worst(const struct oprun *part, double *const *wanted);

/* Bytes that a call reads and writes, each operand once.  */
double oprun_bytes(const struct oprun *run);

/* "linear 33 17 65 wide-rows", into TEXT.  */
void opcase_label(const struct opcase *c, char *text, size_t bytes);

/* Mean square of the difference over mean square of WANTED.  */
double normalised_error(const double *wanted, const double *seen, size_t n);

/* For the builders: a buffer of N values that the case's random numbers, or
   F, fill.  They return its device memory.  */
typedef double opfill_fn(const struct oprun *run, size_t i);
void *op_input(struct oprun *run, const char *name, enum opbuf_type type,
               size_t n, double low, double high);
void *op_filled(struct oprun *run, const char *name, enum opbuf_type type,
                size_t n, opfill_fn *f);
void *op_output(struct oprun *run, const char *name, enum opbuf_type type,
                size_t n);
void *op_added_to(struct oprun *run, const char *name, enum opbuf_type type,
                  size_t n);

/* Of the last buffer a call moves N elements only.  */
void op_moves(struct oprun *run, size_t n);

/* The operation in double precision: sets the outputs among BUFS, which hold
   the buffers in order.  False: there is no such function.  */
bool op_reference(const struct oprun *run, double **bufs);

#endif
