/* Every construct of tokenizer.json, to tokens and back to text.  */

#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "dflash/tokenizer.h"
#include "tap/tap.h"
#include "unit/text/build.h"
#include "unit/text/tokenizer_rows.h"

static void
check_tokens(const struct row *row, const struct df_tokenizer *tok,
             struct df_ids *ids)
{
    const char *seen = "";

    if (tok
        && df_tokenizer_encode(tok, row->text, strlen(row->text), row->flags,
                               ids)
               == DF_OK)
        seen = build_tokens(tok, ids);
    else
        diag("%s", df_error_last()->message);
    if (!ok(strcmp(seen, row->tokens) == 0, "%s", row->label)) {
        diag("wanted: %s", row->tokens);
        diag("  seen: %s", seen);
    }
}

static void
check_text(const struct row *row, const struct df_tokenizer *tok,
           const struct df_ids *ids)
{
    const char *wanted = row->decoded ? row->decoded : row->text;
    size_t len;
    char *text = NULL;
    bool same =
        tok
        && df_tokenizer_decode(tok, ids->data, ids->n, false, &text, &len)
               == DF_OK
        && len == strlen(wanted) && memcmp(text, wanted, len) == 0;

    if (!ok(same, "%s: back to text", row->label))
        diag("wanted %s, seen %s", wanted, text ? text : "nothing");
    free(text);
}

int
main(void)
{
    const size_t n = sizeof rows / sizeof *rows;

    plan((int) (2 * n));
    for (size_t i = 0; i < n; i++) {
        struct df_tokenizer *tok = build(&rows[i].parts);
        struct df_ids ids = {0};

        check_tokens(&rows[i], tok, &ids);
        check_text(&rows[i], tok, &ids);
        df_ids_free(&ids);
        df_tokenizer_free(tok);
    }
    build_end();
    return 0;
}
