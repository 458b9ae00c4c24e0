#include <config.h>
#include <string.h>
#include "dflash/error.h"
#include "tap/tap.h"

int
main(void)
{
    plan(4);
    is_long(DF_FORMAT, DF_FAIL(DF_FORMAT, "record %d", 7),
            "DF_FAIL returns its status");
    ok(strcmp(df_error_last()->message, "record 7") == 0,
       "the message is kept");
    ok(strcmp(df_status_text(DF_END), "no more data; no failure") == 0,
       "a status has a text");
    ok(df_status_text((df_status) 99) != NULL, "so has an unknown one");
    return 0;
}
