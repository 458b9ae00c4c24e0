/* template_ast_internal.h - a chat template, parsed: tokens and nodes.

       source -> df_tpl_lex -> tokens -> df_tpl_parse -> nodes

   All memory is an arena's, which is freed at once: no node, token or value
   has an owner of its own.  A parsed template is never written again, so
   that threads render it together.  */

#ifndef DF_TEMPLATE_AST_INTERNAL_H
#define DF_TEMPLATE_AST_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/template_value_internal.h"

enum df_tpl_token_kind {
    DF_TOK_END, /* of the template */
    DF_TOK_DATA,
    DF_TOK_BLOCK_BEGIN,
    DF_TOK_BLOCK_END,
    DF_TOK_PRINT_BEGIN,
    DF_TOK_PRINT_END,
    DF_TOK_NAME,
    DF_TOK_STRING,
    DF_TOK_INT,
    DF_TOK_FLOAT,
    DF_TOK_OP,
};

struct df_tpl_token {
    enum df_tpl_token_kind kind;
    int line;
    const char *text; /* ends with a zero byte; a string without its quotes
                         and escapes */
    size_t len;
    int64_t i; /* of DF_TOK_INT */
    double f;  /* of DF_TOK_FLOAT */
};

/* Tokens of LEN bytes of UTF-8 at SOURCE; the last one is DF_TOK_END.  NAME
   is for messages.  Comments are gone, raw blocks are data, and the
   whitespace control is done.  */
DF_MUST_USE df_status df_tpl_lex(struct df_tpl_arena *arena, const char *name,
                                 const char *source, size_t len,
                                 struct df_tpl_token **out);

/* What the fields A, B, C, LIST and TEXT of a node hold.  */
enum df_tpl_node_kind {
    /* Expressions.  */
    DF_NODE_CONST,   /* VALUE */
    DF_NODE_NAME,    /* TEXT */
    DF_NODE_LIST,    /* LIST: the items */
    DF_NODE_TUPLE,   /* LIST */
    DF_NODE_DICT,    /* LIST: key, value, key, value... */
    DF_NODE_ATTR,    /* A.TEXT */
    DF_NODE_ITEM,    /* A[B] */
    DF_NODE_SLICE,   /* A[LIST], three nodes; a missing one is none */
    DF_NODE_CALL,    /* A(LIST); a keyword argument has its name in TEXT
                        of a DF_NODE_KEYWORD */
    DF_NODE_KEYWORD, /* TEXT=A */
    DF_NODE_FILTER,  /* A|FUNC(LIST) */
    DF_NODE_TEST,    /* A is FUNC(LIST) */
    DF_NODE_NOT,     /* not A */
    DF_NODE_AND,
    DF_NODE_OR,
    DF_NODE_UNARY,   /* OP A */
    DF_NODE_BINARY,  /* A OP B */
    DF_NODE_CONCAT,  /* LIST, joined with ~ */
    DF_NODE_COMPARE, /* A, then LIST of DF_NODE_OPERAND */
    DF_NODE_OPERAND, /* OP A */
    DF_NODE_COND,    /* A if B else C; C may be NULL */
    /* Statements.  */
    DF_NODE_DATA,     /* VALUE */
    DF_NODE_PRINT,    /* A */
    DF_NODE_IF,       /* LIST of DF_NODE_BRANCH */
    DF_NODE_BRANCH,   /* if A (NULL: else), LIST */
    DF_NODE_FOR,      /* for A in B if C: LIST; ELSE_LIST */
    DF_NODE_SET,      /* A = B */
    DF_NODE_SETBLOCK, /* A = LIST rendered, then filters B over a
                         DF_NODE_HOLE; B may be NULL */
    DF_NODE_HOLE,     /* what the block of a DF_NODE_SETBLOCK rendered to */
    DF_NODE_MACRO,    /* TEXT(params): LIST */
    DF_NODE_SCOPE,    /* LIST, in a scope of its own */
    DF_NODE_BREAK,
    DF_NODE_CONTINUE,
};

enum df_tpl_op {
    DF_OP_ADD,
    DF_OP_SUB,
    DF_OP_MUL,
    DF_OP_DIV,
    DF_OP_FLOORDIV,
    DF_OP_MOD,
    DF_OP_POW,
    DF_OP_EQ,
    DF_OP_NE,
    DF_OP_LT,
    DF_OP_LE,
    DF_OP_GT,
    DF_OP_GE,
    DF_OP_IN,
    DF_OP_NOT_IN,
};

struct df_tpl_node {
    enum df_tpl_node_kind kind;
    enum df_tpl_op op;
    int line;
    const struct df_tpl_node *a, *b, *c;
    struct df_tpl_node *list, *else_list;
    struct df_tpl_node *params; /* of a macro: names, A their default */
    struct df_tpl_node *next;   /* in the list this node is in */
    const char *text;
    const struct df_tpl_func *func;
    struct df_tpl_value value;
};

struct df_template {
    struct df_tpl_arena arena;
    const char *name;
    const struct df_tpl_node *body;
};

/* Parse TMPL's tokens into TMPL->body.  */
DF_MUST_USE df_status df_tpl_parse(struct df_template *tmpl,
                                   const struct df_tpl_token *tokens);

/* Render BODY into RUN's output.  */
DF_MUST_USE df_status df_tpl_exec(struct df_tpl_run *run,
                                  const struct df_tpl_node *body);
DF_MUST_USE df_status df_tpl_eval(struct df_tpl_run *run,
                                  const struct df_tpl_node *node,
                                  struct df_tpl_value *out);
/* Evaluate the call NODE.  */
DF_MUST_USE df_status df_tpl_eval_call(struct df_tpl_run *run,
                                       const struct df_tpl_node *node,
                                       struct df_tpl_value *out);
/* Evaluate the filter or test NODE.  */
DF_MUST_USE df_status df_tpl_eval_func(struct df_tpl_run *run,
                                       const struct df_tpl_node *node,
                                       struct df_tpl_value *out);

#endif
