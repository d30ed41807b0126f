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
enum la_definition_kind { LA_FUNCTION, LA_MACRO, LA_ALIAS, LA_NAMESPACE, LA_CLASS };
struct la_definition {
    enum la_definition_kind kind;
    struct word name;
    size_t templates;  /* of a template: its '<'; else 0 */
    size_t parameters; /* its '(', or 0 */
    size_t body, end;  /* of a function or class: its '{'; else the text [body, end) */
    bool is_lambda, used;
    bool is_special;             /* template <> struct Traits<64> */
    struct la_binding *captured; /* by a lambda or class: the names in sight */
    struct la_class *inside;     /* of a member: its class */
    struct la_definition *next;
};

struct la_class; /* with its template arguments: see class.c */

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
    struct la_class *classes;          /* that were named */
    struct la_class *inside;           /* whose member is being evaluated; or NULL */
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
/* Bind the parameters of the template to args, or to their defaults; fails where one has neither. */
void la_bind_templates(struct la_execution *x, const struct la_definition *d, uint32_t n,
                       const struct la_value *args, struct la_span at);
/* A call whose <...> and (...) come next; without them it is the function's address, which is data. */
struct la_value la_called(struct la_execution *x, const struct la_definition *d, struct word w);
bool la_is_call(struct la_execution *x, struct word name); /* a definition takes what stands in (...) here */
void la_run_functions(struct la_execution *x);

/* class.c */
enum la_flow la_class(struct la_execution *x, struct word w);
/* The rest of a template that is a class; false, and nothing read, when it is none. */
bool la_class_template(struct la_execution *x, size_t templates);
/* NAME ["<" args ">"], of which NAME is passed: the class as a value, which is data to all others. */
struct la_value la_class_named(struct la_execution *x, const struct la_definition *d, struct word w);
/* What a name is inside the class whose member is being evaluated; false: no member of it. */
bool la_member_inside(struct la_execution *x, struct word w, struct la_value *out);
void la_show_classes(
    struct la_execution *x); /* a program of nothing but classes has their members as names */

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
