/* Words that stand for several files.  */
#include <config.h>

#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/names.h"
#include "dflash-train/captures_private.h"

/* Append NAME, which is consumed; NULL if there was no memory for it.  */
static df_status
add(struct string_list *files, char *name)
{
    const char **grown =
        name ? realloc(files->items, (files->count + 1) * sizeof *grown)
             : NULL;

    if (!grown) {
        free(name);
        return DF_FAIL(DF_NO_MEMORY, "the names of %zu captures",
                       files->count + 1);
    }
    files->items = grown;
    grown[files->count++] = name;
    return DF_OK;
}

static df_status
add_matches(struct string_list *files, const char *pattern)
{
    glob_t found = {0};
    int failure = glob(pattern, 0, NULL, &found);
    df_status status = DF_OK;

    for (size_t i = 0; failure == 0 && i < found.gl_pathc; i++)
        if (status == DF_OK)
            status = add(files, strdup(found.gl_pathv[i]));
    globfree(&found);
    return failure ? DF_FAIL(DF_IO, "%s: no file matches", pattern) : status;
}

static int
is_capture(const struct dirent *item)
{
    return item->d_name[0] != '.' && format_by_name(item->d_name) >= 0;
}

/* The capture files in DIR, or DIR itself if there are none: then it may be
   one of speculators'.  */
static df_status
add_folder(struct string_list *files, const char *dir)
{
    struct dirent **items = NULL;
    int n = scandir(dir, &items, is_capture, alphasort);
    df_status status = DF_OK;

    if (n < 0)
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", dir, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = NULL;

        if (status == DF_OK
            && asprintf(&path, "%s/%s", dir, items[i]->d_name) < 0)
            path = NULL;
        if (status == DF_OK)
            status = add(files, path);
        free(items[i]);
    }
    free(items);
    return n > 0 ? status : add(files, strdup(dir));
}

static bool
is_folder(const char *path)
{
    DIR *dir = opendir(path);

    if (dir)
        closedir(dir);
    return dir != NULL;
}

df_status
captures_expand(const struct string_list *words, struct string_list *files)
{
    for (size_t i = 0; i < words->count; i++) {
        const char *word = words->items[i];

        if (is_folder(word))
            DF_TRY(add_folder(files, word));
        else if (strpbrk(word, "*?[") && access(word, F_OK))
            DF_TRY(add_matches(files, word));
        else
            DF_TRY(add(files, strdup(word)));
    }
    return DF_OK;
}
