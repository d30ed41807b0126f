/* store.c: jobs, their events and their artifacts in SQLite.
 *
 * The file is in WAL mode and locked by its daemon. A job is one row, written whole by store_save: what is
 * true of a job is in its row and nowhere else, so a rolled-back transaction leaves no trace in memory.
 * Statements are prepared once, named in one table, bound by a string of types ("it": an integer and a
 * text).
 *
 * Not here: when to commit (queue.c), what a state means (states.c), opening and repair (store_open.c). */
#include "store_sql.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_BUT_RESULT \
    "seq,id,user,state,kind,wants,spec,key,queue_ms,compile_ms,run_ms,created,started,finished,deadline," \
    "attempts,cancel,lease,worker,local,executor,failure,partial,parent,class,version,open,vary,losses," \
    "leased,cost,webhook,reused,(SELECT p.id FROM jobs p WHERE p.seq=jobs.parent)," \
    "(SELECT group_concat(name) FROM artifacts WHERE job=seq),"
#define SELECT_JOB "SELECT " COLUMNS_BUT_RESULT "result FROM jobs "
/* For lists: of the result only what fits in a line. */
#define SELECT_BRIEF \
    "SELECT " COLUMNS_BUT_RESULT "CASE WHEN result IS NOT NULL THEN " \
    "json_object('verified',result->'$.verified','gbps',result->'$.gbps','tflops',result->'$.tflops') END " \
    "FROM jobs "
/* The first job of a user in one class, of those that want one executor; and the jobs that workers run. */
#define HEAD(class, wants) \
    "(SELECT min(seq) FROM jobs WHERE state='queued' AND user=name AND class=" class " AND wants=" wants ")"
#define LEASED "state IN ('compiling','running') AND wants<>'sweep'"

static const char *const statements[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ADD] = "INSERT INTO jobs(id,user,state,kind,wants,spec,spec_hash,key,queue_ms,compile_ms,run_ms,"
                "created,deadline,parent,class,vary,webhook,open,reused) "
                "VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19)",
    [SQL_SAVE] = "UPDATE jobs SET state=?2,started=?3,finished=?4,deadline=?5,attempts=?6,cancel=?7,lease=?8,"
                 "worker=?9,local=?10,executor=?11,result=?12,failure=?13,partial=?14,losses=?15,leased=?16,"
                 "cost=?17,version=version+1,verified=?12->>'$.verified'=1,"
                 "speed=CAST(coalesce(?12->>'$.gbps',?12->>'$.tflops') AS REAL),"
                 "micros=CAST(?12->>'$.median' AS REAL) WHERE seq=?1",
    [SQL_GET] = SELECT_JOB "WHERE seq=?1",
    [SQL_FIND] = SELECT_JOB "WHERE id=?1",
    [SQL_FIND_KEY] = SELECT_JOB "WHERE user=?1 AND key=?2",
    [SQL_FIND_ANSWER] =
        "SELECT seq FROM jobs WHERE spec_hash=?1 AND executor=?2 AND spec=?3 AND state='done' "
        "AND coalesce(verified,1) AND reused IS NULL ORDER BY seq DESC LIMIT 1",
    [SQL_FIND_OVERDUE] = SELECT_JOB "WHERE deadline>0 AND deadline<=?1 LIMIT 1",
    [SQL_FIND_LEASED] = SELECT_JOB "WHERE " LEASED " AND seq>?1 ORDER BY seq LIMIT 1",
    [SQL_FIND_BEFORE] = SELECT_BRIEF "WHERE seq<?1 AND parent=?2 ORDER BY seq DESC LIMIT 1",
    [SQL_FIND_BEFORE_STATE] = SELECT_BRIEF
    "WHERE seq<?1 AND parent=?2 AND state=?3 ORDER BY seq DESC LIMIT 1",
    [SQL_FIND_BEFORE_USER] = SELECT_BRIEF
    "WHERE seq<?1 AND parent=?2 AND user=?3 AND state=coalesce(?4,state) ORDER BY seq DESC LIMIT 1",
    [SQL_FIND_OPEN_CHILD] = SELECT_JOB
    "WHERE parent=?1 AND seq>?2 AND state IN ('queued','compiling','running') "
    "ORDER BY seq LIMIT 1",
    [SQL_HEARD] = "UPDATE jobs SET deadline=?2 WHERE seq=?1",
    [SQL_NEXT_DEADLINE] = "SELECT min(deadline) FROM jobs WHERE deadline>0",
    [SQL_RESTART_WAITING] = "UPDATE jobs SET deadline=?1+queue_ms WHERE state='queued' AND wants<>'sweep'",
    [SQL_COUNT_STATE] = "SELECT count(*) FROM jobs WHERE state=?1 AND wants<>'sweep' AND class=?2",
    [SQL_COUNT_FAULTS] = "SELECT count(*) FROM jobs WHERE spec_hash=?1 AND spec=?2 AND state='failed' "
                         "AND failure->>'$.kind'='kernel_fault' AND attempts>0 AND finished>?3 AND seq>?4",
    [SQL_LAST_DONE] = "SELECT max(seq) FROM jobs WHERE spec_hash=?1 AND spec=?2 AND state='done'",
    [SQL_CLOSE_CHILD] = "UPDATE jobs SET open=open-1,version=version+1 WHERE seq=?1 RETURNING open",
    [SQL_START_SWEEP] = "UPDATE jobs SET state='running',started=?2,version=version+1 "
                        "WHERE seq=?1 AND state='queued' RETURNING 1",
    [SQL_SWEEP_DONE] =
        "SELECT count(*),(SELECT failure->>'$.kind' FROM jobs WHERE parent=?1 AND state='failed' "
        "ORDER BY seq DESC LIMIT 1) FROM jobs WHERE parent=?1 AND state='done'",
    [SQL_CHILDREN] =
        "SELECT id,state,kind,vary,executor,verified,speed,micros,failure,reused FROM jobs WHERE parent=?1 "
        "ORDER BY verified DESC,speed DESC,micros IS NULL,micros,seq",
    [SQL_ADD_EVENT] = "INSERT INTO events(job,seq,at,type,data) SELECT ?1,coalesce(max(seq),0)+1,?2,?3,?4 "
                      "FROM events WHERE job=?1 HAVING coalesce(max(seq),0)<?5",
    [SQL_NEXT_EVENT] = "SELECT seq,at,type,data FROM events WHERE job=?1 AND seq>?2 ORDER BY seq LIMIT 1",
    [SQL_PUT_ARTIFACT] = "INSERT OR REPLACE INTO artifacts(job,name,text) VALUES(?1,?2,?3)",
    [SQL_COPY_ARTIFACTS] =
        "INSERT INTO artifacts(job,name,text) SELECT ?2,name,text FROM artifacts WHERE job=?1",
    [SQL_ARTIFACT] = "SELECT text FROM artifacts WHERE job=?1 AND name=?2",
    [SQL_TURNS] = "SELECT name,used,at,since,hour,hour_used,"
                  "(SELECT count(*) FROM jobs WHERE " LEASED " AND user=name),"
                  "(SELECT coalesce(sum(?3-leased),0) FROM jobs WHERE " LEASED " AND user=name)," HEAD(
                      "0", "?1") "," HEAD("0", "?2") "," HEAD("1", "?1") "," HEAD("1", "?2") " FROM users",
    [SQL_USER_QUEUED] = "SELECT coalesce(sum(count),0) FROM queued WHERE user=?1",
    [SQL_USER] = "SELECT used,at,since,hour,hour_used FROM users WHERE name=?1",
    [SQL_CHARGE] = "INSERT INTO users(name,used,at,since,hour,hour_used) VALUES(?1,?2,?3,?4,?5,?6) "
                   "ON CONFLICT DO UPDATE SET used=?2,at=?3,since=?4,hour=?5,hour_used=?6",
    [SQL_LINE] = "SELECT user,class,count FROM queued WHERE count>0",
    [SQL_COUNT_BEFORE] = "SELECT count(*) FROM jobs WHERE state='queued' AND user=?1 AND class=?2 AND "
                         "wants IN ('any','cpu','gpu') AND seq<?3",
    [SQL_COUNT_QUEUED] = "SELECT coalesce(sum(count),0) FROM queued",
    [SQL_QUEUED_IN] =
        "SELECT sum(count),min((SELECT created FROM jobs WHERE seq=(SELECT min(seq) FROM jobs "
        "WHERE state='queued' AND user=queued.user AND class=?1 AND wants IN ('any','cpu','gpu')))) "
        "FROM queued WHERE class=?1 AND count>0",
    [SQL_RECENT_COST] = "SELECT CAST(avg(cost) AS INTEGER) FROM (SELECT cost FROM jobs WHERE state='done' "
                        "ORDER BY seq DESC LIMIT 20) WHERE cost>0",
    [SQL_ADD_HOOK] = "INSERT OR IGNORE INTO hooks(job,due) VALUES(?1,?2)",
    [SQL_HOOKS] = "SELECT count(*) FROM hooks",
    [SQL_NEXT_HOOK] = "SELECT job,tries,due FROM hooks ORDER BY due LIMIT 1",
    [SQL_HOOK_LATER] = "UPDATE hooks SET tries=tries+1,due=?2 WHERE job=?1",
    [SQL_HOOK_OVER] = "DELETE FROM hooks WHERE job=?1",
    [SQL_FIND_OLD] =
        "SELECT seq FROM jobs WHERE finished>0 AND finished<?1 AND parent=0 ORDER BY finished LIMIT 1",
    [SQL_REMOVE] = "DELETE FROM jobs WHERE seq=?1 OR parent=?1",
    [SQL_FORGET_USERS] =
        "DELETE FROM users WHERE at<?1 AND hour<?1 AND name NOT IN (SELECT user FROM queued WHERE count>0)",
    [SQL_BYTES] = "SELECT (page_count-freelist_count)*page_size FROM pragma_page_count,pragma_freelist_count,"
                  "pragma_page_size",
};

static const char *const state_names[JOB_STATE_COUNT] = {
    [JOB_QUEUED] = "queued", [JOB_COMPILING] = "compiling", [JOB_RUNNING] = "running",
    [JOB_DONE] = "done",     [JOB_FAILED] = "failed",       [JOB_CANCELLED] = "cancelled",
};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

enum job_state job_state_find(const char *name)
{
    int i = 0;
    while (i < JOB_STATE_COUNT && strcmp(name, state_names[i]) != 0)
        i++;
    return (enum job_state)i;
}

/* ---- statements --------------------------------------------------------------------------------------------- */

bool store_prepare(struct store *s)
{
    for (int i = 0; i < SQL_COUNT; i++)
        if (sqlite3_prepare_v3(s->db, statements[i], -1, SQLITE_PREPARE_PERSISTENT, &s->statements[i], NULL))
            return false;
    return true;
}

static void fail(struct store *s)
{
    if (!s->failed)
        fprintf(stderr, "layoutd: store: %s\n", sqlite3_errmsg(s->db));
    s->failed = true;
}

sqlite3_stmt *store_bind(struct store *s, enum sql which, const char *types, ...)
{
    sqlite3_stmt *st = s->statements[which];
    va_list args;
    va_start(args, types);
    int rc = SQLITE_OK;
    for (int i = 0; types[i] && rc == SQLITE_OK; i++) {
        if (types[i] == 'i')
            rc = sqlite3_bind_int64(st, i + 1, va_arg(args, int64_t));
        else if (types[i] == 'r')
            rc = sqlite3_bind_double(st, i + 1, va_arg(args, double));
        else
            rc = sqlite3_bind_text(st, i + 1, va_arg(args, const char *), -1, SQLITE_STATIC);
    }
    va_end(args);
    if (rc != SQLITE_OK)
        fail(s);
    return st;
}

bool store_step(struct store *s, sqlite3_stmt *st)
{
    const int rc = s->failed ? SQLITE_DONE : sqlite3_step(st);
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        fail(s);
    sqlite3_reset(st);
    return false;
}

int64_t store_integer(struct store *s, sqlite3_stmt *st, int64_t otherwise)
{
    if (!store_step(s, st))
        return otherwise;
    const int64_t n = sqlite3_column_type(st, 0) == SQLITE_NULL ? otherwise : sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return n;
}

const char *store_text(struct store *s, sqlite3_stmt *st, int column, struct la_arena *arena)
{
    const unsigned char *from = sqlite3_column_text(st, column);
    if (!from)
        return NULL;
    const size_t size = (size_t)sqlite3_column_bytes(st, column) + 1;
    char *to = la_arena_alloc(arena, size);
    if (to)
        return memcpy(to, from, size);
    s->out_of_memory = true;
    return NULL;
}

bool store_out_of_memory(struct store *s)
{
    const bool was = s->out_of_memory;
    s->out_of_memory = false;
    return was;
}

bool store_read_job(struct store *s, sqlite3_stmt *st, struct la_arena *arena, struct job *out)
{
    if (!store_step(s, st))
        return false;
    int i = 0; /* the initialisers below stand in the order of COLUMNS_BUT_RESULT */
#define INTEGER sqlite3_column_int64(st, i++)
#define TEXT store_text(s, st, i++, arena)
    out->seq = INTEGER;
    out->id = TEXT;
    out->user = TEXT;
    const char *state = TEXT;
    out->state = state ? job_state_find(state) : JOB_STATE_COUNT;
    out->kind = TEXT;
    out->wants = TEXT;
    out->spec = TEXT;
    out->key = TEXT;
    out->budget.queue_ms = INTEGER;
    out->budget.compile_ms = INTEGER;
    out->budget.run_ms = INTEGER;
    out->created = INTEGER;
    out->started = INTEGER;
    out->finished = INTEGER;
    out->deadline = INTEGER;
    out->attempts = INTEGER;
    out->cancel = INTEGER != 0;
    out->lease = TEXT;
    out->worker = TEXT;
    out->local = INTEGER != 0;
    out->executor = TEXT;
    out->failure = TEXT;
    out->partial = TEXT;
    out->parent = INTEGER;
    out->class = INTEGER;
    out->version = INTEGER;
    out->open = INTEGER;
    out->vary = TEXT;
    out->losses = INTEGER;
    out->leased = INTEGER;
    out->cost = INTEGER;
    out->webhook = TEXT;
    out->reused = TEXT;
    out->parent_id = TEXT;
    out->artifacts = TEXT;
    out->result = TEXT;
#undef INTEGER
#undef TEXT
    sqlite3_reset(st);
    return !s->out_of_memory;
}

/* ---- transactions ------------------------------------------------------------------------------------------- */

void store_begin(struct store *s, bool durable)
{
    s->failed = false;
    if (s->durable != durable &&
        sqlite3_exec(s->db, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", NULL, NULL,
                     NULL))
        fail(s);
    else
        s->durable = durable;
    store_step(s, store_bind(s, SQL_BEGIN, ""));
}

bool store_commit(struct store *s)
{
    store_step(s, store_bind(s, SQL_COMMIT, ""));
    if (s->failed && !sqlite3_get_autocommit(s->db))
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    return !s->failed;
}

/* ---- jobs --------------------------------------------------------------------------------------------------- */

/* FNV-1a: it only narrows the search of an equal text, so nobody gains by making two specs collide. */
static int64_t hash(const char *spec)
{
    uint64_t h = 14695981039346656037u;
    for (; *spec; spec++)
        h = (h ^ (unsigned char)*spec) * 1099511628211u;
    return (int64_t)h;
}

void store_add(struct store *s, struct job *job)
{
    store_step(s,
               store_bind(s, SQL_ADD, "ttttttitiiiiiiittit", job->id, job->user, job_state_name(job->state),
                          job->kind, job->wants, job->spec, hash(job->spec), job->key, job->budget.queue_ms,
                          job->budget.compile_ms, job->budget.run_ms, job->created, job->deadline,
                          job->parent, job->class, job->vary, job->webhook, job->open, job->reused));
    job->seq = sqlite3_last_insert_rowid(s->db);
}

void store_save(struct store *s, const struct job *job)
{
    store_step(s, store_bind(s, SQL_SAVE, "itiiiiittittttiii", job->seq, job_state_name(job->state),
                             job->started, job->finished, job->deadline, job->attempts, (int64_t)job->cancel,
                             job->lease, job->worker, (int64_t)job->local, job->executor, job->result,
                             job->failure, job->partial, job->losses, job->leased, job->cost));
}

void store_heard(struct store *s, int64_t seq, int64_t deadline)
{
    store_step(s, store_bind(s, SQL_HEARD, "ii", seq, deadline));
}

bool store_get(struct store *s, struct la_arena *arena, int64_t seq, struct job *out)
{
    return store_read_job(s, store_bind(s, SQL_GET, "i", seq), arena, out);
}

bool store_find(struct store *s, struct la_arena *arena, const char *id, struct job *out)
{
    return store_read_job(s, store_bind(s, SQL_FIND, "t", id), arena, out);
}

bool store_find_key(struct store *s, struct la_arena *arena, const char *user, const char *key,
                    struct job *out)
{
    return store_read_job(s, store_bind(s, SQL_FIND_KEY, "tt", user, key), arena, out);
}

int64_t store_find_answer(struct store *s, const char *spec, const char *executor)
{
    return store_integer(s, store_bind(s, SQL_FIND_ANSWER, "itt", hash(spec), executor, spec), 0);
}

bool store_find_overdue(struct store *s, struct la_arena *arena, int64_t now, struct job *out)
{
    return store_read_job(s, store_bind(s, SQL_FIND_OVERDUE, "i", now), arena, out);
}

bool store_find_leased(struct store *s, struct la_arena *arena, int64_t after, struct job *out)
{
    return store_read_job(s, store_bind(s, SQL_FIND_LEASED, "i", after), arena, out);
}

bool store_find_before(struct store *s, struct la_arena *arena, int64_t before, const struct job_filter *f,
                       struct job *out)
{
    const char *state = f->state == JOB_STATE_COUNT ? NULL : job_state_name(f->state);
    sqlite3_stmt *st;
    if (f->user)
        st = store_bind(s, SQL_FIND_BEFORE_USER, "iitt", before, f->parent, f->user, state);
    else if (state)
        st = store_bind(s, SQL_FIND_BEFORE_STATE, "iit", before, f->parent, state);
    else
        st = store_bind(s, SQL_FIND_BEFORE, "ii", before, f->parent);
    return store_read_job(s, st, arena, out);
}

int64_t store_next_deadline(struct store *s)
{
    return store_integer(s, store_bind(s, SQL_NEXT_DEADLINE, ""), INT64_MAX);
}

void store_restart_waiting(struct store *s, int64_t now)
{
    store_step(s, store_bind(s, SQL_RESTART_WAITING, "i", now));
}

int64_t store_count(struct store *s, enum job_state state, int64_t class)
{
    return store_integer(s, store_bind(s, SQL_COUNT_STATE, "ti", job_state_name(state), class), 0);
}

static int64_t count_faults(struct store *s, const char *spec, int64_t since, int64_t after)
{
    return store_integer(s, store_bind(s, SQL_COUNT_FAULTS, "itii", hash(spec), spec, since, after), 0);
}

/* A spec that often went well has many rows: they are looked at only when there are faults enough. */
bool store_is_faulty(struct store *s, const char *spec, int64_t faults, int64_t since)
{
    if (count_faults(s, spec, since, 0) < faults)
        return false;
    const int64_t good = store_integer(s, store_bind(s, SQL_LAST_DONE, "it", hash(spec), spec), 0);
    return count_faults(s, spec, since, good) >= faults;
}

/* ---- events and artifacts ----------------------------------------------------------------------------------- */

void store_add_event(struct store *s, int64_t seq, int64_t at, const char *type, const char *data,
                     int64_t most)
{
    store_step(s, store_bind(s, SQL_ADD_EVENT, "iitti", seq, at, type, data, most));
}

bool store_next_event(struct store *s, struct la_arena *arena, int64_t seq, int64_t after, struct event *out)
{
    sqlite3_stmt *st = store_bind(s, SQL_NEXT_EVENT, "ii", seq, after);
    if (!store_step(s, st))
        return false;
    out->seq = sqlite3_column_int64(st, 0);
    out->at = sqlite3_column_int64(st, 1);
    out->type = store_text(s, st, 2, arena);
    out->data = store_text(s, st, 3, arena);
    sqlite3_reset(st);
    return !s->out_of_memory;
}

void store_put_artifact(struct store *s, int64_t seq, const char *name, const char *content)
{
    store_step(s, store_bind(s, SQL_PUT_ARTIFACT, "itt", seq, name, content));
}

void store_copy_artifacts(struct store *s, int64_t from, int64_t to)
{
    store_step(s, store_bind(s, SQL_COPY_ARTIFACTS, "ii", from, to));
}

const char *store_artifact(struct store *s, struct la_arena *arena, int64_t seq, const char *name)
{
    sqlite3_stmt *st = store_bind(s, SQL_ARTIFACT, "it", seq, name);
    if (!store_step(s, st))
        return NULL;
    const char *content = store_text(s, st, 0, arena);
    sqlite3_reset(st);
    return content;
}
