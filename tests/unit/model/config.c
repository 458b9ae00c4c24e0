#include <config.h>
#include <sys/stat.h>
#include "dflash/config.h"
#include "files.h"

/* A config without its last brace, so that a case can add to it; a key given
   twice is refused, so cases replace these by naming another base.  */
#define SIZES                                                           \
    "'hidden_size':64,'intermediate_size':128,'num_attention_heads':4," \
    "'num_hidden_layers':3,'vocab_size':320,'max_position_embeddings':512"
#define QWEN3 "{'model_type':'qwen3'," SIZES
#define LLAMA "{'model_type':'llama'," SIZES

static const struct json_case cases[] = {
    GOOD("Qwen3 of the compulsory keys", QWEN3 "}", 0),
    GOOD("Llama", LLAMA ",'architectures':['LlamaForCausalLM']}", 0),
    GOOD("architectures null", QWEN3 ",'architectures':null}", 0),
    GOOD("eos list", QWEN3 ",'eos_token_id':[1,2,3],'bos_token_id':-1}", 0),
    GOOD("mlp_bias false", LLAMA ",'mlp_bias':false}", 0),
    GOOD("quantization null", QWEN3 ",'quantization_config':null}", 0),
    GOOD("layer_types full",
         LLAMA ",'layer_types':['full_attention','full_attention',"
               "'full_attention']}",
         0),
    BEYOND("another family", "{'model_type':'gemma3'," SIZES "}", 0,
           "config.json: model_type 'gemma3' is not supported (supported:"
           " llama, qwen3)"),
    BEYOND("another architecture",
           QWEN3 ",'architectures':['Qwen3ForSequenceClassification']}", 0,
           "architecture 'Qwen3ForSequenceClassification' is not supported"
           " (wanted: Qwen3ForCausalLM)"),
    BEYOND("a drafter", QWEN3 ",'architectures':['DFlashDraftModel']}", 0,
           "architecture 'DFlashDraftModel'"),
    BEYOND("quantized", QWEN3 ",'quantization_config':{'bits':4}}", 0,
           "quantized weights are not supported"),
    BEYOND("gelu", QWEN3 ",'hidden_act':'gelu'}", 0,
           "hidden_act 'gelu' is not supported (supported: silu)"),
    BEYOND("mlp_bias", LLAMA ",'mlp_bias':true}", 0, "mlp_bias is not"),
    BEYOND("float64", QWEN3 ",'dtype':'float64'}", 0,
           "dtype 'float64' is not supported"),
    BEYOND("linear attention",
           QWEN3 ",'layer_types':['full_attention','linear_attention',"
                 "'full_attention']}",
           0, "layer_types[1] 'linear_attention' is not supported"),
    BEYOND("Llama with windows",
           LLAMA ",'use_sliding_window':true,'sliding_window':8,"
                 "'max_window_layers':0}",
           0, "sliding windows are not supported for model_type 'llama'"),
    BAD("no object", "[]", 0, "config.json: is an array, not an object"),
    BAD("no JSON", "{", 0, "not JSON"),
    BAD("a byte that moves the cursor", "{'model_type':\n \x1b}", 0,
        "config.json:2:2: not JSON: invalid token near '?'"),
    BAD("no model_type", "{" SIZES "}", 0, "config.json: no model_type"),
    BAD("model_type is a number", "{'model_type':3}", 0,
        "model_type is an integer, not a string"),
    BAD("architectures is a string", QWEN3 ",'architectures':'x'}", 0,
        "architectures is a string, not an array"),
    BAD("architectures of numbers", QWEN3 ",'architectures':[1]}", 0,
        "architectures holds an integer"),
    BAD("no hidden_size", "{'model_type':'llama'}", 0, "no hidden_size"),
    BAD("hidden_size null", "{'model_type':'llama','hidden_size':null}", 0,
        "no hidden_size"),
    BAD("hidden_size real", "{'model_type':'llama','hidden_size':64.0}", 0,
        "hidden_size is a real number, not an integer"),
    BAD("hidden_size 0", "{'model_type':'llama','hidden_size':0}", 0,
        "hidden_size is 0, not within 1 and 1048576"),
    BAD("hidden_size 1e12",
        "{'model_type':'llama','hidden_size':1000000000000}", 0,
        "hidden_size is 1000000000000, not within"),
    BAD("hidden_size of 30 digits",
        "{'hidden_size':100000000000000000000000000000}", 0, "not JSON"),
    BAD("257 layers",
        "{'model_type':'llama','hidden_size':64,'intermediate_size':1,"
        "'num_hidden_layers':257}",
        0, "num_hidden_layers is 257, not within 1 and 256"),
    BAD("3 of 4 heads", QWEN3 ",'num_key_value_heads':3}", 0,
        "num_attention_heads 4 is no multiple of num_key_value_heads 3"),
    BAD("more key heads than heads", QWEN3 ",'num_key_value_heads':8}", 0,
        "num_key_value_heads is 8, not within 1 and 4"),
    BAD("head_dim odd", QWEN3 ",'head_dim':33}", 0, "head_dim is 33, not"),
    BAD("head_dim no quotient",
        "{'model_type':'llama','hidden_size':66,'intermediate_size':1,"
        "'num_attention_heads':4,'num_hidden_layers':1,'vocab_size':3,"
        "'max_position_embeddings':5}",
        0, "hidden_size 66 is no multiple of num_attention_heads 4"),
    BAD("rms_norm_eps 0", QWEN3 ",'rms_norm_eps':0}", 0, "rms_norm_eps is 0"),
    BAD("tied is a string", QWEN3 ",'tie_word_embeddings':'yes'}", 0,
        "tie_word_embeddings is a string, not true or false"),
    BAD("eos -1", QWEN3 ",'eos_token_id':-1}", 0, "eos_token_id is -1"),
    BAD("eos string", QWEN3 ",'eos_token_id':['x']}", 0,
        "eos_token_id is a string"),
    BAD("two layer types of three",
        QWEN3 ",'layer_types':['full_attention','full_attention']}", 0,
        "layer_types has 2 entries for 3 layers"),
    BAD("layer_types is an object", QWEN3 ",'layer_types':{}}", 0,
        "layer_types is an object, not an array"),
    BAD("a sliding layer without a window",
        QWEN3 ",'sliding_window':8,'layer_types':['full_attention',"
              "'full_attention','sliding_attention']}",
        0, "layer_types[2] is sliding_attention, but there is no"),
    BAD("a window of 0",
        QWEN3 ",'use_sliding_window':true,"
              "'sliding_window':0}",
        0, "sliding_window is 0"),
};

/* What one integer of a config is read as.  */
static const struct {
    const char *label;
    const char *json;
    int wanted;
    size_t offset;
} values[] = {
#define V(label, json, wanted, field)                                \
    {                                                                \
        label, json, wanted, offsetof(struct df_model_config, field) \
    }
    V("head_dim absent is the quotient", QWEN3 "}", 16, d.head_dim),
    V("head_dim null too", QWEN3 ",'head_dim':null}", 16, d.head_dim),
    V("head_dim given stands", QWEN3 ",'head_dim':128}", 128, d.head_dim),
    V("kv heads default to heads", QWEN3 "}", 4, d.num_key_value_heads),
    V("kv heads null too", QWEN3 ",'num_key_value_heads':null}", 4,
      d.num_key_value_heads),
    V("kv heads given", QWEN3 ",'num_key_value_heads':2}", 2,
      d.num_key_value_heads),
    V("no bos is -1", QWEN3 "}", -1, bos_token_id),
    V("bos", QWEN3 ",'bos_token_id':7}", 7, bos_token_id),
    V("pad", QWEN3 ",'pad_token_id':9}", 9, pad_token_id),
    V("no eos", QWEN3 ",'eos_token_id':null}", 0, n_eos_token_ids),
    V("one eos", QWEN3 ",'eos_token_id':5}", 5, eos_token_ids[0]),
    V("two eos", QWEN3 ",'eos_token_id':[5,6]}", 6, eos_token_ids[1]),
    V("torch_dtype", QWEN3 ",'torch_dtype':'float16'}", DF_F16, dtype),
    V("dtype", QWEN3 ",'dtype':'bfloat16'}", DF_BF16, dtype),
    V("no dtype", QWEN3 "}", DF_F32, dtype),
    V("a window from max_window_layers on",
      QWEN3 ",'use_sliding_window':true,'sliding_window':8,"
            "'max_window_layers':2}",
      8, d.window[2]),
    V("none before",
      QWEN3 ",'use_sliding_window':true,'sliding_window':8,"
            "'max_window_layers':2}",
      0, d.window[1]),
    V("28 layers without by default",
      QWEN3 ",'use_sliding_window':true,'sliding_window':8}", 0, d.window[2]),
    V("4096 by default",
      QWEN3 ",'use_sliding_window':true,'max_window_layers':0}", 4096,
      d.window[0]),
    V("sliding_window null",
      QWEN3 ",'use_sliding_window':true,'sliding_window':null,"
            "'max_window_layers':0}",
      0, d.window[0]),
    V("sliding_window unused",
      QWEN3 ",'use_sliding_window':false,"
            "'sliding_window':8,"
            "'max_window_layers':0}",
      0, d.window[0]),
    V("layer_types before max_window_layers",
      QWEN3 ",'use_sliding_window':true,'sliding_window':8,"
            "'max_window_layers':0,'layer_types':['full_attention',"
            "'sliding_attention','full_attention']}",
      8, d.window[1]),
    V("and not elsewhere",
      QWEN3 ",'use_sliding_window':true,'sliding_window':8,"
            "'max_window_layers':0,'layer_types':['full_attention',"
            "'sliding_attention','full_attention']}",
      0, d.window[2]),
#undef V
};

enum {
    N_CASES = sizeof cases / sizeof cases[0],
    N_VALUES = sizeof values / sizeof values[0]
};

static void
check_flags(void)
{
    struct df_model_config c;

    put_json("config.json", QWEN3 ",'attention_bias':true,"
                                  "'tie_word_embeddings':true}");
    ok(df_model_config_load(&c, in_scratch("config.json")) == DF_OK
           && c.d.attention_bias && c.tie_word_embeddings && c.d.qk_norm
           && c.d.rms_norm_eps == 1e-6 && c.d.rope.theta == 10000
           && strcmp(c.model_type, "qwen3") == 0,
       "flags and defaults of Qwen3");
    put_json("config.json", LLAMA ",'rms_norm_eps':1e-5}");
    ok(df_model_config_load(&c, scratch) == DF_OK && !c.d.attention_bias
           && !c.tie_word_embeddings && !c.d.qk_norm
           && c.d.rms_norm_eps == 1e-5,
       "those of Llama, from a folder");
    is_failure(DF_IO, "none: No such file",
               df_model_config_load(&c, in_scratch("none")),
               "an absent config");
}

static const struct {
    const char *folder;
    df_status status;
    const char *words;
} shared[] = {
    ROW("golden/targets/qwen3", DF_OK, NULL),
    ROW("golden/targets/qwen3-tied-yarn", DF_OK, NULL),
    ROW("golden/targets/llama3", DF_OK, NULL),
    ROW("models/tiny", DF_OK, NULL),
    ROW("models/stories260K-hf", DF_OK, NULL),
    ROW("golden/targets/gemma3", DF_UNSUPPORTED, "model_type 'gemma3_text'"),
    ROW("golden/targets/gpt-oss", DF_UNSUPPORTED, "model_type 'gpt_oss'"),
    ROW("golden/targets/qwen3-moe", DF_UNSUPPORTED, "model_type 'qwen3_moe'"),
    ROW("golden/targets/qwen3.5", DF_UNSUPPORTED, "model_type 'qwen3_5_text'"),
};

enum {
    N_SHARED = sizeof shared / sizeof shared[0]
};

int
main(void)
{
    struct df_model_config c;

    plan(N_CASES + N_VALUES + 3 + N_SHARED);
    make_scratch();
    for (int i = 0; i < N_CASES; i++)
        is_failure(
            cases[i].status, cases[i].words,
            df_model_config_load(&c, put_json("config.json", cases[i].json)),
            cases[i].label);
    for (int i = 0; i < N_VALUES; i++) {
        df_status status =
            df_model_config_load(&c, put_json("config.json", values[i].json));

        if (status != DF_OK)
            diag("%s", df_error_last()->message);
        is_long(values[i].wanted,
                *(const int *) ((const char *) &c + values[i].offset), "%s",
                values[i].label);
    }
    check_flags();
    for (int i = 0; i < N_SHARED; i++) {
        const char *path = shared_file(shared[i].folder);

        if (path)
            is_failure(shared[i].status, shared[i].words,
                       df_model_config_load(&c, path), shared[i].folder);
    }
    return 0;
}
