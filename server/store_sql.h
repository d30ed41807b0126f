/* store_sql.h: what the files of the store share: its statements, and how one is run. */
#ifndef STORE_SQL_H
#define STORE_SQL_H

#include "store.h"

#include <sqlite3.h>

enum sql {
    SQL_BEGIN,
    SQL_COMMIT,
    SQL_ADD,
    SQL_SAVE,
    SQL_GET,
    SQL_FIND,
    SQL_FIND_KEY,
    SQL_FIND_ANSWER,
    SQL_FIND_OVERDUE,
    SQL_FIND_LEASED,
    SQL_FIND_BEFORE,
    SQL_FIND_BEFORE_STATE,
    SQL_FIND_BEFORE_USER,
    SQL_FIND_OPEN_CHILD,
    SQL_HEARD,
    SQL_NEXT_DEADLINE,
    SQL_RESTART_WAITING,
    SQL_COUNT_STATE,
    SQL_COUNT_FAULTS,
    SQL_LAST_DONE,
    SQL_START_SWEEP,
    SQL_CLOSE_CHILD,
    SQL_SWEEP_DONE,
    SQL_CHILDREN,
    SQL_ADD_EVENT,
    SQL_NEXT_EVENT,
    SQL_PUT_ARTIFACT,
    SQL_COPY_ARTIFACTS,
    SQL_ARTIFACT,
    SQL_TURNS,
    SQL_USER_QUEUED,
    SQL_USER,
    SQL_CHARGE,
    SQL_LINE,
    SQL_COUNT_BEFORE,
    SQL_COUNT_QUEUED,
    SQL_QUEUED_IN,
    SQL_RECENT_COST,
    SQL_ADD_HOOK,
    SQL_HOOKS,
    SQL_NEXT_HOOK,
    SQL_HOOK_LATER,
    SQL_HOOK_OVER,
    SQL_FIND_OLD,
    SQL_REMOVE,
    SQL_FORGET_USERS,
    SQL_BYTES,
    SQL_COUNT
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
    bool durable;       /* what PRAGMA synchronous is set to */
    bool failed;        /* a statement of this transaction failed */
    bool out_of_memory; /* a text did not fit in the arena of its reader */
};

/* ---- store.c ---- */

/* A statement with its parameters bound; types: 'i' an int64_t, 'r' a double, 't' a text or NULL. */
sqlite3_stmt *store_bind(struct store *s, enum sql which, const char *types, ...);
/* Step once; true when there is a row. The caller reads it, and steps on to the end or calls sqlite3_reset. */
bool store_step(struct store *s, sqlite3_stmt *st);
/* Run a statement that gives one integer or none. */
int64_t store_integer(struct store *s, sqlite3_stmt *st, int64_t otherwise);
/* A column's text in the arena; NULL when it has none, or when the arena is full. */
const char *store_text(struct store *s, sqlite3_stmt *st, int column, struct la_arena *arena);
bool store_read_job(struct store *s, sqlite3_stmt *st, struct la_arena *arena, struct job *out);

/* Prepare every statement; false when the schema does not know them. */
bool store_prepare(struct store *store);

#endif
