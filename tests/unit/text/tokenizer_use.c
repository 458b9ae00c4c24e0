/* Ranges of tokens, bad input, long words, normalization of everything, and
   threads.  */

#include <config.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uninorm.h>
#include <unistr.h>

#include "dflash/tokenizer.h"
#include "tap/tap.h"
#include "unit/text/build.h"

#define LEVEL                                                            \
    "{'type':'ByteLevel','add_prefix_space':false,'trim_offsets':false," \
    "'use_regex':false}"

/* "[0,1) [1,3) ..." in a buffer of its own.  */
static const char *
ranges(const struct df_ids *ids)
{
    static char text[512];
    size_t at = 0;

    text[0] = '\0';
    for (size_t i = 0; i < ids->n && at < sizeof text; i++)
        at += (size_t) snprintf(text + at, sizeof text - at, "%s%u-%u",
                                i ? " " : "", ids->starts[i], ids->ends[i]);
    return text;
}

static void
check_ranges(const struct parts *parts, const char *text, const char *wanted,
             const char *label)
{
    struct df_tokenizer *tok = build(parts);
    struct df_ids ids = {0};
    const char *seen = "failed";

    if (tok && df_tokenizer_encode(tok, text, strlen(text), 0, &ids) == DF_OK)
        seen = ranges(&ids);
    if (!ok(strcmp(seen, wanted) == 0, "ranges: %s", label))
        diag("wanted %s, seen %s", wanted, seen);
    df_ids_free(&ids);
    df_tokenizer_free(tok);
}

static void
test_ranges(void)
{
    check_ranges(&(struct parts){.words = "a b ab;a b", .added = "<s>/s"},
                 "ab<s>b", "0-2 2-5 5-6", "an added token");
    check_ranges(&(struct parts){.words = "@ab;a b", .pre_tokenizer = LEVEL},
                 "ab\u00e9", "0-2 2-3 3-4", "bytes of a character");
    check_ranges(
        &(struct parts){.words = "a \u00e9;", .normalizer = "{'type':'NFC'}"},
        "ae\u0301a", "0-1 1-4 4-5", "a composed cluster");
    check_ranges(&(struct parts){.words = "a e \u0301;",
                                 .normalizer = "{'type':'NFD'}"},
                 "a\u00e9a", "0-1 1-3 1-3 3-4", "a decomposed cluster");
    check_ranges(
        &(struct parts){.words = "a \u2581;",
                        .added = "<s>/s",
                        .normalizer = "{'type':'Prepend','prepend':'\u2581'}"},
        "<s>aa", "0-3 3-4 3-4 4-5", "what is put in front");
    check_ranges(&(struct parts){.words = "a b ~;", .added = "<s>/lr"},
                 "a <s> b", "0-1 1-6 6-7", "white space taken");
}

static void
test_boundary(void)
{
    struct df_ids ids = {
        .data = (int32_t[]){7, 8, 9},
        .starts = (uint32_t[]){0, 2, 5},
        .ends = (uint32_t[]){2, 5, 6},
        .n = 3
    };

    is_long(0, (long) df_ids_from_byte(&ids, 0, 0), "all belong to byte 0 on");
    is_long(1, (long) df_ids_from_byte(&ids, 0, 2), "from a token's border");
    is_long(1, (long) df_ids_from_byte(&ids, 0, 4),
            "a token that straddles belongs to the later side");
    is_long(3, (long) df_ids_from_byte(&ids, 0, 6), "none behind the end");
}

static void
test_bad_input(void)
{
    struct df_tokenizer *tok = build(&(struct parts){.words = "a b ab;a b"});
    struct df_ids ids = {0};
    char *text;
    size_t len;

    is_long(DF_OK, df_tokenizer_encode(tok, "ab", 2, 0, &ids), "good text");
    is_long(DF_INVALID, df_tokenizer_encode(tok, "aab\xff", 4, 0, &ids),
            "text that is not UTF-8");
    ok(strstr(df_error_last()->message, "at byte 3") != NULL,
       "the message has the offset");
    is_long(DF_INVALID, df_tokenizer_encode(tok, "\xed\xa0\x80", 3, 0, &ids),
            "a surrogate is not UTF-8");
    is_long(1, (long) ids.n, "a failure leaves the ids alone");
    is_long(DF_INVALID,
            df_tokenizer_decode(tok, (int32_t[]){3}, 1, false, &text, &len),
            "an id beyond the last");
    is_long(DF_INVALID,
            df_tokenizer_decode(tok, (int32_t[]){-1}, 1, false, &text, &len),
            "a negative id");
    is_long(3, df_tokenizer_size(tok), "size");
    is_long(2, df_tokenizer_id(tok, "ab"), "id of a token");
    is_long(-1, df_tokenizer_id(tok, "ba"), "id of none");
    df_tokenizer_free(tok);
    df_ids_free(&ids);
}

static void
test_holes(void)
{
    struct df_tokenizer *tok = NULL;
    char *text;
    size_t len;

    build_file("tokenizer.json",
               "{'model':{'vocab':{'a':0,'b':5},'merges':[]}}");
    is_long(DF_OK, df_tokenizer_open(&tok, build_dir()), "ids with a hole");
    is_long(6, df_tokenizer_size(tok), "the size counts the hole");
    ok(!df_tokenizer_token(tok, 3), "no token in the hole");
    is_long(DF_INVALID,
            df_tokenizer_decode(tok, (int32_t[]){0, 3}, 2, false, &text, &len),
            "decoding it fails");
    ok(strstr(df_error_last()->message, "the id 3") != NULL, "and names it");
    df_tokenizer_free(tok);
}

static void
test_nul(void)
{
    struct df_tokenizer *tok = build(&(struct parts){
        .words = "@;", .pre_tokenizer = LEVEL, .decoder = LEVEL});
    struct df_ids ids = {0};
    char *text = NULL;
    size_t len = 0;

    is_long(DF_OK, df_tokenizer_encode(tok, "a\0b", 3, 0, &ids),
            "text with a NUL byte");
    is_long(3, (long) ids.n, "it is a token");
    is_long(DF_OK,
            df_tokenizer_decode(tok, ids.data, ids.n, false, &text, &len),
            "and decodes");
    ok(len == 3 && memcmp(text, "a\0b", 3) == 0, "to itself");
    free(text);
    df_ids_free(&ids);
    df_tokenizer_free(tok);
}

static void
test_skip_special(void)
{
    struct df_tokenizer *tok = build(&(struct parts){
        .words = "a b;", .added = "<s>/s <t>/", .decoder = "{'type':'Fuse'}"});
    char *text = NULL;
    size_t len = 0;

    is_long(DF_OK,
            df_tokenizer_decode(tok, (int32_t[]){2, 0, 3, 1}, 4, true, &text,
                                &len),
            "decoding without special tokens");
    ok(text && strcmp(text, "a<t>b") == 0, "only those are left out");
    free(text);
    df_tokenizer_free(tok);
}

/* A word of 200,000 letters: seconds at most, if it isn't quadratic.  */
static void
test_long_word(void)
{
    enum {
        LEN = 200000
    };
    struct df_tokenizer *tok = build(
        &(struct parts){.words = "a aa aaaa aaaaaaaa;a a,aa aa,aaaa aaaa"});
    char *text = malloc(LEN);
    struct df_ids ids = {0};

    memset(text, 'a', LEN);
    is_long(DF_OK, df_tokenizer_encode(tok, text, LEN, 0, &ids),
            "a long word");
    is_long(LEN / 8, (long) ids.n, "is merged to the end");
    free(text);
    df_ids_free(&ids);
    df_tokenizer_free(tok);
}

static void
test_backtracking(void)
{
    struct df_tokenizer *tok = build(&(struct parts){
        .words = "a b c;",
        .pre_tokenizer = "{'type':'Split','behavior':'Isolated','invert':"
                         "false,'pattern':{'Regex':'(?:a|aa)+[cd]'}}"});
    char text[61];
    struct df_ids ids = {0};

    memset(text, 'a', sizeof text);
    text[60] = 'b';
    is_long(DF_FORMAT, df_tokenizer_encode(tok, text, sizeof text, 0, &ids),
            "a pattern that backtracks for ever is an error");
    df_ids_free(&ids);
    df_tokenizer_free(tok);
}

/* Every character of the first planes behind a letter, in one text: cluster
   by cluster it must come out as libunistring has the whole.  */
static void
test_forms(void)
{
    const struct {
        const char *json;
        uninorm_t form;
    } forms[] = {
        {"{'type':'NFC'}",  UNINORM_NFC },
        {"{'type':'NFD'}",  UNINORM_NFD },
        {"{'type':'NFKC'}", UNINORM_NFKC},
        {"{'type':'NFKD'}", UNINORM_NFKD}
    };
    uint8_t *text = malloc(0x40000 * 16);
    size_t len = 0;

    for (ucs4_t c = 1; c < 0x20000; c++) {
        ucs4_t all[] = {'a', c, 0x316, c, 0x301};

        for (size_t i = 0; i < 5 && (c < 0xd800 || c > 0xdfff); i++)
            len += (size_t) u8_uctomb(text + len, all[i], 6);
    }
    for (size_t i = 0; i < 4; i++) {
        struct df_tokenizer *tok =
            build(&(struct parts){.words = "@;",
                                  .normalizer = forms[i].json,
                                  .pre_tokenizer = LEVEL,
                                  .decoder = LEVEL});
        struct df_ids ids = {0};
        size_t wanted_len, seen_len = 0;
        uint8_t *wanted =
            u8_normalize(forms[i].form, text, len, NULL, &wanted_len);
        char *seen = NULL;

        if (df_tokenizer_encode(tok, (char *) text, len, 0, &ids) != DF_OK
            || df_tokenizer_decode(tok, ids.data, ids.n, false, &seen,
                                   &seen_len)
                   != DF_OK)
            diag("%s", df_error_last()->message);
        ok(seen && seen_len == wanted_len
               && memcmp(seen, wanted, seen_len) == 0,
           "%s cluster by cluster", forms[i].json);
        free(seen);
        free(wanted);
        df_ids_free(&ids);
        df_tokenizer_free(tok);
    }
    free(text);
}

static void *
encode_often(void *shared)
{
    static const char text[] = "aab<s> ab e\u0301 a1ab";
    const struct df_tokenizer *tok = shared;
    struct df_ids ids = {0};
    size_t first = 0;
    bool same = true;

    for (int i = 0; i < 200 && same; i++) {
        char *back = NULL;
        size_t len;

        df_ids_clear(&ids);
        same =
            df_tokenizer_encode(tok, text, sizeof text - 1, 0, &ids) == DF_OK
            && df_tokenizer_decode(tok, ids.data, ids.n, false, &back, &len)
                   == DF_OK;
        first = i ? first : ids.n;
        same = same && ids.n == first && strstr(back, "ab\u00c3") == NULL;
        free(back);
    }
    df_ids_free(&ids);
    return same ? shared : NULL;
}

static void
test_threads(void)
{
    struct df_tokenizer *tok = build(&(struct parts){
        .words = "@ab;a b",
        .added = "<s>/s",
        .normalizer = "{'type':'NFC'}",
        .pre_tokenizer = "{'type':'Sequence','pretokenizers':[{'type':"
                         "'Digits','individual_digits':true}," LEVEL "]}",
        .decoder = LEVEL});
    pthread_t thread[4];
    int good = 0;

    for (int i = 0; i < 4; i++)
        if (pthread_create(&thread[i], NULL, encode_often, tok))
            abort();
    for (int i = 0; i < 4; i++) {
        void *result;

        pthread_join(thread[i], &result);
        good += result == tok;
    }
    is_long(4, good, "four threads with one tokenizer");
    df_tokenizer_free(tok);
}

static void
test_hash(void)
{
    struct df_tokenizer *a = build(&(struct parts){.words = "a b;"});
    struct df_tokenizer *b = build(&(struct parts){.words = "a b;"});
    struct df_tokenizer *c = build(&(struct parts){.words = "a c;"});

    ok(df_tokenizer_hash(a) == df_tokenizer_hash(b), "same file, same hash");
    ok(df_tokenizer_hash(a) != df_tokenizer_hash(c), "another, another");
    df_tokenizer_free(a);
    df_tokenizer_free(b);
    df_tokenizer_free(c);
}

int
main(void)
{
    plan(41);
    test_ranges();
    test_boundary();
    test_bad_input();
    test_holes();
    test_nul();
    test_skip_special();
    test_long_word();
    test_backtracking();
    test_forms();
    test_threads();
    test_hash();
    build_end();
    return 0;
}
