#include <config.h>

#include <dirent.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/golden.h"

static void *
need(void *p)
{
    if (!p) {
        puts("Bail out! no memory");
        exit(99);
    }
    return p;
}

/* Append TEXT, which LIST then owns.  */
static char **
append(char **list, size_t n, char *text)
{
    list = need(realloc(list, (n + 2) * sizeof *list));
    list[n] = need(text);
    list[n + 1] = NULL;
    return list;
}

char *
golden_path(const char *format, ...)
{
    va_list args;
    char *path;

    va_start(args, format);
    if (vasprintf(&path, format, args) < 0)
        path = NULL;
    va_end(args);
    return need(path);
}

char *
golden_shared(const char *format, ...)
{
    const char *shared = getenv("DFLASH_SHARED");
    va_list args;
    char *rest, *path;

    if (!shared)
        return NULL;
    va_start(args, format);
    if (vasprintf(&rest, format, args) < 0)
        rest = NULL;
    va_end(args);
    path = golden_path("%s/%s", shared, (char *) need(rest));
    free(rest);
    if (access(path, F_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char **
golden_folders(void)
{
    const char *from = getenv("DFLASH_GOLDEN");
    char **list = need(calloc(1, sizeof *list));
    size_t n = 0;

    if (!from || !*from) {
        char *folder = golden_shared("golden");

        return folder ? append(list, 0, folder) : list;
    }
    while (*from) {
        size_t len = strcspn(from, ":");

        if (len > 0) {
            list = append(list, n, strndup(from, len));
            n++;
        }
        from += len + (from[len] == ':');
    }
    return list;
}

static int
compare(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

char **
golden_names(const char *folder, const char *sub, const char *suffix)
{
    char *path = golden_path("%s/%s", folder, sub);
    DIR *dir = opendir(path);
    char **list = need(calloc(1, sizeof *list));
    size_t n = 0, tail = strlen(suffix);
    struct dirent *entry;

    free(path);
    while (dir && (entry = readdir(dir))) {
        const char *name = entry->d_name;
        size_t len = strlen(name);

        if (name[0] == '.' || len < tail
            || strcmp(name + len - tail, suffix) != 0)
            continue;
        list = append(list, n, strdup(name));
        n++;
    }
    if (dir)
        closedir(dir);
    qsort(list, n, sizeof *list, compare);
    return list;
}

void
golden_free(char **list)
{
    for (size_t i = 0; list[i]; i++)
        free(list[i]);
    free(list);
}
