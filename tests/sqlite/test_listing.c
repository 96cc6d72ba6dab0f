/*
 * test_listing.c - alineo_list_sandboxes and alineo_get_sandbox: which sessions,
 * what is told of each, filters and order; and alineo_delete_sandbox.
 */
#include "support.h"

#define DETAILS                                                                                    \
    "SELECT name, sandbox_id, status, started_at, completed_at, exec_count, run_id, resource_id,"  \
    " team_id, parent_sandbox_id, resumed_from FROM "
#define SANDBOX DETAILS "alineo_get_sandbox('ci', 'sb-1')"

/* One session, told by get and by list alike. */
static const ledger_case sessions[] = {
    {"a session is told by its created event",
     {CREATED(7, "sb-1",
              "{'runId':'r','resourceId':'res','teamId':'t','parentSandboxId':'p',"
              "'resumedFrom':'f'}")},
     SANDBOX,
     "ci|sb-1|running|7|NULL|0|r|res|t|p|f"},
    {"what the created event does not say is NULL, and run_id the sandbox_id",
     {CREATED(7, "sb-1", "{}")},
     SANDBOX,
     "ci|sb-1|running|7|NULL|0|sb-1|NULL|NULL|NULL|NULL"},
    {"a created event without a payload is one too",
     {CREATED(7, "sb-1", NULL)},
     SANDBOX,
     "ci|sb-1|running|7|NULL|0|sb-1|NULL|NULL|NULL|NULL"},
    {"a null run_id falls back to the sandbox_id",
     {CREATED(7, "sb-1", "{'runId':null,'teamId':null}")},
     SANDBOX,
     "ci|sb-1|running|7|NULL|0|sb-1|NULL|NULL|NULL|NULL"},
    {"a session without a created event is not listed",
     {STARTED(1, "sb-1", 1, "ls"), COMPLETED(2, "sb-1", 1, 0), CLOSED(3, "sb-1")},
     SANDBOX,
     ""},
    {"a closed session is completed at its latest closed event",
     {CREATED(1, "sb-1", "{}"), CLOSED(9, "sb-1"), CLOSED(5, "sb-1")},
     SANDBOX,
     "ci|sb-1|completed|1|9|0|sb-1|NULL|NULL|NULL|NULL"},
    {"a session is completed also where it was closed before it was created",
     {CLOSED(1, "sb-1"), CREATED(5, "sb-1", "{}")},
     SANDBOX,
     "ci|sb-1|completed|5|1|0|sb-1|NULL|NULL|NULL|NULL"},
    {"started_at is the earliest created event",
     {CREATED(9, "sb-1", "{'runId':'a'}"), CREATED(3, "sb-1", "{'runId':'a'}"),
      CREATED(5, "sb-1", "{'runId':'a'}")},
     SANDBOX,
     "ci|sb-1|running|3|NULL|0|a|NULL|NULL|NULL|NULL"},
    {"exec_count counts completions, not starts and not seqs",
     {CREATED(1, "sb-1", "{}"), STARTED(2, "sb-1", 1, "a"), COMPLETED(3, "sb-1", 1, 0),
      STARTED(4, "sb-1", 1, "a"), COMPLETED(5, "sb-1", 1, 0), STARTED(6, "sb-1", 2, "b"),
      OUTPUT(7, "sb-1", 2, "stdout", "x")},
     SANDBOX,
     "ci|sb-1|running|1|NULL|2|sb-1|NULL|NULL|NULL|NULL"},
    {"the events of other sessions do not count",
     {CREATED(1, "sb-1", "{}"), CREATED(1, "sb-2", "{}"), CLOSED(2, "sb-2"),
      COMPLETED(3, "sb-2", 1, 0)},
     SANDBOX,
     "ci|sb-1|running|1|NULL|0|sb-1|NULL|NULL|NULL|NULL"},
    {"texts show NUL and half a surrogate pair as text columns do",
     {CREATED(1, "sb-1", "{'runId':'a\\u0000b','teamId':'\\ud83d'}")},
     SANDBOX,
     "ci|sb-1|running|1|NULL|0|a\xe2\x90\x80"
     "b|NULL|\xef\xbf\xbd|NULL|NULL"},
    {"a session that does not exist gives no rows", {CREATED(1, "sb-2", "{}")}, SANDBOX, ""},
};

static void list_and_get_tell_the_same(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(sessions); i++) {
        sqlite3 *db = open_ledger(":memory:", 0);
        const ledger_case *c = &sessions[i];
        for (size_t e = 0; e < CASE_EVENTS && c->events[e].event != NULL; e++)
            (void)append(db, c->events[e].sandbox_id, c->events[e].event, c->events[e].payload,
                         c->events[e].ts);
        assert_rows(db, DETAILS "alineo_list_sandboxes() WHERE sandbox_id = 'sb-1'", c->rows);
        close_ledger(db);
    }
}

/* Six sessions of two names; sb-3 and sb-4 began at the same time. */
static void fill(sqlite3 *db)
{
    static const struct {
        const char *name, *id, *payload;
        int ts;
    } created[] = {
        {"ci", "sb-1", "{\"runId\":\"r-1\"}", 10},
        {"cd", "sb-2", "{\"runId\":\"r-1\"}", 20},
        {"ci", "sb-4", "{\"runId\":\"r-2\"}", 30},
        {"ci", "sb-3", "{\"runId\":\"r-2\"}", 30},
        {"cd", "sb-5", "{}", 5},
        {"ci", "sb-6", "{\"runId\":7}", 40},
    };
    for (size_t i = 0; i < COUNT_OF(created); i++)
        run(db, sqlf("SELECT alineo_append(%Q, %Q, 'sandbox.created', %Q, NULL, NULL, NULL, %d)",
                     created[i].name, created[i].id, created[i].payload, created[i].ts));
    run(db, "SELECT alineo_append('ci', 'sb-1', 'sandbox.closed', NULL, NULL, NULL, NULL, 50);"
            "SELECT alineo_append('cd', 'sb-2', 'sandbox.closed', NULL, NULL, NULL, NULL, 50);"
            "SELECT alineo_append('ci', 'sb-4', 'sandbox.closed', NULL, NULL, NULL, NULL, 50)");
}

/* Newest first; of the tie sb-3 has the higher id. */
static const struct {
    const char *arguments, *ids;
} filters[] = {
    {"", "6 3 4 2 1 5"},
    {"NULL", "6 3 4 2 1 5"},
    {"NULL, NULL, NULL, NULL, NULL", "6 3 4 2 1 5"},
    {"'ci'", "6 3 4 1"},
    {"'cd'", "2 5"},
    {"'cx'", ""},
    {"''", ""},
    {"NULL, 'running'", "6 3 5"},
    {"NULL, 'completed'", "4 2 1"},
    {"'ci', 'completed'", "4 1"},
    {"NULL, NULL, 'r-1'", "2 1"},
    {"NULL, NULL, 'sb-5'", "5"}, /* the fallback is a run_id like others */
    {"NULL, NULL, 'sb-1'", ""},
    {"NULL, NULL, '7'", "6"},
    {"'ci', 'completed', 'r-2'", "4"},
    {"NULL, NULL, NULL, 30", "2 1 5"},
    {"NULL, NULL, NULL, 31", "3 4 2 1 5"},
    {"NULL, NULL, NULL, 5", ""},
    {"NULL, NULL, NULL, 30.0", "2 1 5"},
    {"NULL, NULL, NULL, -1", ""},
    {"NULL, NULL, NULL, NULL, 0", ""},
    {"NULL, NULL, NULL, NULL, 2", "6 3"},
    {"NULL, NULL, NULL, NULL, 99", "6 3 4 2 1 5"},
    {"NULL, NULL, NULL, 40, 3", "3 4 2"},
    /* max_rows applies last: to what the filters leave. */
    {"NULL, 'completed', NULL, NULL, 2", "4 2"},
    {"NULL, NULL, 'r-1', NULL, 1", "2"},
    {"'cd', 'running', NULL, 30, 1", "5"},
};

#define IDS "SELECT ifnull(group_concat(substr(sandbox_id, 4), ' '), '') FROM "

static void every_filter_keeps_what_it_says_newest_first(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t i = 0; i < COUNT_OF(filters); i++)
        assert_rows(db, sqlf(IDS "alineo_list_sandboxes(%s)", filters[i].arguments),
                    filters[i].ids);
}

static void order_by_and_limit_are_those_of_sql(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    assert_rows(db, IDS "(SELECT * FROM alineo_list_sandboxes() ORDER BY started_at, sandbox_id)",
                "5 1 2 3 4 6");
    assert_rows(db, IDS "(SELECT * FROM alineo_list_sandboxes() ORDER BY started_at DESC LIMIT 3)",
                "6 3 4");
    assert_rows(db, IDS "(SELECT * FROM alineo_list_sandboxes() LIMIT 2 OFFSET 1)", "3 4");
    assert_rows(db,
                IDS "(SELECT * FROM alineo_list_sandboxes(NULL, NULL, NULL, NULL, 3)"
                    " ORDER BY sandbox_id)",
                "3 4 6");
    assert_rows(db,
                IDS "(SELECT * FROM alineo_list_sandboxes() WHERE started_at < 30"
                    " AND name = 'cd')",
                "2 5");
}

static void an_argument_that_cannot_be_is_refused(void **state)
{
    static const struct {
        const char *arguments, *error;
    } refusals[] = {
        {"NULL, 'closed'", "status must be 'running' or 'completed'"},
        {"NULL, ''", "status must be 'running' or 'completed'"},
        {"NULL, 'Running'", "status must be 'running' or 'completed'"},
        {"NULL, x'00'", "status must be text"},
        {"x'00'", "name must be text"},
        {"NULL, NULL, x'00'", "run_id must be text"},
        {"NULL, NULL, NULL, 'now'", "before must be an integer"},
        {"NULL, NULL, NULL, 1.5", "before must be an integer"},
        {"NULL, NULL, NULL, NULL, -1", "max_rows must be an integer of at least 0"},
        {"NULL, NULL, NULL, NULL, 'all'", "max_rows must be an integer of at least 0"},
        {"NULL, NULL, NULL, NULL, 0.5", "max_rows must be an integer of at least 0"},
    };
    sqlite3 *db = db_of(state);

    fill(db);
    for (size_t i = 0; i < COUNT_OF(refusals); i++)
        assert_refused(db, sqlf("SELECT * FROM alineo_list_sandboxes(%s)", refusals[i].arguments),
                       sqlf("alineo_list_sandboxes: %s", refusals[i].error));
}

static void a_sandbox_id_under_two_names_is_two_sessions(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_append('ci', 'sb-1', 'sandbox.created', NULL, NULL, NULL, NULL, 1);"
            "SELECT alineo_append('cd', 'sb-1', 'sandbox.created', NULL, NULL, NULL, NULL, 2);"
            "SELECT alineo_append('cd', 'sb-1', 'sandbox.closed', NULL, NULL, NULL, NULL, 3)");
    assert_rows(db, "SELECT name, status FROM alineo_list_sandboxes()", "cd|completed\nci|running");
    assert_rows(db, "SELECT name, status FROM alineo_get_sandbox('ci', 'sb-1')", "ci|running");
}

static void a_damaged_created_event_is_listed_without_what_it_would_tell(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "UPDATE alineo_events SET payload = '{broken' WHERE id = 3");
    assert_rows(db, IDS "alineo_list_sandboxes()", "6 3 4 2 1 5");
    assert_rows(db, DETAILS "alineo_get_sandbox('ci', 'sb-4')",
                "ci|sb-4|completed|30|50|0|sb-4|NULL|NULL|NULL|NULL");
    assert_rows(db, IDS "alineo_list_sandboxes(NULL, NULL, 'r-2')", "3");
}

static void delete_removes_the_events_of_one_session_and_counts_them(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    run(db, "SELECT alineo_append('cd', 'sb-1', 'sandbox.created', NULL, NULL, NULL, NULL, 60)");
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "2");
    assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1')", "0");
    assert_rows(db, IDS "alineo_list_sandboxes()", "1 6 3 4 2 5");
    assert_rows(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", "0");
    assert_rows(db, "SELECT alineo_delete_sandbox('nobody', 'sb-2')", "0");
    assert_rows(db, "SELECT count(*) FROM alineo_events", "8");
}

static void delete_on_an_empty_database_deletes_nothing(void **state)
{
    assert_rows(db_of(state), "SELECT alineo_delete_sandbox('ci', 'sb-1')", "0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(list_and_get_tell_the_same),
        MEMORY_TEST(every_filter_keeps_what_it_says_newest_first),
        MEMORY_TEST(order_by_and_limit_are_those_of_sql),
        MEMORY_TEST(an_argument_that_cannot_be_is_refused),
        MEMORY_TEST(a_sandbox_id_under_two_names_is_two_sessions),
        MEMORY_TEST(a_damaged_created_event_is_listed_without_what_it_would_tell),
        MEMORY_TEST(delete_removes_the_events_of_one_session_and_counts_them),
        MEMORY_TEST(delete_on_an_empty_database_deletes_nothing),
    };
    int failed = run_cases("sessions", sessions, COUNT_OF(sessions));
    return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
