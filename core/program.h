/* program.h: what the files that run the statements of a pasted program share. */
#ifndef LA_PROGRAM_H
#define LA_PROGRAM_H

#include "parse.h"

enum {
    LA_MAX_STATEMENTS = 1 << 16,   /* that run: a table of 128 x 128 in a loop */
    LA_BYTES_A_STATEMENT = 1 << 8, /* of text that is read or passed over: as much work as a statement */
    LA_MAX_NAMES = 1 << 11         /* of variables and definitions: a lookup walks them */
};

/* How a statement ends. Only NEXT leaves the parser behind it. */
enum la_flow { LA_NEXT, LA_BREAK, LA_CONTINUE, LA_RETURN };

/* What has a name and is evaluated wherever that name is used. */
enum la_definition_kind { LA_FUNCTION, LA_MACRO, LA_ALIAS, LA_NAMESPACE };
struct la_definition {
    enum la_definition_kind kind;
    struct word name;
    size_t templates;  /* of a template: its '<'; else 0 */
    size_t parameters; /* its '(', or 0 */
    size_t body, end;  /* of a function: its '{'; else the text [body, end) */
    bool is_lambda, used;
    struct la_binding *captured; /* by a lambda: the names in sight */
    struct la_definition *next;
};

/* One run of a program. */
struct la_execution {
    struct parser parser;
    struct la_program *out;
    struct la_value last; /* of an expression */
    bool any;             /* there is one */
    struct la_value returned;
    struct la_binding *block;   /* names before this one are not of this block */
    struct la_binding *globals; /* what functions see */
    struct la_binding *known;   /* the answer's names: in order of first assignment */
    struct la_binding *last_known;
    struct la_binding *last_print;
    struct la_definition *definitions; /* the newest first */
    size_t statement;                  /* where the running one begins */
    size_t expanded;                   /* where the last call of a macro ends: no ';' must follow */
    size_t work;                       /* in statements */
    uint32_t names;
    int level, loops, namespaces; /* of blocks and loops that are open */
};

/* program.c */
enum la_flow la_statement(struct la_execution *x);
bool la_begins_statement(struct la_execution *x); /* a block or a keyword is next */
/* v, of the expression from `start` to here, is the last value, unless it is data. Returns where it
 * stands. */
struct la_span la_result(struct la_execution *x, size_t start, struct la_value v);
bool la_at_end(struct parser *p);
void la_finish(struct la_execution *x); /* the ';' of a statement */
/* Text was read again or passed over: long texts are work. */
void la_read_over(struct la_execution *x, size_t bytes);
/* One statement more, of so much text; fails with limit. */
void la_charge(struct la_execution *x, size_t bytes);
/* Evaluate an expression; false when it fails, with everything as it was. */
bool la_attempt(struct parser *p, struct la_value *out);

/* control.c */
enum la_flow la_block(struct la_execution *x);
enum la_flow la_if(struct la_execution *x, struct word w);
enum la_flow la_for(struct la_execution *x, struct word w);
enum la_flow la_while(struct la_execution *x, struct word w);
enum la_flow la_do(struct la_execution *x, struct word w);
enum la_flow la_switch(struct la_execution *x, struct word w);
enum la_flow la_jump(struct la_execution *x, struct word w);
enum la_flow la_return(struct la_execution *x, struct word w);

/* output.c */
enum la_flow la_print_statement(struct la_execution *x, struct word w);
enum la_flow la_stream(struct la_execution *x, struct word w);
enum la_flow la_assertion(struct la_execution *x, struct word w);

/* declare.c: names get values */
void la_declare(struct la_execution *x, struct word name, struct la_span at, struct la_value v);
struct la_binding *la_named(const struct parser *p, struct word name); /* in sight; or NULL */
void la_change(struct la_execution *x, const struct la_binding *to);   /* the value of the name in sight */
bool la_declaration(struct la_execution *x); /* false, and nothing read, when it is none */
bool la_assignment(struct la_execution *x);  /* likewise */
enum la_flow la_using(struct la_execution *x, struct word w);
enum la_flow la_typedef(struct la_execution *x, struct word w);
/* define.c */
void la_define(struct la_execution *x, struct la_definition d);
bool la_defines(const struct la_definition *d, struct word name);
bool la_is_defined(const struct la_execution *x, struct word name);
bool la_function(struct la_execution *x, size_t templates); /* false, and nothing read, when it is none */
bool la_lambda(struct la_execution *x, struct word name);   /* likewise */
enum la_flow la_template(struct la_execution *x, struct word w);

/* call.c */
bool la_is_call(struct la_execution *x, struct word name); /* a definition takes what stands in (...) here */
void la_run_functions(struct la_execution *x);

/* directive.c */
void la_collect_macros(struct la_execution *x);

/* host.c */
bool la_is_data_call(struct word name); /* copy, gemm, __syncthreads, malloc */
bool la_data_statement(
    struct la_execution *x); /* skip x[i] = ...; timer.start(); and the like; false: it is none */
bool la_host_statement(struct la_execution *x); /* skip these, and data calls */

/* skip.c */
void la_skip_statement(struct parser *p);

#endif
