#include <config.h>

#include <stdlib.h>

#include "text/steps_internal.h"

/* What a step needs to hand parts on.  */
struct run {
    const struct df_steps *steps;
    size_t next; /* the step that gets the parts */
    struct df_matcher *m;
    df_text_sink *sink;
    void *context;
};

static df_status
hand_on(const struct run *run, const struct df_text *part)
{
    if (part->len == 0)
        return DF_OK;
    return df_steps_run(run->steps, run->next, part, run->m, run->sink,
                        run->context);
}

/* Parts that are put together as they come, left to right: the last one
   stays here until it is known not to grow.  */
struct splitter {
    const struct run *run;
    const struct df_text *text;
    enum df_split behavior;
    size_t start, end; /* the part that is held */
    bool held;
    bool was_match; /* the piece before was a match */
};

static df_status
flush(struct splitter *s)
{
    struct df_text part = df_text_part(s->text, s->start, s->end);

    if (!s->held)
        return DF_OK;
    s->held = false;
    return hand_on(s->run, &part);
}

/* Take the piece [START, END), which begins where the last one ended.  */
static df_status
feed(struct splitter *s, size_t start, size_t end, bool is_match)
{
    bool join = false;

    switch (s->behavior) {
    case DF_SPLIT_WITH_PREVIOUS:
        join = is_match && !s->was_match;
        break;
    case DF_SPLIT_WITH_NEXT:
        join = !is_match && s->was_match;
        break;
    case DF_SPLIT_CONTIGUOUS:
        join = is_match == s->was_match;
        break;
    default:
        break;
    }
    s->was_match = is_match;
    if (join && s->held) {
        s->end = end;
        return DF_OK;
    }
    DF_TRY(flush(s));
    s->start = start;
    s->end = end;
    s->held = s->behavior != DF_SPLIT_REMOVED || !is_match;
    return DF_OK;
}

static df_status
split(const struct run *run, const struct df_step *step,
      const struct df_text *text)
{
    struct splitter s = {run, text, step->behavior, 0, 0, false, false};
    struct df_matches ms = {.text = text->data, .len = text->len};
    size_t done = 0;
    df_status status;

    while ((status = df_matches_next(&ms, step->regex, run->m)) == DF_OK) {
        if (done != ms.start)
            DF_TRY(feed(&s, done, ms.start, step->invert));
        DF_TRY(feed(&s, ms.start, ms.end, !step->invert));
        done = ms.end;
    }
    if (status != DF_END)
        return status;
    if (done != text->len)
        DF_TRY(feed(&s, done, text->len, step->invert));
    return flush(&s);
}

/* Write IN with CONTENT for each match, none of which is empty.  */
static df_status
replace(const struct df_step *step, const struct df_text *in,
        struct df_matcher *m, struct df_draft *out, bool *changed)
{
    struct df_matches ms = {.text = in->data, .len = in->len};
    size_t done = 0;
    df_status status;

    *changed = false;
    while ((status = df_matches_next(&ms, step->regex, m)) == DF_OK) {
        *changed = true;
        DF_TRY(df_draft_copy(out, in, done, ms.start));
        DF_TRY(df_draft_put(out, step->content, step->content_len,
                            df_text_from(in, ms.start),
                            df_text_to(in, ms.end - 1)));
        done = ms.end;
    }
    if (status != DF_END)
        return status;
    return *changed ? df_draft_copy(out, in, done, in->len) : DF_OK;
}

df_status
df_steps_run(const struct df_steps *steps, size_t first,
             const struct df_text *text, struct df_matcher *m,
             df_text_sink *sink, void *context)
{
    struct run run = {steps, first + 1, m, sink, context};
    struct df_draft draft = {0};
    struct df_text rewritten = *text;
    bool changed = false;
    df_status status;

    if (first == steps->n)
        return sink(context, text);
    const struct df_step *step = &steps->step[first];
    if (step->kind == DF_STEP_SPLIT)
        return split(&run, step, text);
    if (step->kind == DF_STEP_REPLACE)
        status = replace(step, text, m, &draft, &changed);
    else
        status = df_step_rewrite(step, text, &draft, &changed);
    if (status == DF_OK) {
        if (changed)
            rewritten = df_draft_text(&draft);
        status = hand_on(&run, &rewritten);
    }
    df_draft_free(&draft);
    return status;
}

void
df_steps_free(struct df_steps *steps)
{
    for (size_t i = 0; i < steps->n; i++) {
        df_regex_free(steps->step[i].regex);
        free(steps->step[i].content);
    }
    free(steps->step);
    *steps = (struct df_steps){0};
}
