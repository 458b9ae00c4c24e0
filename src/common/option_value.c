#include <config.h>

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/option_private.h"

char *
copy_text(const char *text, size_t len)
{
    char *copy = strndup(text, len);

    if (!copy)
        option_no_memory();
    return copy;
}

void
string_list_add(struct string_list *list, const char *text)
{
    const char **items =
        realloc(list->items, (list->count + 1) * sizeof *items);

    if (!items)
        option_no_memory();
    items[list->count++] = text;
    list->items = items;
}

/* "No limit" of a row as that of a parser.  */
static int64_t
int_max(const struct option_def *o)
{
    return o->max == LONG_MAX ? INT64_MAX : o->max;
}

static df_status
store_int(const struct option_def *o, const char *text)
{
    int64_t n;

    DF_TRY(df_value_int(text, o->min, int_max(o), &n));
    *(long *) o->value = (long) n;
    return DF_OK;
}

static df_status
store_ints(const struct option_def *o, const char *text)
{
    struct int_list *list = o->value;
    int64_t *items;

    DF_TRY(df_value_int_list(text, o->min, int_max(o), &items, &list->count));
    list->items = items;
    return DF_OK;
}

static df_status
store_string(const char **place, const char *text)
{
    if (*text == '\0')
        return DF_FAIL(DF_INVALID, "the value is empty");
    *place = text;
    return DF_OK;
}

static df_status
store_strings(const struct option_def *o, const struct setting *s)
{
    for (size_t i = 0; i < s->texts.count; i++)
        if (*s->texts.items[i] == '\0')
            return DF_FAIL(DF_INVALID, "the value is empty");
    *(struct string_list *) o->value = s->texts;
    return DF_OK;
}

static df_status
store_flag(const struct option_def *o, const struct setting *s)
{
    bool b;

    DF_TRY(df_value_bool(s->texts.items[0], &b));
    *(bool *) o->value = b != s->negated;
    return DF_OK;
}

static df_status
store(const struct option_def *o, const struct setting *s)
{
    const char *text = s->texts.items[0];

    switch (o->type) {
    case OPT_FLAG:
        return store_flag(o, s);
    case OPT_INT:
        return store_int(o, text);
    case OPT_REAL:
        return df_value_real(text, &o->range, o->value);
    case OPT_CHOICE:
        return df_value_choice(text, o->choices, o->value);
    case OPT_STRING:
        return store_string(o->value, text);
    case OPT_STRINGS:
        return store_strings(o, s);
    case OPT_INTS:
        return store_ints(o, text);
    case OPT_SIZE:
        return df_value_size(
            text, (uint64_t) o->min,
            o->max == LONG_MAX ? UINT64_MAX : (uint64_t) o->max, o->value);
    case OPT_END:
    case OPT_GROUP:
        break;
    }
    return DF_OK;
}

void
option_store(const struct tool *tool, const struct option_def *o)
{
    if (store(o, setting_of(tool, o)) != DF_OK)
        option_bad_value(tool, o, df_error_last()->message);
}

static bool
outside_range(double d, const struct df_real_range *r)
{
    return !(d >= r->min && d <= r->max) || (r->above_min && d == r->min)
           || (r->below_max && d == r->max);
}

bool
option_is_unset(const struct option_def *o)
{
    switch (o->type) {
    case OPT_INT:
        return *(long *) o->value < o->min || *(long *) o->value > o->max;
    case OPT_REAL:
        return outside_range(*(double *) o->value, &o->range);
    case OPT_CHOICE:
        return *(int *) o->value < 0;
    case OPT_STRING:
        return *(const char **) o->value == NULL;
    case OPT_STRINGS:
        return ((struct string_list *) o->value)->count == 0;
    case OPT_INTS:
        return ((struct int_list *) o->value)->count == 0;
    case OPT_SIZE:
        return *(uint64_t *) o->value < (uint64_t) o->min;
    case OPT_END:
    case OPT_GROUP:
    case OPT_FLAG:
        break;
    }
    return false;
}

static char *
ints_text(const struct int_list *list)
{
    char *text = copy_text("", 0);

    for (size_t i = 0; i < list->count; i++) {
        char *longer;

        if (asprintf(&longer, "%s%s%" PRId64, text, i ? "," : "",
                     list->items[i])
            < 0)
            option_no_memory();
        free(text);
        text = longer;
    }
    return text;
}

char *
option_text(const struct option_def *o, size_t i)
{
    const struct string_list *list = o->value;
    char buf[DF_VALUE_TEXT_MAX];
    const char *text = NULL;

    if (i >= (o->type == OPT_STRINGS ? list->count : 1) || option_is_unset(o))
        return NULL;
    switch (o->type) {
    case OPT_FLAG:
        text = *(bool *) o->value ? "true" : "false";
        break;
    case OPT_INT:
        snprintf(buf, sizeof buf, "%ld", *(long *) o->value);
        text = buf;
        break;
    case OPT_REAL:
        text = df_value_real_text(buf, *(double *) o->value);
        break;
    case OPT_CHOICE:
        text = o->choices[*(int *) o->value];
        break;
    case OPT_STRING:
        text = *(const char **) o->value;
        break;
    case OPT_STRINGS:
        text = list->items[i];
        break;
    case OPT_INTS:
        return ints_text(o->value);
    case OPT_SIZE:
        text = df_value_size_text(buf, *(uint64_t *) o->value);
        break;
    case OPT_END:
    case OPT_GROUP:
        return NULL;
    }
    return copy_text(text, strlen(text));
}
