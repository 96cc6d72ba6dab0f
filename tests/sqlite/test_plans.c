/*
 * test_plans.c - every statement finds its rows by the index meant for it, on
 * a new ledger and on one that 0.2 made and that still has its indexes.
 */
#include "support.h"
#include "statements.h"

#include <string.h>

/* The plan of a statement, its lines joined. */
static char *plan_of(sqlite3 *db, statement_id id)
{
    char *sql = sqlite3_mprintf("EXPLAIN QUERY PLAN %s", statement_sql[id]);
    char *plan = sqlite3_mprintf("");
    sqlite3_stmt *statement = NULL;

    assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        char *longer = sqlite3_mprintf("%s%s\n", plan, sqlite3_column_text(statement, 3));
        sqlite3_free(plan);
        plan = longer;
    }
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return plan;
}

#define MILESTONES "USING INDEX alineo_events_milestones (sandbox_id=? AND name=? AND event=?)"
#define COUNTED                                                                                    \
    "USING COVERING INDEX alineo_events_milestones (sandbox_id=? AND name=? AND event=?)"
#define SESSION "INDEX alineo_events_name_sandbox_ts (name=? AND sandbox_id=?"

static const struct {
    statement_id id;
    const char *path; /* part of the plan */
    int times;        /* it stands there so often */
} paths[] = {
    {SQL_APPEND_NOW, "USING COVERING " SESSION ")", 1},
    {SQL_LATEST_TS, "USING COVERING " SESSION ")", 1},
    {SQL_DELETE_SANDBOX, "USING COVERING " SESSION ")", 1},
    {SQL_SANDBOX, "USING INDEX alineo_events_milestones (sandbox_id=?)", 1},
    {SQL_CREATED, MILESTONES, 1},
    {SQL_CHECKPOINTS, MILESTONES, 1},
    {SQL_SETTINGS, MILESTONES, 1},
    {SQL_EVENTS, "USING " SESSION ")", 1},
    {SQL_EVENTS_BY_ID, "USING COVERING " SESSION ")", 1},
    {SQL_EVENTS_BY_ID, "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)", 1},
    {SQL_REPLAY, "USING " SESSION " AND ts>? AND ts<?)", 1},
    {SQL_LAST_CHECKPOINT, MILESTONES, 1},
    {SQL_LIST_CHECKPOINTS, MILESTONES, 1},
    {SQL_LIST_SANDBOXES, "SEARCH c USING INDEX alineo_events_created (ts<?)", 1},
    {SQL_LIST_SANDBOXES, "SEARCH x " MILESTONES, 3},
    {SQL_LIST_SANDBOXES, "SEARCH x " COUNTED, 1},
    {SQL_GET_SANDBOX, "SEARCH c " MILESTONES, 1},
    {SQL_GET_SANDBOX, "SEARCH x " MILESTONES, 3},
    {SQL_GET_SANDBOX, "SEARCH x " COUNTED, 1},
};

static int count(const char *text, const char *part)
{
    int times = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        times++;
    return times;
}

static void check_paths(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char *plan = plan_of(db, paths[i].id);
        if (count(plan, paths[i].path) != paths[i].times)
            fail_msg("statement %d is not by \"%s\":\n%s", paths[i].id, paths[i].path, plan);
        sqlite3_free(plan);
    }
}

/* Rows in the order of replay come from the index, without sorting. */
static void check_replay_is_not_sorted(sqlite3 *db)
{
    char *plan = plan_of(db, SQL_REPLAY);

    assert_null(strstr(plan, "TEMP B-TREE"));
    sqlite3_free(plan);
}

static void a_new_ledger_is_read_by_its_indexes(void **state)
{
    run(db_of(state), "SELECT alineo_init()");
    check_paths(db_of(state));
    check_replay_is_not_sorted(db_of(state));
}

static void an_adopted_ledger_is_read_by_the_same_indexes(void **state)
{
    /* The tables and indexes of 0.2, as its adapter makes them. */
    run(db_of(state), "CREATE TABLE alineo_events (id INTEGER PRIMARY KEY AUTOINCREMENT,"
                      " sandbox_id TEXT NOT NULL, name TEXT NOT NULL, step_idx INTEGER NOT NULL,"
                      " branch INTEGER, event TEXT NOT NULL, payload TEXT, error TEXT,"
                      " ts INTEGER NOT NULL);"
                      "CREATE INDEX alineo_events_sandbox_id ON alineo_events(sandbox_id);"
                      "CREATE INDEX alineo_events_name ON alineo_events(name);"
                      "SELECT alineo_init()");
    check_paths(db_of(state));
    check_replay_is_not_sorted(db_of(state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_new_ledger_is_read_by_its_indexes),
        MEMORY_TEST(an_adopted_ledger_is_read_by_the_same_indexes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
