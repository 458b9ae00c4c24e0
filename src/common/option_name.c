#include <config.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/message.h"
#include "common/option_private.h"

static const char env_prefix[] = "DFLASH_";
static const char no_prefix[] = "no-";

/* Names longer than this are nobody's slip.  */
enum {
    NAME_MAX_LENGTH = 63
};

struct env_name
option_env_name(const struct option_def *o, bool negated)
{
    struct env_name n;

    snprintf(n.text, sizeof n.text, "%s%s%s", env_prefix,
             negated ? no_prefix : "", o->name);
    for (char *p = n.text; *p; p++)
        *p = *p == '-' ? '_' : (char) toupper((unsigned char) *p);
    return n;
}

const struct option_def *
option_find(const struct tool *tool, const char *name, bool *negated)
{
    const char *positive = strncmp(name, no_prefix, 3) == 0 ? name + 3 : NULL;

    for (const struct option_def *o = tool->options; o->type; o++) {
        if (o->type == OPT_GROUP)
            continue;
        *negated =
            o->type == OPT_FLAG && positive && strcmp(o->name, positive) == 0;
        if (*negated || strcmp(o->name, name) == 0)
            return o;
    }
    return NULL;
}

static size_t
least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* How many characters must be put in, taken out or changed to make B of A:
   row I of the usual table holds the distances of A's first I characters to
   each beginning of B.  */
static size_t
distance(const char *a, const char *b)
{
    size_t row[NAME_MAX_LENGTH + 1], n = strlen(b);

    for (size_t k = 0; k <= n; k++)
        row[k] = k;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t k = 1; k <= n; k++) {
            size_t above = row[k];

            row[k] = least(above + 1, row[k - 1] + 1,
                           diagonal + (a[i - 1] != b[k - 1]));
            diagonal = above;
        }
    }
    return row[n];
}

const char *
option_nearest(const struct tool *tool, const char *name)
{
    const char *best = NULL;
    size_t best_distance = 3;

    if (strlen(name) > NAME_MAX_LENGTH)
        return NULL;
    for (const struct option_def *o = tool->options; o->type; o++) {
        size_t d;

        if (o->type == OPT_GROUP || strlen(o->name) > NAME_MAX_LENGTH)
            continue;
        d = distance(name, o->name);
        /* In a short name two slips leave little to recognise.  */
        if (d < best_distance && d * 3 <= strlen(o->name)) {
            best = o->name;
            best_distance = d;
        }
    }
    return best;
}

/* Variables that others than the option table read: DFLASH_FAULT, and those
   of the tests.  */
static bool
is_not_an_option(const char *name)
{
    static const char *const names[] = {"fault", "golden", "shared",
                                        "test-device"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

void
option_warn_environment(const struct tool *tool)
{
    for (char **e = environ; *e; e++) {
        char name[NAME_MAX_LENGTH + 1];
        size_t len = strcspn(*e, "="), skip = sizeof env_prefix - 1;
        const char *near;
        bool negated;

        if (strncmp(*e, env_prefix, skip) != 0 || len - skip >= sizeof name)
            continue;
        for (size_t i = skip; i < len; i++)
            name[i - skip] =
                (*e)[i] == '_' ? '-' : (char) tolower((unsigned char) (*e)[i]);
        name[len - skip] = '\0';
        if (option_find(tool, name, &negated) || is_not_an_option(name))
            continue;
        near = option_nearest(tool, name);
        if (near)
            message_warn("no option reads the variable %.*s; is it meant for "
                         "--%s?",
                         (int) len, *e, near);
    }
}
