#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap/tap.h"
#include "unit/text/fixture.h"

static struct df_data_options base; /* set by main */

/* Append SAMPLE as letters, supervised tokens behind a ^ each.  */
static void
show(char *out, const struct df_sample *s)
{
    out += strlen(out);
    for (size_t i = 0; i < s->n; i++) {
        if (s->loss_mask[i])
            *out++ = '^';
        if (s->ids[i] == ID_BLANK_Y)
            *out++ = '_';
        *out++ = (char) (s->ids[i] == ID_END       ? '$'
                         : s->ids[i] == ID_BLANK_Y ? 'y'
                                                   : s->ids[i]);
    }
    *out++ = '|';
    *out = '\0';
}

/* The samples of each kind of record.  $ stands for <end>, _y for the token
   that is a blank and a y.  */
static void
test_samples(void)
{
    /* clang-format off */
    static const struct {
        const char *what, *text;
        size_t max_length;
        bool no_template, last;
        const char *wanted;
    } cases[] = {
        {"messages",
         "{'messages': [{'role': 'user', 'content': 'u y'}, {'role':"
         " 'assistant', 'content': ' yx'}]}", 100, false, false,
         "u:u_y$a:^_y^x^$|"},
        {"two turns",
         "{'conversations': [{'from': 'human', 'value': 'u'}, {'from': 'gpt',"
         " 'value': 'x'}, {'from': 'human', 'value': 'v'}, {'from': 'gpt',"
         " 'value': 'y'}]}", 100, false, false, "u:u$a:^x^$u:v$a:^y^$|"},
        {"the last turn",
         "{'conversations': [{'from': 'human', 'value': 'u'}, {'from': 'gpt',"
         " 'value': 'x'}, {'from': 'human', 'value': 'v'}, {'from': 'gpt',"
         " 'value': 'y'}]}", 100, false, true, "u:u$a:x$u:v$a:^y^$|"},
        {"prompt and completion", "{'prompt': 'p', 'completion': 'cd'}", 100,
         false, false, "u:p$a:^c^d^$|"},
        {"without a template", "{'prompt': 'p', 'completion': 'cd'}", 100,
         true, false, "p^c^d|"},
        {"a token across the border", "{'prompt': 'p ', 'completion': 'yd'}",
         100, true, false, "p^_y^d|"},
        {"text", "{'text': 'some y'}", 100, true, false, "^s^o^m^e^_y|"},
        {"text of letters of many bytes", "{'text': '\\u00e9\xC3\xA9'}", 100,
         true, false, "^\xC3^\xA9^\xC3^\xA9|"},
        {"ids", "{'input_ids': [97, 98, 99], 'loss_mask': [0, 1, 1]}", 100,
         true, false, "a^b^c|"},
        {"ids, truncated",
         "{'input_ids': [97, 98, 99, 100], 'loss_mask': [0, 1, 1, 1]}", 3,
         true, false, "a^b^c|"},
        {"two records", "{'text': 'ab'}\n\n{'text': 'cd'}", 100, true, false,
         "^a^b|^c^d|"},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *path = fixture_json("d.jsonl", cases[c].text);
        struct df_data_options o = base;
        struct df_reader *reader;
        struct df_sample s;

        o.max_length = cases[c].max_length;
        o.last_turn_only = cases[c].last;
        if (cases[c].no_template)
            o.chat_template = NULL;
        for (int cached = 0; cached < 2; cached++) {
            char seen[256] = "";

            o.cache_bytes = cached ? 1000 : 0;
            struct df_dataset *ds = fixture_open(&path, 1, &o);
            if (df_reader_new(&reader, ds) != DF_OK)
                exit(1);
            for (size_t i = 0; i < df_dataset_size(ds); i++) {
                if (df_reader_read(reader, i, &s) != DF_OK
                    || s.n != df_dataset_lengths(ds)[i])
                    exit(1);
                show(seen, &s);
            }
            if (!ok(strcmp(cases[c].wanted, seen) == 0
                        && df_dataset_cached(ds) == (cached == 1),
                    "%s, %s", cases[c].what, cached ? "cached" : "read again"))
                diag("wanted '%s', seen '%s'", cases[c].wanted, seen);
            df_reader_free(reader);
            df_dataset_free(ds);
        }
    }
}

/* A file that is refused, in three threads; the message behind the file's
   name.  */
static void
test_refused(void)
{
    /* clang-format off */
    static const struct {
        const char *what, *text;
        bool strict;
        df_status status;
        const char *message;
    } cases[] = {
        {"not JSON", "{'text': 'ab'}\n\n{'text'\n{\n", false, DF_FORMAT,
         ":3:7: not JSON: "},
        {"a lone surrogate", "{'text': 'ab'}\n{'text': '\\ud83d'}", false,
         DF_FORMAT, ":2:17: not JSON: "},
        {"an unknown shape", "{'text': 'ab'}\n{'txet': 'ab'}", false,
         DF_FORMAT, ":2: none of messages"},
        {"an unknown role", "{'messages': [{'role': 'x', 'content': ''}]}",
         false, DF_UNSUPPORTED, ":1: message 0: unknown role 'x'"},
        {"an id beyond the vocabulary",
         "{'input_ids': [300], 'loss_mask': [1]}", false, DF_FORMAT,
         ":1: input_ids[0] is 300, not within 0 and 257"},
        {"an over-long line", "{'text': 'ab'}\n{'text': '1234567890"
         "1234567890123456789012345678901234567890123456789012345678901234"
         "1234567890123456789012345678901234567890123456789012345678901234"
         "1234567890123456789012345678901234567890123456789012345678901234"
         "1234567890123456789012345678901234567890123456789012345678901234'}",
         false, DF_FORMAT, ":2: a line of 278 bytes, more than 250"},
        {"an empty file", "", false, DF_FORMAT, ": no usable record: 0 read"},
        {"white space only", " \n\r\n", false, DF_FORMAT,
         ": no usable record: 0 read"},
        {"nothing to train on",
         "{'messages': []}\n{'messages': [{'role': 'user', 'content': ''}]}\n"
         "{'text': 'a'}\n{'text': ''}\n{'messages': []}", false, DF_FORMAT,
         ": no usable record: 5 read, an empty conversation: 2; no assistant "
         "turn: 1; no token: 1; nowhere two supervised tokens in a row: 1"},
        {"strict: an empty conversation",
         "{'text': 'ab'}\n{'messages': []}\n{", true, DF_INVALID,
         ":2: an empty conversation"},
        {"strict: the template's words",
         "{'messages': [{'role': 'system', 'content': ''}, {'role': 'user',"
         " 'content': ''}, {'role': 'assistant', 'content': ''}]}", true,
         DF_INVALID, ":1: refused by the chat template: chat template:1: "},
        {"strict: a short text", "{'text': 'ab'}\n{'text': 'a'}", true,
         DF_INVALID, ":2: nowhere two supervised tokens in a row"},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const char *path = fixture_json("bad.jsonl", cases[c].text);
        struct df_data_options o = base;
        struct df_dataset *ds;

        o.strict = cases[c].strict;
        o.max_line = 250;
        df_status status = df_dataset_open(&ds, &path, 1, &o);
        const char *seen = df_error_last()->message;
        if (!ok(status == cases[c].status && !ds
                    && strncmp(seen, path, strlen(path)) == 0
                    && strncmp(seen + strlen(path), cases[c].message,
                               strlen(cases[c].message))
                           == 0,
                "refused: %s", cases[c].what))
            diag("wanted '%s', seen '%s'", cases[c].message, seen);
        df_dataset_free(ds);
    }
}

static void
test_files(void)
{
    struct df_dataset *ds;
    const char *files[3] = {
        fixture_json("one.jsonl", "\n{'text': 'ab'}\n{'text': 'a'}"),
        fixture_json("empty.jsonl", ""),
        fixture_json("two.jsonl", "{'messages': []}\n{'text': 'cde'}\n"),
    };
    const char *none = "/nonexistent/x.jsonl", *folder = fixture_dir();
    const char *file, *fifo;
    uint64_t line;

    is_long(DF_IO, df_dataset_open(&ds, &none, 1, &base), "an absent file");
    ok(strcmp(df_error_last()->message,
              "/nonexistent/x.jsonl: No such file or directory")
           == 0,
       "is named");
    is_long(DF_IO, df_dataset_open(&ds, &folder, 1, &base), "a folder");
    fifo = fixture_file("fifo", "", 0);
    unlink(fifo);
    ok(mkfifo(fifo, 0600) == 0
           && df_dataset_open(&ds, &fifo, 1, &base) == DF_IO,
       "a pipe is refused, not waited for");
    is_long(DF_INVALID, df_dataset_open(&ds, NULL, 0, &base), "no file");

    ds = fixture_open(files, 3, &base);
    const struct df_data_report *r = df_dataset_report(ds);
    ok(r->records == 4 && r->samples == 2 && r->tokens == 5
           && r->supervised == 5 && r->truncated == 0,
       "the report counts over all files");
    ok(r->dropped[DF_DATA_NO_ANCHOR] == 1
           && r->first_file[DF_DATA_NO_ANCHOR] == 0
           && r->first_line[DF_DATA_NO_ANCHOR] == 3,
       "what was left out, and the first line of it");
    ok(r->dropped[DF_DATA_EMPTY] == 1 && r->first_file[DF_DATA_EMPTY] == 2
           && r->first_line[DF_DATA_EMPTY] == 1,
       "in another file");
    df_dataset_origin(ds, 1, &file, &line);
    ok(strcmp(file, files[2]) == 0 && line == 2, "where a sample is from");

    struct df_reader *reader;
    struct df_sample s;
    ok(df_reader_new(&reader, ds) == DF_OK
           && df_reader_read(reader, 1, &s) == DF_OK && s.id == 3u << 16,
       "ids count the records over all files");
    df_reader_free(reader);
    df_dataset_free(ds);
}

/* Prompts of each kind of record.  */
static void
test_prompts(void)
{
    /* clang-format off */
    static const struct {
        const char *text;
        bool no_template, last;
        const char *wanted; /* or the reason why there is none */
    } cases[] = {
        {"{'messages': [{'role': 'user', 'content': 'u'}, {'role':"
         " 'assistant', 'content': 'x'}]}", false, false, "u:u$a:|"},
        {"{'messages': [{'role': 'user', 'content': 'u'}]}", false, false,
         "u:u$a:|"},
        {"{'conversations': [{'from': 'human', 'value': 'u'}, {'from': 'gpt',"
         " 'value': 'x'}, {'from': 'human', 'value': 'v'}, {'from': 'gpt',"
         " 'value': 'y'}]}", false, false, "u:u$a:|"},
        {"{'conversations': [{'from': 'human', 'value': 'u'}, {'from': 'gpt',"
         " 'value': 'x'}, {'from': 'human', 'value': 'v'}, {'from': 'gpt',"
         " 'value': 'y'}]}", false, true, "u:u$a:x$u:v$a:|"},
        {"{'prompt': 'p', 'completion': 'cd'}", false, false, "u:p$a:|"},
        {"{'prompt': 'p', 'completion': 'cd'}", true, false, "p|"},
        {"{'prompt': 'pq'}", true, false, "pq|"},
        {"{'question': 'q', 'answer': '4'}", false, false, "u:q$a:|"},
        {"{'question_id': 1, 'turns': ['t', 'v']}", false, false,
         "u:t$a:|"},
        {"{'text': 'abc'}", false, false, "abc|"},
        {"{'input_ids': [97, 98, 99, 100], 'loss_mask': [0, 1, 0, 1]}", false,
         false, "a|"},
        {"{'input_ids': [97, 98, 99, 100], 'loss_mask': [0, 1, 0, 1]}", false,
         true, "abc|"},
        {"{'input_ids': [97, 98], 'loss_mask': [0, 0]}", false, true, "ab|"},
        {"{'input_ids': [97, 98], 'loss_mask': [1, 1]}", false, false,
         "no token"},
        {"{'text': 'abcdefghijklmnopqrst'}", false, false,
         "a prompt that leaves no room"},
        {"{'messages': [{'role': 'assistant', 'content': 'x'}]}", false,
         false, "an assistant turn at the start"},
        {"{'question': 7}", false, false, "the prompt is"},
        {"{'turns': []}", false, false, "none of messages"},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        struct df_data_options o = base;
        const char *path = fixture_json("p.jsonl", cases[c].text);
        char seen[500] = "";
        struct df_dataset *ds;

        o.prompts = true;
        o.max_length = 20;
        o.limits = NULL;
        o.last_turn_only = cases[c].last;
        if (cases[c].no_template)
            o.chat_template = NULL;
        if (df_dataset_open(&ds, &path, 1, &o) == DF_OK) {
            struct df_reader *reader;
            struct df_sample sample;

            if (df_reader_new(&reader, ds) == DF_OK
                && df_reader_read(reader, 0, &sample) == DF_OK)
                show(seen, &sample);
            df_reader_free(reader);
            df_dataset_free(ds);
        } else {
            strcat(seen, df_error_last()->message);
        }
        ok(strstr(seen, cases[c].wanted) != NULL, "prompt of %s: %s",
           cases[c].text, seen);
    }
}

/* Lengths around the block size and the maximal length.  */
static void
test_lengths(void)
{
    /* clang-format off */
    static const struct {
        const char *text;
        size_t max_length;
        bool whole_blocks;
        long samples, truncated;
        enum df_data_reason reason;
    } cases[] = {
        {"{'text': ''}", 9, false, 0, 0, DF_DATA_NO_TOKEN},
        {"{'text': 'a'}", 9, false, 0, 0, DF_DATA_NO_ANCHOR},
        {"{'text': 'ab'}", 9, false, 1, 0, DF_DATA_USED},
        {"{'text': 'abc'}", 9, false, 1, 0, DF_DATA_USED},
        {"{'text': 'abcd'}", 9, true, 0, 0, DF_DATA_NO_ANCHOR},
        {"{'text': 'abcde'}", 9, true, 1, 0, DF_DATA_USED},
        {"{'text': 'abcde'}", 4, true, 0, 0, DF_DATA_TRUNCATED},
        {"{'text': 'abcde'}", 2, false, 1, 1, DF_DATA_USED},
        {"{'text': 'abcde'}", 1, false, 0, 0, DF_DATA_TRUNCATED},
        {"{'text': 'abcde'}", 5, false, 1, 0, DF_DATA_USED},
        {"{'prompt': 'ppp', 'completion': 'cc'}", 7, false, 0, 0,
         DF_DATA_TRUNCATED},
        {"{'prompt': 'ppp', 'completion': 'cc'}", 8, false, 0, 0,
         DF_DATA_TRUNCATED},
        {"{'prompt': 'ppp', 'completion': 'cc'}", 9, false, 0, 0,
         DF_DATA_TRUNCATED},
        {"{'prompt': 'ppp', 'completion': 'cc'}", 10, false, 1, 1,
         DF_DATA_USED},
        {"{'input_ids': [], 'loss_mask': []}", 9, false, 0, 0,
         DF_DATA_NO_TOKEN},
        {"{'input_ids': [1, 2, 3], 'loss_mask': [1, 0, 1]}", 9, false, 0, 0,
         DF_DATA_NO_ANCHOR},
    };
    /* clang-format on */
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char text[200];
        struct df_data_options o = base;
        struct df_batch_limits l = *base.limits;

        /* With a record that is always used.  */
        snprintf(text, sizeof text, "%s\n{'text': 'abcdefghijklm'}",
                 cases[c].text);
        l.whole_blocks_only = cases[c].whole_blocks;
        o.limits = &l;
        o.max_length = cases[c].max_length;
        const char *path = fixture_json("l.jsonl", text);
        struct df_dataset *ds;
        if (cases[c].max_length == 1 || cases[c].max_length == 4) {
            ok(df_dataset_open(&ds, &path, 1, &o) == DF_FORMAT
                   && strstr(df_error_last()->message,
                             df_data_reason_text(cases[c].reason)),
               "%s, at most %zu", cases[c].text, o.max_length);
            continue;
        }
        ds = fixture_open(&path, 1, &o);
        const struct df_data_report *r = df_dataset_report(ds);
        long other = 13 > o.max_length;
        ok((long) r->samples == cases[c].samples + 1
               && (long) r->truncated == cases[c].truncated + other
               && (cases[c].reason == DF_DATA_USED
                   || r->dropped[cases[c].reason] == 1),
           "%s, at most %zu", cases[c].text, o.max_length);
        df_dataset_free(ds);
    }
    struct df_data_options o = base;
    const char *path = fixture_json("l.jsonl", "{'text': 'a'}\n{'text': ''}");
    o.limits = NULL;
    struct df_dataset *ds = fixture_open(&path, 1, &o);
    is_long(1, (long) df_dataset_size(ds), "one token does without limits");
    df_dataset_free(ds);
}

int
main(void)
{
    plan(61 + 18);
    base = fixture_options();
    test_samples();
    test_refused();
    test_files();
    test_lengths();
    test_prompts();
    return 0;
}
