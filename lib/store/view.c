#include <config.h>

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/h5io_internal.h"
#include "store/sample_internal.h"

void
df_view_open(struct df_view *view, int fd, uint64_t size)
{
    void *data;

    df_view_close(view);
    if (size == 0 || size > SIZE_MAX / 2)
        return;
    data = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
    if (data == MAP_FAILED)
        return;
    view->data = data;
    view->size = size;
}

/* A page that the system can't read is an error here, not where it is looked
   at.  */
const uint8_t *
df_view_take(const struct df_view *view, uint64_t at, uint64_t size)
{
#ifdef MADV_POPULATE_READ
    uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), first = at / page * page;

    if (at <= view->size && size <= view->size - at
        && madvise(view->data + first, at + size - first, MADV_POPULATE_READ)
               == 0)
        return view->data + at;
#endif
    (void) view;
    (void) at;
    (void) size;
    return NULL;
}

void
df_view_close(struct df_view *view)
{
    if (view->data)
        munmap(view->data, view->size);
    *view = (struct df_view){0};
}

df_status
df_scratch_load(struct df_capture_scratch *scratch, int fd, uint64_t at,
                uint64_t size, const char *where, const uint8_t **out)
{
    *out = df_view_take(&scratch->view, at, size);
    if (*out)
        return DF_OK;
    df_view_close(&scratch->view);
    DF_TRY(df_room_fit(&scratch->incoming, size, where));
    *out = scratch->incoming.data;
    if (!df_read_at(fd, scratch->incoming.data, size, at))
        return DF_FAIL_ERRNO(DF_IO, "%s: %s", where, strerror(errno));
    return DF_OK;
}
