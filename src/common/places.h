/* places.h - the devices that lists like "cpu,cuda:0,cuda:1" name.  */

#ifndef DF_PLACES_H
#define DF_PLACES_H

#include "common/option.h"
#include "dflash/device.h"

enum {
    MAX_PLACES = 64
};

/* Every device that was named, each opened once.  */
struct places {
    struct df_device *devices[MAX_PLACES];
    size_t n;
    const char *no_gpu; /* why "auto" took the CPU, or NULL */
};

/* What a device is for, for "auto": targets get the first GPU, drafters the
   last, which may be the same; both the CPU where there is no GPU.  */
enum place_role {
    PLACE_TARGET,
    PLACE_DRAFTER
};

/* A list, in which a device may come several times.  */
struct place_list {
    struct df_device *devices[MAX_PLACES];
    size_t n;
};

/* The devices that TEXT, the value of OPTION, names; a mistake in it ends
   the process.  */
df_status places_parse(struct places *places, struct place_list *out,
                       const struct tool *tool, const void *option,
                       const char *text, enum place_role role);
/* Say it, if "auto" took the CPU; when the run begins.  */
void places_tell(const struct places *places);
void places_close(struct places *places);

#endif
