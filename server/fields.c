/* fields.c: the generic checks of a request's fields, before its handler.
 *
 *     GET /eval?exr=4:1      ->  400 unknown_field: "there is no field 'exr'; did you mean 'expr'?"
 * GET and POST give the same answers, so both are read as a list of names and texts (request_given); here they are held
 * against the table of the endpoint. A JSON array is a tuple: its brackets become parentheses in place, so a position
 * in the text is a position in what the client wrote. */
#include "fields.h"
#include "exchange.h"
#include "json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct field no_fields[] = {{0}};

/* ---- did you mean ------------------------------------------------------------------------------------------- */

#define NAME_MAX_COMPARED 32

/* Edits (insert, delete, replace) that turn a into b: one row of the usual table. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[NAME_MAX_COMPARED + 1];
    size_t n = strlen(b);
    for (size_t j = 0; j <= n; j++)
        row[j] = (unsigned)j;
    for (; *a; a++) {
        unsigned diagonal = row[0]++;
        for (size_t j = 1; j <= n; j++) {
            unsigned replaced = diagonal + (*a != b[j - 1]);
            diagonal = row[j];
            unsigned other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[n];
}

/* The nearest of the names that `name_at` gives one by one until NULL, or NULL when none is near. */
static const char *nearest_name(const char *name, const char *(*name_at)(const void *names, size_t i),
                                const void *names)
{
    const char *best = NULL, *other;
    size_t len = strlen(name);
    unsigned limit = (unsigned)(len / 3 + 1); /* more edits than that, and it is another word */
    if (len > NAME_MAX_COMPARED)
        return NULL;
    for (size_t i = 0; (other = name_at(names, i)); i++) {
        unsigned d = strlen(other) <= NAME_MAX_COMPARED ? distance(name, other) : limit + 1;
        if (d <= limit) {
            best = other;
            limit = d ? d - 1 : 0;
        }
    }
    return best;
}

static const char *field_name_at(const void *fields, size_t i)
{
    return ((const struct field *)fields)[i].name;
}

/* ---- checks ------------------------------------------------------------------------------------------------- */

static const struct field *find_field(const struct field *fields, const char *name)
{
    for (; fields->name; fields++)
        if (strcmp(fields->name, name) == 0)
            return fields;
    return NULL;
}

/* "name, name, name"; a name that does not fit is left out. */
static void join_names(char *out, size_t size, const char *(*name_at)(const void *names, size_t i),
                       const void *names)
{
    const char *name;
    size_t len = 0;
    *out = 0;
    for (size_t i = 0; (name = name_at(names, i)); i++)
        if (len + strlen(name) + 3 < size)
            len += (size_t)snprintf(out + len, size - len, "%s%s", len ? ", " : "", name);
}

static bool refuse_unknown(struct request *rq, const struct field *fields, const char *name)
{
    const char *near = nearest_name(name, field_name_at, fields);
    char known[256];
    join_names(known, sizeof known, field_name_at, fields);
    if (near)
        respond_field_problem(rq, "unknown_field", name, "there is no field '%s'; did you mean '%s'?", name,
                              near);
    else
        respond_field_problem(rq, "unknown_field", name, "there is no field '%s'; there are: %s", name,
                              *known ? known : "none");
    return false;
}

static const char *choice_at(const void *choices, size_t i)
{
    return ((const char *const *)choices)[i];
}

static bool is_choice(const char *const *choices, const char *text)
{
    for (; *choices; choices++)
        if (strcmp(*choices, text) == 0)
            return true;
    return false;
}

static void refuse_value(struct request *rq, const struct field *field, const struct given *given)
{
    const char *near = NULL;
    char expected[256];
    switch (field->type) {
    case FIELD_NOTATION:
    case FIELD_NULLABLE:
        strcpy(expected, "a text in the notation, an integer or an array of integers");
        break;
    case FIELD_LIST:
        strcpy(expected, "an array of texts or integers, or texts separated by ';'");
        break;
    case FIELD_TEXT:
        strcpy(expected, "a text");
        break;
    case FIELD_INT:
        strcpy(expected, "an integer");
        break;
    case FIELD_JSON:
        strcpy(expected, "an array or an object of JSON");
        break;
    case FIELD_FLAG:
        strcpy(expected, "true or false");
        break;
    case FIELD_CHOICE:
        strcpy(expected, "one of ");
        join_names(expected + 7, sizeof expected - 7, choice_at, field->choices);
        near = nearest_name(given->text, choice_at, field->choices);
    }
    respond_field_problem(rq, "bad_field", field->name, "'%s' must be %s%s%s%s", field->name, expected,
                          near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool is_int(const char *text)
{
    char *end;
    errno = 0;
    strtoll(text, &end, 10);
    return (*text == '-' || (*text >= '0' && *text <= '9')) && end != text && !*end && !errno;
}

/* Of a query the text is held against the grammar here, as that of a body was before. */
static bool is_structure(const struct given *given)
{
    size_t at;
    if (given->json)
        return cJSON_IsArray(given->json) || cJSON_IsObject(given->json);
    return (*given->text == '[' || *given->text == '{') && !json_check(given->text, strlen(given->text), &at);
}

/* An integer, or an array of integers and such arrays: nothing but brackets, digits, signs, commas and space. */
static bool is_tuple_json(const char *text, size_t len)
{
    if (*text != '[' && *text != '-' && (*text < '0' || *text > '9'))
        return false;
    return strspn(text, "[]0123456789-, \t\r\n") >= len;
}

static bool is_list_json(const struct given *given)
{
    const char *rest = given->text;
    const cJSON *item;
    if (!cJSON_IsArray(given->json))
        return false;
    cJSON_ArrayForEach (item, given->json) {
        size_t len = 0;
        const char *raw = json_next_element(&rest, &len);
        if (!cJSON_IsString(item) && !is_tuple_json(raw, len))
            return false;
    }
    return true;
}

static bool has_type(const struct field *field, const struct given *given)
{
    const char *text = given->text;
    static const char *const truths[] = {"true", "false", "1", "0", NULL};
    const bool is_text = !given->json || cJSON_IsString(given->json);
    switch (field->type) {
    case FIELD_NOTATION:
        return is_text || is_tuple_json(text, strlen(text));
    case FIELD_NULLABLE:
        return is_text || cJSON_IsNull(given->json) || is_tuple_json(text, strlen(text));
    case FIELD_LIST:
        return is_text || is_list_json(given);
    case FIELD_TEXT:
        return is_text;
    case FIELD_INT:
        return (is_text || cJSON_IsNumber(given->json)) && is_int(text);
    case FIELD_JSON:
        return is_structure(given);
    case FIELD_CHOICE:
        return is_text && is_choice(field->choices, text);
    case FIELD_FLAG:
        return is_choice(truths, text);
    }
    return false;
}

static bool check_given(struct request *rq, const struct field *fields, const struct given *given, size_t i)
{
    const char *name = given[i].name;
    const struct field *field = find_field(fields, name);
    if (!field)
        return refuse_unknown(rq, fields, name);
    for (size_t k = 0; k < i; k++)
        if (strcmp(given[k].name, name) == 0) {
            respond_field_problem(rq, "duplicate_field", name, "the field '%s' is there twice", name);
            return false;
        }
    if (!has_type(field, &given[i])) {
        refuse_value(rq, field, &given[i]);
        return false;
    }
    return true;
}

bool fields_check(struct request *rq, const struct field *fields)
{
    const struct given *given;
    size_t n = request_given(rq, &given);
    if (rq->json && exchange_of(rq)->parameter_count) {
        respond_problem(rq, 400, "bad_request", "the fields of a POST are in its body, not in the address");
        return false;
    }
    for (size_t i = 0; i < n; i++)
        if (!check_given(rq, fields, given, i))
            return false;
    for (const struct field *f = fields; f->name; f++)
        if (f->required && !request_field(rq, f->name)) {
            respond_field_problem(rq, "missing_field", f->name, "the field '%s' is missing: %s", f->name,
                                  f->doc);
            return false;
        }
    return true;
}

/* ---- values ------------------------------------------------------------------------------------------------- */

/* A copy in which the brackets of JSON are parentheses. */
static const char *as_tuple(struct request *rq, const char *text, size_t len)
{
    char *copy = la_alloc(&rq->cx, len + 1);
    for (size_t i = 0; i < len; i++)
        copy[i] = (char)(text[i] == '[' ? '(' : text[i] == ']' ? ')' : text[i]);
    copy[len] = 0;
    return copy;
}

static const struct given *find_given(struct request *rq, const char *name)
{
    const struct given *given;
    size_t n = request_given(rq, &given);
    for (size_t i = 0; i < n; i++)
        if (strcmp(given[i].name, name) == 0)
            return &given[i];
    return NULL;
}

const char *field_notation(struct request *rq, const char *name)
{
    const struct given *given = find_given(rq, name);
    if (!given || cJSON_IsNull(given->json))
        return NULL;
    return cJSON_IsArray(given->json) ? as_tuple(rq, given->text, strlen(given->text)) : given->text;
}

bool field_flag(struct request *rq, const char *name)
{
    const char *text = request_field(rq, name);
    return text && (*text == '1' || *text == 't');
}

int64_t field_int(struct request *rq, const char *name, int64_t otherwise)
{
    const char *text = request_field(rq, name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

const cJSON *field_json(struct request *rq, const char *name, const char **text)
{
    const struct given *given = find_given(rq, name);
    if (!given)
        return NULL;
    *text = given->text;
    const cJSON *json = given->json;
    if (!json)
        json = cJSON_ParseWithLengthOpts(given->text, strlen(given->text), NULL, false);
    if (!json)
        la_fail(&rq->cx, LA_E_limit, "'%s' needs more memory than one request may use", name);
    return json;
}

enum la_integers field_integers(struct request *rq)
{
    const char *text = request_field(rq, "integers");
    if (!text || *text == 'a')
        return LA_INTEGERS_AUTO;
    return *text == 'c' ? LA_INTEGERS_CUTE : LA_INTEGERS_STATIC;
}

/* ---- lists -------------------------------------------------------------------------------------------------- */

static size_t list_of_array(struct request *rq, const struct given *given, struct element *out)
{
    const char *rest = given->text;
    const cJSON *item;
    size_t n = 0;
    cJSON_ArrayForEach (item, given->json) {
        size_t len = 0;
        const char *raw = json_next_element(&rest, &len);
        const char *text = cJSON_IsString(item) ? item->valuestring : as_tuple(rq, raw, len);
        out[n++] = (struct element){.text = text, .in_array = true};
    }
    return n;
}

static size_t list_of_text(struct request *rq, const char *text, struct element *out)
{
    size_t n = 0;
    char *copy = la_alloc(&rq->cx, strlen(text) + 1);
    strcpy(copy, text);
    for (char *rest = copy, *piece; (piece = strsep(&rest, ";"));)
        if (piece[strspn(piece, " \t\r\n")])
            out[n++] = (struct element){.text = piece, .at = (size_t)(piece - copy)};
    return n;
}

size_t field_list(struct request *rq, const char *name, const struct element **out)
{
    const struct given *given = find_given(rq, name);
    if (!given)
        return 0;
    const bool is_array = cJSON_IsArray(given->json);
    size_t most = is_array ? (size_t)cJSON_GetArraySize(given->json) : 1;
    if (!is_array)
        for (const char *p = given->text; *p; p++)
            most += *p == ';';
    if (most > FIELD_ELEMENTS_MAX)
        la_fail(&rq->cx, LA_E_limit, "'%s' has %zu elements; %d are read", name, most, FIELD_ELEMENTS_MAX);
    struct element *elements = la_alloc(&rq->cx, most * sizeof *elements);
    *out = elements;
    return is_array ? list_of_array(rq, given, elements) : list_of_text(rq, given->text, elements);
}

void respond_element_error(struct request *rq, const char *name, const struct element *elements, size_t i)
{
    rq->cx.error.at += elements[i].at;
    if (!elements[i].in_array) {
        respond_error(rq, name);
        return;
    }
    char in[96];
    snprintf(in, sizeof in, "%s[%zu]", name, i);
    respond_error(rq, in);
}
