/* template_lex_internal.h - between the lexer's files.  */

#ifndef DF_TEMPLATE_LEX_INTERNAL_H
#define DF_TEMPLATE_LEX_INTERNAL_H

#include "text/template_ast_internal.h"

struct df_tpl_lexer {
    struct df_tpl_arena *arena;
    const char *name;
    const char *text, *p, *end; /* all of it, the next byte, the end */
    int line;
    struct df_tpl_token *tokens;
    size_t n, cap;
};

/* Append a token whose text is a copy of LEN bytes at TEXT.  */
DF_MUST_USE df_status df_tpl_lex_emit(struct df_tpl_lexer *lx,
                                      enum df_tpl_token_kind kind, int line,
                                      const char *text, size_t len);
/* Tokens up to and with the end of the tag that LX is in: a block, or what
   is printed.  */
DF_MUST_USE df_status df_tpl_lex_tag(struct df_tpl_lexer *lx, bool block);

void df_tpl_lex_space(struct df_tpl_lexer *lx);
bool df_tpl_lex_skip(struct df_tpl_lexer *lx, const char *text);
bool df_tpl_lex_close(struct df_tpl_lexer *lx, const char *close, bool block);

/* The string literal at LX, which begins with its quote.  */
DF_MUST_USE df_status df_tpl_lex_string(struct df_tpl_lexer *lx);

#endif
