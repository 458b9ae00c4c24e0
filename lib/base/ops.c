#include <config.h>

#include <assert.h>

#include "base/device_internal.h"
#include "base/ops_internal.h"

const char *
df_op_name(enum df_op op)
{
    static const char *const names[] = {
#define X(op, flow) #op,
        DF_OPS(X)
#undef X
    };

    assert((unsigned) op < DF_N_OPS);
    return names[op];
}

const char *
df_op_flow(enum df_op op)
{
    static const char *const flows[] = {
#define X(op, flow) flow,
        DF_OPS(X)
#undef X
    };

    assert((unsigned) op < DF_N_OPS);
    return flows[op];
}

bool
df_device_has(const struct df_device *dev, enum df_op op)
{
    switch (op) {
#define X(op, flow)  \
    case DF_OP_##op: \
        return dev->vt->op != NULL;
        DF_OPS(X)
#undef X
    case DF_N_OPS:
        break;
    }
    return false;
}

#define X(op, flow)                                                        \
    _Static_assert(sizeof(struct df_##op##_args) <= DF_MAX_ARGS,           \
                   "arguments of " #op);                                   \
    df_status df_##op(struct df_stream *stream,                            \
                      const struct df_##op##_args *args)                   \
    {                                                                      \
        struct df_work work = {0};                                         \
        assert(stream &&args);                                             \
        struct df_device *dev = stream->dev;                               \
        if (!dev->vt->op)                                                  \
            return DF_FAIL(DF_UNSUPPORTED, #op ": device %s cannot do it", \
                           dev->name);                                     \
        DF_TRY(df_check_##op(args, &work));                                \
        if (work.nothing)                                                  \
            return DF_OK;                                                  \
        atomic_fetch_add(&dev->flops, (uint64_t) work.flops);              \
        atomic_fetch_add(&stream->flops, (uint64_t) work.flops);           \
        return dev->vt->op(stream, args);                                  \
    }
DF_OPS(X)
#undef X
