/* What a tokenizer's folder may not hold: each is refused by a message that
   names it.  And what tokenizer_config.json may say.  */

#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dflash/tokenizer.h"
#include "tap/tap.h"
#include "unit/text/build.h"

#define WORDS "a b ab;a b"
#define SPLIT(pattern)                             \
    "{'type':'Split','pattern':{'Regex':'" pattern \
    "'},'behavior':'Isolated','invert':false}"
#define LEVEL \
    "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':false}"

struct refused_parts {
    df_status status;
    const char *message; /* a part of it */
    struct parts parts;
};

struct refused_file {
    const char *message; /* a part of it */
    const char *json;
};

#define ROW(status, message, ...)        \
    {                                    \
        status, message, { __VA_ARGS__ } \
    }
#define FILE_ROW(message, json) \
    {                           \
        message, json           \
    }

/* Tokenizers that are well-formed JSON, but for one thing.  */
static const struct refused_parts refused[] = {
    /* What is not implemented.  */
    ROW(DF_UNSUPPORTED, "normalizer of type BertNormalizer is not supported",
        .words = WORDS, .normalizer = "{'type':'BertNormalizer'}"),
    ROW(DF_UNSUPPORTED, "normalizer of type Precompiled is not supported",
        .words = WORDS,
        .normalizer =
            "{'type':'Sequence','normalizers':[{'type':'NFC'},{'type':"
            "'Precompiled'}]}"),
    ROW(DF_UNSUPPORTED, "pre_tokenizer of type Whitespace is not supported",
        .words = WORDS, .pre_tokenizer = "{'type':'Whitespace'}"),
    ROW(DF_UNSUPPORTED, "Split behind ByteLevel", .words = WORDS,
        .pre_tokenizer =
            "{'type':'Sequence','pretokenizers':[" LEVEL "," SPLIT("a") "]}"),
    ROW(DF_UNSUPPORTED, "post_processor of type BertProcessing",
        .words = WORDS, .post = "{'type':'BertProcessing'}"),
    ROW(DF_UNSUPPORTED, "decoder of type WordPiece is not supported",
        .words = WORDS, .decoder = "{'type':'WordPiece'}"),
    ROW(DF_UNSUPPORTED, "dropout", .words = WORDS, .model = ",'dropout':0.1"),
    ROW(DF_UNSUPPORTED, "continuing_subword_prefix", .words = WORDS,
        .model = ",'continuing_subword_prefix':'##'"),
    ROW(DF_UNSUPPORTED, "end_of_word_suffix", .words = WORDS,
        .model = ",'end_of_word_suffix':'</w>'"),
    ROW(DF_UNSUPPORTED, "the key novelty", .words = WORDS,
        .model = ",'novelty':1"),
    ROW(DF_UNSUPPORTED, "the key form", .words = WORDS,
        .normalizer = "{'type':'NFC','form':'D'}"),
    ROW(DF_UNSUPPORTED, "prepend_scheme first", .words = WORDS,
        .pre_tokenizer = "{'type':'Metaspace','replacement':'_',"
                         "'prepend_scheme':'first'}",
        .normalizer = "{'type':'NFC'}"),
    ROW(DF_UNSUPPORTED, "a pattern that may match nothing", .words = WORDS,
        .normalizer = "{'type':'Replace','pattern':{'Regex':'a*'},'content':"
                      "'b'}"),
    /* Patterns that PCRE2 would read otherwise than Oniguruma.  */
    ROW(DF_UNSUPPORTED, "this escape (byte 2)", .words = WORDS,
        .pre_tokenizer = SPLIT("a\\\\b")),
    ROW(DF_UNSUPPORTED, "this escape", .words = WORDS,
        .pre_tokenizer = SPLIT("\\\\h+")),
    ROW(DF_UNSUPPORTED, "behind this repetition", .words = WORDS,
        .pre_tokenizer = SPLIT("a{2}+")),
    ROW(DF_UNSUPPORTED, "behind this repetition", .words = WORDS,
        .pre_tokenizer = SPLIT("a{2}?")),
    ROW(DF_UNSUPPORTED, "&& within brackets", .words = WORDS,
        .pre_tokenizer = SPLIT("[a&&b]")),
    ROW(DF_UNSUPPORTED, "brackets within brackets", .words = WORDS,
        .pre_tokenizer = SPLIT("[[:alpha:]]")),
    ROW(DF_UNSUPPORTED, "a hyphen beside a class", .words = WORDS,
        .pre_tokenizer = SPLIT("[\\\\s-a]")),
    ROW(DF_UNSUPPORTED, "case folding", .words = WORDS,
        .pre_tokenizer = SPLIT("(?i:ss)")),
    ROW(DF_UNSUPPORTED, "brackets under (?i)", .words = WORDS,
        .pre_tokenizer = SPLIT("(?i:[a])")),
    ROW(DF_UNSUPPORTED, "this kind of group", .words = WORDS,
        .pre_tokenizer = SPLIT("a(?i)b|c")),
    ROW(DF_UNSUPPORTED, "this escape", .words = WORDS,
        .pre_tokenizer = SPLIT("(a)\\\\1")),
    ROW(DF_UNSUPPORTED, "PCRE2 refuses", .words = WORDS,
        .pre_tokenizer = SPLIT("\\\\p{Klingon}")),
    ROW(DF_UNSUPPORTED, "a closing parenthesis", .words = WORDS,
        .pre_tokenizer = SPLIT("a)")),
    ROW(DF_UNSUPPORTED, "a group that is never closed", .words = WORDS,
        .pre_tokenizer = SPLIT("(a")),
    ROW(DF_UNSUPPORTED, "a bracket that is never closed", .words = WORDS,
        .pre_tokenizer = SPLIT("[a")),
    ROW(DF_UNSUPPORTED, "an empty pattern", .words = WORDS,
        .pre_tokenizer = SPLIT("")),
    /* Contradictions.  */
    ROW(DF_FORMAT, "merge 0: no token ab", .words = "a b;a b"),
    ROW(DF_FORMAT, "merge 1: no token c", .words = "a b ab;a b,a c"),
    ROW(DF_FORMAT, "merge 1 is not two strings", .words = "a b ab;a b,ab"),
    ROW(DF_FORMAT, "given twice", .words = WORDS, .added = "<s>/s <s>/"),
    ROW(DF_FORMAT, "the same when normalized", .words = WORDS,
        .normalizer = "{'type':'NFC'}", .added = "\u00e9/n e\u0301/n"),
    ROW(DF_FORMAT, "an id that no token has", .words = WORDS,
        .post =
            "{'type':'TemplateProcessing','single':[{'Sequence':{'id':'A',"
            "'type_id':0}},{'SpecialToken':{'id':'E','type_id':0}}],"
            "'special_tokens':{'E':{'id':'E','ids':[99],'tokens':['E']}}}"),
    ROW(DF_UNSUPPORTED, "other than one text A", .words = WORDS,
        .post = "{'type':'TemplateProcessing','single':[{'Sequence':{'id':'B',"
                "'type_id':0}}],'special_tokens':{}}"),
};

/* Whole files.  */
static const struct refused_file files[] = {
    FILE_ROW("tokenizer.json:1:", ""),
    FILE_ROW("not JSON",
             "{'version':'1.0','model':{'type':'BPE','vocab':{'a':0},'mer"),
    FILE_ROW("an array, not an object", "[]"),
    FILE_ROW("no model", "{}"),
    FILE_ROW("model is an integer", "{'model':7}"),
    FILE_ROW("model of type Unigram",
             "{'model':{'type':'Unigram','vocab':[]}}"),
    FILE_ROW("no vocab", "{'model':{'type':'BPE','merges':[]}}"),
    FILE_ROW("vocab is empty",
             "{'model':{'type':'BPE','vocab':{},'merges':[]}}"),
    FILE_ROW("vocab is an array",
             "{'model':{'type':'BPE','vocab':['a'],'merges':[]}}"),
    FILE_ROW("merges is an object",
             "{'model':{'type':'BPE','vocab':{'a':0},'merges':{}}}"),
    FILE_ROW("merge 0 is not",
             "{'model':{'type':'BPE','vocab':{'a':0},'merges':[7]}}"),
    FILE_ROW("merge 0 is not",
             "{'model':{'type':'BPE','vocab':{'a':0},'merges':[['a']]}}"),
    FILE_ROW("token a has a real number",
             "{'model':{'type':'BPE','vocab':{'a':0.5},'merges':[]}}"),
    FILE_ROW("token a has id -1",
             "{'model':{'type':'BPE','vocab':{'a':-1},'merges':[]}}"),
    FILE_ROW("token a has id 2147483647",
             "{'model':{'type':'BPE','vocab':{'a':2147483647},'merges':[]}}"),
    FILE_ROW("tokens a and b both have id 0",
             "{'model':{'type':'BPE','vocab':{'a':0,'b':0},'merges':[]}}"),
    FILE_ROW("not JSON",
             "{'model':{'type':'BPE','vocab':{'a':0,'a':1},'merges':[]}}"),
    FILE_ROW("fuse_unk is a string",
             "{'model':{'vocab':{'a':0},'merges':[],'fuse_unk':'yes'}}"),
    FILE_ROW("version 2.0 is not supported",
             "{'version':'2.0','model':{'vocab':{'a':0},'merges':[]}}"),
    FILE_ROW("truncation is not supported",
             "{'model':{'vocab':{'a':0},'merges':[]},'truncation':{'max_"
             "length':5}}"),
    FILE_ROW("padding is not supported",
             "{'model':{'vocab':{'a':0},'merges':[]},'padding':{}}"),
    FILE_ROW("the key novelty",
             "{'model':{'vocab':{'a':0},'merges':[]},'novelty':null}"),
    FILE_ROW("normalizer is a string",
             "{'model':{'vocab':{'a':0},'merges':[]},'normalizer':'NFC'}"),
    FILE_ROW("no type",
             "{'model':{'vocab':{'a':0},'merges':[]},'normalizer':{}}"),
    FILE_ROW("added token b has id 7, where its place in the list gives it 1",
             "{'model':{'vocab':{'a':0},'merges':[]},'added_tokens':[{'id':7,"
             "'content':'b','single_word':false,'lstrip':false,'rstrip':false,"
             "'normalized':false,'special':false}]}"),
    FILE_ROW("added token a has id 1, where vocab gives it 0",
             "{'model':{'vocab':{'a':0},'merges':[]},'added_tokens':[{'id':1,"
             "'content':'a','single_word':false,'lstrip':false,'rstrip':false,"
             "'normalized':false,'special':false}]}"),
    FILE_ROW("no single_word",
             "{'model':{'vocab':{'a':0},'merges':[]},'added_tokens':[{'id':1,"
             "'content':'b'}]}"),
};

/* tokenizer_config.json beside a sound tokenizer.json.  */
static const struct refused_file configs[] = {
    FILE_ROW("an array, not an object", "[]"),
    FILE_ROW("eos_token is an integer", "{'eos_token':7}"),
    FILE_ROW("eos_token is </s>, which tokenizer.json",
             "{'eos_token':'</s>'}"),
    FILE_ROW("added token a has id 9, in tokenizer.json 0",
             "{'added_tokens_decoder':{'9':{'content':'a'}}}"),
    FILE_ROW("chat_template is an integer", "{'chat_template':7}"),
    FILE_ROW("no template", "{'chat_template':[{'name':'default'}]}"),
};

static void
check_refused(df_status status, const char *message)
{
    struct df_tokenizer *tok = NULL;
    df_status seen = df_tokenizer_open(&tok, build_dir());
    const char *text = seen == DF_OK ? "opened" : df_error_last()->message;

    if (!ok(seen == status && !tok && strstr(text, message), "refused: %s",
            message))
        diag("seen: %s", text);
    df_tokenizer_free(tok);
}

/* Open with CONFIG and JINJA, and compare the template.  */
static void
check_template(const char *config, const char *jinja, const char *wanted,
               const char *label)
{
    struct df_tokenizer *tok = NULL;
    const char *seen;

    build_file("tokenizer_config.json", config);
    build_plain_file("chat_template.jinja", jinja);
    if (df_tokenizer_open(&tok, build_dir()) != DF_OK)
        diag("%s", df_error_last()->message);
    seen = tok ? df_tokenizer_chat_template(tok) : "not opened";
    ok(wanted && seen ? strcmp(wanted, seen) == 0 : wanted == seen, "%s",
       label);
    df_tokenizer_free(tok);
}

static void
check_roles(void)
{
    struct df_tokenizer *tok;

    build_plain_file("chat_template.jinja", NULL);
    build_file("tokenizer_config.json",
               "{'bos_token':null,'eos_token':'b','mask_token':{'content':"
               "'ab','lstrip':true},'added_tokens_decoder':{'1':{'content':"
               "'b'}}}");
    if (df_tokenizer_open(&tok, build_dir()) != DF_OK)
        tok = NULL;
    ok(tok && df_tokenizer_special(tok, "eos") == 1, "eos is a string");
    ok(tok && df_tokenizer_special(tok, "mask") == 2, "mask is an object");
    ok(tok && df_tokenizer_special(tok, "bos") == -1, "bos is null");
    ok(tok && df_tokenizer_special(tok, "pad") == -1, "pad is not there");
    ok(tok && df_tokenizer_special(tok, "novelty") == -1, "no such role");
    df_tokenizer_free(tok);
}

int
main(void)
{
    const size_t n = sizeof refused / sizeof *refused;
    const size_t n_files = sizeof files / sizeof *files;
    const size_t n_configs = sizeof configs / sizeof *configs;

    plan((int) (n + n_files + n_configs) + 11);
    check_refused(DF_IO, "tokenizer.json: No such file");
    for (size_t i = 0; i < n; i++) {
        build_json(&refused[i].parts);
        check_refused(refused[i].status, refused[i].message);
    }
    for (size_t i = 0; i < n_files; i++) {
        build_file("tokenizer.json", files[i].json);
        check_refused(strstr(files[i].message, "supported")
                              || strstr(files[i].message, "Unigram")
                              || strstr(files[i].message, "the key")
                          ? DF_UNSUPPORTED
                          : DF_FORMAT,
                      files[i].message);
    }
    build_json(&(struct parts){.words = WORDS});
    for (size_t i = 0; i < n_configs; i++) {
        build_file("tokenizer_config.json", configs[i].json);
        check_refused(DF_FORMAT, configs[i].message);
    }
    check_roles();
    check_template("{}", NULL, NULL, "no chat template");
    check_template("{'chat_template':'x'}", NULL, "x", "a string");
    check_template("{'chat_template':[{'name':'tool_use','template':'t'},"
                   "{'name':'default','template':'d'}]}",
                   NULL, "d", "the default one of a list");
    check_template("{'chat_template':[{'name':'rag','template':'r'}]}", NULL,
                   NULL, "a list without a default");
    check_template("{'chat_template':'x'}", "file", "file",
                   "the file comes first");
    build_end();
    return 0;
}
