/* tokenizer_rows.h - constructs of tokenizer.json, with texts, and what
   Hugging Face's tokenizers 0.23 makes of them.  */

#ifndef TESTS_TEXT_TOKENIZER_ROWS_H
#define TESTS_TEXT_TOKENIZER_ROWS_H

#include "unit/text/build.h"

#define SEQUENCE "{'type':'Sequence',"
#define LEVEL(prefix, regex)                         \
    "{'type':'ByteLevel','add_prefix_space':" prefix \
    ",'trim_offsets':false,'use_regex':" regex "}"
#define SPLIT(pattern, behavior, invert)                          \
    "{'type':'Split','pattern':" pattern ",'behavior':'" behavior \
    "','invert':" invert "}"
#define REGEX(text)     "{'Regex':'" text "'}"
#define STRING(text)    "{'String':'" text "'}"
#define BYTES           LEVEL("false", "false")
/* The pre-tokenizer PRE, and bytes.  */
#define WITH_BYTES(pre) SEQUENCE "'pretokenizers':[" pre "," BYTES "]}"
#define METASPACE(scheme, split)                                      \
    "{'type':'Metaspace','replacement':'▁','prepend_scheme':'" scheme \
    "','split':" split "}"
#define QWEN                                                             \
    REGEX("(?i:`s|`t|`re|`ve|`m|`ll|`d)|[^\\\\r\\\\n\\\\p{L}\\\\p{N}]?"  \
          "\\\\p{L}+|\\\\p{N}| ?[^\\\\s\\\\p{L}\\\\p{N}]+[\\\\r\\\\n]*|" \
          "\\\\s*[\\\\r\\\\n]+|\\\\s+(?!\\\\S)|\\\\s+")
#define TEMPLATE                                                            \
    "{'type':'TemplateProcessing','single':[{'SpecialToken':{'id':'B',"     \
    "'type_id':0}},{'Sequence':{'id':'A','type_id':0}},{'SpecialToken':{"   \
    "'id':'E','type_id':0}}],'pair':[{'Sequence':{'id':'A','type_id':0}},"  \
    "{'Sequence':{'id':'B','type_id':1}}],'special_tokens':{'B':{'id':'B'," \
    "'ids':[1],'tokens':['a']},'E':{'id':'E','ids':[2,3],'tokens':['b',"    \
    "'ab']}}}"

/* Runs merge, so that the tokens show where a text was split.  */
#define RUNS     "@aa aaaa ĠĠ 11 111 Ġa ab ÃÃ;a a,aa aa,Ġ Ġ,1 1,11 1,Ġ a,a b"
#define LETTERS  "<unk> a b ab c abc ▁ ▁a . bc;a b,ab c,▁ a,b c"
/* As gaps there are three byte tokens.  */
#define FALLBACK "<unk> a b ab <0xC3> <0xA9> <0xE2>;a b"

#define ROW(label, text, tokens, decoded, ...)         \
    {                                                  \
        label, {__VA_ARGS__}, text, tokens, decoded, 0 \
    }
#define ROW_SPECIAL(label, text, tokens, decoded, ...)              \
    {                                                               \
        label, {__VA_ARGS__}, text, tokens, decoded, DF_ADD_SPECIAL \
    }

static const struct row {
    const char *label;
    struct parts parts;
    const char *text;
    const char *tokens;  /* | between them */
    const char *decoded; /* NULL: the text */
    int flags;
} rows[] = {
    ROW("merges go by rank, leftmost first", "aaaaaaa ab aab",
        "aaaa|aa|a|Ġa|b|Ġ|aa|b", NULL, .words = RUNS, .pre_tokenizer = BYTES,
        .decoder = BYTES),
    ROW("merges as pairs", "abcbcab", "abc|bc|ab", NULL,
        .words = "a b c ab abc bc;a+b,ab+c,b+c", .decoder = "{'type':'Fuse'}"),
    ROW("a letter that nothing covers is left out", "axb", "ab", "ab",
        .words = "a b ab;a b", .decoder = "{'type':'Fuse'}"),
    ROW("unknown letters one by one", "xyazz", "<unk>|<unk>|a|<unk>|<unk>",
        "<unk><unk>a<unk><unk>", .words = LETTERS,
        .decoder = "{'type':'Fuse'}", .model = ",'unk_token':'<unk>'"),
    ROW("unknown letters fused", "xyazz", "<unk>|a|<unk>", "<unk>a<unk>",
        .words = LETTERS, .decoder = "{'type':'Fuse'}",
        .model = ",'unk_token':'<unk>','fuse_unk':true"),
    ROW("bytes of unknown letters", "abéab", "ab|<0xC3>|<0xA9>|ab", NULL,
        .words = FALLBACK,
        .decoder = "{'type':'Sequence','decoders':[{'type':'ByteFallback'},{'"
                   "type':'Fuse'}]}",
        .model = ",'unk_token':'<unk>','byte_fallback':true"),
    ROW("not if one byte has no token", "a€b€", "a|<unk>|b|<unk>",
        "a<unk>b<unk>", .words = FALLBACK,
        .decoder = "{'type':'Sequence','decoders':[{'type':'ByteFallback'},{'"
                   "type':'Fuse'}]}",
        .model = ",'unk_token':'<unk>','byte_fallback':true"),
    ROW("byte fall-back lets unknown letters wait", "€éa",
        "<0xC3>|<0xA9>|<unk>|a", "é<unk>a", .words = FALLBACK,
        .decoder = "{'type':'Sequence','decoders':[{'type':'ByteFallback'},{'"
                   "type':'Fuse'}]}",
        .model = ",'unk_token':'<unk>','byte_fallback':true"),
    ROW("ignore_merges looks words up first", "abcc", "abcc", NULL,
        .words = "a b c ab abcc ;a b", .decoder = "{'type':'Fuse'}",
        .model = ",'ignore_merges':true"),
    ROW("without it they must be merged", "abcc", "ab|c|c", NULL,
        .words = "a b c ab abcc ;a b", .decoder = "{'type':'Fuse'}"),
    ROW("no decoder: spaces between tokens", "abc", "ab|c", "ab c",
        .words = "a b c ab;a b"),
    ROW("GPT-2 pattern", "aa aaaa's  aa1111 aa's\n\n  a",
        "aa|Ġ|aaaa|'|s|Ġ|Ġ|aa|11|11|Ġ|aa|'|s|Ċ|Ċ|Ġ|Ġa", NULL, .words = RUNS,
        .pre_tokenizer = LEVEL("false", "true"), .decoder = BYTES),
    ROW("prefix space", "aab", "Ġ|aa|b", " aab", .words = RUNS,
        .pre_tokenizer = LEVEL("true", "true"), .decoder = BYTES),
    ROW("no second prefix space", " aab", "Ġ|aa|b", NULL, .words = RUNS,
        .pre_tokenizer = LEVEL("true", "false"), .decoder = BYTES),
    ROW("the pattern of Qwen", "aa  aa111'S\n\n  aa 'ſa",
        "aa|Ġ|Ġ|aa|1|1|1|'|S|Ċ|Ċ|Ġ|Ġ|aa|Ġ|'|Å|¿|a", NULL, .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(QWEN, "Isolated", "false")),
        .decoder = BYTES),
    ROW("at most three digits", "1111111aa", "111|111|1|aa", NULL,
        .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(REGEX("\\\\p{N}{1,3}"), "Isolated", "false")),
        .decoder = BYTES),
    ROW("split: removed", "aabbaab", "aa|aa", "aaaa", .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(STRING("b"), "Removed", "false")),
        .decoder = BYTES),
    ROW("split: isolated", "aabbaab", "a|a|b|b|a|a|b", NULL, .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(STRING("a"), "Isolated", "false")),
        .decoder = BYTES),
    ROW("split: with previous", "aaaab11a11aa11", "a|a|a|a|b|11|a|11|a|a|11",
        NULL, .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(STRING("a"), "MergedWithPrevious", "false")),
        .decoder = BYTES),
    ROW("split: with next", "aaaab11a11aab", "a|a|a|ab|11|a|11|a|ab", NULL,
        .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(STRING("a"), "MergedWithNext", "false")),
        .decoder = BYTES),
    ROW("split: contiguous", "aa1111bb  aab", "aa|11|11|b|b|ĠĠ|aa|b", NULL,
        .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(REGEX("[a1]"), "Contiguous", "false")),
        .decoder = BYTES),
    ROW("split: inverted, removed", "aa11aaab", "aa|aa|a", "aaaaa",
        .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("a+"), "Removed", "true")),
        .decoder = BYTES),
    ROW("split: inverted, with previous", "11a11aa1", "1|1|a|1|1|aa|1", NULL,
        .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(REGEX("1"), "MergedWithPrevious", "true")),
        .decoder = BYTES),
    ROW("split: empty matches", "aab11", "a|a|b|1|1", NULL, .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("b*"), "Isolated", "false")),
        .decoder = BYTES),
    ROW("a dot in a string is a dot", "aa.aa", "aa|aa", "aaaa", .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(STRING("."), "Removed", "false")),
        .decoder = BYTES),
    ROW("$ ends a line", "aa\naab\raa", "a|Ċ|aa|b|č|a", "a\naab\ra",
        .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("a$"), "Removed", "false")),
        .decoder = BYTES),
    ROW("U+180E is no space",
        "a\xe1\xa0\x8e"
        "a\xe3\x80\x80"
        "a",
        "a|á|ł|İ|a|a",
        "a\xe1\xa0\x8e"
        "aa",
        .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("\\\\s"), "Removed", "false")),
        .decoder = BYTES),
    ROW("Han is a script, not an extension", "a々a、", "a|a|ã|Ģ|ģ", "aa、",
        .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(REGEX("\\\\p{Han}"), "Removed", "false")),
        .decoder = BYTES),
    ROW("letters of Unicode 15",
        "\xf0\xb1\x8d\x90"
        "-",
        "-", "-", .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES(SPLIT(REGEX("\\\\p{L}"), "Removed", "false")),
        .decoder = BYTES),
    ROW("digits one by one", "aa111aa", "aa|1|1|1|aa", NULL, .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES("{'type':'Digits','individual_digits':true}"),
        .decoder = BYTES),
    ROW("digits together", "aa111aa", "aa|111|aa", NULL, .words = RUNS,
        .pre_tokenizer =
            WITH_BYTES("{'type':'Digits','individual_digits':false}"),
        .decoder = BYTES),
    ROW("metaspace: always", "a ab</s>a ", "▁a|▁|ab|</s>|▁a|▁", "a ab</s> a ",
        .words = LETTERS, .pre_tokenizer = METASPACE("always", "true"),
        .added = "</s>/s", .decoder = METASPACE("always", "true")),
    ROW("metaspace: first", "a ab</s>a", "▁a|▁|ab|</s>|a", NULL,
        .words = LETTERS, .pre_tokenizer = METASPACE("first", "false"),
        .added = "</s>/s", .decoder = METASPACE("first", "false")),
    ROW("metaspace: never", "a ab</s>a", "a|▁|ab|</s>|a", NULL,
        .words = LETTERS, .pre_tokenizer = METASPACE("never", "true"),
        .added = "</s>/s", .decoder = METASPACE("never", "true")),
    ROW("prepend and replace, each piece", "a ab</s>a", "▁a|▁|ab|</s>|▁a",
        "a ab</s> a", .words = LETTERS,
        .normalizer =
            "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'▁'"
            "},{'type':'Replace','pattern':{'String':' '},'content':'▁'}]}",
        .added = "</s>/s",
        .decoder = "{'type':'Sequence','decoders':[{'type':'Replace','pattern'"
                   ":{'String':'▁'},'content':' "
                   "'},{'type':'Fuse'},{'type':'Strip','content':' "
                   "','start':1,'stop':0}]}"),
    ROW("replace by a pattern", "xyc", "abc", "abc", .words = LETTERS,
        .normalizer =
            "{'type':'Replace','pattern':{'Regex':'[xy]+'},'content':'ab'}"),
    ROW("lower case, never a final sigma", "AΣİ",
        "a|σ|i|\xcc\x87"
        "",
        "aσi\xcc\x87"
        "",
        .words = "a σ i \xcc\x87"
                 " ;",
        .normalizer = "{'type':'Lowercase'}", .decoder = "{'type':'Fuse'}"),
    ROW("NFC composes",
        "e\xcc\x81"
        "\xe1\x84\x80"
        "\xe1\x85\xa1"
        "\xe1\x86\xa8"
        "한",
        "é|각|한", "é 각 한",
        .words = "é e \xcc\x81"
                 " 각 á 한;",
        .normalizer = "{'type':'NFC'}"),
    ROW("NFC orders marks",
        "a\xcc\x81"
        "\xcc\x96"
        "\xcc\x96"
        "",
        "á|\xcc\x96"
        "|\xcc\x96"
        "",
        "á \xcc\x96"
        " \xcc\x96"
        "",
        .words = "á a \xcc\x96"
                 " \xcc\x81"
                 ";",
        .normalizer = "{'type':'NFC'}"),
    ROW("no normalizer: bytes untouched",
        "e\xcc\x81"
        "é",
        "e|\xcc\x81"
        "|é",
        "e \xcc\x81"
        " é",
        .words = "é e \xcc\x81"
                 " ;"),
    ROW("NFD", "é한",
        "e|\xcc\x81"
        "|\xe1\x84\x92"
        "|\xe1\x85\xa1"
        "|\xe1\x86\xab"
        "",
        "e \xcc\x81"
        " \xe1\x84\x92"
        " \xe1\x85\xa1"
        " \xe1\x86\xab"
        "",
        .words = "é e \xcc\x81"
                 " \xe1\x84\x92"
                 " \xe1\x85\xa1"
                 " \xe1\x86\xab"
                 " ;",
        .normalizer = "{'type':'NFD'}"),
    ROW("NFKC", "ﬁ½", "f|i|1|⁄|2", "f i 1 ⁄ 2", .words = "f i 1 ⁄ 2;",
        .normalizer = "{'type':'NFKC'}"),
    ROW("NFKD", "ﬁé",
        "f|i|e|\xcc\x81"
        "",
        "f i e \xcc\x81"
        "",
        .words = "f i e \xcc\x81"
                 ";",
        .normalizer = "{'type':'NFKD'}"),
    ROW("an added token that is not special", "x<think>y", "x|<think>|y",
        "x <think> y", .words = "x y < t > tx;t x", .added = "<think>/ "),
    ROW("the longest added token", "a<|im_start|>b<|im_a",
        "a|<|im_start|>|b|<|im_|a", "a <|im_start|> b <|im_ a",
        .words = "a b;", .added = "<|im_/ <|im_start|>/s"),
    ROW("rstrip takes white space", "<|user|>  \t\nHa", "<|user|>|H|a",
        "<|user|> H a", .words = "H a ~ ~a;", .added = "<|user|>/rs"),
    ROW("lstrip takes white space", "a   <mask> a", "a|<mask>| |a",
        "a <mask>   a", .words = "a ~ ~~;", .added = "<mask>/ls"),
    ROW("it does not ask for any", "a<mask>a", "a|<mask>|a", "a <mask> a",
        .words = "a ~ ~~;", .added = "<mask>/lrs"),
    ROW("single word: not inside one", "tok-toka-atok-étok tok",
        "tok|-|t|o|k|a|-|a|t|o|k|-|é|t|o|k|tok",
        "tok - t o k a - a t o k - é t o k tok", .words = "a tok t o k - é;",
        .added = "tok/w"),
    ROW("not single word: inside too", "atoka", "a|tok|a", "a tok a",
        .words = "a t o k;", .added = "tok/"),
    ROW("normalized: found after NFC",
        "ae\xcc\x81"
        "",
        "a|é", "a é",
        .words = "a e \xcc\x81"
                 ";",
        .normalizer = "{'type':'NFC'}", .added = "é/n"),
    ROW("raw: only as spelt",
        "aée\xcc\x81"
        "",
        "a|é|e\xcc\x81"
        "",
        "a é e\xcc\x81"
        "",
        .words = "a e \xcc\x81"
                 " é;",
        .normalizer = "{'type':'NFC'}",
        .added = "e\xcc\x81"
                 "/"),
    ROW("normalized with a prefix", "a</s> </s>", "▁a|</s>", "▁a ▁</s>",
        .words = LETTERS,
        .normalizer =
            "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'▁'"
            "},{'type':'Replace','pattern':{'String':' '},'content':'▁'}]}",
        .added = "</s>/n"),
    ROW("spaces of two tokens overlap", "A  x", "A| | |x", "A     x",
        .words = "x ~;", .added = "A/r ~/"),
    ROW("added tokens in the vocabulary keep its ids", "ab", "a|b", "a b",
        .words = "a b ab;a b", .added = "b/s"),
    ROW("no tokens around unasked", "ab", "ab", NULL, .words = LETTERS,
        .post = TEMPLATE),
    ROW_SPECIAL("tokens around", "abc", "a|abc|b|ab", "a abc b ab",
                .words = LETTERS, .post = TEMPLATE),
    ROW_SPECIAL("around an empty text", "", "a|b|ab", "a b ab",
                .words = LETTERS, .post = TEMPLATE),
    ROW_SPECIAL("template behind ByteLevel", "abc", "a|abc|b|ab", "a abc b ab",
                .words = LETTERS,
                .post = SEQUENCE "'processors':[" BYTES "," TEMPLATE "]}"),
    ROW_SPECIAL("ByteLevel alone adds none", "abc", "abc", NULL,
                .words = LETTERS, .post = BYTES),
    ROW("an empty text", "", "", NULL, .words = LETTERS),
    ROW("bytes that are no UTF-8", "ł€", "ł|â|Ĥ|¬", "�€", .words = RUNS,
        .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("ã"), "Removed", "false")),
        .added = "ł/ ", .decoder = BYTES),
    ROW("byte-level strings beside others", "a€Ġa", "a|€Ġ|a", NULL,
        .words = RUNS, .pre_tokenizer = BYTES, .added = "€Ġ/ ",
        .decoder = BYTES),
};

#endif
