#include <config.h>
#include "dflash/safetensors.h"
#include "files.h"

static const struct json_case cases[] = {
    GOOD("an empty object", "{}", 0),
    GOOD("spaces at the end", "{}     ", 0),
    GOOD("a header of odd length",
         "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}  ", 16),
    GOOD("a scalar", "{'a':{'dtype':'F32','shape':[],'data_offsets':[0,4]}}",
         4),
    GOOD("a tensor without elements",
         "{'a':{'dtype':'F32','shape':[0,3],'data_offsets':[0,0]},'b':{'dtype'"
         ":'U8','shape':[1],'data_offsets':[0,1]},'c':{'dtype':'F32','shape':["
         "3,0],'data_offsets':[1,1]}}",
         1),
    GOOD("metadata",
         "{'__metadata__':{'x':'y'},'a':{'dtype':'F32','shape':[4],'data_"
         "offsets':[0,16]}}",
         16),
    GOOD("metadata that is null",
         "{'__metadata__':null,'a':{'dtype':'F32','shape':[4],'data_offsets':["
         "0,16]}}",
         16),
    GOOD("an unknown key of a tensor",
         "{'a':{'q':1,'dtype':'U8','shape':[1],'data_offsets':[0,1]}}", 1),
    GOOD("a 1-byte float can be opened",
         "{'a':{'dtype':'F8_E4M3','shape':[4],'data_offsets':[0,4]}}", 4),
    BAD("shape against offsets",
        "{'w':{'dtype':'F32','shape':[32,8],'data_offsets':[0,65536]}}", 65536,
        "tensor w: F32 [32, 8] has 1024 bytes, but data_offsets span 65536"),
    BAD("end before start",
        "{'w':{'dtype':'F32','shape':[2],'data_offsets':[16,8]}}", 16,
        "tensor w ends at 8, before its start 16"),
    BAD("negative offset",
        "{'w':{'dtype':'F32','shape':[2],'data_offsets':[-8,0]}}", 16,
        "tensor w: data_offsets holds -8"),
    BAD("real offset",
        "{'w':{'dtype':'F32','shape':[2],'data_offsets':[0.0,8]}}", 8,
        "tensor w: data_offsets holds a real number"),
    BAD("offsets just above 2^53",
        "{'w':{'dtype':'U8','shape':[1],'data_offsets':[9007199254740992,"
        "9007199254740993]}}",
        16, "tensor w ends at byte 9007199254740993 of 16"),
    BAD("offset above 2^63",
        "{'w':{'dtype':'U8','shape':[1],'data_offsets':[0,"
        "18446744073709551615]}}",
        16, "not JSON: too big integer"),
    BAD("one byte beyond the file",
        "{'w':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}", 15,
        "tensor w ends at byte 16 of 15: truncated?"),
    BAD("data after the last tensor",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}", 17,
        "17 bytes of data, but the header describes 16"),
    BAD("overlap",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]},'b':{'dtype':'"
        "F32','shape':[4],'data_offsets':[8,24]}}",
        24, "tensor b starts at 8, overlapping the end of the one before, 16"),
    BAD("the same place twice",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]},'b':{'dtype':'"
        "F32','shape':[4],'data_offsets':[0,16]}}",
        16, "tensor b starts at 0, overlapping"),
    BAD("a hole",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]},'b':{'dtype':'"
        "F32','shape':[4],'data_offsets':[20,36]}}",
        36, "tensor b starts at 20, leaving a hole at"),
    BAD("a hole at the front",
        "{'w':{'dtype':'F32','shape':[4],'data_offsets':[4,20]}}", 20,
        "tensor w starts at 4, leaving a hole"),
    BAD("an empty tensor inside another",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]},'b':{'dtype':'"
        "F32','shape':[0],'data_offsets':[8,8]}}",
        16, "tensor b starts at 8, overlapping"),
    BAD("shape overflows",
        "{'w':{'dtype':'F32','shape':[1099511627776,1099511627776],'data_"
        "offsets':[0,16]}}",
        16, "tensor w: shape [1099511627776, 1099511627776] overflows"),
    BAD("bytes overflow",
        "{'w':{'dtype':'F64','shape':[2305843009213693952],'data_offsets':[0,"
        "0]}}",
        0, "tensor w: shape [2305843009213693952] overflows"),
    BAD("negative dimension",
        "{'w':{'dtype':'F32','shape':[-1],'data_offsets':[0,4]}}", 4,
        "tensor w: shape holds -1"),
    BEYOND("rank 9",
           "{'w':{'dtype':'U8','shape':[1,1,1,1,1,1,1,1,1],'data_offsets':[0,"
           "1]}}",
           1, "tensor w: shape has 9 entries, at most 8"),
    BAD("duplicate names",
        "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]},'a':{'dtype':'"
        "F32','shape':[4],'data_offsets':[0,16]}}",
        16, "duplicate object key"),
    BAD("unknown dtype",
        "{'w':{'dtype':'F99','shape':[4],'data_offsets':[0,16]}}", 16,
        "unknown dtype F99 in tensor w"),
    BEYOND("dtype of half a byte",
           "{'w':{'dtype':'F4','shape':[8],'data_offsets':[0,4]}}", 4,
           "unsupported dtype F4 in tensor w"),
    BAD("dtype is a number",
        "{'w':{'dtype':1,'shape':[1],'data_offsets':[0,1]}}", 1,
        "tensor w: dtype is an integer"),
    BAD("no shape", "{'w':{'dtype':'U8','data_offsets':[0,1]}}", 1,
        "tensor w: shape is nothing, not an array"),
    BAD("one offset", "{'w':{'dtype':'U8','shape':[1],'data_offsets':[0]}}", 1,
        "tensor w: data_offsets has 1 entries, not 2"),
    BEYOND("three offsets",
           "{'w':{'dtype':'U8','shape':[1],'data_offsets':[0,1,2]}}", 1,
           "data_offsets has 3 entries"),
    BAD("entry is an array", "{'w':[]}", 0,
        "tensor w is an array, not an object"),
    BAD("header is an array", "[]", 0,
        "the header is an array, not an object"),
    BAD("header is empty", "", 0, "not JSON"),
    BAD("header is no JSON", "{'w':", 0, "not JSON"),
    BAD("metadata of integers", "{'__metadata__':{'x':1}}", 0,
        "__metadata__: x is an integer, not a string"),
    BAD("metadata is an array", "{'__metadata__':[]}", 0,
        "__metadata__ is an array"),
    BAD("a NUL in a name",
        "{'w\\u0000x':{'dtype':'U8','shape':[1],'data_offsets':[0,1]}}", 1,
        "NUL byte in object key"),
    BAD("a name that is not UTF-8",
        "{'\xff':{'dtype':'U8','shape':[1],'data_offsets':[0,1]}}", 1,
        "not JSON"),
};

/* Files that have no good header at all.  */
static const struct {
    const char *label;
    const char *bytes;
    size_t size;
    const char *words;
} files[] = {
    ROW("an empty file", "", 0, "not safetensors: 0 bytes, at least 8 wanted"),
    ROW("7 bytes", "\0\0\0\0\0\0\0", 7, "7 bytes, at least 8 wanted"),
    ROW("8 bytes, no header", "\2\0\0\0\0\0\0\0", 8,
        "header of 2 bytes in a file of 8 bytes: truncated?"),
    ROW("length 2^64-1", "\xff\xff\xff\xff\xff\xff\xff\xff{}", 10,
        "header of 18446744073709551615 bytes, at most 100000000"),
    ROW("length just above the cap", "\1\xe1\xf5\5\0\0\0\0{}", 10,
        "header of 100000001 bytes, at most 100000000 are allowed"),
    ROW("header beyond the file", "\3\0\0\0\0\0\0\0{}", 10,
        "header of 3 bytes in a file of 10 bytes"),
    ROW("a git-lfs pointer",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
        62, "not safetensors but a git-lfs pointer"),
    ROW("a zip", "PK\3\4\0\0\10\10\0\0\0\0", 12,
        "not safetensors but a zip archive"),
    ROW("a pickle", "\x80\2\x8a\nl\xfc\x9c\x46\xf9\x20", 10,
        "not safetensors but a Python pickle"),
    ROW("a short pickle", "\x80\2N.", 4, "a Python pickle"),
    ROW("a web page", "<!DOCTYPE html>", 15, "not safetensors but HTML"),
};

enum {
    N_CASES = sizeof cases / sizeof cases[0],
    N_FILES = sizeof files / sizeof files[0]
};

static void
check_headers(void)
{
    for (int i = 0; i < N_CASES; i++) {
        const char *path = put_tensors("case.safetensors", cases[i].json, NULL,
                                       cases[i].data_size);
        struct df_tensors *ts;

        is_failure(cases[i].status, cases[i].words, df_tensors_open(&ts, path),
                   cases[i].label);
        df_tensors_free(ts);
    }
    for (int i = 0; i < N_FILES; i++) {
        struct df_tensors *ts;

        is_failure(
            DF_FORMAT, files[i].words,
            df_tensors_open(&ts, put_file("case.safetensors", files[i].bytes,
                                          files[i].size)),
            files[i].label);
        df_tensors_free(ts);
    }
}

static void
check_reading(void)
{
    /* Odd header length: every tensor lies at an odd address.  */
    static const char header[] =
        "{ "
        "'f':{'dtype':'F32','shape':[2],'data_offsets':[0,8]},'b':{'dtype':'"
        "BF16','shape':[2],'data_offsets':[8,12]},'h':{'dtype':'F16','shape':["
        "1,2],'data_offsets':[12,16]},'q':{'dtype':'I8','shape':[1],'data_"
        "offsets':[16,17]}}";
    static const uint8_t data[] = {0, 0,    0x80, 0x3f, 0, 0,
                                   0, 0xc0, 0x80, 0x3f, 0, 0xc0,
                                   0, 0x3c, 0,    0xc0, 7};
    struct df_tensors *ts;
    const struct df_tensor *t;
    float x[2];
    uint8_t raw[8];

    ok(strlen(header) % 2 == 1, "the header's length is odd");
    is_failure(DF_OK, NULL,
               df_tensors_open(&ts, put_tensors("odd.safetensors", header,
                                                data, sizeof data)),
               "tensors of mixed types open");
    is_long(4, (long) df_tensors_count(ts), "all are counted");
    ok(strcmp(df_tensors_at(ts, 0)->name, "b") == 0, "names are sorted");
    for (const char *name = "fbh"; *name; name++) {
        const char one[2] = {*name};

        x[0] = x[1] = 9;
        t = df_tensors_find(ts, one);
        ok(t && df_tensor_read_f32(t, x) == DF_OK && x[0] == 1 && x[1] == -2,
           "%s is read", df_dtype_name(t->dtype));
    }
    t = df_tensors_find(ts, "h");
    ok(t->rank == 2 && t->shape[0] == 1 && t->shape[1] == 2 && t->count == 2,
       "a shape is kept");
    df_tensor_copy(df_tensors_find(ts, "f"), raw);
    ok(memcmp(raw, data, 8) == 0, "raw bytes are copied");
    is_failure(DF_UNSUPPORTED, "unsupported dtype I8 in tensor q",
               df_tensor_read_f32(df_tensors_find(ts, "q"), x),
               "I8 isn't read as float32");
    ok(!df_tensors_find(ts, "none"), "an absent name is not found");
    is_failure(DF_FORMAT, "odd.safetensors: no tensor none",
               df_tensors_get(ts, "none", &t), "nor got");
    df_tensors_free(ts);
}

/* Images with some bytes changed either don't open, or open with all
   tensors inside the image.  */
static void
check_damaged(void)
{
    size_t size, opened = 0, outside = 0;
    uint8_t *good = make_image(cases[4].json, NULL, 1, &size);
    uint64_t state = 1;

    for (int i = 0; i < 20000; i++) {
        uint8_t *bad = malloc(size);
        struct df_tensors *ts;

        memcpy(bad, good, size);
        for (int k = 0; k <= i % 4; k++) {
            state = state * 6364136223846793005u + 1442695040888963407u;
            bad[(state >> 33) % size] =
                "0123456789[]{},:-'x\0"[state >> 40 & 15];
        }
        if (df_tensors_view(&ts, bad, size, "damaged") == DF_OK) {
            opened++;
            for (size_t j = 0; j < df_tensors_count(ts); j++) {
                const struct df_tensor *t = df_tensors_at(ts, j);

                outside += t->data < bad || t->data + t->size > bad + size;
            }
            df_tensors_free(ts);
        }
        free(bad);
    }
    free(good);
    ok(opened > 0 && outside == 0, "no damaged image leads outside of it");
}

int
main(void)
{
    plan(N_CASES + N_FILES + 12 + 1);
    make_scratch();
    check_headers();
    check_reading();
    check_damaged();
    return 0;
}
