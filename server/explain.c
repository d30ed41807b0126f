/* explain.c: how an answer comes about and whether it is right, as JSON: "trace" and "checks" of an answer.
 *
 *     "trace":  [{"rule":"complement","depth":1,"text":"...","operands":{"layout":"3:2"},"result":"(2,2):(1,6)", ...}]
 *     "checks": {"laws":[{"law":"...","holds":false,"looked_at":3,"total":4,
 *                         "counterexample":{"at":"2","gives":"2","should":"18","index":2}}],
 *                "tiler":"a layout: over the whole","static_reading":null,"true_function":"none","advice":"..."}
 * What C++ prints is the answer itself; that C++ accepts it is that there is one; what is true stands in checks. */
#include "json.h"
#include "pure.h"

static void text_or_null(struct json *j, const char *key, const char *text)
{
    json_key(j, key);
    if (text)
        json_text(j, text);
    else
        json_null(j);
}

static void spelled(struct json *j, const char *key, const struct la_value *value)
{
    json_key(j, key);
    json_text(j, la_print(j->cx, value, LA_SPELL_CUTE));
}

static void write_step(struct json *j, const struct la_step *step)
{
    json_open(j, '{');
    json_key(j, "rule");
    json_text(j, step->rule);
    json_key(j, "depth");
    json_int(j, step->depth);
    json_key(j, "text");
    json_text(j, step->text);
    json_key(j, "operands");
    json_open(j, '[');
    for (uint32_t i = 0; i < step->n; i++) {
        json_open(j, '{');
        text_or_null(j, "name", step->operands[i].name);
        spelled(j, "cute", &step->operands[i].value);
        json_close(j, '}');
    }
    json_close(j, ']');
    json_key(j, "result");
    json_open(j, '{');
    json_value(j, &step->result);
    json_close(j, '}');
    json_close(j, '}');
}

void json_trace(struct json *j, const struct la_trace *trace)
{
    json_key(j, "trace");
    json_open(j, '[');
    for (const struct la_step *step = trace->first; step; step = step->next)
        write_step(j, step);
    json_close(j, ']');
}

static void write_law(struct json *j, const struct la_check *check)
{
    json_open(j, '{');
    text_or_null(j, "law", check->law);
    json_key(j, "holds");
    json_bool(j, check->holds);
    json_key(j, "looked_at");
    json_int(j, check->looked_at);
    json_key(j, "total");
    json_int(j, check->total);
    json_key(j, "counterexample");
    if (check->holds) {
        json_null(j);
    } else {
        json_open(j, '{');
        text_or_null(j, "at", check->at);
        text_or_null(j, "gives", check->gives);
        text_or_null(j, "should", check->should);
        json_key(j, "index");
        if (check->index < 0)
            json_null(j);
        else
            json_int(j, check->index);
        json_close(j, '}');
    }
    json_close(j, '}');
}

void json_checks(struct json *j, const struct la_checks *checks)
{
    json_key(j, "checks");
    json_open(j, '{');
    json_key(j, "laws");
    json_open(j, '[');
    for (uint32_t i = 0; i < checks->n; i++)
        write_law(j, &checks->at[i]);
    json_close(j, ']');
    text_or_null(j, "tiler", checks->tiler);
    text_or_null(j, "static_reading", checks->static_reading);
    text_or_null(j, "true_function", checks->true_function);
    text_or_null(j, "advice", checks->advice);
    json_close(j, '}');
}
