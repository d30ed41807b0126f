/* metrics.h: what the files of /metrics share. */
#ifndef METRICS_H
#define METRICS_H

#include "json.h"

struct request;
struct call;

/* printf of a line, or of several short ones. */
void metrics_put(struct json *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What stands above the lines of one name; type: "counter", "gauge" or "histogram". */
void metrics_head(struct json *out, const char *name, const char *type, const char *help);

/* metrics_jobs.c: the question to the queue, kept in rq->state; and what it answered, or that it did not. */
struct call *metrics_jobs_begin(struct request *rq);
void metrics_jobs_write(struct json *out, const struct call *call);

#endif
