/* store_open.c: open the store's file, make its schema, and never die of a damaged one.
 *
 * A sound file is locked for this daemon alone, so that two daemons cannot serve one queue. A file that
 * fails SQLite's own check is renamed to layoutd.db.corrupt-TIME, with its journal, and a new one is
 * started: the old one is there for whoever can repair it. A file of a newer layoutd is left alone.
 *
 * The schema's version is PRAGMA user_version; a change of the schema is a new step of `migrations`. */
#include "store_sql.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    BUSY_MS = 3000, /* a daemon that is being restarted may hold the file a little longer */
    MAX_PATH = 4096
};

/* Step i brings a file from version i to i + 1. */
static const char *const migrations[] = {
    "CREATE TABLE jobs("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, user TEXT NOT NULL,"
    " state TEXT NOT NULL, kind TEXT NOT NULL, wants TEXT NOT NULL,"
    " spec TEXT NOT NULL, spec_hash INTEGER NOT NULL, key TEXT,"
    " queue_ms INTEGER NOT NULL, compile_ms INTEGER NOT NULL, run_ms INTEGER NOT NULL,"
    " created INTEGER NOT NULL, started INTEGER NOT NULL DEFAULT 0, finished INTEGER NOT NULL DEFAULT 0,"
    " deadline INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,"
    " cancel INTEGER NOT NULL DEFAULT 0, lease TEXT, worker TEXT, local INTEGER NOT NULL DEFAULT 0,"
    " executor TEXT, result TEXT, failure TEXT, partial TEXT) STRICT;"
    "CREATE UNIQUE INDEX jobs_key ON jobs(user, key) WHERE key IS NOT NULL;"
    "CREATE INDEX jobs_state ON jobs(state, seq);"
    "CREATE INDEX jobs_queue ON jobs(wants, seq) WHERE state='queued';"
    "CREATE INDEX jobs_deadline ON jobs(deadline) WHERE deadline>0;"
    "CREATE INDEX jobs_answer ON jobs(spec_hash, executor) WHERE state='done';"
    "CREATE TABLE events("
    " job INTEGER NOT NULL REFERENCES jobs(seq) ON DELETE CASCADE, seq INTEGER NOT NULL, at INTEGER NOT NULL,"
    " type TEXT NOT NULL, data TEXT, PRIMARY KEY(job, seq)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE artifacts("
    " job INTEGER NOT NULL REFERENCES jobs(seq) ON DELETE CASCADE, name TEXT NOT NULL, text TEXT NOT NULL,"
    " PRIMARY KEY(job, name)) STRICT;",
    /* sweeps, whose turn it is, webhooks */
    "ALTER TABLE jobs ADD COLUMN parent INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN class INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN version INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN open INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN vary TEXT;"
    "ALTER TABLE jobs ADD COLUMN losses INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN leased INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN cost INTEGER NOT NULL DEFAULT 0;"
    "ALTER TABLE jobs ADD COLUMN webhook TEXT;"
    "ALTER TABLE jobs ADD COLUMN verified INTEGER;"
    "ALTER TABLE jobs ADD COLUMN speed REAL;"
    "ALTER TABLE jobs ADD COLUMN micros REAL;"
    "UPDATE jobs SET verified=result->>'$.verified'=1,"
    " speed=CAST(coalesce(result->>'$.gbps',result->>'$.tflops') AS REAL),"
    " micros=CAST(result->>'$.median' AS REAL) WHERE result IS NOT NULL;"
    "DROP INDEX jobs_queue;"
    "CREATE INDEX jobs_turn ON jobs(user, class, wants, seq) WHERE state='queued';"
    "CREATE INDEX jobs_parent ON jobs(parent, seq);"
    "CREATE INDEX jobs_parent_state ON jobs(parent, state, seq);"
    "CREATE INDEX jobs_fault ON jobs(spec_hash, seq) WHERE state='failed';"
    "CREATE INDEX jobs_finished ON jobs(finished) WHERE finished>0 AND parent=0;"
    "CREATE TABLE users("
    " name TEXT PRIMARY KEY, used REAL NOT NULL DEFAULT 0, at INTEGER NOT NULL DEFAULT 0,"
    " since INTEGER NOT NULL DEFAULT 0, hour INTEGER NOT NULL DEFAULT 0,"
    " hour_used INTEGER NOT NULL DEFAULT 0) STRICT, WITHOUT ROWID;"
    "INSERT INTO users(name) SELECT DISTINCT user FROM jobs WHERE state='queued';"
    "CREATE TABLE hooks("
    " job INTEGER PRIMARY KEY REFERENCES jobs(seq) ON DELETE CASCADE, tries INTEGER NOT NULL DEFAULT 0,"
    " due INTEGER NOT NULL) STRICT;"
    "CREATE INDEX hooks_due ON hooks(due);",
    /* how many are queued, without counting: every submission asks */
    "CREATE TABLE queued("
    " user TEXT NOT NULL, class INTEGER NOT NULL, count INTEGER NOT NULL, PRIMARY KEY(user, class)) STRICT,"
    " WITHOUT ROWID;"
    "INSERT INTO queued SELECT user,class,count(*) FROM jobs WHERE state='queued' AND wants<>'sweep'"
    " GROUP BY user,class;"
    "CREATE TRIGGER jobs_submitted AFTER INSERT ON jobs WHEN new.state='queued' AND new.wants<>'sweep' BEGIN"
    " INSERT INTO queued VALUES(new.user,new.class,1) ON CONFLICT DO UPDATE SET count=count+1; END;"
    "CREATE TRIGGER jobs_left AFTER UPDATE OF state ON jobs WHEN old.state='queued' AND new.state<>'queued'"
    " AND new.wants<>'sweep' BEGIN"
    " UPDATE queued SET count=count-1 WHERE user=new.user AND class=new.class; END;"
    "CREATE TRIGGER jobs_returned AFTER UPDATE OF state ON jobs WHEN old.state<>'queued' AND "
    "new.state='queued'"
    " AND new.wants<>'sweep' BEGIN"
    " INSERT INTO queued VALUES(new.user,new.class,1) ON CONFLICT DO UPDATE SET count=count+1; END;",
    /* children of sweeps that were answered from the store */
    "ALTER TABLE jobs ADD COLUMN reused TEXT;",
    /* the list of one user's jobs */
    "CREATE INDEX jobs_user ON jobs(user, parent, seq);",
};
enum { SCHEMA_VERSION = sizeof migrations / sizeof *migrations };

enum outcome { OPENED, CORRUPT, REFUSED }; /* REFUSED: with a message already */

static bool run(sqlite3 *db, const char *sql)
{
    return sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* The first column of a statement's first row; `size` 0 text on failure. */
static bool ask(sqlite3 *db, const char *sql, char *answer, size_t size)
{
    sqlite3_stmt *st = NULL;
    bool ok = sqlite3_prepare_v2(db, sql, -1, &st, NULL) == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW;
    if (ok)
        snprintf(answer, size, "%s", (const char *)sqlite3_column_text(st, 0));
    return sqlite3_finalize(st) == SQLITE_OK && ok;
}

static enum outcome outcome_of(sqlite3 *db, const char *path)
{
    const int rc = sqlite3_errcode(db) & 0xff;
    if (rc == SQLITE_CORRUPT || rc == SQLITE_NOTADB)
        return CORRUPT;
    if (rc == SQLITE_BUSY)
        fprintf(stderr, "layoutd: %s is in use by another layoutd; give this one its own --data folder\n",
                path);
    else
        fprintf(stderr, "layoutd: cannot open the store %s: %s\n", path, sqlite3_errmsg(db));
    return REFUSED;
}

static enum outcome migrate(sqlite3 *db, const char *path)
{
    char text[32] = "";
    if (!ask(db, "PRAGMA user_version", text, sizeof text))
        return outcome_of(db, path);
    const long version = strtol(text, NULL, 10);
    if (version > SCHEMA_VERSION) {
        fprintf(stderr, "layoutd: %s was written by a newer layoutd (schema %ld, this one knows %d)\n", path,
                version, (int)SCHEMA_VERSION);
        return REFUSED;
    }
    for (long i = version; i < SCHEMA_VERSION; i++) {
        char stamp[64];
        snprintf(stamp, sizeof stamp, "PRAGMA user_version=%ld; COMMIT", i + 1);
        if (!run(db, "BEGIN IMMEDIATE") || !run(db, migrations[i]) || !run(db, stamp))
            return outcome_of(db, path);
    }
    return OPENED;
}

/* A file whose tables are not ours (another program's, or a version number that lies) counts as corrupt. */
static enum outcome prepare(struct store *s, const char *path)
{
    if (store_prepare(s))
        return OPENED;
    return sqlite3_errcode(s->db) == SQLITE_ERROR ? CORRUPT : outcome_of(s->db, path);
}

static enum outcome open_file(struct store *s, const char *path)
{
    const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &s->db, flags, NULL))
        return outcome_of(s->db, path);
    sqlite3_busy_timeout(s->db, BUSY_MS);
    if (!run(s->db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;"
                    "PRAGMA foreign_keys=ON; PRAGMA journal_size_limit=67108864"))
        return outcome_of(s->db, path);
    s->durable = true;
    char check[256] = "";
    if (!ask(s->db, "PRAGMA quick_check(1)", check, sizeof check))
        return outcome_of(s->db, path);
    if (strcmp(check, "ok") != 0) {
        fprintf(stderr, "layoutd: %s: %s\n", path, check);
        return CORRUPT;
    }
    const enum outcome outcome = migrate(s->db, path);
    return outcome == OPENED ? prepare(s, path) : outcome;
}

static void close_file(struct store *s)
{
    for (int i = 0; i < SQL_COUNT; i++)
        sqlite3_finalize(s->statements[i]);
    sqlite3_close(s->db);
    *s = (struct store){0};
}

static bool move_aside(const char *path)
{
    static const char *const parts[] = {"", "-wal", "-shm"};
    const long now = (long)time(NULL);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char from[MAX_PATH + 8], to[MAX_PATH + 48];
        snprintf(from, sizeof from, "%s%s", path, parts[i]);
        snprintf(to, sizeof to, "%s.corrupt-%ld%s", path, now, parts[i]);
        if (rename(from, to) && (errno != ENOENT || i == 0)) {
            fprintf(stderr, "layoutd: cannot move %s aside: %s\n", from, strerror(errno));
            return false;
        }
    }
    fprintf(stderr,
            "layoutd: the store %s is damaged; it was moved to %s.corrupt-%ld and a new one is started\n",
            path, path, now);
    return true;
}

bool store_folder(const char *folder)
{
    char path[MAX_PATH];
    snprintf(path, sizeof path, "%s", folder);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0777);
        *slash = '/';
    }
    if (mkdir(path, 0777) == 0 || errno == EEXIST)
        return true;
    fprintf(stderr, "layoutd: cannot make the data folder %s: %s\n", folder, strerror(errno));
    return false;
}

bool store_open(const char *folder, struct store **out)
{
    char path[MAX_PATH];
    if ((size_t)snprintf(path, sizeof path, "%s/layoutd.db", folder) >= sizeof path) {
        fprintf(stderr, "layoutd: the name of the data folder is too long\n");
        return false;
    }
    struct store *s = calloc(1, sizeof *s);
    if (!s || !store_folder(folder)) {
        free(s);
        return false;
    }
    enum outcome outcome = open_file(s, path);
    if (outcome == CORRUPT) {
        close_file(s);
        outcome = move_aside(path) ? open_file(s, path) : REFUSED;
    }
    if (outcome == OPENED) {
        *out = s;
        return true;
    }
    if (outcome == CORRUPT)
        fprintf(stderr, "layoutd: a new store in %s is damaged too: %s\n", folder, sqlite3_errmsg(s->db));
    store_close(s);
    return false;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    close_file(s);
    free(s);
}
