/* error.h - what a function of libdflashcore returns.  */

#ifndef DFLASH_ERROR_H
#define DFLASH_ERROR_H

#include "dflash/defs.h"

DF_BEGIN_DECLS

/* One row a status: name, value, what it tells the caller.  */
#define DF_STATUSES(X)                                                 \
    X(OK, 0, "success")                                                \
    X(END, 1, "no more data; no failure")                              \
    X(CANCELED, 2, "stopped because something else failed")            \
    X(NO_MEMORY, 3, "out of host or device memory")                    \
    X(IO, 4, "the system refused a read, a write or a file")           \
    X(FORMAT, 5, "a file is not what its name or header says")         \
    X(SHAPE, 6, "tensors of shapes or types that do not fit together") \
    X(UNSUPPORTED, 7, "this backend or build cannot do that")          \
    X(DEVICE, 8, "the device runtime reported an error")               \
    X(INVALID, 9, "a value outside what is allowed")

typedef enum {
#define X(name, value, text) DF_##name = value,
    DF_STATUSES(X)
#undef X
} df_status;

/* What went wrong, as a value: copied between threads, never freed.  */
typedef struct {
    df_status status;
    int sys_errno;    /* errno at the time, or 0 */
    const char *func; /* the function that noticed */
    int line;
    char message[488]; /* one line, no newline, no program name */
} df_error;

/* The calling thread's last failure.  Meaningful only right after a call
   returned other than DF_OK, DF_END or DF_CANCELED.  Never NULL.  */
DF_EXPORT const df_error *df_error_last(void);

/* Make *ERR the calling thread's last failure, and return its status.  */
DF_EXPORT df_status df_error_set(const df_error *err);

/* "success" and so on.  Never NULL, whatever STATUS is.  */
DF_EXPORT const char *df_status_text(df_status status);

/* Record a failure of the calling thread and return STATUS.  Called
   through DF_FAIL.  */
DF_EXPORT DF_PRINTF(5, 6) df_status
    df_fail_at(const char *func, int line, df_status status, int sys_errno,
               const char *format, ...);

#define DF_FAIL(status, ...) \
    df_fail_at(__func__, __LINE__, (status), 0, __VA_ARGS__)
#define DF_FAIL_ERRNO(status, ...) \
    df_fail_at(__func__, __LINE__, (status), errno, __VA_ARGS__)

/* Return from the calling function what EXPR returned, unless DF_OK.  */
#define DF_TRY(expr)                    \
    do {                                \
        df_status try_status_ = (expr); \
        if (try_status_ != DF_OK)       \
            return try_status_;         \
    } while (0)

DF_END_DECLS
#endif
