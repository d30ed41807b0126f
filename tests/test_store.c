/* test_store.c: files of other versions: an old store is brought up to date with all that is in it, a newer one is left
 * alone. */
#include "daemon.h"

#include <sqlite3.h>

/* The schema as the first layoutd made it. */
static const char first_schema[] =
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
    " PRIMARY KEY(job, name)) STRICT;"
    "PRAGMA user_version=1;";

#define SPEC "'{" COPY "}'"
#define TIMES "3600000,60000,60000,"

/* One that is done, with all that belongs to it; one that waits; one that a worker of the old daemon ran. */
static const char first_jobs[] =
    "INSERT INTO "
    "jobs(id,user,state,kind,wants,spec,spec_hash,key,queue_ms,compile_ms,run_ms,created,started,finished,"
    "attempts,lease,worker,local,executor,result) VALUES"
    "('old-done','ana','done','copy','any'," SPEC ",7,'k1'," TIMES "strftime('%s')*1000-5000,"
    "strftime('%s')*1000-4000,strftime('%s')*1000-3000,1,'l','local-cpu',1,'cpu',"
    "'{\"verified\":true,\"gbps\":12.5,\"median\":3}'),"
    "('old-queued','ana','queued','copy','any'," SPEC ",7,NULL," TIMES
    "strftime('%s')*1000-2000,0,0,0,NULL,NULL,0,"
    "NULL,NULL),"
    "('old-running','bob','running','copy','any'," SPEC ",7,NULL," TIMES "strftime('%s')*1000-2000,"
    "strftime('%s')*1000-1000,0,1,'l2','local-cpu',1,'cpu',NULL);"
    "INSERT INTO events VALUES(1,1,1000,'queued',NULL),(1,2,2000,'done',NULL),(2,1,1000,'queued',NULL),"
    "(3,1,1000,'queued',NULL),(3,2,1500,'leased',NULL);"
    "INSERT INTO artifacts VALUES(1,'source','the old source');";

static sqlite3 *open_file(void)
{
    char path[300];
    sqlite3 *db;
    snprintf(path, sizeof path, "mkdir -p %s/data", folder);
    assert_int_equal(system(path), 0);
    snprintf(path, sizeof path, "%s/data/layoutd.db", folder);
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    return db;
}

static void run_sql(const char *sql)
{
    sqlite3 *db = open_file();
    char *wrong = NULL;
    if (sqlite3_exec(db, sql, NULL, NULL, &wrong) != SQLITE_OK)
        fail_msg("%s", wrong);
    sqlite3_close(db);
}

static int64_t ask_sql(const char *sql)
{
    sqlite3 *db = open_file();
    sqlite3_stmt *st;
    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &st, NULL), SQLITE_OK);
    assert_int_equal(sqlite3_step(st), SQLITE_ROW);
    const int64_t n = sqlite3_column_int64(st, 0);
    sqlite3_finalize(st);
    sqlite3_close(db);
    return n;
}

static bool folder_has(const char *pattern)
{
    char command[400];
    snprintf(command, sizeof command, "ls %s/%s >/dev/null 2>&1", folder, pattern);
    return system(command) == 0;
}

static void first_version(void **state)
{
    (void)state;
    run_sql(first_schema);
    run_sql(first_jobs);
    start_daemon("cpu", "127.0.0.1:0");
    const struct id done = {"old-done"};
    struct answer a = fetch(done, 0);
    assert_string_equal(text_at(a.json, "state"), "done");
    assert_string_equal(text_at(a.json, "user"), "ana");
    assert_true(number_at(a.json, "result.gbps") == 12.5);
    drop(&a);
    a = request("GET", "/jobs/old-done/source", NULL, NULL);
    assert_string_equal(a.text, "the old source");
    drop(&a);
    assert_int_equal(count_events(done, "done"), 1);
    expect_end((struct id){"old-queued"}, "done", "", 1);
    expect_end((struct id){"old-running"}, "done", "", 2);
    assert_int_equal(count_jobs(""), 3);
    expect_end(submit(",\"fresh\":true"), "done", "", 1);
    assert_int_equal(count_jobs(""), 4);
    stop_daemon();
    assert_true(ask_sql("PRAGMA user_version") > 1);
    assert_int_equal(ask_sql("SELECT verified=1 AND speed=12.5 AND micros=3 FROM jobs WHERE id='old-done'"),
                     1);
    assert_int_equal(ask_sql("SELECT coalesce(sum(count),0) FROM queued"), 0);
    assert_false(folder_has("data/*corrupt*"));
}

/* It is not read, not changed, and not taken for damaged; the message names both versions. */
static void newer_version(void **state)
{
    (void)state;
    char *argv[] = {"layoutd", "--listen", "127.0.0.1:0", "--data", NULL, "--workers", "none", NULL};
    char data[300], path[300], text[1000] = "";
    int status;
    run_sql("CREATE TABLE jobs(future TEXT); INSERT INTO jobs VALUES('kept'); PRAGMA user_version=99");
    snprintf(data, sizeof data, "%s/data", folder);
    argv[4] = data;
    const pid_t pid = spawn("layoutd", "newer.log", argv);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    snprintf(path, sizeof path, "%s/newer.log", folder);
    FILE *f = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    assert_non_null(strstr(text, "newer layoutd (schema 99, this one knows "));
    assert_int_equal(ask_sql("SELECT count(*) FROM jobs WHERE future='kept'"), 1);
    assert_int_equal(ask_sql("PRAGMA user_version"), 99);
    assert_false(folder_has("data/*corrupt*"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {TEST(first_version), TEST(newer_version)};
    return run_suite(tests);
}
