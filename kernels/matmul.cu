/* matmul.cu - products by cuBLASLt, with a cache of its choices.

   The library is column-major: to it, a row-major c = a b is c^T = b^T a^T,
   so B goes first.  Its heuristics take some 100 us a shape, which is why a
   stream remembers the algorithm of each shape; descriptions are filled in
   anew each time, on the stack.  A shape that falls on the place of another
   takes it over.

   Partial sums of a split product are added in float32 and in a fixed order:
   the same stream gives the same bits, whatever runs beside it.  */

#include <cublasLt.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_internal.cuh"

enum {
    WORKSPACE = 32 << 20, /* bytes; what the vendor advises for sm_90 */
    PROBES = 4            /* places that a shape may have */
};

#define FUNCTIONS(X)                 \
    X(Create)                        \
    X(Destroy)                       \
    X(GetStatusString)               \
    X(MatmulDescInit_internal)       \
    X(MatmulDescSetAttribute)        \
    X(MatrixLayoutInit_internal)     \
    X(MatmulPreferenceInit_internal) \
    X(MatmulPreferenceSetAttribute)  \
    X(MatmulAlgoGetHeuristic)        \
    X(Matmul)

struct df_blaslt {
    void *library;
    cublasLtHandle_t handle;
#define X(name) decltype(&cublasLt##name) name;
    FUNCTIONS(X)
#undef X
};

/* What an algorithm is chosen by.  No padding: compared as bytes.  */
struct key {
    uint64_t m, n, k, ldc, lda, ldb;
    uint16_t align_c, align_a, align_b; /* bytes */
    uint8_t transpose, type;            /* bits */
};

struct df_matmul_plan {
    struct key key;
    bool used;
    size_t workspace;
    cublasLtMatmulAlgo_t algo;
};

/* The library's description of a product.  */
struct description {
    cublasLtMatmulDescOpaque_t op;
    cublasLtMatrixLayoutOpaque_t a, b, c;
};

#define STRING_(x) #x
#define STRING(x)  STRING_(x)
#define SONAME     "libcublasLt.so." STRING(CUBLAS_VER_MAJOR)

/* Return from the calling function if the library's function fails.  */
#define BLASLT(b, call)                                        \
    do {                                                       \
        cublasStatus_t status_ = (b)->call;                    \
        if (status_ != CUBLAS_STATUS_SUCCESS)                  \
            return DF_FAIL(DF_DEVICE, "cublasLt" #call ": %s", \
                           (b)->GetStatusString(status_));     \
    } while (0)

/* The loader's own search first, then the toolkit of the build.  */
static void *
load_library(void)
{
    void *library = dlopen(SONAME, RTLD_NOW | RTLD_LOCAL);

#ifdef DF_CUDA_LIBDIR
    if (!library)
        library = dlopen(DF_CUDA_LIBDIR "/" SONAME, RTLD_NOW | RTLD_LOCAL);
#endif
    return library;
}

static df_status
find_functions(struct df_blaslt *b, const char *name)
{
#define X(f)                                                               \
    b->f = (decltype(&cublasLt##f)) dlsym(b->library, "cublasLt" #f);      \
    if (!b->f)                                                             \
        return DF_FAIL(DF_UNSUPPORTED, "%s: " SONAME " has no cublasLt%s", \
                       name, #f);
    FUNCTIONS(X)
#undef X
    return DF_OK;
}

df_status
df_blaslt_open(struct df_blaslt **out, const char *name)
{
    struct df_blaslt *b = (struct df_blaslt *) calloc(1, sizeof *b);
    df_status status;

    if (!b)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory", name);
    b->library = load_library();
    if (!b->library) {
        free(b);
        return DF_FAIL(DF_UNSUPPORTED, "device %s: %s", name, dlerror());
    }
    status = find_functions(b, name);
    if (status == DF_OK) {
        cublasStatus_t made = b->Create(&b->handle);

        if (made == CUBLAS_STATUS_SUCCESS) {
            *out = b;
            return DF_OK;
        }
        status = DF_FAIL(DF_DEVICE, "%s: cublasLtCreate: %s", name,
                         b->GetStatusString(made));
    }
    dlclose(b->library);
    free(b);
    return status;
}

/* The library stays loaded: it has threads and contexts of its own.  */
void
df_blaslt_close(struct df_blaslt *b)
{
    (void) b->Destroy(b->handle);
    free(b);
}

/* The largest power of two, at most 256, that P is a multiple of.  */
static uint16_t
alignment(const void *p)
{
    uintptr_t bits = (uintptr_t) p | 256;

    return (uint16_t) (bits & -bits);
}

static struct key
key_of(const struct df_matmul *m)
{
    uint16_t c = alignment(m->c), bias = alignment(m->bias);
    struct key key = {};

    key.m = m->m;
    key.n = m->n;
    key.k = m->k;
    key.ldc = m->ldc;
    key.lda = m->lda;
    key.ldb = m->ldb;
    key.align_c = m->bias && bias < c ? bias : c;
    key.align_a = alignment(m->a);
    key.align_b = alignment(m->b);
    key.transpose = (uint8_t) (m->transpose_a | m->transpose_b << 1);
    key.type =
        (uint8_t) (m->wide | m->accumulate << 1 | (m->bias ? 1 : 0) << 2);
    return key;
}

static size_t
hash(const struct key *key)
{
    const unsigned char *bytes = (const unsigned char *) key;
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < sizeof *key; i++)
        h = (h ^ bytes[i]) * 1099511628211u;
    return (size_t) (h ^ h >> 32);
}

static df_status
set_matrix(struct df_blaslt *b, cublasLtMatrixLayoutOpaque_t *layout,
           cudaDataType_t type, size_t rows, size_t columns, size_t ld)
{
    BLASLT(b, MatrixLayoutInit_internal(layout, sizeof *layout, type, rows,
                                        columns, (int64_t) ld));
    return DF_OK;
}

static df_status
set_attribute(struct df_blaslt *b, struct description *d,
              cublasLtMatmulDescAttributes_t attribute, const void *value,
              size_t bytes)
{
    BLASLT(b, MatmulDescSetAttribute(&d->op, attribute, value, bytes));
    return DF_OK;
}

static df_status
describe(struct df_blaslt *b, struct description *d, const struct df_matmul *m)
{
    cublasOperation_t first = m->transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasOperation_t second = m->transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasLtEpilogue_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    bool tb = m->transpose_b, ta = m->transpose_a;

    BLASLT(b, MatmulDescInit_internal(&d->op, sizeof d->op, CUBLAS_COMPUTE_32F,
                                      CUDA_R_32F));
    DF_TRY(set_attribute(b, d, CUBLASLT_MATMUL_DESC_TRANSA, &first,
                         sizeof first));
    DF_TRY(set_attribute(b, d, CUBLASLT_MATMUL_DESC_TRANSB, &second,
                         sizeof second));
    if (m->bias) {
        DF_TRY(set_attribute(b, d, CUBLASLT_MATMUL_DESC_EPILOGUE, &epilogue,
                             sizeof epilogue));
        DF_TRY(set_attribute(b, d, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &m->bias,
                             sizeof m->bias));
    }
    DF_TRY(set_matrix(b, &d->a, CUDA_R_16BF, tb ? m->k : m->n,
                      tb ? m->n : m->k, m->ldb));
    DF_TRY(set_matrix(b, &d->b, CUDA_R_16BF, ta ? m->m : m->k,
                      ta ? m->k : m->m, m->lda));
    return set_matrix(b, &d->c, m->wide ? CUDA_R_32F : CUDA_R_16BF, m->n, m->m,
                      m->ldc);
}

static df_status
set_preference(struct df_blaslt *b, cublasLtMatmulPreferenceOpaque_t *p,
               cublasLtMatmulPreferenceAttributes_t attribute,
               const void *value, size_t bytes)
{
    BLASLT(b, MatmulPreferenceSetAttribute(p, attribute, value, bytes));
    return DF_OK;
}

static df_status
prefer(struct df_blaslt *b, cublasLtMatmulPreferenceOpaque_t *p,
       const struct key *key)
{
    size_t workspace = WORKSPACE;
    uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    uint32_t first = key->align_b, second = key->align_a, c = key->align_c;

    BLASLT(b, MatmulPreferenceInit_internal(p, sizeof *p));
    DF_TRY(set_preference(b, p, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                          &workspace, sizeof workspace));
    DF_TRY(set_preference(b, p, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                          &schemes, sizeof schemes));
    DF_TRY(set_preference(b, p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                          &first, sizeof first));
    DF_TRY(set_preference(b, p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                          &second, sizeof second));
    DF_TRY(set_preference(b, p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, &c,
                          sizeof c));
    return set_preference(b, p, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, &c,
                          sizeof c);
}

/* Have the library choose an algorithm for D, into PLAN.  */
static df_status
choose(struct df_blaslt *b, struct df_matmul_plan *plan, struct description *d,
       const struct key *key)
{
    cublasLtMatmulPreferenceOpaque_t preference;
    cublasLtMatmulHeuristicResult_t result;
    int found = 0;

    DF_TRY(prefer(b, &preference, key));
    cublasStatus_t status =
        b->MatmulAlgoGetHeuristic(b->handle, &d->op, &d->a, &d->b, &d->c,
                                  &d->c, &preference, 1, &result, &found);

    if (status != CUBLAS_STATUS_SUCCESS || found < 1)
        return DF_FAIL(
            DF_DEVICE,
            "cublasLt: no algorithm for a product of %zu x %zu x %zu, rows "
            "%zu, %zu and %zu apart: %s",
            (size_t) key->m, (size_t) key->n, (size_t) key->k,
            (size_t) key->lda, (size_t) key->ldb, (size_t) key->ldc,
            b->GetStatusString(status));
    plan->key = *key;
    plan->used = true;
    plan->workspace = result.workspaceSize;
    plan->algo = result.algo;
    return DF_OK;
}

static df_status
find_plan(struct cuda_stream *s, const struct df_matmul *m,
          struct description *d, struct df_matmul_plan **out)
{
    struct key key = key_of(m);
    size_t first = hash(&key), i;
    struct df_matmul_plan *plan;

    for (i = 0; i < PROBES; i++) {
        plan = &s->matmuls.plans[(first + i) % DF_MATMUL_PLANS];
        if (!plan->used)
            break;
        if (memcmp(&plan->key, &key, sizeof key) == 0) {
            *out = plan;
            return DF_OK;
        }
    }
    if (i == PROBES)
        plan = &s->matmuls.plans[first % DF_MATMUL_PLANS];
    *out = plan;
    return choose(cuda_device_of(s)->blaslt, plan, d, &key);
}

static df_status
make_cache(struct cuda_stream *s)
{
    struct df_matmul_cache *c = &s->matmuls;

    if (!c->plans)
        c->plans = (struct df_matmul_plan *) calloc(DF_MATMUL_PLANS,
                                                    sizeof *c->plans);
    if (!c->plans)
        return DF_FAIL(DF_NO_MEMORY, "%s: no memory for plans of products",
                       s->base.dev->name);
    if (!c->workspace)
        DF_TRY(df_cuda_alloc(s->base.dev, DF_MEM_DEVICE, WORKSPACE,
                             &c->workspace));
    return DF_OK;
}

df_status
df_matmul(struct cuda_stream *s, const struct df_matmul *m)
{
    struct df_blaslt *b = cuda_device_of(s)->blaslt;
    float one = 1, beta = m->accumulate ? 1 : 0;
    struct df_matmul_plan *plan;
    struct description d;

    DF_TRY(make_cache(s));
    DF_TRY(describe(b, &d, m));
    DF_TRY(find_plan(s, m, &d, &plan));
    BLASLT(b, Matmul(b->handle, &d.op, &one, m->b, &d.a, m->a, &d.b, &beta,
                     m->c, &d.c, m->c, &d.c, &plan->algo, s->matmuls.workspace,
                     plan->workspace, s->cu));
    return DF_OK;
}
