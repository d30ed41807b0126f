/* openapi_jobs.c: what /openapi.json says of jobs, for which no table says it.
 *
 * Schemas of a job, of its events and of the workers, the headers and parameters of their endpoints, and the addresses
 * below /jobs/ID. The text is JSON as it stands in the document; a test reads the whole of it. */
#include "openapi_jobs.h"
#include "routes.h"

#include <string.h>

/* It sets strings between macros at the right margin. */
/* clang-format off */

/* ---- schemas ------------------------------------------------------------------------------------------------ */

#define STRING "{\"type\":\"string\"}"
#define INTEGER "{\"type\":\"integer\"}"
#define TIME "{\"type\":\"string\",\"format\":\"date-time\"}"
#define REF(name) "{\"$ref\":\"#/components/schemas/" name "\"}"
#define STATES "\"enum\":[\"queued\",\"compiling\",\"running\",\"done\",\"failed\",\"cancelled\"]"

const char openapi_job_schemas[] =
    "\"budget\":{\"type\":\"object\",\"description\":\"milliseconds\",\"properties\":{\"queue_ms\":" INTEGER
    ",\"compile_ms\":" INTEGER ",\"run_ms\":" INTEGER "}},"
    "\"failure\":{\"type\":\"object\",\"required\":[\"kind\",\"message\"],\"properties\":{\"kind\":{\"enum\":["
    "\"user_error\",\"kernel_fault\",\"timeout_queue\",\"timeout_compile\",\"timeout_run\",\"infra\"]},"
    "\"message\":" STRING ",\"in\":" STRING "}},"
    "\"spec\":{\"type\":\"object\",\"required\":[\"kind\"],\"properties\":{\"kind\":" STRING
    ",\"executor\":{\"enum\":[\"any\",\"cpu\",\"gpu\"]},"
    "\"fresh\":{\"type\":\"boolean\",\"description\":\"run it, also when there is an answer\"},"
    "\"budget\":" REF("budget") ",\"webhook\":{\"type\":\"string\",\"format\":\"uri\",\"description\":"
    "\"https; is called with the job when it has ended, signed with the key in the data folder\"}}},"
    "\"sweep\":{\"type\":\"object\",\"required\":[\"kind\",\"base\"],\"properties\":{"
    "\"kind\":{\"const\":\"sweep\"},\"base\":" REF("spec") ","
    "\"vary\":{\"type\":\"object\",\"additionalProperties\":{\"type\":\"array\"},"
    "\"description\":\"the values that each field takes in turn: a child for each combination\"},"
    "\"list\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},\"description\":\"the fields of each child\"},"
    "\"fresh\":{\"type\":\"boolean\",\"description\":\"run children that have an answer, too\"},"
    "\"budget\":" REF("budget") ",\"webhook\":" STRING "}},"
    "\"sweep_result\":{\"type\":\"object\",\"required\":[\"counts\",\"ranked\"],\"properties\":{"
    "\"counts\":{\"type\":\"object\",\"additionalProperties\":" INTEGER "},"
    "\"ranked\":{\"type\":\"array\",\"description\":\"the best first: verified, then the fastest\",\"items\":{"
    "\"type\":\"object\",\"required\":[\"job\",\"state\",\"vary\"],\"properties\":{\"rank\":" INTEGER ","
    "\"job\":" STRING ",\"state\":{" STATES "},\"vary\":{\"type\":\"object\"},\"verified\":{\"type\":\"boolean\"},"
    "\"gbps\":{\"type\":\"number\"},\"tflops\":{\"type\":\"number\"},\"median_us\":{\"type\":\"number\"},"
    "\"failure\":" REF("failure") ",\"reused\":" STRING "}}}}},"
    "\"job\":{\"type\":\"object\",\"required\":[\"id\",\"state\",\"kind\",\"created\",\"attempts\",\"spec\",\"links\"],"
    "\"properties\":{\"id\":" STRING ",\"state\":{" STATES "},\"kind\":" STRING ",\"user\":" STRING ","
    "\"parent\":" STRING ",\"vary\":{\"type\":\"object\"},\"wants\":" STRING ","
    "\"reused\":{\"type\":\"string\",\"description\":\"of a child: the earlier job whose answer this is\"},"
    "\"executor\":{\"enum\":[\"cpu\",\"gpu\"]},\"worker\":" STRING ",\"created\":" TIME ",\"started\":" TIME ","
    "\"finished\":" TIME ",\"attempts\":" INTEGER ",\"charged_ms\":" INTEGER ","
    "\"spec\":{\"anyOf\":[" REF("spec") "," REF("sweep") "]},\"budget\":" REF("budget") ","
    "\"result\":{\"anyOf\":[" REF("sweep_result") ",{\"type\":\"object\"}]},\"failure\":" REF("failure") ","
    "\"partial\":{\"type\":\"object\",\"description\":\"what a failed run had so far\"},"
    "\"position\":{\"type\":\"integer\",\"description\":\"in the queue, from 1\"},\"estimate_ms\":" INTEGER ","
    "\"cached\":{\"type\":\"boolean\",\"description\":\"an earlier job's answer\"},\"age_s\":" INTEGER ","
    "\"links\":{\"type\":\"object\",\"additionalProperties\":" STRING "}}}";

const char openapi_worker_schemas[] =
    "\"jobs\":{\"type\":\"object\",\"required\":[\"jobs\"],\"properties\":{\"jobs\":{\"type\":\"array\",\"items\":"
    REF("job") "},\"next\":{\"type\":\"string\",\"description\":\"the address of the next page\"}}},"
    "\"event\":{\"type\":\"object\",\"required\":[\"seq\",\"at\",\"type\"],\"properties\":{\"seq\":" INTEGER ","
    "\"at\":" TIME ",\"type\":" STRING ",\"data\":{\"type\":\"object\"}}},"
    "\"events\":{\"type\":\"object\",\"required\":[\"events\"],\"properties\":{\"events\":{\"type\":\"array\",\"items\":"
    REF("event") "}}},"
    "\"devices\":{\"type\":\"object\",\"required\":[\"devices\",\"queue\"],\"properties\":{\"devices\":{\"type\":"
    "\"array\",\"items\":{\"type\":\"object\",\"required\":[\"worker\",\"executor\",\"local\",\"state\"],"
    "\"properties\":{\"worker\":" STRING ",\"executor\":" STRING ",\"local\":{\"type\":\"boolean\"},"
    "\"state\":{\"enum\":[\"starting\",\"ready\",\"busy\",\"restarting\",\"quarantined\",\"unavailable\",\"lost\"]},"
    "\"reason\":" STRING ",\"job\":{\"type\":[\"string\",\"null\"]},\"device\":{\"type\":\"object\"}}}},"
    "\"queue\":{\"type\":\"object\",\"additionalProperties\":" INTEGER "}}},"
    "\"lease\":{\"type\":\"object\"}";

/* ---- parameters --------------------------------------------------------------------------------------------- */

#define PARAMETER(name, in, schema, doc) \
    "{\"name\":\"" name "\",\"in\":\"" in "\",\"schema\":" schema ",\"description\":\"" doc "\"}"
#define WAIT PARAMETER("Prefer", "header", STRING, "wait=N: answer when the job has ended, or after N seconds (up to 60)")
#define ID "{\"name\":\"id\",\"in\":\"path\",\"required\":true,\"schema\":" STRING "}"

/* One row an operation: what it may be told beside its body. */
static const struct {
    void (*handle)(struct request *rq);
    const char *method, *parameters;
} operations[] = {
    {handle_jobs, "post",
     WAIT "," PARAMETER("Idempotency-Key", "header", STRING, "the same key and body are the same job")},
    {handle_jobs, "get",
     PARAMETER("state", "query", "{" STATES "}", "jobs in this state alone") ","
     PARAMETER("user", "query", STRING, "this user's jobs alone; @me: those of who asks, by token or address") ","
     PARAMETER("parent", "query", STRING, "the children of this sweep") ","
     PARAMETER("cursor", "query", INTEGER, "as the last page's `next` has it") ","
     PARAMETER("limit", "query", INTEGER, "jobs of a page: 500 at most, 5000 as csv or jsonl") ","
     PARAMETER("format", "query", "{\"enum\":[\"json\",\"csv\",\"jsonl\"]}", "or by Accept; Link has the next page")},
    {handle_job, "get",
     WAIT "," PARAMETER("If-None-Match", "header", STRING, "the ETag that is known: with Prefer, wait for a change")},
};

/* ---- paths -------------------------------------------------------------------------------------------------- */

#define REFUSED "\"default\":{\"$ref\":\"#/components/responses/problem\"}"

static const char below_a_job[] =
    "\"/jobs/{id}/events\":{\"get\":{\"summary\":\"A job's history: a list, or a stream (SSE) until the job has "
    "ended.\",\"parameters\":[" ID ","
    PARAMETER("after", "query", INTEGER, "the number of the last event that is known") ","
    PARAMETER("Last-Event-ID", "header", INTEGER, "the same") "],"
    "\"responses\":{\"200\":{\"description\":\"The events.\",\"content\":{\"application/json\":{\"schema\":"
    REF("events") "},\"text/event-stream\":{}}},"
    "\"204\":{\"description\":\"The job has ended, and all of it is known.\"}," REFUSED "}}},"
    "\"/jobs/{id}/{artifact}\":{\"get\":{\"summary\":\"A text beside a result: source, ptx, sass, log. PTX and SASS "
    "are made when asked for; where they cannot be, 404 tells why.\","
    "\"parameters\":[" ID ","
    PARAMETER("arch", "query", STRING, "of ptx and sass: sm_90a; without it, of the card that it ran on") ",{\"name\":\"artifact\",\"in\":\"path\",\"required\":true,\"schema\":{\"enum\":["
    "\"source\",\"ptx\",\"sass\",\"log\"]}}],\"responses\":{\"200\":{\"description\":\"The text.\",\"content\":{"
    "\"text/plain\":{}}}," REFUSED "}}}";

#define EITHER_SPEC "\"oneOf\":[" REF("sweep") "," REF("spec") "]"

/* clang-format on */

const char *openapi_job_parameters(const struct route *route, const char *method)
{
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].handle == route->handle && strcmp(operations[i].method, method) == 0)
            return operations[i].parameters;
    return NULL;
}

const char *openapi_job_gives(const struct route *route, const char *method)
{
    return route->handle == handle_jobs && strcmp(method, "get") == 0 ? "jobs" : route->gives;
}

const char *openapi_job_body(const struct route *route)
{
    return route->handle == handle_jobs ? EITHER_SPEC : NULL;
}

const char *openapi_job_paths(const struct route *route)
{
    return route->handle == handle_job ? below_a_job : NULL;
}
