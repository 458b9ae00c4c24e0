/* uses.c - a program that knows of the library only what is installed.  */

#include <dflash/error.h>
#include <stdio.h>

int
main(void)
{
    df_status status = DF_FAIL(DF_FORMAT, "record %d", 7);

    printf("%s: %s\n", df_status_text(status), df_error_last()->message);
    return status == DF_FORMAT ? 0 : 1;
}
