/* data.h - training samples out of JSONL files.

   A file has one JSON object a line, UTF-8.  Its keys tell what it is; the
   first row that fits decides:

       input_ids, loss_mask   token ids as they are, and 0 or 1 for each
       messages               turns with role and content: a string, or a
                              list of text parts, which are joined; beside
                              tool_calls also null, which stands for ""
       conversations          turns with from and value, or role and content
       prompt, completion     two strings: a conversation of two turns, or
                              one text without a chat template
       text                   plain text, all of it supervised

   Opening a data set goes through all of it once, in several threads, and
   finds out which samples there are and how long each is.  After that any
   sample can be read, from any thread, in any order.

       files -> df_dataset_open -> lengths -> df_plan
                     |                           | index
                     +----> df_dataset_read <----+   -> df_batch_add

   With options.prompts the samples are prompts: what stands before the first
   assistant turn, or with last_turn_only before the last one, rendered for
   generation; of a text all of it; of ids those before the first supervised
   one, or the last stretch of such.  Then these are records, too:

       turns                  strings, as in MT-bench: the first one is taken
       question               a string, as in GSM8K
       prompt                 a string, without a completion

   A conversation is rendered by the chat template.  Its assistant turns are
   supervised with their closing token, everything else is not.  Where the
   template writes a turn differently once others follow it, each assistant
   turn becomes a sample of its own.

   What is wrong with a file (not JSON, an unknown shape or role, a part that
   isn't text) is an error that names file and line.  What is merely of no
   use (no assistant turn, too short) is left out and counted.  Neither the
   samples nor the errors depend on the number of threads.  */

#ifndef DFLASH_DATA_H
#define DFLASH_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dflash/batch.h"
#include "dflash/error.h"
#include "dflash/tokenizer.h"

DF_BEGIN_DECLS

/* Why a conversation, or one turn of it, is left out.  */
#define DF_DATA_REASONS(X)                                          \
    X(EMPTY, "an empty conversation")                               \
    X(NO_ASSISTANT, "no assistant turn")                            \
    X(STARTS_ASSISTANT, "an assistant turn at the start")           \
    X(NO_TOOLS, "tools that the chat template doesn't know")        \
    X(TEMPLATE, "refused by the chat template")                     \
    X(PROMPT, "a turn that doesn't continue the generation prompt") \
    X(NO_TOKEN, "no token")                                         \
    X(NO_ANCHOR, "nowhere two supervised tokens in a row")          \
    X(TRUNCATED, "nothing to learn within the maximal length")      \
    X(LONG, "a prompt that leaves no room within the maximal length")

enum df_data_reason {
    DF_DATA_USED, /* not left out */
#define X(name, text) DF_DATA_##name,
    DF_DATA_REASONS(X)
#undef X
    DF_DATA_N_REASONS
};

/* "no assistant turn" and so on; never NULL.  */
DF_EXPORT const char *df_data_reason_text(enum df_data_reason reason);

struct df_data_report {
    uint64_t records;            /* lines that aren't blank */
    uint64_t samples;            /* used */
    uint64_t truncated;          /* samples used that were longer */
    uint64_t tokens, supervised; /* of the samples used */
    /* Records, or turns of them, by reason; [DF_DATA_USED] is unused.  The
       first of each, by file (an index) and line from 1.  */
    uint64_t dropped[DF_DATA_N_REASONS];
    size_t first_file[DF_DATA_N_REASONS];
    uint64_t first_line[DF_DATA_N_REASONS];
};

struct df_data_progress {
    uint64_t records, total_records;
    uint64_t bytes, total_bytes;
};

struct df_data_options {
    /* Borrowed, must outlive the data set; all else is copied.  NULL: only
       input_ids are taken.  */
    const struct df_tokenizer *tokenizer;
    const char *chat_template;      /* source, or NULL: the tokenizer's */
    const char *chat_template_name; /* for messages, or NULL */
    const char *template_vars;      /* a JSON object of more variables for the
                                       template, or NULL */
    int32_t vocab_size;             /* all ids are below, at least 1 */
    size_t max_length;   /* tokens; the rest is cut off.  At least 1 */
    bool last_turn_only; /* supervise no assistant turn but the last */
    bool prompts;        /* samples are prompts, of less than max_length
                            tokens, none of them supervised */
    bool strict;         /* what would be left out is an error */
    /* A sample without an anchor by these limits is left out.  NULL: every
       sample with a token is used.  */
    const struct df_batch_limits *limits;
    size_t threads;     /* that read, at least 1 */
    size_t cache_bytes; /* samples are kept in memory if all of them fit;
                           otherwise reading one tokenises it again */
    size_t max_line;    /* bytes; 0: 256 MiB */
    /* Called now and then by the thread that opens.  False: stop, and
       return DF_CANCELED.  May be NULL.  */
    bool (*progress)(void *arg, const struct df_data_progress *progress);
    void *arg;
};

struct df_dataset;

/* Open FILES[n], in this order.  The caller owns *OUT.  DF_IO for a file
   that can't be read; DF_FORMAT, DF_INVALID or DF_UNSUPPORTED for the first
   line that is wrong; DF_FORMAT if no sample is left.  */
DF_EXPORT DF_MUST_USE df_status
df_dataset_open(struct df_dataset **out, const char *const *files, size_t n,
                const struct df_data_options *options);
DF_EXPORT void df_dataset_free(struct df_dataset *ds);

/* Number of samples, at least 1, and the tokens of each; both borrowed.  */
DF_EXPORT size_t df_dataset_size(const struct df_dataset *ds);
DF_EXPORT const uint32_t *df_dataset_lengths(const struct df_dataset *ds);

DF_EXPORT const struct df_data_report *
df_dataset_report(const struct df_dataset *ds);

/* Whether all samples are in memory.  */
DF_EXPORT bool df_dataset_cached(const struct df_dataset *ds);

/* The file and line that sample number I comes from.  */
DF_EXPORT void df_dataset_origin(const struct df_dataset *ds, size_t i,
                                 const char **file, uint64_t *line);

/* The id that sample number I has; see df_reader_read.  */
DF_EXPORT uint64_t df_dataset_id(const struct df_dataset *ds, size_t i);

/* What a thread needs to read samples; one a thread.  Free it before the
   data set.  */
struct df_reader;

DF_EXPORT DF_MUST_USE df_status df_reader_new(struct df_reader **out,
                                              const struct df_dataset *ds);
DF_EXPORT void df_reader_free(struct df_reader *reader);

/* Read sample number I.  Its arrays are borrowed until the reader's next
   call.  Its id is the number of its record over all files << 16 | its
   number within the record: the same in every run over the same files.
   DF_IO if the file has changed meanwhile.  */
DF_EXPORT DF_MUST_USE df_status df_reader_read(struct df_reader *reader,
                                               size_t i,
                                               struct df_sample *out);

DF_END_DECLS
#endif
