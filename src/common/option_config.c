/* Configuration files.

   A line is blank, a comment that begins with '#', or "name = value" and
   perhaps a comment after it.  The value is the text up to the comment,
   without the blanks around it; or it stands in double quotes, where \n, \"
   and \\ are a newline, a quote and a backslash.  */
#include <config.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/message.h"
#include "common/option_private.h"

static const char blanks[] = " \t\r\n";

struct reader {
    const struct tool *tool;
    const char *path;
    int line;
    int first_lines[OPTION_ROWS_MAX]; /* where a row was met first, or 0 */
};

_Noreturn static void
bad_line(const struct reader *r, const char *what)
{
    option_mistake(r->tool, "%s:%d: %s", r->path, r->line, what);
}

/* Take the quoted text at *P, after its first quote, out of its quotes, in
   place, and move *P behind the last quote.  */
static char *
unquote(const struct reader *r, char **p)
{
    char *text = *p, *to = text, *from = text;

    for (; *from != '"'; from++) {
        if (*from == '\\') {
            from++;
            if (*from == 'n')
                *from = '\n';
            else if (*from != '"' && *from != '\\')
                bad_line(r, "in quotes '\\' needs n, '\"' or '\\' after it");
        }
        if (*from == '\0')
            bad_line(r, "the closing quote is missing");
        *to++ = *from;
    }
    *to = '\0';
    *p = from + 1;
    return text;
}

/* The value at P, the text after "=".  */
static char *
read_value(const struct reader *r, char *p)
{
    char *text, *end;

    p += strspn(p, blanks);
    if (*p == '"') {
        p++;
        text = unquote(r, &p);
        p += strspn(p, blanks);
        if (*p && *p != '#')
            bad_line(r, "there is text after the closing quote");
        return text;
    }
    for (end = p; *end; end++)
        if (*end == '#' && (end == p || strchr(blanks, end[-1])))
            break;
    while (end > p && strchr(blanks, end[-1]))
        end--;
    *end = '\0';
    if (end == p)
        bad_line(r, "there is no value after '='");
    return p;
}

static const struct option_def *
find_row(const struct reader *r, const char *name, bool *negated)
{
    const struct option_def *o = option_find(r->tool, name, negated);
    const char *near;

    if (o && is_about_config(o))
        option_mistake(r->tool, "%s:%d: '%s' cannot be set in a file", r->path,
                       r->line, name);
    if (o)
        return o;
    near = option_nearest(r->tool, name);
    if (near)
        option_mistake(r->tool,
                       "%s:%d: there is no option '%s'; is it meant for '%s'?",
                       r->path, r->line, name, near);
    option_mistake(r->tool, "%s:%d: there is no option '%s'", r->path, r->line,
                   name);
}

static void
take_value(struct reader *r, const struct option_def *o, bool negated,
           const char *value)
{
    struct setting *s = setting_of(r->tool, o);
    int *first = &r->first_lines[o - r->tool->options];

    if (*first && o->type != OPT_STRINGS)
        option_mistake(r->tool, "%s:%d: '%s' was already given on line %d",
                       r->path, r->line, o->name, *first);
    if (*first == 0)
        *first = r->line;
    if (s->origin != BUILT_IN && s->origin != CONFIG_FILE)
        return;
    s->origin = CONFIG_FILE;
    s->negated = negated;
    s->line = *first;
    string_list_add(&s->texts, copy_text(value, strlen(value)));
}

static void
read_line(struct reader *r, char *line)
{
    char *name = line + strspn(line, blanks);
    size_t len = strcspn(name, "= \t\r\n#");
    char *equals = name + len + strspn(name + len, blanks);
    const struct option_def *o;
    bool negated;

    if (*name == '\0' || *name == '#')
        return;
    if (len == 0 || *equals != '=')
        bad_line(r, "this is not of the form \"name = value\"");
    name[len] = '\0';
    o = find_row(r, name, &negated);
    take_value(r, o, negated, read_value(r, equals + 1));
}

void
option_read_config(const struct tool *tool, const struct option_def *o,
                   const char *path)
{
    struct reader r = {.tool = tool, .path = path};
    FILE *fp = fopen(path, "re");
    char *line = NULL, why[512];
    size_t room = 0;
    ssize_t n = -1;

    errno = fp ? 0 : errno;
    while (fp && (n = getline(&line, &room, fp)) >= 0) {
        r.line++;
        if (strlen(line) != (size_t) n)
            bad_line(&r, "there is a zero byte in this line");
        read_line(&r, line);
        errno = 0;
    }
    if (!fp || ferror(fp) || errno) {
        snprintf(why, sizeof why, "%s: %s", path, strerror(errno));
        option_bad_value(tool, o, why);
    }
    free(line);
    fclose(fp);
}

char *
option_source(const struct tool *tool, const struct option_def *o)
{
    const struct setting *s = setting_of(tool, o);
    char *text = NULL;
    int n = -1;

    switch (s->origin) {
    case BUILT_IN:
        return copy_text("built-in", 8);
    case COMMAND_LINE:
        return copy_text("command line", 12);
    case ENVIRONMENT:
        n = asprintf(&text, "environment %s",
                     option_env_name(o, s->negated).text);
        break;
    case CONFIG_FILE:
        n = asprintf(&text, "%s:%d", common_options.config, s->line);
        break;
    }
    if (n < 0)
        option_no_memory();
    /* A newline in the name of a file must not end the comment.  */
    for (char *p = text; *p; p++)
        if ((unsigned char) *p < 0x20)
            *p = '?';
    return text;
}

/* Characters that need no quotes anywhere in a value.  */
static bool
is_plain(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')
           || (c >= '0' && c <= '9') || c >= 0x80 || strchr("_./:,+-=@%~", c);
}

/* VALUE as read_value reads it, to be freed.  */
static char *
quoted(const char *value)
{
    char *text = malloc(2 * strlen(value) + 3), *to = text;
    bool plain = *value != '\0';

    if (!text)
        option_no_memory();
    for (const char *p = value; plain && *p; p++)
        plain = is_plain((unsigned char) *p);
    if (plain)
        return strcpy(text, value);
    *to++ = '"';
    for (const char *p = value; *p; p++) {
        if (*p == '"' || *p == '\\' || *p == '\n')
            *to++ = '\\';
        *to++ = *p == '\n' ? 'n' : *p;
    }
    strcpy(to, "\"");
    return text;
}

static void
dump_row(const struct tool *tool, const struct option_def *o, FILE *fp)
{
    char *source = option_source(tool, o), *value;
    size_t i = 0;

    for (; (value = option_text(o, i)) != NULL; i++) {
        char *q = quoted(value);
        int n = fprintf(fp, "%s = %s", o->name, q);

        fprintf(fp, "%*s  # %s\n", n < 34 ? 34 - n : 0, "", source);
        free(q);
        free(value);
    }
    if (i == 0)
        fprintf(fp, "# %s is not set%s%s%s\n", o->name, o->unset ? " (" : "",
                o->unset ? o->unset : "", o->unset ? ")" : "");
    free(source);
}

void
dump_options(const struct tool *tool, FILE *fp)
{
    fprintf(fp, "# %s (%s) %s\n", tool->name, PACKAGE_NAME, PACKAGE_VERSION);
    for (const struct option_def *o = tool->options; o->type; o++)
        if (o->type == OPT_GROUP)
            fprintf(fp, "\n# %s\n", o->help);
        else if (!is_about_config(o))
            dump_row(tool, o, fp);
}
