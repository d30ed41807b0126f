/* fields.h: what a pure request may say. A table of fields is the one place that the checks, the answers to a misspelt
 * name and the OpenAPI document know an endpoint's parameters from. */
#ifndef FIELDS_H
#define FIELDS_H

#include "http.h"

enum field_type {
    FIELD_NOTATION, /* a text in the notation; in JSON also an integer or an array of them, for a tuple */
    FIELD_NULLABLE, /* the same or null, which is as good as left out */
    FIELD_LIST,     /* notations: an array in JSON, in a query or a string separated by ';' */
    FIELD_TEXT,     /* any text; its handler knows what may stand there */
    FIELD_CHOICE,   /* one of `choices` */
    FIELD_INT,      /* an integer of 64 bits */
    FIELD_JSON,     /* an array or an object; in a query the text of one */
    FIELD_FLAG      /* true or false, 1 or 0 */
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_type type;
    bool required;
    const char *const *choices; /* of FIELD_CHOICE, up to NULL */
    const char *doc;            /* one sentence */
};

/* An endpoint that takes none. */
extern const struct field no_fields[];

/* FIELD_LIST: the most elements that are read. */
#define FIELD_ELEMENTS_MAX 65536

/* Every given field is known, given once and of its type, and what is required is there; else false, and answered. */
bool fields_check(struct request *rq, const struct field *fields);

/* The text of a notation, arrays turned into tuples; NULL when absent. */
const char *field_notation(struct request *rq, const char *name);
bool field_flag(struct request *rq, const char *name);
/* A FIELD_INT; `otherwise` when absent. */
int64_t field_int(struct request *rq, const char *name, int64_t otherwise);
/* A FIELD_JSON, with its text; NULL when absent. */
const cJSON *field_json(struct request *rq, const char *name, const char **text);
/* The field "integers"; AUTO when absent. */
enum la_integers field_integers(struct request *rq);

/* An element of a list: its text, and where that begins in the text of the field. */
struct element {
    const char *text;
    size_t at;
    bool in_array; /* it stands alone, and positions count in its own text */
};
/* The elements of a list; 0 when absent. */
size_t field_list(struct request *rq, const char *name, const struct element **out);
/* respond_error for an error in the i-th element. */
void respond_element_error(struct request *rq, const char *name, const struct element *elements, size_t i);

#endif
