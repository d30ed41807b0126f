/* openapi.c: /openapi.json, OpenAPI 3.1, from the tables.
 *
 * Paths come from routes.c, their parameters from the tables of fields, /ops/NAME from the rows of core, the codes of
 * problems from problem.c. Only the schemas of answers are written out here, since no table holds them; a test holds
 * answers against them. */
#include "exchange.h"
#include "json.h"
#include "openapi_jobs.h"
#include "pure.h"

#include <stdio.h>
#include <string.h>

/* Members of components.schemas; the enum of a problem's code is added to it below. */
static const char schemas[] =
    "\"integer_tuple\":{\"description\":\"An integer, or an array of them and of such arrays; what is no "
    "integer (_, a"
    " scaled basis) is its text.\",\"oneOf\":[{\"type\":\"integer\"},{\"type\":\"string\"},"
    "{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/integer_tuple\"}}]},"
    "\"layout\":{\"type\":\"object\",\"required\":[\"shape\",\"stride\",\"rank\",\"depth\",\"size\","
    "\"cosize\"],"
    "\"properties\":{\"outer\":{\"type\":\"string\",\"description\":\"Of a composed layout outer o offset o"
    " shape:stride.\"},\"offset\":{\"$ref\":\"#/components/schemas/integer_tuple\"},"
    "\"shape\":{\"$ref\":\"#/components/schemas/integer_tuple\"},"
    "\"stride\":{\"$ref\":\"#/components/schemas/integer_tuple\"},\"rank\":{\"type\":\"integer\"},"
    "\"depth\":{\"type\":\"integer\"},\"size\":{\"description\":\"null beyond 64 bits\"},"
    "\"cosize\":{\"description\":\"null beyond 64 bits\"}}},"
    "\"tiled\":{\"type\":\"object\",\"required\":[\"atom\",\"thread\"],\"description\":\"a tiled copy or "
    "MMA: the fields "
    "of a job's spec that it was made "
    "of\",\"properties\":{\"atom\":{\"type\":\"string\"},\"type\":{\"type\":\"string\"},"
    "\"thr\":{\"type\":[\"string\",\"null\"],\"description\":\"null where make_tiled_copy did not make it\"},"
    "\"val\":{\"type\":[\"string\",\"null\"]},\"tiler\":{\"type\":\"string\"},\"tv\":{\"type\":\"string\"},"
    "\"atom_layout\":{\"type\":\"string\"},\"permutation\":{\"type\":\"string\"},"
    "\"thr_layout_vmnk\":{\"type\":\"string\"},\"thread\":{\"type\":[\"string\",\"null\"],"
    "\"description\":\"of a slice\"}}},"
    "\"value\":{\"type\":\"object\",\"required\":[\"type\",\"text\",\"cute\",\"value\"],\"properties\":{"
    "\"type\":{\"type\":\"string\",\"examples\":[\"int\",\"bool\",\"tuple\",\"layout\",\"composed\","
    "\"swizzle\"]},"
    "\"text\":{\"type\":\"string\",\"description\":\"without underscores\"},"
    "\"cute\":{\"type\":\"string\",\"description\":\"as CuTe prints it\"},"
    "\"value\":{\"description\":\"a layout as an object, a tuple as an array, an integer as a number\","
    "\"anyOf\":[{\"$ref\":\"#/components/schemas/layout\"},{\"$ref\":\"#/components/schemas/integer_tuple\"},"
    "{\"$ref\":\"#/components/schemas/tiled\"},{\"type\":[\"boolean\",\"object\",\"array\"]}]}}},"
    "\"table\":{\"type\":\"object\",\"required\":[\"rows\",\"cols\",\"row_shape\",\"col_shape\",\"offsets\"],"
    "\"properties\":{\"rows\":{\"type\":\"integer\"},\"cols\":{\"type\":\"integer\"},"
    "\"row_shape\":{\"$ref\":\"#/components/schemas/integer_tuple\"},"
    "\"col_shape\":{\"$ref\":\"#/components/schemas/integer_tuple\"},"
    "\"offsets\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"},\"description\":\"row by row\"}}},"
    "\"answer\":{\"allOf\":[{\"$ref\":\"#/components/schemas/value\"}],\"type\":\"object\","
    "\"required\":[\"integers\"],\"properties\":{\"integers\":{\"enum\":[\"cute\",\"static\"]},"
    "\"names\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#/components/schemas/value\"}},"
    "\"prints\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/value\"}},"
    "\"values\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/integer_tuple\"}},"
    "\"table\":{\"$ref\":\"#/components/schemas/table\"},"
    "\"trace\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/components/schemas/step\"}},"
    "\"checks\":{\"$ref\":\"#/components/schemas/checks\"}}},"
    "\"op\":{\"type\":\"object\",\"required\":[\"name\",\"doc\",\"params\",\"gives\"],\"properties\":{"
    "\"name\":{\"type\":\"string\"},\"doc\":{\"type\":\"string\"},\"law\":{\"type\":[\"string\",\"null\"]},"
    "\"params\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"name\":{\"type\":"
    "\"string\"},"
    "\"kinds\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"optional\":{\"type\":\"boolean\"},"
    "\"variadic\":{\"type\":\"boolean\"}}}},\"template_params\":{\"type\":[\"string\",\"null\"]},"
    "\"gives\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},\"example\":{\"type\":[\"string\","
    "\"null\"]},"
    "\"result\":{\"type\":[\"string\",\"null\"]}}},"
    "\"ops\":{\"type\":\"object\",\"required\":[\"ops\"],\"properties\":{\"ops\":{\"type\":\"array\","
    "\"items\":{\"$ref\":\"#/components/schemas/op\"}}}},"
    "\"state\":{\"type\":\"object\",\"required\":[\"status\"],\"properties\":{\"status\":{\"type\":"
    "\"string\"}}},"
    "\"document\":{\"type\":\"object\"}";

/* The same for what explains an answer. */
static const char explanations[] =
    "\"step\":{\"type\":\"object\",\"required\":[\"rule\",\"text\",\"operands\",\"result\"],\"properties\":{"
    "\"rule\":{\"type\":\"string\"},\"depth\":{\"type\":\"integer\"},\"text\":{\"type\":\"string\"},"
    "\"operands\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{"
    "\"name\":{\"type\":[\"string\",\"null\"]},\"cute\":{\"type\":\"string\"}}}},"
    "\"result\":{\"$ref\":\"#/components/schemas/value\"}}},"
    "\"checks\":{\"type\":\"object\",\"required\":[\"laws\"],\"properties\":{"
    "\"laws\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"law\",\"holds\"],"
    "\"properties\":{"
    "\"law\":{\"type\":\"string\"},\"holds\":{\"type\":\"boolean\"},\"looked_at\":{\"type\":\"integer\"},"
    "\"total\":{\"type\":\"integer\"},\"counterexample\":{\"type\":[\"object\",\"null\"],\"properties\":{"
    "\"at\":{\"type\":\"string\"},\"gives\":{\"type\":\"string\"},\"should\":{\"type\":\"string\"},"
    "\"index\":{\"type\":[\"integer\",\"null\"],\"description\":\"of the answer's own element at which the "
    "law "
    "fails; null: it is none of them\"}}}}}},"
    "\"tiler\":{\"type\":[\"string\",\"null\"]},\"static_reading\":{\"type\":[\"string\",\"null\"]},"
    "\"true_function\":{\"type\":[\"string\",\"null\"]},\"advice\":{\"type\":[\"string\",\"null\"]}}},"
    "\"atoms\":{\"type\":\"object\",\"required\":[\"atoms\",\"count\"],\"properties\":{"
    "\"atoms\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"name\",\"kind\"],"
    "\"properties\":{"
    "\"name\":{\"type\":\"string\"},\"kind\":{\"enum\":[\"mma\",\"copy\"]}}}},\"count\":{\"type\":"
    "\"integer\"}}},"
    "\"atom\":{\"type\":\"object\",\"required\":[\"name\",\"kind\",\"arch\"]},"
    "\"fit\":{\"type\":\"object\",\"required\":[\"found\"],\"properties\":{\"found\":{\"type\":\"boolean\"},"
    "\"row\":{\"type\":\"integer\"},\"col\":{\"type\":\"integer\"},\"gives\":{\"type\":\"integer\"},"
    "\"should\":{\"type\":\"integer\"},\"reason\":{\"type\":\"string\"}}}";

/* Of the analyses. */
static const char analysis_schemas[] =
    "\"access\":{\"type\":\"object\",\"required\":[\"space\",\"op\",\"bytes\",\"lanes\",\"active\",\"ideal\","
    "\"requests\"],"
    "\"properties\":{\"space\":{\"enum\":[\"shared\",\"global\"]},\"op\":{\"type\":\"string\"},"
    "\"bytes\":{\"type\":\"integer\"},\"active\":{\"type\":\"integer\"},\"requests\":{\"type\":\"integer\"},"
    "\"lanes\":{\"type\":\"array\",\"items\":{\"type\":[\"integer\",\"null\"]},\"description\":\"byte "
    "offsets\"},"
    "\"ideal\":{\"type\":\"integer\",\"description\":\"the fewest wavefronts or sectors of these lanes\"},"
    "\"phase_lanes\":{\"type\":\"integer\",\"description\":\"lanes that are served together\"},"
    "\"wavefronts\":{\"type\":\"integer\"},\"conflicts\":{\"type\":\"integer\"},\"ways\":{\"type\":"
    "\"integer\"},"
    "\"banks\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{\"bank\":{\"type\":"
    "\"integer\"},"
    "\"phase\":{\"type\":\"integer\"},\"words\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"
    "\"lanes\":{\"type\":\"array\",\"items\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}}}}},"
    "\"description\":\"where words clash: the words, and the lanes of each\"},"
    "\"sectors\":{\"type\":\"integer\"},\"lines\":{\"type\":\"integer\"},\"lines_ideal\":{\"type\":"
    "\"integer\"},"
    "\"warp\":{\"type\":\"integer\"},\"step\":{\"type\":\"integer\"},\"all\":{\"$ref\":\"#/components/"
    "schemas/side\"}}},"
    "\"side\":{\"type\":\"object\",\"required\":[\"space\",\"op\",\"bytes\",\"tiles\",\"ideal\",\"tile\","
    "\"instructions\","
    "\"worst\"],\"properties\":{\"tiles\":{\"type\":\"integer\"},"
    "\"wavefronts\":{\"type\":\"integer\",\"description\":\"of all tiles, as are the other totals\"},"
    "\"tile\":{\"type\":\"object\",\"description\":\"the same totals of the tile at the origin\"},"
    "\"per_instruction\":{\"type\":\"object\",\"description\":\"of that tile, warp by warp\"},"
    "\"worst\":{\"$ref\":\"#/components/schemas/access\"},"
    "\"vectors\":{\"type\":\"object\",\"properties\":{\"elements\":{\"type\":\"integer\"},\"bits\":{\"type\":"
    "\"integer\"},"
    "\"stopped_by\":{\"enum\":[\"width\",\"values\",\"order\",\"swizzle\",\"alignment\"]},"
    "\"mode\":{\"type\":[\"integer\",\"null\"]},\"stride\":{\"type\":[\"integer\",\"null\"]},"
    "\"why\":{\"type\":\"string\"},\"static\":{\"type\":\"boolean\"}}},"
    "\"memory\":{\"$ref\":\"#/components/schemas/value\"},\"swizzle\":{\"type\":[\"object\",\"null\"]}}},"
    "\"copy\":{\"type\":\"object\",\"required\":[\"element_bits\",\"integers\"],\"properties\":{"
    "\"tma\":{\"type\":\"object\",\"description\":\"with an atom of TMA: the tensor map, and nothing of "
    "lanes\"},"
    "\"dst_tma\":{\"type\":\"object\",\"description\":\"likewise, of "
    "dst_atom\"},\"tv\":{\"type\":\"string\"},"
    "\"tile\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},\"coverage\":{\"type\":\"object\"},"
    "\"sides\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#/components/schemas/side\"}},"
    "\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"required\":[\"code\",\"in\","
    "\"detail\"]}}}},"
    "\"mma\":{\"type\":\"object\",\"required\":[\"atom\",\"threads\",\"tile_mnk\",\"A\",\"B\",\"C\","
    "\"sides\",\"warnings\"],"
    "\"properties\":{\"threads\":{\"type\":\"integer\"},\"thr_layout_vmnk\":{\"type\":\"string\"},"
    "\"tile_mnk\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},\"A\":{\"type\":\"object\"},\"B\":{"
    "\"type\":\"object\"},"
    "\"C\":{\"type\":\"object\"},"
    "\"sides\":{\"type\":\"object\",\"additionalProperties\":{\"$ref\":\"#/components/schemas/side\"}},"
    "\"warnings\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}}},"
    "\"swizzle\":{\"type\":\"object\",\"required\":[\"element_bits\"],\"properties\":{"
    "\"ideal\":{\"type\":\"integer\"},\"legal\":{\"type\":\"integer\",\"description\":\"how many were "
    "tried\"},"
    "\"none\":{\"type\":\"object\"},\"padding\":{\"type\":[\"object\",\"null\"]},"
    "\"swizzles\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"the best first\"},"
    "\"units\":{\"type\":\"object\"},\"address_bits\":{\"type\":\"object\"},"
    "\"hardware\":{\"type\":[\"string\",\"null\"]}}}";

static void member(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    json_text(j, text);
}

static void open_member(struct json *j, const char *key, char bracket)
{
    json_key(j, key);
    json_open(j, bracket);
}

/* Members or elements that are JSON already; NULL: none. */
static void write_raw(struct json *j, const char *text)
{
    if (text)
        json_raw(j, text, strlen(text));
}

/* ---- schemas ------------------------------------------------------------------------------------------------ */

static void write_ref(struct json *j, const char *schema)
{
    char ref[80];
    snprintf(ref, sizeof ref, "#/components/schemas/%s", schema);
    json_open(j, '{');
    member(j, "$ref", ref);
    json_close(j, '}');
}

static void write_problem_schema(struct json *j)
{
    static const char head[] =
        "\"type\":\"object\",\"required\":[\"type\",\"title\",\"status\",\"code\",\"detail\"],\"properties\":"
        "{"
        "\"type\":{\"type\":\"string\"},\"title\":{\"type\":\"string\"},\"status\":{\"type\":\"integer\"},"
        "\"detail\":{\"type\":\"string\"},\"in\":{\"type\":\"string\",\"description\":\"the field at "
        "fault\"},"
        "\"position\":{\"type\":\"object\",\"description\":\"bytes of the field's text\",\"properties\":{"
        "\"start\":{\"type\":\"integer\"},\"end\":{\"type\":\"integer\"}}},";
    open_member(j, "problem", '{');
    json_bytes(j, head, sizeof head - 1);
    json_bytes(j, "\"code\":{\"type\":\"string\",\"examples\":[",
               strlen("\"code\":{\"type\":\"string\",\"examples\":["));
    const char *code;
    int status;
    for (size_t i = 0; (code = problem_code(i, &status)); i++)
        json_text(j, code);
    json_bytes(j, "]}}}", 4);
}

static void write_components(struct json *j)
{
    static const char responses[] =
        "\"responses\":{\"problem\":{\"description\":\"A "
        "refusal.\",\"content\":{\"application/problem+json\":{"
        "\"schema\":{\"$ref\":\"#/components/schemas/problem\"}}}}},"
        "\"securitySchemes\":{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}}";
    open_member(j, "components", '{');
    open_member(j, "schemas", '{');
    json_raw(j, schemas, sizeof schemas - 1);
    json_raw(j, analysis_schemas, sizeof analysis_schemas - 1);
    json_raw(j, explanations, sizeof explanations - 1);
    write_raw(j, openapi_job_schemas);
    write_raw(j, openapi_worker_schemas);
    write_problem_schema(j);
    json_close(j, '}');
    json_raw(j, responses, sizeof responses - 1);
    json_close(j, '}');
}

/* What a path and method say: a row of routes.c, with the fields of one operation for /ops/NAME. */
struct operation {
    const struct route *route;
    const struct field *fields;
    const char *doc;
    const char *tail; /* a parameter of the path, or NULL */
};

/* ---- parameters --------------------------------------------------------------------------------------------- */

static void write_choices(struct json *j, const char *const *choices)
{
    open_member(j, "enum", '[');
    for (; *choices; choices++)
        json_text(j, *choices);
    json_close(j, ']');
}

static void write_field_schema(struct json *j, const struct field *field, bool in_body)
{
    static const char list[] = "\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\"}]";
    static const char notation[] =
        "\"oneOf\":[{\"type\":\"string\"},{\"type\":\"integer\"},{\"type\":\"array\"}]";
    static const char nullable[] =
        "\"oneOf\":[{\"type\":\"string\"},{\"type\":\"array\"},{\"type\":\"null\"}]";
    static const char structure[] = "\"oneOf\":[{\"type\":\"array\"},{\"type\":\"object\"}]";
    json_open(j, '{');
    if (field->type == FIELD_CHOICE)
        write_choices(j, field->choices);
    else if (field->type == FIELD_FLAG)
        member(j, "type", "boolean");
    else if (field->type == FIELD_INT)
        member(j, "type", "integer");
    else if (in_body && field->type == FIELD_NOTATION)
        json_raw(j, notation, sizeof notation - 1);
    else if (in_body && field->type == FIELD_LIST)
        json_raw(j, list, sizeof list - 1);
    else if (in_body && field->type == FIELD_NULLABLE)
        json_raw(j, nullable, sizeof nullable - 1);
    else if (in_body && field->type == FIELD_JSON)
        json_raw(j, structure, sizeof structure - 1);
    else
        member(j, "type", "string");
    if (in_body && field->doc)
        member(j, "description", field->doc);
    json_close(j, '}');
}

static void write_query(struct json *j, const struct field *fields)
{
    for (; fields && fields->name; fields++) {
        json_open(j, '{');
        member(j, "name", fields->name);
        member(j, "in", "query");
        json_key(j, "required");
        json_bool(j, fields->required);
        member(j, "description", fields->doc);
        json_key(j, "schema");
        write_field_schema(j, fields, false);
        json_close(j, '}');
    }
}

static void write_body(struct json *j, const struct operation *op)
{
    const struct field *fields = op->fields;
    open_member(j, "requestBody", '{');
    json_key(j, "required");
    json_bool(j, true);
    open_member(j, "content", '{');
    open_member(j, "application/json", '{');
    open_member(j, "schema", '{');
    member(j, "type", "object");
    write_raw(j, openapi_job_body(op->route));
    if (fields) {
        json_key(j, "additionalProperties");
        json_bool(j, false);
        open_member(j, "required", '[');
        for (const struct field *f = fields; f->name; f++)
            if (f->required)
                json_text(j, f->name);
        json_close(j, ']');
        open_member(j, "properties", '{');
        for (const struct field *f = fields; f->name; f++) {
            json_key(j, f->name);
            write_field_schema(j, f, true);
        }
        json_close(j, '}');
    }
    json_close(j, '}');
    json_close(j, '}');
    json_close(j, '}');
    json_close(j, '}');
}

/* ---- paths -------------------------------------------------------------------------------------------------- */

/* A schema, or media types separated by spaces. */
static void write_content(struct json *j, const char *gives)
{
    char type[64];
    open_member(j, "content", '{');
    if (!strchr(gives, '/')) {
        open_member(j, "application/json", '{');
        json_key(j, "schema");
        write_ref(j, gives);
        json_close(j, '}');
    }
    for (int n = 0; strchr(gives, '/') && sscanf(gives, "%63s%n", type, &n) == 1; gives += n) {
        open_member(j, type, '{');
        json_close(j, '}');
    }
    json_close(j, '}');
}

static void write_responses(struct json *j, const struct route *route, const char *gives)
{
    open_member(j, "responses", '{');
    open_member(j, route->flags & ROUTE_PURE ? "200" : "2XX", '{');
    member(j, "description", "The answer.");
    write_content(j, gives);
    json_close(j, '}');
    open_member(j, "default", '{');
    member(j, "$ref", "#/components/responses/problem");
    json_close(j, '}');
    json_close(j, '}');
}

/* A token with the scope; or none, where the daemon was started without tokens. */
static void write_security(struct json *j, const char *scope)
{
    open_member(j, "security", '[');
    json_open(j, '{');
    json_close(j, '}');
    json_open(j, '{');
    open_member(j, "token", '[');
    json_text(j, scope);
    json_close(j, ']');
    json_close(j, '}');
    json_close(j, ']');
}

static void write_method(struct json *j, const struct operation *op, const char *method)
{
    const bool is_post = strcmp(method, "post") == 0;
    open_member(j, method, '{');
    member(j, "summary", op->doc);
    open_member(j, "parameters", '[');
    if (op->tail) {
        json_open(j, '{');
        member(j, "name", op->tail);
        member(j, "in", "path");
        json_key(j, "required");
        json_bool(j, true);
        json_raw(j, "\"schema\":{\"type\":\"string\"}", strlen("\"schema\":{\"type\":\"string\"}"));
        json_close(j, '}');
    }
    if (!is_post)
        write_query(j, op->fields);
    write_raw(j, openapi_job_parameters(op->route, method));
    json_close(j, ']');
    if (is_post && op->route->flags & ROUTE_JSON)
        write_body(j, op);
    if (op->route->scope)
        write_security(j, op->route->scope);
    write_responses(j, op->route, openapi_job_gives(op->route, method));
    json_close(j, '}');
}

static void write_path(struct json *j, const char *path, const struct operation *op)
{
    open_member(j, path, '{');
    if (op->route->flags & ROUTE_GET)
        write_method(j, op, "get");
    if (op->route->flags & ROUTE_POST)
        write_method(j, op, "post");
    if (op->route->flags & ROUTE_DELETE)
        write_method(j, op, "delete");
    json_close(j, '}');
}

static void write_ops(struct json *j, const struct route *route)
{
    const struct la_op *op;
    struct field fields[OP_FIELDS_MAX];
    for (size_t i = 0; (op = la_op_at(i)); i++) {
        op_fields(op, fields);
        write_path(j, la_format(j->cx, "%s/%s", route->path, op->name),
                   &(struct operation){route, fields, op->doc, NULL});
    }
}

static void write_paths(struct json *j)
{
    const struct route *route;
    open_member(j, "paths", '{');
    for (size_t i = 0; (route = route_at(i)); i++) {
        const bool has_tail = route->flags & ROUTE_PREFIX;
        const char *path = has_tail ? la_format(j->cx, "%s/{%s}", route->path, route->tail) : route->path;
        write_path(j, path,
                   &(struct operation){route, route->fields, route->doc, has_tail ? route->tail : NULL});
        write_raw(j, openapi_job_paths(route));
        if (route->handle == handle_op)
            write_ops(j, route);
    }
    json_close(j, '}');
}

void handle_openapi(struct request *rq)
{
    struct json j = json_new(&rq->cx, 256 * 1024);
    json_open(&j, '{');
    member(&j, "openapi", "3.1.0");
    open_member(&j, "info", '{');
    member(&j, "title", "layoutd");
    member(&j, "version", LAYOUTD_VERSION);
    member(&j, "description", "The algebra of CuTe layouts over HTTP, and partitions run on a GPU.");
    json_close(&j, '}');
    write_paths(&j);
    write_components(&j);
    json_close(&j, '}');
    respond(rq, 200, "application/json", j.data, j.len);
}
