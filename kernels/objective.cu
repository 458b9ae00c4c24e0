/* objective.cu - weights of the supervised slots, and the loss's sums.

   objective  weight[R], sums <- nll[R], pred[R], labels[R], slot[R]

   One block, a thread a draft block at a time: there are few numbers, and
   the sums keep their order.  What is counted is counted in integers.  */

#include "cuda_internal.cuh"
#include "math.cuh"

enum {
    THREADS = 1024,
    WARPS = THREADS / WARP
};

/* The first row whose slot is at least SLOT.  */
static __device__ size_t
first_row(const struct df_objective_args &a, size_t slot)
{
    size_t low = 0, high = a.R;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if ((size_t) a.slot[mid] < slot)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Weigh the rows [FIRST, END) of a block.  Slots without a row have s = 1,
   and nothing to add to the suffix sums: so going over the rows is going
   over the slots.  */
static __device__ void
weigh(const struct df_objective_args &a, size_t first, size_t end)
{
    double prefix[DF_MAX_BLOCK], alpha = (double) a.alpha, w = 0, p = 1;

    for (size_t r = first; !a.dpace && r < end; r++) {
        double j = (double) ((size_t) a.slot[r] % a.b - 1);

        a.weight[r] = a.gamma > 0 ? (float) exp(-j / (double) a.gamma) : 1.0f;
    }
    if (!a.dpace)
        return;
    for (size_t r = first; r < end; r++) {
        p *= (1 - alpha) * exp(-(double) a.nll[r]) + alpha;
        prefix[r - first] = p;
    }
    for (size_t r = end; r-- > first;) {
        w += prefix[r - first];
        a.weight[r] = (float) w;
    }
}

struct counts {
    unsigned correct[DF_MAX_BLOCK], total[DF_MAX_BLOCK];
};

/* Slots from the anchor on, up to a wrong one; the rest into COUNTS.  */
static __device__ unsigned
count(const struct df_objective_args &a, struct counts *counts, size_t first,
      size_t end)
{
    unsigned accepted = 1;

    for (size_t r = first; r < end; r++) {
        unsigned j = (unsigned) ((size_t) a.slot[r] % a.b);
        bool correct = a.pred[r] == a.labels[r];

        atomicAdd(&counts->total[j], 1u);
        if (correct)
            atomicAdd(&counts->correct[j], 1u);
        if (correct && j == accepted)
            accepted++;
    }
    return accepted;
}

static __global__ void
__launch_bounds__(THREADS) objective(struct df_objective_args a)
{
    __shared__ struct counts counts;
    __shared__ double parts[WARPS];
    double loss = 0, weight = 0, accepted = 0;

    if (threadIdx.x < DF_MAX_BLOCK)
        counts.correct[threadIdx.x] = counts.total[threadIdx.x] = 0;
    __syncthreads();
    for (size_t n = threadIdx.x; n < a.N; n += THREADS) {
        size_t first = first_row(a, n * a.b), end = first;

        while (end < a.R && (size_t) a.slot[end] < (n + 1) * a.b)
            end++;
        weigh(a, first, end);
        accepted += count(a, &counts, first, end);
        for (size_t r = first; r < end; r++) {
            loss += (double) a.weight[r] * (double) a.nll[r];
            weight += (double) a.weight[r];
        }
    }
    loss = df_block_sum(loss, parts);
    weight = df_block_sum(weight, parts);
    accepted = df_block_sum(accepted, parts);
    if (threadIdx.x == 0) {
        a.sums->loss += loss;
        a.sums->weight += weight;
        a.sums->accept += accepted;
        a.sums->blocks += (double) a.N;
    }
    if (threadIdx.x < DF_MAX_BLOCK) {
        a.sums->correct[threadIdx.x] += counts.correct[threadIdx.x];
        a.sums->total[threadIdx.x] += counts.total[threadIdx.x];
    }
}

df_status
cuda_objective(struct cuda_stream *s, const struct df_objective_args *a)
{
    objective<<<1, THREADS, 0, s->cu>>>(*a);
    DF_LAUNCHED(objective);
    return DF_OK;
}
