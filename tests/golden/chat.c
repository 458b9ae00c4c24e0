/* Chats rendered by the models' own templates, against what transformers
   makes of them: each row of tokenizers/chat.json in the folders of
   DFLASH_GOLDEN, which colons part.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file_internal.h"
#include "base/json_internal.h"
#include "tap/tap.h"
#include "text/template_internal.h"

static const char *shared;

/* The template of the tokenizer NAME, or NULL with a note why not.  */
static struct df_template *
load_template(const char *name)
{
    static const char *const folders[] = {"tokenizers", "models"};
    struct df_template *tmpl = NULL;

    for (int i = 0; i < 2 && !tmpl; i++) {
        char path[4096];
        json_t *config = NULL, *source;

        snprintf(path, sizeof path, "%s/%s/%s/tokenizer_config.json", shared,
                 folders[i], name);
        if (df_json_load_if_exists(&config, path) != DF_OK)
            diag("%s", df_error_last()->message);
        source = json_object_get(config, "chat_template");
        if (source
            && df_template_parse(&tmpl, json_string_value(source),
                                 json_string_length(source), path)
                   != DF_OK)
            diag("%s", df_error_last()->message);
        json_decref(config);
    }
    return tmpl;
}

static void
check_row(const json_t *row, const char *golden, int number)
{
    const json_t *wanted = json_object_get(row, "text");
    const char *name = json_string_value(json_object_get(row, "tokenizer"));
    struct df_template *tmpl = load_template(name);
    char *text = NULL;
    size_t len = 0;

    if (!tmpl) {
        skip("%s row %d: no template of %s in %s", golden, number, name,
             shared);
        return;
    }
    if (df_template_render_json(
            tmpl, json_object_get(row, "messages"), NULL,
            json_is_true(json_object_get(row, "add_generation_prompt")), &text,
            &len)
        != DF_OK)
        diag("%s", df_error_last()->message);
    ok(text && len == json_string_length(wanted)
           && memcmp(text, json_string_value(wanted), len) == 0,
       "%s row %d, %s, is rendered as transformers does", golden, number,
       name);
    free(text);
    df_template_free(tmpl);
}

int
main(void)
{
    const char *golden = getenv("DFLASH_GOLDEN");
    char folders[4096], *save = NULL;
    json_t *all = json_array();
    int broken = 0;

    shared = getenv("DFLASH_SHARED");
    if (!shared)
        shared = "../shared";
    if (golden)
        snprintf(folders, sizeof folders, "%s", golden);
    else
        snprintf(folders, sizeof folders, "%s/golden", shared);
    for (char *dir = strtok_r(folders, ":", &save); dir;
         dir = strtok_r(NULL, ":", &save)) {
        char path[4200];
        json_t *rows = NULL, *row;
        size_t i;

        snprintf(path, sizeof path, "%s/tokenizers/chat.json", dir);
        if (df_json_load_if_exists(&rows, path) != DF_OK) {
            diag("%s", df_error_last()->message);
            broken++;
        }
        json_array_foreach(rows, i, row)
            json_object_set_new(row, "golden", json_string(dir));
        json_array_extend(all, rows);
        json_decref(rows);
    }
    if (broken == 0 && json_array_size(all) == 0)
        skip_all("no tokenizers/chat.json in the golden folders");
    plan((int) json_array_size(all) + broken);
    while (broken-- > 0)
        ok(0, "chat.json is JSON");
    for (size_t i = 0; i < json_array_size(all); i++) {
        const json_t *row = json_array_get(all, i);

        check_row(row, json_string_value(json_object_get(row, "golden")),
                  (int) i);
    }
    json_decref(all);
    return 0;
}
