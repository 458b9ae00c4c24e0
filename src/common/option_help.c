/* --help and --version, in the form that help2man reads.  */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/option_private.h"

enum {
    LINE_WIDTH = 79,
    TEXT_COLUMN = 24 /* where the text on an option begins */
};

/* Print the words of TEXT, a new line at column INDENT wherever one does not
   fit.  COLUMN is where the cursor is; the line is ended.  */
static void
print_wrapped(const char *text, int column, int indent)
{
    bool first = true;

    while (*(text += strspn(text, " "))) {
        int len = (int) strcspn(text, " ");

        if (!first && column + 1 + len > LINE_WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            putchar(' ');
            column++;
        }
        printf("%.*s", len, text);
        column += len;
        text += len;
        first = false;
    }
    putchar('\n');
}

/* "-x, --name=ARG", which --help and getopt must agree on.  */
static char *
left_side(const struct option_def *o)
{
    bool cleared = o->type == OPT_FLAG && *(bool *) o->value;
    char letter[8] = "    ";
    const char *before = "", *after = "";
    char *left;

    /* The letter of a flag that is on by default would say nothing.  */
    if (o->letter && !cleared)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    if (o->type != OPT_FLAG) {
        before = o->implied ? "[=" : "=";
        after = o->implied ? "]" : o->type == OPT_STRINGS ? "..." : "";
    }
    if (asprintf(&left, "%s--%s%s%s%s%s", letter, cleared ? "no-" : "",
                 o->name, before, o->type != OPT_FLAG ? o->arg : "", after)
        < 0)
        option_no_memory();
    return left;
}

/* Append to *TEXT, which was allocated.  */
static void
append(char **text, const char *a, const char *b, const char *c)
{
    char *longer;

    if (asprintf(&longer, "%s%s%s%s", *text, a, b, c) < 0)
        option_no_memory();
    free(*text);
    *text = longer;
}

/* The row's help, its choices, and its built-in value in brackets.  */
static char *
right_side(const struct option_def *o)
{
    char *text = copy_text(o->help, strlen(o->help));

    if (o->type == OPT_CHOICE)
        for (int i = 0; o->choices[i]; i++)
            append(&text,
                   i == 0              ? ": "
                   : o->choices[i + 1] ? ", "
                                       : " or ",
                   o->choices[i], "");
    if (o->required)
        append(&text, " (required)", "", "");
    else if (o->type != OPT_FLAG) {
        const char *before = " [";
        char *value;
        size_t i = 0;

        for (; (value = option_text(o, i)) != NULL; i++) {
            append(&text, before, value, "");
            before = " ";
            free(value);
        }
        if (i > 0)
            append(&text, "]", "", "");
        else if (o->unset)
            append(&text, " [", o->unset, "]");
    }
    return text;
}

static void
print_row(const char *left, const char *right)
{
    int column = printf("  %s", left);

    /* help2man wants two blanks between the option and its text.  */
    if (column > TEXT_COLUMN - 2) {
        putchar('\n');
        column = 0;
    }
    printf("%*s", TEXT_COLUMN - column, "");
    print_wrapped(right, TEXT_COLUMN, TEXT_COLUMN);
}

static const char on_values[] =
    "An option --some-name that is not on the command line takes its value "
    "from the environment variable DFLASH_SOME_NAME, else from the --config "
    "file, else it has the built-in value, shown in brackets.";

void
option_print_help(const struct tool *tool)
{
    bool operands = tool->operands && *tool->operands;

    printf("Usage: %s [OPTION]...%s%s\n", tool->name, operands ? " " : "",
           operands ? tool->operands : "");
    print_wrapped(tool->summary, 0, 0);
    for (const struct option_def *o = tool->options; o->type; o++) {
        char *left, *right;

        if (o->type == OPT_GROUP) {
            printf("\n%s:\n", o->help);
            continue;
        }
        left = left_side(o);
        right = right_side(o);
        print_row(left, right);
        free(left);
        free(right);
    }
    print_row("    --help", "display this help and exit");
    print_row("    --version", "output version information and exit");
    putchar('\n');
    print_wrapped(on_values, 0, 0);
    printf("\nExit status is 0 on success, 1 if a check did not hold, 2 on "
           "trouble.\n\nReport bugs to: %s\n",
           PACKAGE_BUGREPORT);
}

void
option_print_version(const struct tool *tool)
{
    printf("%s (%s) %s\n"
           "License Apache-2.0: <https://www.apache.org/licenses/"
           "LICENSE-2.0>\n"
           "This is free software: you are free to change and redistribute "
           "it.\n"
           "There is NO WARRANTY, to the extent permitted by law.\n",
           tool->name, PACKAGE_NAME, PACKAGE_VERSION);
}
