/* exit.h - how a tool ends.  */

#ifndef DF_EXIT_H
#define DF_EXIT_H

/* Exit statuses of all four tools, as cmp and diff have them.  A tool that
   a signal stopped ends with signals_status().  */
enum {
    EXIT_OK = 0,
    EXIT_NO = 1,     /* it ran, and the answer is no: a mismatch, say */
    EXIT_TROUBLE = 2 /* usage, a file, a device */
};

/* Have standard output closed and checked when the process exits: if what
   was written did not all arrive, say so and end with EXIT_TROUBLE.  A
   reader that closed its end of a pipe early needs no message.
   parse_options does this for its tool.  */
void check_stdout_at_exit(void);

#endif
