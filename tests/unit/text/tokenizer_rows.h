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

static const struct row {
    const char *label;
    struct parts parts;
    const char *text;
    const char *tokens;  /* | between them */
    const char *decoded; /* NULL: the text */
    int flags;
    size_t len; /* of a text with a NUL; 0: up to the NUL */
} rows[] = {
    {"merges go by rank, leftmost first",
     {.words = RUNS, .pre_tokenizer = BYTES, .decoder = BYTES},
     "aaaaaaa ab aab",                                                              "aaaa|aa|a|Ġa|b|Ġ|aa|b",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"merges as pairs",
     {.words = "a b c ab abc bc;a+b,ab+c,b+c", .decoder = "{'type':'Fuse'}"},
     "abcbcab",                                                                     "abc|bc|ab",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"a letter that nothing covers is left out",
     {.words = "a b ab;a b", .decoder = "{'type':'Fuse'}"},
     "axb",                                                                         "ab",
     "ab",                                                                                                                                        0,
     0                                                                                                                                                             },
    {"unknown letters one by one",
     {.words = LETTERS,
      .decoder = "{'type':'Fuse'}",
      .model = ",'unk_token':'<unk>'"},
     "xyazz",                                                                       "<unk>|<unk>|a|<unk>|<unk>",
     "<unk><unk>a<unk><unk>",                                                                                                                     0,
     0                                                                                                                                                             },
    {"unknown letters fused",
     {.words = LETTERS,
      .decoder = "{'type':'Fuse'}",
      .model = ",'unk_token':'<unk>','fuse_unk':true"},
     "xyazz",                                                                       "<unk>|a|<unk>",
     "<unk>a<unk>",                                                                                                                               0,
     0                                                                                                                                                             },
    {"bytes of unknown letters",
     {.words = FALLBACK,
      .decoder = "{'type':'Sequence','decoders':[{'type':'ByteFallback'},{'"
                 "type':'Fuse'}]}",
      .model = ",'unk_token':'<unk>','byte_fallback':true"},
     "abéab",                                                                      "ab|<0xC3>|<0xA9>|ab",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"not if one byte has no token",
     {.words = FALLBACK,
      .decoder = "{'type':'Sequence','decoders':[{'type':'ByteFallback'},{'"
                 "type':'Fuse'}]}",
      .model = ",'unk_token':'<unk>','byte_fallback':true"},
     "a€b€",                                                                    "a|<unk>|b|<unk>",
     "a<unk>b<unk>",                                                                                                                              0,
     0                                                                                                                                                             },
    {"byte fall-back lets unknown letters wait",
     {.words = FALLBACK,
      .decoder = "{'type':'Sequence','decoders':[{'type':'ByteFallback'},{'"
                 "type':'Fuse'}]}",
      .model = ",'unk_token':'<unk>','byte_fallback':true"},
     "€éa",                                                                      "<0xC3>|<0xA9>|<unk>|a",
     "é<unk>a",                                                                                                                                  0,
     0                                                                                                                                                             },
    {"ignore_merges looks words up first",
     {.words = "a b c ab abcc ;a b",
      .decoder = "{'type':'Fuse'}",
      .model = ",'ignore_merges':true"},
     "abcc",                                                                        "abcc",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"without it they must be merged",
     {.words = "a b c ab abcc ;a b", .decoder = "{'type':'Fuse'}"},
     "abcc",                                                                        "ab|c|c",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"no decoder: spaces between tokens",
     {.words = "a b c ab;a b"},
     "abc",                                                                         "ab|c",
     "ab c",                                                                                                                                      0,
     0                                                                                                                                                             },
    {"GPT-2 pattern",
     {.words = RUNS,
      .pre_tokenizer = LEVEL("false", "true"),
      .decoder = BYTES},
     "aa aaaa's  aa1111 aa's\n\n  a",                                               "aa|Ġ|aaaa|'|s|Ġ|Ġ|aa|11|11|Ġ|aa|'|s|Ċ|Ċ|Ġ|Ġa",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"prefix space",
     {.words = RUNS, .pre_tokenizer = LEVEL("true", "true"), .decoder = BYTES},
     "aab",                                                                         "Ġ|aa|b",
     " aab",                                                                                                                                      0,
     0                                                                                                                                                             },
    {"no second prefix space",
     {.words = RUNS,
      .pre_tokenizer = LEVEL("true", "false"),
      .decoder = BYTES},
     " aab",                                                                        "Ġ|aa|b",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"the pattern of Qwen",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(QWEN, "Isolated", "false")),
      .decoder = BYTES},
     "aa  aa111'S\n\n  aa 'ſa",                                                    "aa|Ġ|Ġ|aa|1|1|1|'|S|Ċ|Ċ|Ġ|Ġ|aa|Ġ|'|Å|¿|a",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"at most three digits",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES(SPLIT(REGEX("\\\\p{N}{1,3}"), "Isolated", "false")),
      .decoder = BYTES},
     "1111111aa",                                                                   "111|111|1|aa",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"split: removed",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(STRING("b"), "Removed", "false")),
      .decoder = BYTES},
     "aabbaab",                                                                     "aa|aa",
     "aaaa",                                                                                                                                      0,
     0                                                                                                                                                             },
    {"split: isolated",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(STRING("a"), "Isolated", "false")),
      .decoder = BYTES},
     "aabbaab",                                                                     "a|a|b|b|a|a|b",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"split: with previous",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES(SPLIT(STRING("a"), "MergedWithPrevious", "false")),
      .decoder = BYTES},
     "aaaab11a11aa11",                                                              "a|a|a|a|b|11|a|11|a|a|11",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"split: with next",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES(SPLIT(STRING("a"), "MergedWithNext", "false")),
      .decoder = BYTES},
     "aaaab11a11aab",                                                               "a|a|a|ab|11|a|11|a|ab",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"split: contiguous",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("[a1]"), "Contiguous", "false")),
      .decoder = BYTES},
     "aa1111bb  aab",                                                               "aa|11|11|b|b|ĠĠ|aa|b",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"split: inverted, removed",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("a+"), "Removed", "true")),
      .decoder = BYTES},
     "aa11aaab",                                                                    "aa|aa|a",
     "aaaaa",                                                                                                                                     0,
     0                                                                                                                                                             },
    {"split: inverted, with previous",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES(SPLIT(REGEX("1"), "MergedWithPrevious", "true")),
      .decoder = BYTES},
     "11a11aa1",                                                                    "1|1|a|1|1|aa|1",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"split: empty matches",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("b*"), "Isolated", "false")),
      .decoder = BYTES},
     "aab11",                                                                       "a|a|b|1|1",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"a dot in a string is a dot",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(STRING("."), "Removed", "false")),
      .decoder = BYTES},
     "aa.aa",                                                                       "aa|aa",
     "aaaa",                                                                                                                                      0,
     0                                                                                                                                                             },
    {"$ ends a line",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("a$"), "Removed", "false")),
      .decoder = BYTES},
     "aa\naab\raa",                                                                 "a|Ċ|aa|b|č|a",
     "a\naab\ra",                                                                                                                                 0,
     0                                                                                                                                                             },
    {"U+180E is no space",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("\\\\s"), "Removed", "false")),
      .decoder = BYTES},
     "a\xe1\xa0\x8e"
     "a\xe3\x80\x80"
     "a",                                                                           "a|á|ł|İ|a|a",
     "a\xe1\xa0\x8e"
     "aa",                                                                                                                                        0,
     0                                                                                                                                                             },
    {"Han is a script, not an extension",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES(SPLIT(REGEX("\\\\p{Han}"), "Removed", "false")),
      .decoder = BYTES},
     "a々a、",                                                                    "a|a|ã|Ģ|ģ",
     "aa、",                                                                                                                                     0,
     0                                                                                                                                                             },
    {"letters of Unicode 15",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES(SPLIT(REGEX("\\\\p{L}"), "Removed", "false")),
      .decoder = BYTES},
     "\xf0\xb1\x8d\x90"
     "-",                                                                           "-",
     "-",                                                                                                                                         0,
     0                                                                                                                                                             },
    {"digits one by one",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES("{'type':'Digits','individual_digits':true}"),
      .decoder = BYTES},
     "aa111aa",                                                                     "aa|1|1|1|aa",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"digits together",
     {.words = RUNS,
      .pre_tokenizer =
          WITH_BYTES("{'type':'Digits','individual_digits':false}"),
      .decoder = BYTES},
     "aa111aa",                                                                     "aa|111|aa",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"metaspace: always",
     {.words = LETTERS,
      .pre_tokenizer = METASPACE("always", "true"),
      .added = "</s>/s",
      .decoder = METASPACE("always", "true")},
     "a ab</s>a ",                                                                  "▁a|▁|ab|</s>|▁a|▁",
     "a ab</s> a ",                                                                                                                               0,
     0                                                                                                                                                             },
    {"metaspace: first",
     {.words = LETTERS,
      .pre_tokenizer = METASPACE("first", "false"),
      .added = "</s>/s",
      .decoder = METASPACE("first", "false")},
     "a ab</s>a",                                                                   "▁a|▁|ab|</s>|a",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"metaspace: never",
     {.words = LETTERS,
      .pre_tokenizer = METASPACE("never", "true"),
      .added = "</s>/s",
      .decoder = METASPACE("never", "true")},
     "a ab</s>a",                                                                   "a|▁|ab|</s>|a",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"prepend and replace, each piece",
     {.words = LETTERS,
      .normalizer =
          "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'▁'},"
          "{'type':'Replace','pattern':{'String':' '},'content':'▁'}]}",
      .added = "</s>/s",
      .decoder = "{'type':'Sequence','decoders':[{'type':'Replace','pattern':{"
                 "'String':'▁'},'content':' "
                 "'},{'type':'Fuse'},{'type':'Strip','content':' "
                 "','start':1,'stop':0}]}"},
     "a ab</s>a",                                                                   "▁a|▁|ab|</s>|▁a",
     "a ab</s> a",                                                                                                                                0,
     0                                                                                                                                                             },
    {"replace by a pattern",
     {.words = LETTERS,
      .normalizer =
          "{'type':'Replace','pattern':{'Regex':'[xy]+'},'content':'ab'}"},
     "xyc",                                                                         "abc",
     "abc",                                                                                                                                       0,
     0                                                                                                                                                             },
    {"lower case, never a final sigma",
     {.words = "a σ i \xcc\x87"
               " ;",
      .normalizer = "{'type':'Lowercase'}",
      .decoder = "{'type':'Fuse'}"},
     "AΣİ",                                                                       "a|σ|i|\xcc\x87"
     "",                                                                                                                       "aσi\xcc\x87"
     "",                                                                                                                     0,
     0                                                                                                                                                             },
    {"NFC composes",
     {.words = "é e \xcc\x81"
               " 각 á 한;",
      .normalizer = "{'type':'NFC'}"},
     "e\xcc\x81"
     "\xe1\x84\x80"
     "\xe1\x85\xa1"
     "\xe1\x86\xa8"
     "한",                                                                         "é|각|한",
     "é 각 한",                                                                                                                                0,
     0                                                                                                                                                             },
    {"NFC orders marks",
     {.words = "á a \xcc\x96"
               " \xcc\x81"
               ";",
      .normalizer = "{'type':'NFC'}"},
     "a\xcc\x81"
     "\xcc\x96"
     "\xcc\x96"
     "",                                                                            "á|\xcc\x96"
     "|\xcc\x96"
     "",                                                                                                                            "á \xcc\x96"
     " \xcc\x96"
     "",                                                                                                                          0,
     0                                                                                                                                                             },
    {"no normalizer: bytes untouched",
     {.words = "é e \xcc\x81"
               " ;"},
     "e\xcc\x81"
     "é",                                                                          "e|\xcc\x81"
     "|é",                                                                                                                       "e \xcc\x81"
     " é",                                                                                                                  0,
     0                                                                                                                                                             },
    {"NFD",
     {.words = "é e \xcc\x81"
               " \xe1\x84\x92"
               " \xe1\x85\xa1"
               " \xe1\x86\xab"
               " ;",
      .normalizer = "{'type':'NFD'}"},
     "é한",                                                                       "e|\xcc\x81"
     "|\xe1\x84\x92"
     "|\xe1\x85\xa1"
     "|\xe1\x86\xab"
     "",                                                                                                                       "e \xcc\x81"
     " \xe1\x84\x92"
     " \xe1\x85\xa1"
     " \xe1\x86\xab"
     "",                                                                                                                     0,
     0                                                                                                                                                             },
    {"NFKC",
     {.words = "f i 1 ⁄ 2;", .normalizer = "{'type':'NFKC'}"},
     "ﬁ½",                                                                       "f|i|1|⁄|2",
     "f i 1 ⁄ 2",                                                                                                                               0,
     0                                                                                                                                                             },
    {"NFKD",
     {.words = "f i e \xcc\x81"
               ";",
      .normalizer = "{'type':'NFKD'}"},
     "ﬁé",                                                                       "f|i|e|\xcc\x81"
     "",                                                                                                                       "f i e \xcc\x81"
     "",                                                                                                                     0,
     0                                                                                                                                                             },
    {"an added token that is not special",
     {.words = "x y < t > tx;t x", .added = "<think>/ "},
     "x<think>y",                                                                   "x|<think>|y",
     "x <think> y",                                                                                                                               0,
     0                                                                                                                                                             },
    {"the longest added token",
     {.words = "a b;", .added = "<|im_/ <|im_start|>/s"},
     "a<|im_start|>b<|im_a",                                                        "a|<|im_start|>|b|<|im_|a",
     "a <|im_start|> b <|im_ a",                                                                                                                  0,
     0                                                                                                                                                             },
    {"rstrip takes white space",
     {.words = "H a ~ ~a;", .added = "<|user|>/rs"},
     "<|user|>  \t\nHa",                                                            "<|user|>|H|a",
     "<|user|> H a",                                                                                                                              0,
     0                                                                                                                                                             },
    {"lstrip takes white space",
     {.words = "a ~ ~~;", .added = "<mask>/ls"},
     "a   <mask> a",                                                                "a|<mask>| |a",
     "a <mask>   a",                                                                                                                              0,
     0                                                                                                                                                             },
    {"it does not ask for any",
     {.words = "a ~ ~~;", .added = "<mask>/lrs"},
     "a<mask>a",                                                                    "a|<mask>|a",
     "a <mask> a",                                                                                                                                0,
     0                                                                                                                                                             },
    {"single word: not inside one",
     {.words = "a tok t o k - é;", .added = "tok/w"},
     "tok-toka-atok-étok tok",                                                     "tok|-|t|o|k|a|-|a|t|o|k|-|é|t|o|k|tok",
     "tok - t o k a - a t o k - é t o k tok",                                                                                                    0,
     0                                                                                                                                                             },
    {"not single word: inside too",
     {.words = "a t o k;", .added = "tok/"},
     "atoka",                                                                       "a|tok|a",
     "a tok a",                                                                                                                                   0,
     0                                                                                                                                                             },
    {"normalized: found after NFC",
     {.words = "a e \xcc\x81"
               ";",
      .normalizer = "{'type':'NFC'}",
      .added = "é/n"},
     "ae\xcc\x81"
     "",                                                                            "a|é",
     "a é",                                                                                                                                      0,
     0                                                                                                                                                             },
    {"raw: only as spelt",
     {.words = "a e \xcc\x81"
               " é;",
      .normalizer = "{'type':'NFC'}",
      .added = "e\xcc\x81"
               "/"},
     "aée\xcc\x81"
     "",                                                                            "a|é|e\xcc\x81"
     "",                                                                                                                            "a é e\xcc\x81"
     "",                                                                                                                          0,
     0                                                                                                                                                             },
    {"normalized with a prefix",
     {.words = LETTERS,
      .normalizer =
          "{'type':'Sequence','normalizers':[{'type':'Prepend','prepend':'▁'},"
          "{'type':'Replace','pattern':{'String':' '},'content':'▁'}]}",
      .added = "</s>/n"},
     "a</s> </s>",                                                                  "▁a|</s>",
     "▁a ▁</s>",                                                                                                                              0,
     0                                                                                                                                                             },
    {"spaces of two tokens overlap",
     {.words = "x ~;", .added = "A/r ~/"},
     "A  x",                                                                        "A| | |x",
     "A     x",                                                                                                                                   0,
     0                                                                                                                                                             },
    {"added tokens in the vocabulary keep its ids",
     {.words = "a b ab;a b", .added = "b/s"},
     "ab",                                                                          "a|b",
     "a b",                                                                                                                                       0,
     0                                                                                                                                                             },
    {"no tokens around unasked",
     {.words = LETTERS, .post = TEMPLATE},
     "ab",                                                                          "ab",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
    {"tokens around",
     {.words = LETTERS, .post = TEMPLATE},
     "abc",                                                                         "a|abc|b|ab",
     "a abc b ab",                                                                                                                                DF_ADD_SPECIAL,
     0                                                                                                                                                             },
    {"around an empty text",
     {.words = LETTERS, .post = TEMPLATE},
     "",                                                                            "a|b|ab",
     "a b ab",                                                                                                                                    DF_ADD_SPECIAL,
     0                                                                                                                                                             },
    {"template behind ByteLevel",
     {.words = LETTERS,
      .post = SEQUENCE "'processors':[" BYTES "," TEMPLATE "]}"},
     "abc",                                                                         "a|abc|b|ab",
     "a abc b ab",                                                                                                                                DF_ADD_SPECIAL,
     0                                                                                                                                                             },
    {"ByteLevel alone adds none",
     {.words = LETTERS, .post = BYTES},
     "abc",                                                                         "abc",
     NULL,                                                                                                                                        DF_ADD_SPECIAL,
     0                                                                                                                                                             },
    {"an empty text",                               {.words = LETTERS},         "", "",                                                     NULL, 0,              0},
    {"a NUL byte is text",
     {.words = RUNS, .pre_tokenizer = BYTES, .decoder = BYTES},
     "a\0a",                                                                        "a|Ā|a",
     NULL,                                                                                                                                        0,
     3                                                                                                                                                             },
    {"bytes that are no UTF-8",
     {.words = RUNS,
      .pre_tokenizer = WITH_BYTES(SPLIT(REGEX("ã"), "Removed", "false")),
      .added = "ł/ ",
      .decoder = BYTES},
     "ł€",                                                                       "ł|â|Ĥ|¬",
     "�€",                                                                                                                                    0,
     0                                                                                                                                                             },
    {"byte-level strings beside others",
     {.words = RUNS,
      .pre_tokenizer = BYTES,
      .added = "€Ġ/ ",
      .decoder = BYTES},
     "a€Ġa",                                                                     "a|€Ġ|a",
     NULL,                                                                                                                                        0,
     0                                                                                                                                                             },
};

#endif
