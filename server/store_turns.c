/* store_turns.c: who has used how much, who waits, and how many: what fair.c decides from.
 *
 * Users are rows of their own, so whose turn it is costs a few index look-ups a user, however long the queue is. */
#include "store_sql.h"

static struct usage read_turn(struct store *s, sqlite3_stmt *st, struct la_arena *arena)
{
    enum { HEADS = 8 }; /* the column of the first head: two a class, one for each kind of job it may take */
    struct usage u = {.user = store_text(s, st, 0, arena),
                      .used = sqlite3_column_double(st, 1),
                      .at = sqlite3_column_int64(st, 2),
                      .since = sqlite3_column_int64(st, 3),
                      .hour = sqlite3_column_int64(st, 4),
                      .hour_used = sqlite3_column_int64(st, 5),
                      .running = sqlite3_column_int64(st, 6),
                      .running_ms = sqlite3_column_int64(st, 7)};
    for (int i = 0; i < 4; i++) { /* NULL reads as 0: there is none */
        const int64_t seq = sqlite3_column_int64(st, HEADS + i);
        int64_t *head = &u.head[i / 2];
        if (seq && (!*head || seq < *head))
            *head = seq;
    }
    return u;
}

struct usage *store_turns(struct store *s, struct la_arena *arena, const char *wants, const char *or_wants,
                          int64_t now)
{
    struct usage *first = NULL;
    sqlite3_stmt *st = store_bind(s, SQL_TURNS, "tti", wants, or_wants, now);
    while (store_step(s, st)) {
        struct usage *u = la_arena_alloc(arena, sizeof *u);
        if (!u) {
            s->out_of_memory = true;
            sqlite3_reset(st);
            return NULL;
        }
        *u = read_turn(s, st, arena);
        u->next = first;
        first = u;
    }
    return first;
}

struct usage store_usage(struct store *s, const char *user)
{
    struct usage u = {.user = user};
    sqlite3_stmt *st = store_bind(s, SQL_USER, "t", user);
    if (!store_step(s, st))
        return u;
    u.used = sqlite3_column_double(st, 0);
    u.at = sqlite3_column_int64(st, 1);
    u.since = sqlite3_column_int64(st, 2);
    u.hour = sqlite3_column_int64(st, 3);
    u.hour_used = sqlite3_column_int64(st, 4);
    sqlite3_reset(st);
    return u;
}

void store_put_usage(struct store *s, const struct usage *u)
{
    store_step(s,
               store_bind(s, SQL_CHARGE, "triiii", u->user, u->used, u->at, u->since, u->hour, u->hour_used));
}

int64_t store_user_queued(struct store *s, const char *user)
{
    return store_integer(s, store_bind(s, SQL_USER_QUEUED, "t", user), 0);
}

int64_t store_queued(struct store *s)
{
    return store_integer(s, store_bind(s, SQL_COUNT_QUEUED, ""), 0);
}

struct line *store_lines(struct store *s, struct la_arena *arena)
{
    struct line *first = NULL;
    sqlite3_stmt *st = store_bind(s, SQL_LINE, "");
    while (store_step(s, st)) {
        struct line *l = la_arena_alloc(arena, sizeof *l);
        if (!l) {
            s->out_of_memory = true;
            sqlite3_reset(st);
            return NULL;
        }
        *l = (struct line){.user = store_text(s, st, 0, arena),
                           .class = sqlite3_column_int64(st, 1),
                           .count = sqlite3_column_int64(st, 2),
                           .next = first};
        first = l;
    }
    return first;
}

int64_t store_count_before(struct store *s, const struct job *job)
{
    return store_integer(s, store_bind(s, SQL_COUNT_BEFORE, "tii", job->user, job->class, job->seq), 0);
}

int64_t store_recent_cost(struct store *s, int64_t otherwise)
{
    return store_integer(s, store_bind(s, SQL_RECENT_COST, ""), otherwise);
}

int64_t store_queued_in(struct store *s, int64_t class, int64_t *since)
{
    sqlite3_stmt *st = store_bind(s, SQL_QUEUED_IN, "i", class);
    if (!store_step(s, st))
        return 0;
    const int64_t count = sqlite3_column_int64(st, 0);
    if (count)
        *since = sqlite3_column_int64(st, 1);
    sqlite3_reset(st);
    return count;
}
