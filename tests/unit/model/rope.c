#include <config.h>
#include <math.h>
#include "dflash/config.h"
#include "files.h"

/* Heads of 64 features, 4096 positions.  */
#define MODEL                                                         \
    "{'model_type':'llama','hidden_size':64,'intermediate_size':128," \
    "'num_attention_heads':1,'num_hidden_layers':1,'vocab_size':320," \
    "'max_position_embeddings':4096"
#define YARN \
    "'rope_type':'yarn','factor':2,'original_max_position_embeddings':2048"
#define LLAMA3                                               \
    "'rope_type':'llama3','factor':8.0,'low_freq_factor':1," \
    "'high_freq_factor':4,'original_max_position_embeddings':8192"

static const struct json_case cases[] = {
    GOOD("nothing at all", MODEL "}", 0),
    GOOD("both null", MODEL ",'rope_scaling':null,'rope_parameters':null}", 0),
    GOOD("both empty", MODEL ",'rope_scaling':{},'rope_parameters':{}}", 0),
    GOOD("partial_rotary_factor 1",
         MODEL ",'partial_rotary_factor':1.0,'rope_parameters':{"
               "'rope_type':'default','partial_rotary_factor':1}}",
         0),
    GOOD("both spellings of the type",
         MODEL ",'rope_scaling':{'type':'linear','rope_type':'linear',"
               "'factor':2}}",
         0),
    GOOD("the same said twice",
         MODEL ",'rope_theta':1000000,'rope_scaling':{" YARN "},"
               "'rope_parameters':{'rope_theta':1e6," YARN "}}",
         0),
    GOOD("keys of other types", MODEL ",'rope_parameters':{'factor':3}}", 0),
    BEYOND("dynamic", MODEL ",'rope_scaling':{'type':'dynamic','factor':2}}",
           0,
           "rope_scaling: rope type 'dynamic' is not supported (supported:"
           " default, linear, llama3, yarn)"),
    BEYOND("longrope", MODEL ",'rope_parameters':{'rope_type':'longrope'}}", 0,
           "rope_parameters: rope type 'longrope'"),
    BEYOND("an unknown type", MODEL ",'rope_scaling':{'type':'x'}}", 0,
           "rope type 'x' is not supported"),
    BEYOND("an unknown key", MODEL ",'rope_scaling':{'mrope_section':[1]}}", 0,
           "rope_scaling: 'mrope_section' is not supported"),
    BEYOND("one for each layer type",
           MODEL ",'rope_parameters':{'full_attention':{'rope_theta':1e6}}}",
           0, "one rope for each layer type ('full_attention')"),
    BEYOND("a part of the head", MODEL ",'partial_rotary_factor':0.25}", 0,
           "partial_rotary_factor 0.25 is not supported"),
    BEYOND("likewise inside",
           MODEL ",'rope_parameters':{'partial_rotary_factor':0.5}}", 0,
           "rope_parameters: partial_rotary_factor 0.5"),
    BAD("two types",
        MODEL ",'rope_scaling':{'type':'yarn','rope_type':'linear',"
              "'factor':2}}",
        0, "rope_scaling: rope_type 'linear', but type 'yarn'"),
    BAD("two that disagree",
        MODEL ",'rope_parameters':{'rope_type':'default'},"
              "'rope_scaling':{" YARN "}}",
        0, "rope_parameters and rope_scaling disagree"),
    BAD("scaling is a number", MODEL ",'rope_scaling':2}", 0,
        "rope_scaling is an integer, not an object"),
    BAD("theta is a string", MODEL ",'rope_theta':'1e6'}", 0,
        "rope_theta is a string, not a number"),
    BAD("theta 1", MODEL ",'rope_theta':1}", 0, "rope_theta is 1, not above"),
    BAD("theta negative", MODEL ",'rope_parameters':{'rope_theta':-1}}", 0,
        "rope_theta is -1"),
    BAD("theta too large for a double", MODEL ",'rope_theta':1e999}", 0,
        "not JSON"),
    BAD("linear without factor", MODEL ",'rope_scaling':{'type':'linear'}}", 0,
        "rope_scaling: no factor"),
    BAD("factor 0", MODEL ",'rope_scaling':{'type':'linear','factor':0}}", 0,
        "factor is 0, not above 0"),
    BAD("yarn with factor null",
        MODEL ",'rope_scaling':{'type':'yarn','factor':null}}", 0,
        "no factor"),
    BAD("llama3 without its factors",
        MODEL ",'rope_scaling':{'type':'llama3','factor':8}}", 0,
        "no low_freq_factor"),
    BAD("llama3 with equal factors",
        MODEL ",'rope_scaling':{'type':'llama3','factor':8,"
              "'low_freq_factor':1,'high_freq_factor':1}}",
        0, "high_freq_factor is 1, not above 1"),
    BAD("attention_factor 0",
        MODEL ",'rope_scaling':{" YARN ",'attention_factor':0}}", 0,
        "attention_factor is 0"),
    BAD("original positions 0",
        MODEL ",'rope_scaling':{'type':'yarn','factor':2,"
              "'original_max_position_embeddings':0}}",
        0, "original_max_position_embeddings is 0"),
};

/* Frequencies by an independent float32 computation, step by step as
   transformers defines them: those of features 0, 1, 1/4, 1/2, 3/4 and the
   last, the sum of all bit patterns times their 1-based place, and the
   factor.  */
static const struct {
    const char *label;
    const char *json;
    int head_dim;
    float frequencies[6];
    uint32_t sum;
    float factor;
} tables[] = {
#define TABLE(label, json, head_dim, sum, factor, ...)    \
    {                                                     \
        label, json, head_dim, {__VA_ARGS__}, sum, factor \
    }
    TABLE("default, theta 10000", MODEL "}", 64, 0x0f88378f, 0x1.000000p+0f,
          0x1.000000p+0f, 0x1.7ff222p-1f, 0x1.99999ap-4f, 0x1.47ae14p-7f,
          0x1.0624dep-10f, 0x1.17a8e4p-13f),
    TABLE("default, theta at top level", MODEL ",'rope_theta':1000000.0}", 128,
          0x90bff0b2, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.9c975ap-1f,
          0x1.030dc6p-5f, 0x1.0624dep-10f, 0x1.094564p-15f, 0x1.4d1c98p-20f),
    TABLE("default, theta inside",
          MODEL ",'rope_theta':5,'rope_parameters':{'rope_type':'default','"
                "rope_theta':1000000}}",
          128, 0x90bff0b2, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.9c975ap-1f,
          0x1.030dc6p-5f, 0x1.0624dep-10f, 0x1.094564p-15f, 0x1.4d1c98p-20f),
    TABLE("linear", MODEL ",'rope_scaling':{'type':'linear','factor':3}}", 64,
          0x6cbec26d, 0x1.000000p+0f, 0x1.555556p-2f, 0x1.ffed82p-3f,
          0x1.111112p-5f, 0x1.b4e81ap-9f, 0x1.5d867ep-12f, 0x1.74e130p-15f),
    TABLE("llama3, old key",
          MODEL ",'rope_theta':500000.0,'rope_scaling':{" LLAMA3 "}}", 128,
          0x3b7d7378, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.a11582p-1f,
          0x1.341190p-5f, 0x1.132ba4p-11f, 0x1.be2188p-18f, 0x1.4985fep-22f),
    TABLE("llama3, new key",
          MODEL ",'rope_parameters':{'rope_theta':500000.0," LLAMA3 "}}", 128,
          0x3b7d7378, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.a11582p-1f,
          0x1.341190p-5f, 0x1.132ba4p-11f, 0x1.be2188p-18f, 0x1.4985fep-22f),
    TABLE("llama3, original positions from the model",
          MODEL ",'rope_scaling':{'type':'llama3','factor':8,'low_freq_factor'"
                ":1,'high_freq_factor':4}}",
          64, 0x4ea44fe5, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.47ae14p-7f, 0x1.0624dep-13f, 0x1.17a8e4p-16f),
    TABLE("yarn, old key", MODEL ",'rope_scaling':{" YARN "}}", 64, 0x4c5d5f0c,
          0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.7ff222p-1f, 0x1.99999ap-4f,
          0x1.c5b5f4p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn, new key",
          MODEL ",'rope_parameters':{'rope_theta':1e6," YARN "}}", 128,
          0xefa09475, 0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.9c975ap-1f,
          0x1.aaad46p-6f, 0x1.0624dep-11f, 0x1.094564p-16f, 0x1.4d1c98p-21f),
    TABLE("yarn without original positions",
          MODEL ",'rope_scaling':{'type':'yarn','factor':2.0}}", 64,
          0x5f389925, 0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.f81f82p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn, original positions at top level",
          MODEL ",'original_max_position_embeddings':512,'rope_scaling':{" YARN
                "}}",
          64, 0x2a7c946d, 0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.4ad4acp-4f, 0x1.47ae14p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn without truncation",
          MODEL ",'rope_theta':150000,'rope_scaling':{" YARN
                ",'truncate':false,'beta_fast':32.0,'beta_slow':1.0}}",
          64, 0x95ac8dcf, 0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.60ca6ap-1f,
          0x1.78b616p-5f, 0x1.526d2cp-10f, 0x1.132518p-14f, 0x1.44a5a6p-18f),
    TABLE("yarn, betas",
          MODEL ",'rope_scaling':{" YARN ",'beta_fast':16,'beta_slow':2}}", 64,
          0x44210172, 0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.999998p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn, attention_factor",
          MODEL ",'rope_scaling':{" YARN ",'attention_factor':1.25}}", 64,
          0x4c5d5f0c, 0x1.400000p+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.c5b5f4p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn, mscale",
          MODEL ",'rope_scaling':{" YARN
                ",'mscale':1.0,'mscale_all_dim':0.7}}",
          64, 0x4c5d5f0c, 0x1.0513b8p+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.c5b5f4p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn, mscale alone",
          MODEL ",'rope_scaling':{" YARN ",'mscale':1.5}}", 64, 0x4c5d5f0c,
          0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.7ff222p-1f, 0x1.99999ap-4f,
          0x1.c5b5f4p-8f, 0x1.0624dep-11f, 0x1.17a8e4p-14f),
    TABLE("yarn, range of one feature",
          MODEL ",'rope_scaling':{'type':'yarn','factor':2,'original_max_"
                "position_embeddings':1}}",
          64, 0x0f88378f, 0x1.11be9cp+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.47ae14p-7f, 0x1.0624dep-10f, 0x1.17a8e4p-13f),
    TABLE("yarn, factor below 1",
          MODEL ",'rope_scaling':{'type':'yarn','factor':0.5}}", 64,
          0xcda08441, 0x1.000000p+0f, 0x1.000000p+0f, 0x1.7ff222p-1f,
          0x1.99999ap-4f, 0x1.deeabap-7f, 0x1.0624dep-9f, 0x1.17a8e4p-12f),
#undef TABLE
};

enum {
    N_CASES = sizeof cases / sizeof cases[0],
    N_TABLES = sizeof tables / sizeof tables[0]
};

static void
check_frequencies(int k)
{
    struct df_model_config c;
    float f[128];
    int half = tables[k].head_dim / 2;
    const int at[6] = {0, 1, half / 4, half / 2, 3 * half / 4, half - 1};
    uint32_t sum = 0;
    int same = 1;

    if (df_model_config_load(&c, put_json("config.json", tables[k].json))
        != DF_OK)
        diag("%s", df_error_last()->message);
    float factor = df_rope_frequencies(&c.d.rope, tables[k].head_dim, f);
    for (int i = 0; i < 6; i++)
        same = same && f[at[i]] == tables[k].frequencies[i];
    for (int i = 0; i < half; i++)
        sum += df_f32_bits(f[i]) * (uint32_t) (i + 1);
    ok(same && sum == tables[k].sum && factor == tables[k].factor,
       "frequencies: %s", tables[k].label);
}

static void
check_table(void)
{
    enum {
        HEAD = 8,
        POSITIONS = 5000
    };
    static float cosines[POSITIONS][HEAD / 2], sines[POSITIONS][HEAD / 2];
    struct df_rope r = {.type = DF_ROPE_YARN,
                        .theta = 10000,
                        .factor = 1,
                        .original_max_position = 64,
                        .attention_factor = 1.25,
                        .beta_fast = 32,
                        .beta_slow = 1,
                        .truncate = true};
    float f[HEAD / 2];
    double worst = 0;

    df_rope_frequencies(&r, HEAD, f);
    ok(df_rope_table(&r, HEAD, POSITIONS, cosines[0], sines[0]) == DF_OK,
       "a table is filled");
    for (int p = 0; p < POSITIONS; p++)
        for (int i = 0; i < HEAD / 2; i++) {
            float angle = (float) ((double) p * (double) f[i]);

            worst = fmax(worst, fabs(cosines[p][i] - 1.25 * cos(angle)));
            worst = fmax(worst, fabs(sines[p][i] - 1.25 * sin(angle)));
        }
    ok(worst <= 1.5e-7, "its entries are cosines and sines times the factor");
    ok(cosines[0][3] == 1.25f && sines[0][3] == 0, "position 0 is not turned");
}

int
main(void)
{
    struct df_model_config c;

    plan(N_CASES + N_TABLES + 3);
    make_scratch();
    for (int i = 0; i < N_CASES; i++)
        is_failure(
            cases[i].status, cases[i].words,
            df_model_config_load(&c, put_json("config.json", cases[i].json)),
            cases[i].label);
    for (int i = 0; i < N_TABLES; i++)
        check_frequencies(i);
    check_table();
    return 0;
}
