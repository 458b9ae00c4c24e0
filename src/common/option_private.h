/* option_private.h - what the files of the option parser share.

   option.c          the command line, the environment, and the order of it
   option_config.c   configuration files: reading and writing
   option_help.c     --help and --version
   option_name.c     names: of rows, of variables, and near misses
   option_value.c    from text to a row's variable and back  */

#ifndef DF_OPTION_PRIVATE_H
#define DF_OPTION_PRIVATE_H

#include "common/option.h"

enum origin {
    BUILT_IN,
    COMMAND_LINE,
    ENVIRONMENT,
    CONFIG_FILE
};

/* What was given for a row, as text.  */
struct setting {
    enum origin origin;
    bool negated;             /* by the name no-NAME */
    int line;                 /* CONFIG_FILE */
    struct string_list texts; /* one, but for STRINGS */
};

/* Row by row, for the one table of the process.  Static, as the texts that
   the tool's variables point to must live as long as these.  */
extern struct setting option_settings[OPTION_ROWS_MAX];

static inline struct setting *
setting_of(const struct tool *tool, const struct option_def *o)
{
    return &option_settings[o - tool->options];
}

/* The rows that are about configuration files cannot be in one.  */
static inline bool
is_about_config(const struct option_def *o)
{
    return o->value == &common_options.config
           || o->value == &common_options.dump_config;
}

/* option_name.c */

struct env_name {
    char text[80];
};

/* "DFLASH_SEED", or "DFLASH_NO_SEED" if NEGATED.  */
struct env_name option_env_name(const struct option_def *o, bool negated);

/* The row NAME, or NULL.  *NEGATED says that NAME is no-NAME of a flag.  */
const struct option_def *option_find(const struct tool *tool, const char *name,
                                     bool *negated);

/* The name of an option that NAME may be a slip of, or NULL.  */
const char *option_nearest(const struct tool *tool, const char *name);

/* Warn of variables DFLASH_X where X is nearly an option.  */
void option_warn_environment(const struct tool *tool);

/* option_value.c */

/* Read the texts given for O into its variable, or exit.  */
void option_store(const struct tool *tool, const struct option_def *o);

/* Whether the variable of O holds no value: see UNSET in option.h.  */
bool option_is_unset(const struct option_def *o);

/* Value number I of O as text, to be freed; NULL from the last on, which is
   1 but for STRINGS.  Exits when there is no memory.  */
char *option_text(const struct option_def *o, size_t i);

/* Append TEXT to LIST.  Exits when there is no memory.  */
void string_list_add(struct string_list *list, const char *text);
char *copy_text(const char *text, size_t len);

/* option_config.c */

/* Take from the file PATH, which O named, what was not given elsewhere.  */
void option_read_config(const struct tool *tool, const struct option_def *o,
                        const char *path);

/* Where the value of O came from, to be freed: "command line",
   "environment DFLASH_SEED", "run.conf:3", "built-in".  */
char *option_source(const struct tool *tool, const struct option_def *o);

/* option.c */

/* Exit with WHY, after the place and the name of O.  */
_Noreturn void option_bad_value(const struct tool *tool,
                                const struct option_def *o, const char *why);
_Noreturn void option_no_memory(void);

/* option_help.c */

void option_print_help(const struct tool *tool);
void option_print_version(const struct tool *tool);

#endif
