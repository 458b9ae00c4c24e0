/* template_func_internal.h - filters, tests, methods, functions, and the
   work on strings that they share.

   Each is a row of a table: its name, its parameters and a C function that
   finds the arguments bound to them.  A new one is a new row.  */

#ifndef DF_TEMPLATE_FUNC_INTERNAL_H
#define DF_TEMPLATE_FUNC_INTERNAL_H

#include "text/template_value_internal.h"

/* A call whose arguments are bound to the parameters.  */
struct df_tpl_call {
    const struct df_tpl_func *func;
    struct df_tpl_value self; /* filtered, tested or the method's owner */
    struct df_tpl_value arg[DF_TPL_MAX_PARAMS]; /* absent: not given */
    /* All arguments as they came, for variadic functions.  */
    const struct df_tpl_value *pos;
    size_t n_pos;
    const struct df_tpl_binding *kw;
    size_t n_kw;
};

typedef df_status df_tpl_fn(struct df_tpl_run *run, struct df_tpl_call *call,
                            struct df_tpl_value *out);

struct df_tpl_func {
    const char *name;
    df_tpl_fn *fn; /* NULL: known to exist, refused by name */
    /* The parameters, one space between; one that begins with "_" is not
       given by keyword.  NULL: variadic, the function looks itself.  */
    const char *params;
    int required; /* so many at least */
};

/* The function NAME of a table; NULL if it has none.  */
const struct df_tpl_func *df_tpl_filter_find(const char *name);
const struct df_tpl_func *df_tpl_test_find(const char *name);
const struct df_tpl_func *df_tpl_global_find(const char *name);
const struct df_tpl_func *df_tpl_method_find(enum df_tpl_kind kind,
                                             const char *name);
/* Is NAME a method of any type that we have?  */
bool df_tpl_method_known(const char *name);

/* Bind the arguments in CALL to FUNC's parameters.  WHAT, as "filter", is
   for messages.  */
DF_MUST_USE df_status df_tpl_bind_args(struct df_tpl_run *run,
                                       struct df_tpl_call *call,
                                       const char *what);
/* The same and the call.  */
DF_MUST_USE df_status df_tpl_apply(struct df_tpl_run *run,
                                   struct df_tpl_call *call, const char *what,
                                   struct df_tpl_value *out);
/* The row NAME of TABLE, which a row without a name ends.  */
const struct df_tpl_func *df_tpl_func_find(const struct df_tpl_func *table,
                                           const char *name);
/* Tables and functions that are in files of their own.  */
extern const struct df_tpl_func df_tpl_seq_filters[];
extern const struct df_tpl_func df_tpl_str_methods[];
df_tpl_fn df_tpl_filter_tojson;

/* Arguments of a call, with a default where absent; a type error names
   the function.  */
bool df_tpl_arg_bool(const struct df_tpl_call *call, int i, bool fallback);
DF_MUST_USE df_status df_tpl_arg_int(struct df_tpl_run *run,
                                     const struct df_tpl_call *call, int i,
                                     int64_t fallback, int64_t *out);
DF_MUST_USE df_status df_tpl_arg_str(struct df_tpl_run *run,
                                     const struct df_tpl_call *call, int i,
                                     struct df_tpl_value *out);

/* --- template_string.c: strings --- */
/* Bytes of the white space character at TEXT; 0 if it is none.  */
size_t df_tpl_space(const char *text, size_t len);
/* Bytes of the white space character that ends TEXT.  */
size_t df_tpl_space_before(const char *text, size_t len);
/* The byte of the first NEEDLE in HAY at or after FROM, or of the last one;
   -1 if there is none.  */
ptrdiff_t df_tpl_find(struct df_tpl_value hay, struct df_tpl_value needle,
                      size_t from);
DF_MUST_USE df_status df_tpl_rfind(struct df_tpl_run *run,
                                   struct df_tpl_value hay,
                                   struct df_tpl_value needle, ptrdiff_t *out);
/* Strip the characters of CHARS, or white space if it is none or absent.  */
DF_MUST_USE df_status df_tpl_strip(struct df_tpl_run *run,
                                   struct df_tpl_value s,
                                   struct df_tpl_value chars, bool left,
                                   bool right, struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_replace(struct df_tpl_run *run,
                                     struct df_tpl_value s,
                                     struct df_tpl_value old,
                                     struct df_tpl_value new, int64_t count,
                                     struct df_tpl_value *out);
enum df_tpl_case {
    DF_CASE_UPPER,
    DF_CASE_LOWER,
    DF_CASE_CAPITALIZE,
};
DF_MUST_USE df_status df_tpl_recase(struct df_tpl_run *run,
                                    struct df_tpl_value s, enum df_tpl_case to,
                                    struct df_tpl_value *out);
DF_MUST_USE df_status df_tpl_split_lines(struct df_tpl_run *run,
                                         struct df_tpl_value s,
                                         struct df_tpl_value *out);
/* ITEMS joined by SEP; an item that is no string is an error unless ANY,
   and then printed.  */
DF_MUST_USE df_status df_tpl_join(struct df_tpl_run *run,
                                  struct df_tpl_value sep,
                                  const struct df_tpl_seq *items, bool any,
                                  struct df_tpl_value *out);

#endif
