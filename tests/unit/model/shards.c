#include <config.h>
#include <sys/stat.h>
#include "dflash/safetensors.h"
#include "files.h"

/* m-1.safetensors has a and x, m-2.safetensors has b.  */
static const struct json_case indexes[] = {
    GOOD("one shard", "{'metadata':{},'weight_map':{'a':'m-1.safetensors'}}",
         0),
    GOOD("two shards",
         "{'metadata':{},'weight_map':{'a':'m-1.safetensors','b':'m-2."
         "safetensors'}}",
         0),
    ABSENT("shards that are missing",
           "{'metadata':{},'weight_map':{'a':'m-1.safetensors','b':'m-3."
           "safetensors','c':'m-4.safetensors'}}",
           "2 shards missing: m-3.safetensors m-4.safetensors (incomplete "
           "download?)"),
    BAD("a tensor that its shard lacks",
        "{'metadata':{},'weight_map':{'b':'m-1.safetensors'}}", 0,
        "m-1.safetensors: no tensor b, which"),
    BAD("a shard above the folder",
        "{'metadata':{},'weight_map':{'w':'../x.safetensors'}}", 0,
        "w lies in '../x.safetensors', which is not a plain"),
    BAD("an absolute path", "{'metadata':{},'weight_map':{'w':'/etc/passwd'}}",
        0, "w lies in '/etc/passwd'"),
    BAD("a shard called ..", "{'metadata':{},'weight_map':{'w':'..'}}", 0,
        "lies in '..'"),
    BAD("a shard without a name", "{'metadata':{},'weight_map':{'w':''}}", 0,
        "lies in ''"),
    BAD("a NUL in a shard's name",
        "{'metadata':{},'weight_map':{'w':'m-1.safetensors\\u0000'}}", 0,
        "not a plain file name"),
    BAD("a shard that is a number", "{'metadata':{},'weight_map':{'w':1}}", 0,
        "weight_map: w is an integer, not a string"),
    BAD("weight_map is an array", "{'metadata':{},'weight_map':[]}", 0,
        "weight_map is an array, not an object"),
    BAD("weight_map is empty", "{'metadata':{},'weight_map':{}}", 0,
        "weight_map is empty"),
    BAD("no weight_map", "{}", 0, "weight_map is nothing"),
    BAD("an index that is an array", "[]", 0, "weight_map is nothing"),
    BAD("an index that is no JSON", "{", 0, "not JSON"),
    BAD("a broken shard",
        "{'metadata':{},'weight_map':{'w':'bad.safetensors'}}", 0,
        "bad.safetensors: not safetensors"),
};

enum {
    N_INDEXES = sizeof indexes / sizeof indexes[0]
};

static void
check_indexes(void)
{
    static const char index[] = "set/model.safetensors.index.json";
    const float one[4] = {1, 1, 1, 1}, two[4] = {2, 2, 2, 2};
    struct df_tensors *ts;
    float x[4];

    mkdir(in_scratch("set"), 0777);
    put_tensors("set/m-1.safetensors",
                "{'__metadata__':{'format':'pt'},'a':{'dtype':'F32','shape':["
                "4],'data_offsets':[0,16]},'x':{'dtype':'U8','shape':[0],'"
                "data_offsets':[16,16]}}",
                one, 16);
    put_tensors("set/m-2.safetensors",
                "{'b':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}", two,
                16);
    put_file("set/bad.safetensors", "", 0);
    for (int i = 0; i < N_INDEXES; i++) {
        put_json(index, indexes[i].json);
        is_failure(indexes[i].status, indexes[i].words,
                   df_tensors_open(&ts, in_scratch("set")), indexes[i].label);
        df_tensors_free(ts);
    }
    put_json(index, indexes[1].json);
    is_failure(DF_OK, NULL, df_tensors_open(&ts, in_scratch(index)),
               "an index is opened by its own name");
    ok(df_tensor_read_f32(df_tensors_find(ts, "a"), x) == DF_OK && x[3] == 1
           && df_tensor_read_f32(df_tensors_find(ts, "b"), x) == DF_OK
           && x[3] == 2,
       "each tensor comes from its shard");
    is_long(1, (long) df_tensors_unindexed(ts),
            "a tensor that the index lacks is counted");
    ok(!df_tensors_find(ts, "x"), "and left out");
    ok(strcmp(df_tensors_metadata(ts, "format"), "pt") == 0
           && !df_tensors_metadata(ts, "none"),
       "metadata is found");
    df_tensors_free(ts);
}

static void
check_folders(void)
{
    struct df_tensors *ts;

    mkdir(in_scratch("dir"), 0777);
    is_failure(DF_IO, "dir: neither model.safetensors nor",
               df_tensors_open(&ts, in_scratch("dir")), "an empty folder");
    put_text("dir/pytorch_model.bin", "x");
    is_failure(DF_UNSUPPORTED, "dir: only pytorch_model.bin, which is not",
               df_tensors_open(&ts, in_scratch("dir")),
               "a folder with another format");
    put_tensors("dir/model.safetensors",
                "{'a':{'dtype':'F32','shape':[4],'data_offsets':[0,16]}}",
                NULL, 16);
    is_failure(DF_OK, NULL, df_tensors_open(&ts, in_scratch("dir")),
               "a folder with one file");
    ok(strcmp(df_tensors_path(ts), in_scratch("dir")) == 0,
       "the path is kept as given");
    df_tensors_free(ts);
    is_failure(DF_IO, "none.safetensors: No such file",
               df_tensors_open(&ts, in_scratch("none.safetensors")),
               "a file that isn't there");
    ok(ts == NULL, "gives no object");
    is_failure(DF_IO, "/dev/null: not a regular file",
               df_tensors_open(&ts, "/dev/null"), "a device");
    alarm(60);
    ok(mkfifo(in_scratch("fifo"), 0600) == 0, "a pipe is made");
    is_failure(DF_IO, "fifo: not a regular file",
               df_tensors_open(&ts, in_scratch("fifo")),
               "it is refused, not waited for");
    alarm(0);
}

int
main(void)
{
    plan(N_INDEXES + 5 + 9);
    make_scratch();
    check_indexes();
    check_folders();
    return 0;
}
