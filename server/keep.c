/* keep.c: how long ended jobs are kept, by age (--keep-days) and by size (--keep-mib).
 *
 * The ones that ended first go first, a sweep together with its children. Now and then a few are removed in the
 * transaction of a batch, so that nobody waits for it. What is removed leaves its room in the file to what comes.
 *
 * A wall clock that was set forward makes everything old at once: then nothing is removed until the daemon is started
 * again, and somebody has looked. */
#include "queue.h"

#include <stdio.h>

enum {
    LOOK_MS = 60 * 1000,
    MORE_MS = 200, /* until the next few, when there are more */
    FEW = 50,
    STEP_MS = 3600 * 1000 /* no clock runs that wrong between two steps */
};
#define DAY_MS (INT64_C(24) * 3600 * 1000)

/* The first that ended before a time, with all that belongs to it. */
static bool remove_one(struct queue *q, int64_t before)
{
    const int64_t seq = store_find_old(q->store, before);
    if (seq)
        store_remove(q->store, seq);
    return seq != 0;
}

void jobs_tidy(struct queue *q)
{
    const struct options *o = &q->server->options;
    int removed = 0;
    if (q->now < q->tidy)
        return;
    q->tidy = q->now + LOOK_MS;
    if (q->today - q->now > q->since + STEP_MS)
        return;
    const int64_t oldest = q->today - o->keep_days * DAY_MS, most = o->keep_mib * (INT64_C(1) << 20);
    while (removed < FEW && remove_one(q, oldest))
        removed++;
    while (removed < FEW && store_bytes(q->store) > most && remove_one(q, INT64_MAX))
        removed++;
    store_forget_users(q->store, q->today - DAY_MS);
    if (removed == FEW)
        q->tidy = q->now + MORE_MS;
}
