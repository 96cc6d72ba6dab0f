/*
 * test_busy.c - the ledger is busy when plain SQL would be, and then only.
 *
 * Several connections take steps in an order made at random: some through the
 * functions on one database, and the plain statements that do the same on
 * another. After each step both must have answered with the same code, and have
 * asked the busy handler as often. The seed is printed, ALINEO_SEED gives it.
 */
#include "support.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONNECTIONS = 4, STEPS = 6000 };

typedef struct connection {
    sqlite3 *db;
    sqlite3_stmt *reader; /* a query left open, or NULL */
    int asked;            /* how often SQLite began to wait for a lock */
} connection;

typedef struct side {
    bool plain;
    const char *path;
    connection all[CONNECTIONS];
} side;

#define EVENT(session) "('" session "', 'ci', -1, 'x', NULL, 1)"
#define INSERT         "INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES "
#define ENTRY          "{\"name\":\"ci\",\"sandboxId\":\"sb-2\",\"event\":\"x\",\"ts\":1}"

typedef struct action {
    const char *ledger, *plain; /* the latter NULL: the same */
} action;

static const action actions[] = {
    {"BEGIN", NULL},
    {"BEGIN", NULL},
    {"BEGIN IMMEDIATE", NULL},
    {"COMMIT", NULL},
    {"COMMIT", NULL},
    {"ROLLBACK", NULL},
    {"SAVEPOINT s", NULL},
    {"ROLLBACK TO s", NULL},
    {"RELEASE s", NULL},
    {"SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 1)", INSERT EVENT("sb-1")},
    {"SELECT alineo_append('ci', 'sb-1', 'x')", INSERT EVENT("sb-1")},
    {"SELECT alineo_append('ci', 'sb-3', 'x')", INSERT EVENT("sb-3")},
    {"SELECT alineo_append_batch('[" ENTRY "," ENTRY "]')", INSERT EVENT("sb-2") "," EVENT("sb-2")},
    {"SELECT alineo_delete_sandbox('ci', 'sb-1')",
     "DELETE FROM alineo_events WHERE name = 'ci' AND sandbox_id = 'sb-1'"},
    {"SELECT alineo_save_environment('py', 's', 'i', 1)",
     "INSERT INTO alineo_environments VALUES ('py', 's', 'i', 1)"
     " ON CONFLICT (name) DO UPDATE SET built_at = 1"},
    {"SELECT alineo_delete_environment('py')", "DELETE FROM alineo_environments WHERE name = 'py'"},
    {"SELECT count(*) FROM alineo_replay('ci', 'sb-1')",
     "SELECT count(*) FROM alineo_events WHERE name = 'ci' AND sandbox_id = 'sb-1'"},
    {"SELECT count(*) FROM alineo_list_environments()", "SELECT count(*) FROM alineo_environments"},
    /* A writer in another table of the connection, and one in none of main's. */
    {"CREATE TEMP TABLE IF NOT EXISTS t(id);"
     "INSERT INTO t SELECT alineo_append('ci', 'sb-4', 'x', NULL, NULL, NULL, NULL, 1)",
     "CREATE TEMP TABLE IF NOT EXISTS t(id);" INSERT EVENT("sb-4") ";"
                                                                   "INSERT INTO t VALUES (1)"},
    {"SELECT alineo_init()", "UPDATE alineo_events SET event = 'x' WHERE event = 'none'"},
};

enum { INIT = COUNT_OF(actions) - 1, REOPEN, OPEN_READER, CLOSE_READER, CHOICES };

static unsigned next_random(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

/* Notes that SQLite began to wait, and makes it give up. */
static int ask(void *asked, int times)
{
    if (times == 0)
        ++*(int *)asked;
    return 0;
}

static void open_one(side *s, connection *c)
{
    c->db = s->plain ? open_plain(s->path, 0) : open_ledger(s->path, 0);
    assert_int_equal(sqlite3_busy_handler(c->db, ask, &c->asked), SQLITE_OK);
    run(c->db, "PRAGMA synchronous = OFF");
}

static void close_reader(connection *c)
{
    (void)sqlite3_finalize(c->reader);
    c->reader = NULL;
}

static void close_one(connection *c)
{
    close_reader(c);
    close_ledger(c->db);
}

static int open_reader(side *s, connection *c)
{
    close_reader(c);
    int rc = sqlite3_prepare_v2(c->db,
                                s->plain ? "SELECT id FROM alineo_events"
                                         : "SELECT id FROM alineo_replay('ci', 'sb-0')",
                                -1, &c->reader, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(c->reader);
    return rc == SQLITE_ROW ? SQLITE_OK : sqlite3_extended_errcode(c->db);
}

/* Takes a step; SQLite's extended code. */
static int take(side *s, unsigned which, unsigned choice)
{
    connection *c = &s->all[which];

    /* A handler that gave up is asked again only once a statement has run. */
    (void)sqlite3_exec(c->db, "SELECT 1", NULL, NULL, NULL);
    switch (choice) {
    case REOPEN:
        close_one(c);
        open_one(s, c);
        return SQLITE_OK;
    case OPEN_READER: return open_reader(s, c);
    case CLOSE_READER: close_reader(c); return SQLITE_OK;
    default: break;
    }
    const action *a = &actions[choice];
    const char *sql = s->plain && a->plain != NULL ? a->plain : a->ledger;
    int rc = sqlite3_exec(c->db, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? rc : sqlite3_extended_errcode(c->db);
}

static const char *name_of(unsigned choice)
{
    switch (choice) {
    case REOPEN: return "close and open again";
    case OPEN_READER: return "open a reader";
    case CLOSE_READER: return "close the reader";
    default: return actions[choice].ledger;
    }
}

static void start(side *s, const char *mode)
{
    sqlite3 *db = open_ledger(s->path, 0);

    run(db,
        sqlf("PRAGMA journal_mode = %s; BEGIN; SELECT alineo_init();"
             "SELECT alineo_append('ci', 'sb-0', 'x'), alineo_append('ci', 'sb-0', 'x'); COMMIT",
             mode));
    close_ledger(db);
    for (int i = 0; i < CONNECTIONS; i++) {
        open_one(s, &s->all[i]);
        /* Not alone, so that the first write does not turn to WAL. */
        if (!s->plain)
            run(s->all[i].db, "BEGIN; SELECT alineo_init(); COMMIT");
    }
}

static void finish(side *s)
{
    for (int i = 0; i < CONNECTIONS; i++)
        close_one(&s->all[i]);
    sqlite3 *db = open_plain(s->path, 0);
    assert_rows(db, "PRAGMA integrity_check", "ok");
    close_ledger(db);
}

static unsigned seed_of(void)
{
    const char *given = getenv("ALINEO_SEED");
    unsigned seed = given != NULL ? (unsigned)strtoul(given, NULL, 10) : (unsigned)time(NULL);

    print_message("ALINEO_SEED=%u\n", seed);
    return seed;
}

static void compare(void **state, const char *mode, bool in_wal)
{
    const char *path = path_of(state);
    side ledger = {.path = path}, plain = {.plain = true};
    char plain_path[128];
    int busy = 0, snapshot = 0;
    unsigned seed = seed_of();

    (void)snprintf(plain_path, sizeof plain_path, "%s-plain.db", path);
    plain.path = plain_path;
    start(&ledger, mode);
    start(&plain, mode);
    for (int i = 0; i < (is_slow() ? STEPS / 10 : STEPS); i++) {
        unsigned which = next_random(&seed, CONNECTIONS), choice = next_random(&seed, CHOICES);
        if (!in_wal && (choice == REOPEN || choice == INIT))
            continue; /* would turn to WAL */
        int wanted = take(&plain, which, choice), got = take(&ledger, which, choice);
        int asked = plain.all[which].asked;
        if (got != wanted || ledger.all[which].asked != asked)
            fail_msg("step %d, connection %u: %s\ncode %d and %d waits, where plain SQL has %d and "
                     "%d\n%s\n%s",
                     i, which, name_of(choice), got, ledger.all[which].asked, wanted, asked,
                     sqlite3_errmsg(ledger.all[which].db), sqlite3_errmsg(plain.all[which].db));
        busy += got == SQLITE_BUSY;
        snapshot += got == SQLITE_BUSY_SNAPSHOT;
    }
    print_message("%s: SQLITE_BUSY %d times, SQLITE_BUSY_SNAPSHOT %d times, on both\n", mode, busy,
                  snapshot);
    assert_true(busy > 0);
    assert_true(in_wal == (snapshot > 0));
    for (int i = 0; i < CONNECTIONS; i++) {
        (void)sqlite3_exec(ledger.all[i].db, "ROLLBACK", NULL, NULL, NULL);
        (void)sqlite3_exec(plain.all[i].db, "ROLLBACK", NULL, NULL, NULL);
    }
    for (int i = 0; i < 5; i++) {
        const char *count =
            sqlf("SELECT count(*) FROM alineo_events WHERE sandbox_id = 'sb-%d'", i);
        assert_int_equal(integer(ledger.all[0].db, count), integer(plain.all[0].db, count));
    }
    finish(&ledger);
    finish(&plain);
}

static void in_wal_mode_the_ledger_is_busy_when_plain_sql_is(void **state)
{
    compare(state, "WAL", true);
}

static void in_rollback_mode_the_ledger_is_busy_when_plain_sql_is(void **state)
{
    compare(state, "DELETE", false);
}

static const char *const writers[] = {
    "SELECT alineo_append('ci', 'sb-1', 'x')",
    "SELECT alineo_append_batch('[" ENTRY "," ENTRY "]')",
    "SELECT alineo_delete_sandbox('ci', 'sb-1')",
    "SELECT alineo_save_environment('py', 's', 'i', 1)",
    "SELECT alineo_delete_environment('py')",
    "SELECT alineo_init()",
};

/* Ends the other connection's transaction, as time would. */
static int let_go(void *other, int times)
{
    (void)sqlite3_exec(other, "COMMIT", NULL, NULL, NULL);
    return times < 10;
}

/* What it looks at first must not keep it from waiting. */
static void the_first_write_of_a_connection_waits_in_a_deferred_transaction(void **state)
{
    static const char *const openings[] = {"BEGIN", "SAVEPOINT s",
                                           "CREATE TEMP TABLE t(id); INSERT INTO t VALUES (1)"};

    run(db_of(state), "SELECT alineo_init()");
    for (size_t i = 0; i < COUNT_OF(openings); i++) {
        for (size_t j = 0; j < COUNT_OF(writers); j++) {
            sqlite3 *db = open_ledger(path_of(state), 0);
            assert_int_equal(sqlite3_busy_handler(db, let_go, db_of(state)), SQLITE_OK);
            run(db, openings[i]);
            run(db_of(state), "BEGIN IMMEDIATE");
            run(db, i < 2 ? writers[j] : sqlf("INSERT INTO t %s", writers[j]));
            assert_true(sqlite3_get_autocommit(db_of(state)));
            run(db, i == 0 ? "COMMIT" : i == 1 ? "RELEASE s" : "SELECT 1");
            close_ledger(db);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(in_wal_mode_the_ledger_is_busy_when_plain_sql_is),
        FILE_TEST(in_rollback_mode_the_ledger_is_busy_when_plain_sql_is),
        FILE_TEST(the_first_write_of_a_connection_waits_in_a_deferred_transaction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
