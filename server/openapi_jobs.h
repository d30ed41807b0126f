/* openapi_jobs.h: the part of /openapi.json that is about jobs: pieces of JSON, NULL where there is nothing to add. */
#ifndef OPENAPI_JOBS_H
#define OPENAPI_JOBS_H

struct route;

/* Members of components.schemas. */
extern const char openapi_job_schemas[], openapi_worker_schemas[];
/* Parameters of an operation, with commas between them; the name of its answer's schema (of any operation); of its
 * body the schema's members. */
const char *openapi_job_parameters(const struct route *route, const char *method);
const char *openapi_job_gives(const struct route *route, const char *method);
const char *openapi_job_body(const struct route *route);
/* Members of paths: addresses below a route's. */
const char *openapi_job_paths(const struct route *route);

#endif
