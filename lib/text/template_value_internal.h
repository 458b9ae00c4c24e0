/* template_value_internal.h - the values of chat templates.

   They behave as Python's do: what a template prints, compares or iterates
   comes out as it does in the program the model was trained with.  Values
   are small and passed by copy; what they point to is an arena's, a parsed
   template's or the caller's JSON.  */

#ifndef DF_TEMPLATE_VALUE_INTERNAL_H
#define DF_TEMPLATE_VALUE_INTERNAL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/error.h"

/* Limits of one rendering, so that no template hangs or exhausts us.  */
enum {
    DF_TPL_MAX_TEXT = 64 << 20,   /* bytes of a string or of the output */
    DF_TPL_MAX_ARENA = 256 << 20, /* bytes of all values */
    DF_TPL_MAX_STEPS = 1 << 26,   /* nodes evaluated, 16 bytes or one item
                                     of a list worked on */
    DF_TPL_MAX_DEPTH = 400,       /* nodes within nodes, values within
                                     values, at one time */
    DF_TPL_MAX_NEST = 200,        /* brackets and blocks in the source */
    DF_TPL_MAX_RANGE = 100000,    /* items of range(): the reference's limit */
    DF_TPL_MAX_PARAMS = 4,        /* of a filter, test, method or function */
};

/* Memory that is freed at once.  */
struct df_tpl_arena {
    struct df_tpl_block *blocks; /* newest first */
    size_t total;                /* bytes of all blocks */
    df_status status;            /* why the last allocation failed */
};

/* SIZE zeroed bytes; NULL when there is no memory or the limit is reached:
   df_tpl_no_room tells it as the failure of line LINE of template NAME.  */
void *df_tpl_alloc(struct df_tpl_arena *arena, size_t size);
DF_MUST_USE df_status df_tpl_no_room(const struct df_tpl_arena *arena,
                                     const char *name, int line);
/* LEN bytes at TEXT and a zero byte; NULL likewise.  */
char *df_tpl_copy(struct df_tpl_arena *arena, const char *text, size_t len);
void df_tpl_arena_free(struct df_tpl_arena *arena);

enum df_tpl_kind {
    DF_VAL_ABSENT, /* an argument that was not given */
    DF_VAL_UNDEFINED,
    DF_VAL_NONE,
    DF_VAL_BOOL,
    DF_VAL_INT,
    DF_VAL_FLOAT,
    DF_VAL_STRING,
    DF_VAL_LIST,
    DF_VAL_TUPLE,
    DF_VAL_RANGE, /* range() */
    DF_VAL_VIEW,  /* keys(), values(), items() */
    DF_VAL_GEN,   /* what map, select and others give: it is iterated once */
    DF_VAL_DICT,
    DF_VAL_NAMESPACE,
    DF_VAL_LOOP,
    DF_VAL_MACRO,
    DF_VAL_FUNCTION,
    DF_VAL_METHOD, /* of a string, list or dict, not called */
};

struct df_tpl_value {
    enum df_tpl_kind kind;
    /* Of an undefined value: what lacks the attribute STR, or
       DF_VAL_ABSENT if STR is a variable.  */
    enum df_tpl_kind owner;
    union {
        bool b;
        int64_t i;
        double f;
        struct {
            const char *str; /* UTF-8; no zero byte need follow */
            size_t len;      /* bytes */
        };
        struct df_tpl_seq *seq;
        struct df_tpl_dict *dict;
        struct df_tpl_loop *loop;
        const struct df_tpl_macro *macro;
    };
};

struct df_tpl_seq {
    struct df_tpl_value *items;
    size_t n, cap;
    size_t at; /* a generator's next item; else 0 */
};

struct df_tpl_entry {
    struct df_tpl_value key, value;
};

/* Insertion order is kept; look-up goes through all.  */
struct df_tpl_dict {
    struct df_tpl_entry *items;
    size_t n, cap;
};

/* The variable "loop".  */
struct df_tpl_loop {
    const struct df_tpl_seq *seq;
    size_t index0;
};

/* A scope: variables, and the scope around.  */
struct df_tpl_frame {
    struct df_tpl_frame *parent;
    struct df_tpl_binding {
        const char *name;
        struct df_tpl_value value;
    } * items;
    size_t n, cap;
};

struct df_tpl_macro {
    const struct df_tpl_node *node;
    struct df_tpl_frame *frame; /* where it was defined */
};

/* Text that grows, up to DF_TPL_MAX_TEXT.  */
struct df_tpl_buf {
    char *data;
    size_t len, cap;
};

/* One rendering.  */
struct df_tpl_run {
    const char *name; /* of the template */
    struct df_tpl_arena arena;
    struct df_tpl_buf *out;
    struct df_tpl_frame *frame;
    struct df_tpl_value hole; /* the value of DF_NODE_HOLE */
    int line;                 /* being run, for messages */
    int depth;
    int64_t steps;
    enum {
        DF_FLOW_ON,
        DF_FLOW_BREAK,
        DF_FLOW_CONTINUE,
    } flow;
};

/* A failure at the line being run.  */
#define DF_TPL_FAIL(run, status, format, ...)                     \
    DF_FAIL((status), "%s:%d: " format, (run)->name, (run)->line, \
            ##__VA_ARGS__)

/* Count N steps of work; DF_UNSUPPORTED beyond the limit.  */
DF_MUST_USE df_status df_tpl_work(struct df_tpl_run *run, size_t n);
/* One level of recursion more, run->depth-- after it; likewise.  */
DF_MUST_USE df_status df_tpl_nest(struct df_tpl_run *run);
/* SIZE zeroed bytes of RUN's arena.  */
DF_MUST_USE df_status df_tpl_new(struct df_tpl_run *run, size_t size,
                                 void *out);

/* --- template_seq.c: lists, dicts, text that grows, scopes --- */
DF_MUST_USE df_status df_tpl_seq_new(struct df_tpl_run *run,
                                     enum df_tpl_kind kind,
                                     struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_push(struct df_tpl_run *run,
                                  struct df_tpl_seq *seq,
                                  struct df_tpl_value item);
/* (A, B).  */
DF_MUST_USE df_status df_tpl_pair(struct df_tpl_run *run,
                                  struct df_tpl_value a, struct df_tpl_value b,
                                  struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_dict_new(struct df_tpl_run *run,
                                      enum df_tpl_kind kind,
                                      struct df_tpl_value *out);
/* Set KEY, which must be hashable, or replace its value.  */
DF_MUST_USE df_status df_tpl_dict_set(struct df_tpl_run *run,
                                      struct df_tpl_dict *dict,
                                      struct df_tpl_value key,
                                      struct df_tpl_value value);
/* *OUT is left alone when KEY is not there.  */
DF_MUST_USE df_status df_tpl_dict_get(struct df_tpl_run *run,
                                      const struct df_tpl_dict *dict,
                                      struct df_tpl_value key,
                                      struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_write(struct df_tpl_run *run,
                                   struct df_tpl_buf *buf, const char *text,
                                   size_t len);
/* What iteration over VALUE gives, as an array that is not changed; a
   generator is then spent.  */
DF_MUST_USE df_status df_tpl_iterate(struct df_tpl_run *run,
                                     struct df_tpl_value value,
                                     const struct df_tpl_seq **out);
DF_MUST_USE df_status df_tpl_bind(struct df_tpl_run *run,
                                  struct df_tpl_frame *frame, const char *name,
                                  struct df_tpl_value value);
/* A new innermost scope within PARENT.  */
DF_MUST_USE df_status df_tpl_enter(struct df_tpl_run *run,
                                   struct df_tpl_frame *parent);

/* --- template_value.c: what any value can do --- */
struct df_tpl_value df_tpl_none(void);
struct df_tpl_value df_tpl_bool(bool b);
struct df_tpl_value df_tpl_int(int64_t i);
struct df_tpl_value df_tpl_float(double f);
struct df_tpl_value df_tpl_string(const char *str, size_t len);
struct df_tpl_value df_tpl_undefined(enum df_tpl_kind owner, const char *name,
                                     size_t len);

/* "str", "dict object" and so on, as Python calls it.  */
const char *df_tpl_type(struct df_tpl_value value);
bool df_tpl_is_number(struct df_tpl_value value); /* or true or false */
bool df_tpl_is_seq(struct df_tpl_value value);    /* has SEQ */
bool df_tpl_is_text(struct df_tpl_value value, const char *text);
/* "'x' is undefined": the failure of using VALUE.  */
DF_MUST_USE df_status df_tpl_use_undefined(struct df_tpl_run *run,
                                           struct df_tpl_value value);
bool df_tpl_truth(struct df_tpl_value value);
DF_MUST_USE df_status df_tpl_equal(struct df_tpl_run *run,
                                   struct df_tpl_value a,
                                   struct df_tpl_value b, bool *out);
/* *OUT is below, at or above 0 as A is below, at or above B.  SIGN, as in
   "<", is for the message when they have no order.  */
DF_MUST_USE df_status df_tpl_order(struct df_tpl_run *run,
                                   struct df_tpl_value a,
                                   struct df_tpl_value b, const char *sign,
                                   int *out);
/* Sort ITEMS by KEYS, as many, in a stable way.  */
DF_MUST_USE df_status df_tpl_sort(struct df_tpl_run *run,
                                  struct df_tpl_seq *items,
                                  const struct df_tpl_seq *keys, bool reverse);
/* ITEM in VALUE.  */
DF_MUST_USE df_status df_tpl_contains(struct df_tpl_run *run,
                                      struct df_tpl_value value,
                                      struct df_tpl_value item, bool *out);
/* The length of VALUE; a type error if it has none.  */
DF_MUST_USE df_status df_tpl_length(struct df_tpl_run *run,
                                    struct df_tpl_value value, size_t *out);

/* --- template_attr.c: VALUE.name, VALUE[key], VALUE[a:b:c] --- */
DF_MUST_USE df_status df_tpl_attr(struct df_tpl_run *run,
                                  struct df_tpl_value value, const char *name,
                                  struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_item(struct df_tpl_run *run,
                                  struct df_tpl_value value,
                                  struct df_tpl_value key,
                                  struct df_tpl_value *out);
/* BOUNDS: start, stop, step, each none or an integer.  */
DF_MUST_USE df_status df_tpl_slice(struct df_tpl_run *run,
                                   struct df_tpl_value value,
                                   const struct df_tpl_value bounds[3],
                                   struct df_tpl_value *out);
/* The attribute PATH, "a.b.0", of VALUE.  */
DF_MUST_USE df_status df_tpl_path(struct df_tpl_run *run,
                                  struct df_tpl_value value,
                                  struct df_tpl_value path,
                                  struct df_tpl_value *out);

/* --- template_number.c: arithmetic --- */
/* A OP B; OP is an enum df_tpl_op.  */
DF_MUST_USE df_status df_tpl_arith(struct df_tpl_run *run, int op,
                                   struct df_tpl_value a,
                                   struct df_tpl_value b,
                                   struct df_tpl_value *out);
/* -A or, unless MINUS, +A.  */
DF_MUST_USE df_status df_tpl_sign(struct df_tpl_run *run, bool minus,
                                  struct df_tpl_value a,
                                  struct df_tpl_value *out);
/* The number that LEN bytes at TEXT spell in Python, white space around it
   allowed; *OUT is none if they spell none.  */
DF_MUST_USE df_status df_tpl_read_int(struct df_tpl_run *run, const char *text,
                                      size_t len, struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_read_float(struct df_tpl_run *run,
                                        const char *text, size_t len,
                                        struct df_tpl_value *out);
enum {
    DF_TPL_FLOAT_SIZE = 32
};
/* F as Python spells it, the shortest that reads back the same, into
   BUF.  */
void df_tpl_float_text(double f, char buf[DF_TPL_FLOAT_SIZE]);

/* --- template_text.c: from and to text --- */
/* Write str(VALUE), or repr(VALUE).  */
DF_MUST_USE df_status df_tpl_write_str(struct df_tpl_run *run,
                                       struct df_tpl_buf *buf,
                                       struct df_tpl_value value);
DF_MUST_USE df_status df_tpl_write_repr(struct df_tpl_run *run,
                                        struct df_tpl_buf *buf,
                                        struct df_tpl_value value);
/* str(VALUE), a string.  */
DF_MUST_USE df_status df_tpl_str(struct df_tpl_run *run,
                                 struct df_tpl_value value,
                                 struct df_tpl_value *out);

/* --- template_json.c --- */
/* VALUE from JSON; strings are borrowed.  */
DF_MUST_USE df_status df_tpl_from_json(struct df_tpl_run *run,
                                       const json_t *json,
                                       struct df_tpl_value *out);

#endif
