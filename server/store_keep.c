/* store_keep.c: webhooks that are due, and how much of the past is kept.
 *
 * A webhook is a row from the end of its job until it was delivered or given up: so it outlives the daemon. */
#include "store_sql.h"

void store_add_hook(struct store *s, int64_t job, int64_t due)
{
    store_step(s, store_bind(s, SQL_ADD_HOOK, "ii", job, due));
}

int64_t store_hooks(struct store *s)
{
    return store_integer(s, store_bind(s, SQL_HOOKS, ""), 0);
}

bool store_next_hook(struct store *s, struct hook *out)
{
    sqlite3_stmt *st = store_bind(s, SQL_NEXT_HOOK, "");
    if (!store_step(s, st))
        return false;
    *out = (struct hook){sqlite3_column_int64(st, 0), sqlite3_column_int64(st, 1),
                         sqlite3_column_int64(st, 2)};
    sqlite3_reset(st);
    return true;
}

void store_hook_later(struct store *s, int64_t job, int64_t due)
{
    store_step(s, store_bind(s, SQL_HOOK_LATER, "ii", job, due));
}

void store_hook_over(struct store *s, int64_t job)
{
    store_step(s, store_bind(s, SQL_HOOK_OVER, "i", job));
}

int64_t store_find_old(struct store *s, int64_t before)
{
    return store_integer(s, store_bind(s, SQL_FIND_OLD, "i", before), 0);
}

void store_remove(struct store *s, int64_t seq)
{
    store_step(s, store_bind(s, SQL_REMOVE, "i", seq));
}

void store_forget_users(struct store *s, int64_t before)
{
    store_step(s, store_bind(s, SQL_FORGET_USERS, "i", before));
}

int64_t store_bytes(struct store *s)
{
    return store_integer(s, store_bind(s, SQL_BYTES, ""), 0);
}
