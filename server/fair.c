/* fair.c: whose turn it is, and who must wait before the door.
 *
 * A user is a token's name, or a client's address where there are no tokens. A free worker takes the first job of the
 * user who has used workers least:
 *
 *     score = milliseconds used, halved every half hour, what runs now included  -  milliseconds of waiting
 *
 * so that nobody starves: who has used much waits longer, but not for ever. Jobs that a person waits for go before
 * the children of sweeps, of whoever; only a user who waits for long with nothing but a sweep is taken among the
 * former. Within a user and class jobs run in the order of submission.
 *
 * What a job used is charged when it ends; not when the fault was ours (states.c). Nothing is kept in memory: all of
 * it is in the rows of users and jobs, so it outlives the daemon and is rolled back with its transaction. */
#include "jobs.h"

#include <math.h>
#include <string.h>

enum {
    HALF_LIFE_MS = 30 * 60 *
                   1000,          /* an hour after its last job, a quarter of what a user used still counts */
    PATIENCE_MS = 10 * 60 * 1000, /* a sweep that gets no worker for so long counts as interactive */
    HOUR_MS = 3600 * 1000,
    MAX_QUEUED = 50 * 1000, /* jobs of all users: a few hundred megabytes, and deadlines that can be kept */
    FULL_RETRY_S = 60,      /* a queue of that length does not empty in a second */
    USUAL_COST_MS = 1000    /* of a job, before any has run */
};

/* ---- usage -------------------------------------------------------------------------------------------------- */

/* Since then; a step of the wall clock backwards counts as no time. */
static int64_t elapsed(int64_t since, int64_t now)
{
    return now > since ? now - since : 0;
}

static double decayed(const struct usage *u, int64_t now)
{
    return u->used * exp2(-(double)elapsed(u->at, now) / HALF_LIFE_MS);
}

static int64_t used_this_hour(const struct usage *u, int64_t now)
{
    return elapsed(u->hour, now) < HOUR_MS ? u->hour_used : 0;
}

void fair_charge(struct queue *q, const char *user, int64_t ms)
{
    struct usage u = store_usage(q->store, user);
    u.used = decayed(&u, q->today) + (double)ms;
    u.at = q->today;
    if (elapsed(u.hour, q->today) >= HOUR_MS || u.hour > q->today) {
        u.hour = q->today;
        u.hour_used = 0;
    }
    u.hour_used += ms;
    store_put_usage(q->store, &u);
}

static void waits_since_now(struct queue *q, const char *user)
{
    struct usage u = store_usage(q->store, user);
    u.since = q->today;
    store_put_usage(q->store, &u);
}

void fair_submitted(struct queue *q, const char *user)
{
    if (store_user_queued(q->store, user) == 0)
        waits_since_now(q, user);
}

void fair_leased(struct queue *q, const char *user)
{
    waits_since_now(q, user);
}

/* ---- the next job ------------------------------------------------------------------------------------------- */

/* A user's place in the line for a worker. */
struct turn {
    int64_t seq;  /* 0: has nothing that may run */
    bool patient; /* a sweep */
    double score;
};

static bool may_run(const struct queue *q, const struct usage *u)
{
    const struct options *o = &q->server->options;
    return (!o->user_running || u->running < o->user_running) &&
           (!o->user_seconds ||
            used_this_hour(u, q->today) + u->running_ms < o->user_seconds * INT64_C(1000));
}

static struct turn turn_of(const struct queue *q, const struct usage *u)
{
    const int64_t waited = elapsed(u->since, q->today);
    const bool sweep = !u->head[CLASS_INTERACTIVE];
    if (!may_run(q, u))
        return (struct turn){0};
    return (struct turn){.seq = u->head[sweep ? CLASS_SWEEP : CLASS_INTERACTIVE],
                         .patient = sweep && waited < PATIENCE_MS,
                         .score = decayed(u, q->today) + (double)u->running_ms - (double)waited};
}

static bool goes_before(const struct turn *a, const struct turn *b)
{
    if (a->patient != b->patient)
        return b->patient;
    return a->score != b->score ? a->score < b->score : a->seq < b->seq;
}

/* Jobs that run anywhere wait for a GPU where there is one. */
bool fair_next(struct queue *q, const struct worker *w, struct la_arena *arena, struct job *out)
{
    const bool any = strcmp(w->executor, "gpu") == 0 || !gpu_expected(q);
    struct turn best = {0};
    struct usage *u = store_turns(q->store, q->scratch, w->executor, any ? "any" : w->executor, q->now);
    for (; u; u = u->next) {
        const struct turn turn = turn_of(q, u);
        if (turn.seq && (!best.seq || goes_before(&turn, &best)))
            best = turn;
    }
    return best.seq && store_get(q->store, arena, best.seq, out);
}

/* ---- the door ----------------------------------------------------------------------------------------------- */

static int64_t seconds_up(int64_t ms)
{
    return ms > 0 ? (ms + 999) / 1000 : 1;
}

struct admission fair_admit(struct queue *q, const char *user, int64_t jobs)
{
    const struct options *o = &q->server->options;
    const int64_t queued = store_user_queued(q->store, user);
    const struct usage u = store_usage(q->store, user);
    struct admission a = {.limit = o->user_queued, .remaining = o->user_queued - queued - jobs};
    a.retry_s = seconds_up(store_recent_cost(q->store, USUAL_COST_MS) * jobs);
    if (o->user_seconds && used_this_hour(&u, q->today) >= o->user_seconds * INT64_C(1000)) {
        a.verdict = ADMITTED_NOT_HOUR;
        a.retry_s = seconds_up(HOUR_MS - elapsed(u.hour, q->today));
    } else if (a.remaining < 0) {
        a.verdict = ADMITTED_NOT_USER;
    } else if (store_queued(q->store) + jobs > MAX_QUEUED) {
        a.verdict = ADMITTED_NOT_ALL;
        a.retry_s = FULL_RETRY_S;
    }
    if (a.verdict != ADMITTED)
        a.remaining = o->user_queued > queued ? o->user_queued - queued : 0;
    return a;
}

/* ---- the place in the line ---------------------------------------------------------------------------------- */

static int64_t count_workers(const struct queue *q)
{
    int64_t count = 0;
    for (const struct worker *w = q->workers; w; w = w->next)
        count += strcmp(w->state, "ready") == 0;
    return count ? count : 1;
}

/* Users take turns, so of each other user about as many jobs run before this one as of its own; of a better class
 * all of them. */
void fair_position(struct queue *q, const struct job *job, int64_t *position, int64_t *ms)
{
    const struct line *lines = store_lines(q->store, q->scratch);
    int64_t own = store_count_before(q->store, job), others = 0;
    for (const struct line *l = lines; l; l = l->next)
        if (strcmp(l->user, job->user) == 0)
            own += l->class < job->class ? l->count : 0;
    for (const struct line *l = lines; l; l = l->next) {
        if (strcmp(l->user, job->user) == 0 || l->class > job->class)
            continue;
        others += l->class < job->class || l->count < own + 1 ? l->count : own + 1;
    }
    *position = own + others;
    *ms = (own + others) * store_recent_cost(q->store, USUAL_COST_MS) / count_workers(q);
}
