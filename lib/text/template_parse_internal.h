/* template_parse_internal.h - between the parser's files.

   template_parse.c has the statements, template_expr.c the operators,
   template_primary.c the rest.  */

#ifndef DF_TEMPLATE_PARSE_INTERNAL_H
#define DF_TEMPLATE_PARSE_INTERNAL_H

#include "text/template_ast_internal.h"

/* A list of nodes met on the way.  */
struct df_tpl_met {
    const struct df_tpl_node *node;
    struct df_tpl_met *next;
};

/* State of the parser; its functions are in several files.  */
struct df_tpl_parser {
    struct df_tpl_arena *arena;
    const char *name;
    const struct df_tpl_token *tok; /* the current one */
    int depth;                      /* of the recursion */
    int loops;                      /* that a break would find */
    int safe;                       /* filters "safe" not yet accounted for */
    /* Functions called by name, and macros: compared at the end, because a
       macro may follow its call.  */
    struct df_tpl_met *calls, *macros;
};

/* A failure at the current token.  */
#define DF_TPL_SYNTAX(p, status, format, ...)                      \
    DF_FAIL((status), "%s:%d: " format, (p)->name, (p)->tok->line, \
            ##__VA_ARGS__)

/* A new node of KIND at LINE, all else zero.  */
DF_MUST_USE df_status df_tpl_node_new(struct df_tpl_parser *p,
                                      enum df_tpl_node_kind kind, int line,
                                      struct df_tpl_node **out);

/* Is the current token the operator or the name TEXT?  And if so, skip
   it; or insist on it.  */
bool df_tpl_at_op(const struct df_tpl_parser *p, const char *text);
bool df_tpl_at_name(const struct df_tpl_parser *p, const char *text);
bool df_tpl_skip_op(struct df_tpl_parser *p, const char *text);
bool df_tpl_skip_name(struct df_tpl_parser *p, const char *text);
DF_MUST_USE df_status df_tpl_expect_op(struct df_tpl_parser *p,
                                       const char *text);
/* A name, any; *TEXT is its spelling.  */
DF_MUST_USE df_status df_tpl_expect_name(struct df_tpl_parser *p,
                                         const char **text);
/* "unexpected 'x'", for the current token.  */
DF_MUST_USE df_status df_tpl_unexpected(const struct df_tpl_parser *p);

/* One more level of nesting: every recursion goes through here, and
   p->depth-- after it.  */
DF_MUST_USE df_status df_tpl_deeper(struct df_tpl_parser *p);

DF_MUST_USE df_status df_tpl_parse_expr(struct df_tpl_parser *p, bool cond,
                                        struct df_tpl_node **out);
/* An expression, or several with commas: a tuple.  COND: conditional
   expressions are taken.  */
DF_MUST_USE df_status df_tpl_parse_tuple(struct df_tpl_parser *p, bool cond,
                                         struct df_tpl_node **out);
DF_MUST_USE df_status df_tpl_parse_primary(struct df_tpl_parser *p,
                                           struct df_tpl_node **out);
/* The filters that follow, applied to *NODE.  */
DF_MUST_USE df_status df_tpl_parse_filters(struct df_tpl_parser *p,
                                           struct df_tpl_node **node);
/* The attributes, subscripts and calls that follow.  */
DF_MUST_USE df_status df_tpl_parse_postfix(struct df_tpl_parser *p,
                                           struct df_tpl_node **node);
DF_MUST_USE df_status df_tpl_parse_filters_and_tests(
    struct df_tpl_parser *p, struct df_tpl_node **node);

#endif
