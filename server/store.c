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

enum {
    MAX_EVENTS = 1000 /* of one job: an executor that babbles must not fill the disk */
};

#define COLUMNS_BUT_RESULT \
    "seq,id,user,state,kind,wants,spec,key,queue_ms,compile_ms,run_ms,created,started,finished,deadline," \
    "attempts,cancel,lease,worker,local,executor,failure,partial," \
    "(SELECT group_concat(name) FROM artifacts WHERE job=seq),"
#define SELECT_JOB "SELECT " COLUMNS_BUT_RESULT "result FROM jobs "
/* For lists: of the result only what fits in a line. */
#define SELECT_BRIEF \
    "SELECT " COLUMNS_BUT_RESULT "CASE WHEN result IS NOT NULL THEN " \
    "json_object('verified',result->'$.verified','gbps',result->'$.gbps','tflops',result->'$.tflops') END " \
    "FROM jobs "
#define FIRST_QUEUED(wants) "SELECT min(seq) AS first FROM jobs WHERE state='queued' AND wants=" wants

static const char *const statements[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ADD] = "INSERT INTO jobs(id,user,state,kind,wants,spec,spec_hash,key,queue_ms,compile_ms,run_ms,"
                "created,deadline) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)",
    [SQL_SAVE] = "UPDATE jobs SET state=?2,started=?3,finished=?4,deadline=?5,attempts=?6,cancel=?7,lease=?8,"
                 "worker=?9,local=?10,executor=?11,result=?12,failure=?13,partial=?14 WHERE seq=?1",
    [SQL_GET] = SELECT_JOB "WHERE seq=?1",
    [SQL_FIND] = SELECT_JOB "WHERE id=?1",
    [SQL_FIND_KEY] = SELECT_JOB "WHERE user=?1 AND key=?2",
    [SQL_FIND_ANSWER] = SELECT_JOB "WHERE spec_hash=?1 AND executor=?2 AND spec=?3 AND state='done' "
                                   "AND coalesce(result->>'$.verified',1) ORDER BY seq DESC LIMIT 1",
    [SQL_FIND_NEXT] = SELECT_JOB
    "WHERE seq=(SELECT min(first) FROM (" FIRST_QUEUED("?1") " UNION ALL " FIRST_QUEUED("?2") "))",
    [SQL_FIND_OVERDUE] = SELECT_JOB "WHERE deadline>0 AND deadline<=?1 LIMIT 1",
    [SQL_FIND_LEASED] = SELECT_JOB "WHERE state IN ('compiling','running') AND seq>?1 ORDER BY seq LIMIT 1",
    [SQL_FIND_BEFORE] = SELECT_BRIEF "WHERE seq<?1 ORDER BY seq DESC LIMIT 1",
    [SQL_FIND_BEFORE_STATE] = SELECT_BRIEF "WHERE seq<?1 AND state=?2 ORDER BY seq DESC LIMIT 1",
    [SQL_NEXT_DEADLINE] = "SELECT min(deadline) FROM jobs WHERE deadline>0",
    [SQL_RESTART_WAITING] = "UPDATE jobs SET deadline=?1+queue_ms WHERE state='queued'",
    [SQL_POSITION] = "SELECT count(*) FROM jobs WHERE state='queued' AND seq<?1",
    [SQL_COUNT_STATE] = "SELECT count(*) FROM jobs WHERE state=?1",
    [SQL_ADD_EVENT] = "INSERT INTO events(job,seq,at,type,data) SELECT ?1,coalesce(max(seq),0)+1,?2,?3,?4 "
                      "FROM events WHERE job=?1 HAVING coalesce(max(seq),0)<?5",
    [SQL_NEXT_EVENT] = "SELECT seq,at,type,data FROM events WHERE job=?1 AND seq>?2 ORDER BY seq LIMIT 1",
    [SQL_PUT_ARTIFACT] = "INSERT OR REPLACE INTO artifacts(job,name,text) VALUES(?1,?2,?3)",
    [SQL_ARTIFACT] = "SELECT text FROM artifacts WHERE job=?1 AND name=?2",
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

/* The statement with its parameters bound; types: 'i' an int64_t, 't' a text or NULL. */
static sqlite3_stmt *bind(struct store *s, enum sql which, const char *types, ...)
{
    sqlite3_stmt *st = s->statements[which];
    va_list args;
    va_start(args, types);
    int rc = SQLITE_OK;
    for (int i = 0; types[i] && rc == SQLITE_OK; i++) {
        if (types[i] == 'i')
            rc = sqlite3_bind_int64(st, i + 1, va_arg(args, int64_t));
        else
            rc = sqlite3_bind_text(st, i + 1, va_arg(args, const char *), -1, SQLITE_STATIC);
    }
    va_end(args);
    if (rc != SQLITE_OK)
        fail(s);
    return st;
}

/* Step once; true when there is a row. The caller reads it and calls sqlite3_reset. */
static bool step(struct store *s, sqlite3_stmt *st)
{
    const int rc = s->failed ? SQLITE_DONE : sqlite3_step(st);
    if (rc == SQLITE_ROW)
        return true;
    if (rc != SQLITE_DONE)
        fail(s);
    sqlite3_reset(st);
    return false;
}

/* Run a statement that gives one integer or none. */
static int64_t integer(struct store *s, sqlite3_stmt *st, int64_t otherwise)
{
    if (!step(s, st))
        return otherwise;
    const int64_t n = sqlite3_column_type(st, 0) == SQLITE_NULL ? otherwise : sqlite3_column_int64(st, 0);
    sqlite3_reset(st);
    return n;
}

/* A column's text in the arena; NULL when it has none, or when the arena is full. */
static const char *text(struct store *s, sqlite3_stmt *st, int column, struct la_arena *arena)
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

static bool read_job(struct store *s, sqlite3_stmt *st, struct la_arena *arena, struct job *out)
{
    if (!step(s, st))
        return false;
    int i = 0; /* the initialisers below stand in the order of COLUMNS_BUT_RESULT */
#define INTEGER sqlite3_column_int64(st, i++)
#define TEXT text(s, st, i++, arena)
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
    step(s, bind(s, SQL_BEGIN, ""));
}

bool store_commit(struct store *s)
{
    step(s, bind(s, SQL_COMMIT, ""));
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
    step(s, bind(s, SQL_ADD, "ttttttitiiiii", job->id, job->user, job_state_name(job->state), job->kind,
                 job->wants, job->spec, hash(job->spec), job->key, job->budget.queue_ms,
                 job->budget.compile_ms, job->budget.run_ms, job->created, job->deadline));
    job->seq = sqlite3_last_insert_rowid(s->db);
}

void store_save(struct store *s, const struct job *job)
{
    step(s, bind(s, SQL_SAVE, "itiiiiittitttt", job->seq, job_state_name(job->state), job->started,
                 job->finished, job->deadline, job->attempts, (int64_t)job->cancel, job->lease, job->worker,
                 (int64_t)job->local, job->executor, job->result, job->failure, job->partial));
}

bool store_get(struct store *s, struct la_arena *arena, int64_t seq, struct job *out)
{
    return read_job(s, bind(s, SQL_GET, "i", seq), arena, out);
}

bool store_find(struct store *s, struct la_arena *arena, const char *id, struct job *out)
{
    return read_job(s, bind(s, SQL_FIND, "t", id), arena, out);
}

bool store_find_key(struct store *s, struct la_arena *arena, const char *user, const char *key,
                    struct job *out)
{
    return read_job(s, bind(s, SQL_FIND_KEY, "tt", user, key), arena, out);
}

bool store_find_answer(struct store *s, struct la_arena *arena, const char *spec, const char *executor,
                       struct job *out)
{
    return read_job(s, bind(s, SQL_FIND_ANSWER, "itt", hash(spec), executor, spec), arena, out);
}

bool store_find_next(struct store *s, struct la_arena *arena, const char *wants, const char *or_wants,
                     struct job *out)
{
    return read_job(s, bind(s, SQL_FIND_NEXT, "tt", wants, or_wants), arena, out);
}

bool store_find_overdue(struct store *s, struct la_arena *arena, int64_t now, struct job *out)
{
    return read_job(s, bind(s, SQL_FIND_OVERDUE, "i", now), arena, out);
}

bool store_find_leased(struct store *s, struct la_arena *arena, int64_t after, struct job *out)
{
    return read_job(s, bind(s, SQL_FIND_LEASED, "i", after), arena, out);
}

bool store_find_before(struct store *s, struct la_arena *arena, int64_t before, enum job_state state,
                       struct job *out)
{
    sqlite3_stmt *st = state == JOB_STATE_COUNT
                           ? bind(s, SQL_FIND_BEFORE, "i", before)
                           : bind(s, SQL_FIND_BEFORE_STATE, "it", before, job_state_name(state));
    return read_job(s, st, arena, out);
}

int64_t store_next_deadline(struct store *s)
{
    return integer(s, bind(s, SQL_NEXT_DEADLINE, ""), INT64_MAX);
}

void store_restart_waiting(struct store *s, int64_t now)
{
    step(s, bind(s, SQL_RESTART_WAITING, "i", now));
}

int64_t store_position(struct store *s, int64_t seq)
{
    return integer(s, bind(s, SQL_POSITION, "i", seq), 0);
}

int64_t store_count(struct store *s, enum job_state state)
{
    return integer(s, bind(s, SQL_COUNT_STATE, "t", job_state_name(state)), 0);
}

/* ---- events and artifacts ----------------------------------------------------------------------------------- */

void store_add_event(struct store *s, int64_t seq, int64_t at, const char *type, const char *data)
{
    step(s, bind(s, SQL_ADD_EVENT, "iitti", seq, at, type, data, (int64_t)MAX_EVENTS));
}

bool store_next_event(struct store *s, struct la_arena *arena, int64_t seq, int64_t after, struct event *out)
{
    sqlite3_stmt *st = bind(s, SQL_NEXT_EVENT, "ii", seq, after);
    if (!step(s, st))
        return false;
    out->seq = sqlite3_column_int64(st, 0);
    out->at = sqlite3_column_int64(st, 1);
    out->type = text(s, st, 2, arena);
    out->data = text(s, st, 3, arena);
    sqlite3_reset(st);
    return !s->out_of_memory;
}

void store_put_artifact(struct store *s, int64_t seq, const char *name, const char *content)
{
    step(s, bind(s, SQL_PUT_ARTIFACT, "itt", seq, name, content));
}

const char *store_artifact(struct store *s, struct la_arena *arena, int64_t seq, const char *name)
{
    sqlite3_stmt *st = bind(s, SQL_ARTIFACT, "it", seq, name);
    if (!step(s, st))
        return NULL;
    const char *content = text(s, st, 0, arena);
    sqlite3_reset(st);
    return content;
}
