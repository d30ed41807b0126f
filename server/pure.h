/* pure.h: what the handlers of pure.c, pure_ops.c and render.c share. */
#ifndef PURE_H
#define PURE_H

#include "fields.h"
#include "http.h"

/* Fields that every endpoint with a value as its answer takes. */
#define FIELD_INTEGERS \
    { \
        "integers", FIELD_CHOICE, false, integers_choices, \
            "How a bare 3 is read: static, a run-time integer, or whichever the text suggests." \
    }
#define FIELD_TABLE \
    { \
        "table", FIELD_FLAG, false, NULL, "Add the grid of offsets of a layout." \
    }

#define FIELD_ROWS \
    { \
        "rows", FIELD_LIST, false, NULL, "With table: the modes that are its rows; cols names all others." \
    }
#define FIELD_COLS \
    { \
        "cols", FIELD_LIST, false, NULL, \
            "With table: the modes that are its columns; rows names all others." \
    }
#define FIELD_TRACE \
    { \
        "trace", FIELD_FLAG, false, NULL, "Add the derivation, step by step; its last step is the answer." \
    }
#define FIELD_CHECKS \
    { \
        "checks", FIELD_FLAG, false, NULL, \
            "Add whether the answer is right: its law, looked at point by point, with a counterexample." \
    }

#define FIELDS_OF_ANSWERS FIELD_INTEGERS, FIELD_TABLE, FIELD_ROWS, FIELD_COLS, FIELD_TRACE, FIELD_CHECKS

extern const char *const integers_choices[];

struct answer {
    enum la_integers integers;
    struct la_value value;
    const struct la_program *program;    /* its names and prints are told, too; or NULL */
    const struct la_node *const *values; /* of `value_count` coordinates, or NULL */
    size_t value_count;
    const struct la_trace *trace;   /* or NULL */
    const struct la_checks *checks; /* or NULL */
};

/* explain.c */
struct json;
void json_trace(struct json *j, const struct la_trace *trace);
void json_checks(struct json *j, const struct la_checks *checks);

/* Run a call whose arguments have been read, and answer; leaves by la_fail when it is refused. */
void respond_call(struct request *rq, struct la_call *call, enum la_integers integers);

/* Evaluate a field's text; false when it was refused, and answered. */
bool evaluate_field(struct request *rq, const char *name, enum la_integers integers, struct la_value *out);
/* The mode for fields that are read together: one static spelling in any of them makes all of them CuTe's. */
enum la_integers integers_of(struct request *rq, const char *const *texts, size_t n);

/* The fields of /ops/NAME for an operation; OP_FIELDS_MAX of them at most, the end included. */
#define OP_FIELDS_MAX (LA_MAX_PARAMS + 8)
void op_fields(const struct la_op *op, struct field *out);

extern const struct field eval_fields[], product_fields[], divide_fields[], render_fields[], fit_fields[],
    atoms_fields[];

#endif
