/* cpu_internal.h - the CPU's operations: plain loops and CBLAS, float32.

   A cpu_OP function runs on a stream's thread, may split its work over the
   pool, and returns when the work is done.  */

#ifndef DF_CPU_INTERNAL_H
#define DF_CPU_INTERNAL_H

#include "base/device_internal.h"
#include "cpu/pool_internal.h"

#define X(op, flow) df_status cpu_##op(const struct df_##op##_args *args);
DF_OPS(X)
#undef X

/* As struct df_device_vtable has it.  */
df_status df_cpu_describe(struct df_device *dev, struct df_device_info *out);

/* Rows in tasks, for operations that go over elements.  */
enum {
    DF_TASK_ELEMENTS = 16384, /* about the least that is worth a task */
    DF_MAX_PARTS = 64         /* tasks of an operation that adds up parts */
};

/* Rows of WIDTH elements that a task does.  */
static inline size_t
df_task_rows(size_t width)
{
    return width < DF_TASK_ELEMENTS ? DF_TASK_ELEMENTS / width : 1;
}

/* The same where every task has a part of a sum over ROWS.  */
static inline size_t
df_part_rows(size_t rows, size_t width)
{
    size_t least = (rows + DF_MAX_PARTS - 1) / DF_MAX_PARTS;
    size_t wanted = df_task_rows(width);

    return wanted > least ? wanted : least;
}

/* The number of tasks of STEP rows; task number TASK begins at row TASK *
   STEP and ends before this one.  */
static inline size_t
df_tasks(size_t rows, size_t step)
{
    return (rows + step - 1) / step;
}

static inline size_t
df_task_end(size_t task, size_t rows, size_t step)
{
    return rows - task * step < step ? rows : (task + 1) * step;
}

/* sum[c] += the sum over i of parts[i,c], PARTS being [N_PARTS,C].  */
void df_add_parts(float *sum, const float *parts, size_t n_parts, size_t C);

#endif
