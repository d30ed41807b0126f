/* store_sql.h: what store.c and store_open.c share. */
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
    SQL_FIND_NEXT,
    SQL_FIND_OVERDUE,
    SQL_FIND_LEASED,
    SQL_FIND_BEFORE,
    SQL_FIND_BEFORE_STATE,
    SQL_NEXT_DEADLINE,
    SQL_RESTART_WAITING,
    SQL_POSITION,
    SQL_COUNT_STATE,
    SQL_ADD_EVENT,
    SQL_NEXT_EVENT,
    SQL_PUT_ARTIFACT,
    SQL_ARTIFACT,
    SQL_COUNT
};

struct store {
    sqlite3 *db;
    sqlite3_stmt *statements[SQL_COUNT];
    bool durable;       /* what PRAGMA synchronous is set to */
    bool failed;        /* a statement of this transaction failed */
    bool out_of_memory; /* a text did not fit in the arena of its reader */
};

/* Prepare every statement; false when the schema does not know them. */
bool store_prepare(struct store *store);

#endif
