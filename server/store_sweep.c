/* store_sweep.c: sweeps and their children in the store.
 *
 * A child is a job like any other, with its sweep's seq in `parent`. The sweep's row counts the children that have
 * not ended, so that the end of one costs the same whether there are ten of them or a thousand. */
#include "store_sql.h"

#include <math.h>

bool store_start_sweep(struct store *s, int64_t parent, int64_t today)
{
    return store_integer(s, store_bind(s, SQL_START_SWEEP, "ii", parent, today), 0) != 0;
}

int64_t store_sweep_done(struct store *s, struct la_arena *arena, int64_t parent, const char **kind)
{
    sqlite3_stmt *st = store_bind(s, SQL_SWEEP_DONE, "i", parent);
    *kind = NULL;
    if (!store_step(s, st))
        return 0;
    const int64_t done = sqlite3_column_int64(st, 0);
    *kind = store_text(s, st, 1, arena);
    sqlite3_reset(st);
    return done;
}

int64_t store_close_child(struct store *s, int64_t parent)
{
    return store_integer(s, store_bind(s, SQL_CLOSE_CHILD, "i", parent), 0);
}

static double number(sqlite3_stmt *st, int column)
{
    return sqlite3_column_type(st, column) == SQLITE_NULL ? (double)NAN : sqlite3_column_double(st, column);
}

struct child *store_children(struct store *s, struct la_arena *arena, int64_t parent)
{
    struct child *first = NULL, **end = &first;
    sqlite3_stmt *st = store_bind(s, SQL_CHILDREN, "i", parent);
    while (store_step(s, st)) {
        struct child *c = la_arena_alloc(arena, sizeof *c);
        if (!c) {
            s->out_of_memory = true;
            sqlite3_reset(st);
            return NULL;
        }
        const bool known = sqlite3_column_type(st, 5) != SQLITE_NULL;
        *c = (struct child){.id = store_text(s, st, 0, arena),
                            .state = store_text(s, st, 1, arena),
                            .kind = store_text(s, st, 2, arena),
                            .vary = store_text(s, st, 3, arena),
                            .executor = store_text(s, st, 4, arena),
                            .verified = known ? sqlite3_column_int(st, 5) : -1,
                            .speed = number(st, 6),
                            .micros = number(st, 7),
                            .failure = store_text(s, st, 8, arena),
                            .reused = store_text(s, st, 9, arena)};
        *end = c;
        end = &c->next;
    }
    return first;
}

bool store_find_open_child(struct store *s, struct la_arena *arena, int64_t parent, int64_t after,
                           struct job *out)
{
    return store_read_job(s, store_bind(s, SQL_FIND_OPEN_CHILD, "ii", parent, after), arena, out);
}
