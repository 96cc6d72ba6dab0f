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

#define INDEX      "INDEX alineo_events_milestones (sandbox_id=? AND event=? AND name=?)"
#define MILESTONES "SEARCH main.alineo_events USING " INDEX
#define SESSION    "INDEX alineo_events_name_sandbox_ts (name=? AND sandbox_id=?"
#define EVENTS     "SEARCH main.alineo_events USING "

static const struct {
    statement_id id;
    const char *path; /* part of the plan */
    int times;        /* it stands there so often */
} paths[] = {
    {SQL_APPEND_NOW, EVENTS "COVERING " SESSION " AND ts<?)", 1},
    {SQL_RENUMBER, EVENTS "INTEGER PRIMARY KEY (rowid=?)", 1},
    {SQL_LATEST_TS, EVENTS "COVERING " SESSION " AND ts<?)", 1},
    {SQL_DELETE_SANDBOX, EVENTS "COVERING " SESSION ")", 1},
    {SQL_SANDBOX, EVENTS "INDEX alineo_events_milestones (sandbox_id=? AND event=?)", 1},
    {SQL_CREATED, MILESTONES, 1},
    {SQL_CHECKPOINTS, MILESTONES, 3},
    {SQL_SETTINGS, MILESTONES, 1},
    {SQL_EVENTS, EVENTS SESSION ")", 1},
    {SQL_EVENTS_BY_ID, EVENTS "COVERING " SESSION ")", 1},
    {SQL_EVENTS_BY_ID, "SEARCH e USING INTEGER PRIMARY KEY (rowid=?)", 1},
    {SQL_REPLAY, EVENTS SESSION ")", 1},
    {SQL_REPLAY_SINCE, EVENTS SESSION " AND ts>?)", 1},
    {SQL_REPLAY_WITHIN, EVENTS SESSION " AND ts>? AND ts<?)", 1},
    {SQL_LAST_CHECKPOINT, MILESTONES, 3},
    {SQL_LIST_CHECKPOINTS, MILESTONES, 3},
    {SQL_LIST_SANDBOXES, "SCAN c USING INDEX alineo_events_created", 1},
    {SQL_LIST_BEFORE, "SEARCH c USING INDEX alineo_events_created (ts<?)", 1},
    {SQL_LIST_SANDBOXES, "SEARCH x USING COVERING " INDEX, 3},
    {SQL_LIST_SANDBOXES, "SEARCH x USING " INDEX, 1},
    {SQL_FEW_OF_NAME, "SEARCH e USING COVERING INDEX alineo_events_name_sandbox_ts (name=?)", 1},
    {SQL_FEW_OF_NAME,
     "SEARCH e USING COVERING INDEX alineo_events_name_sandbox_ts (name=? AND sandbox_id>?)", 1},
    {SQL_LIST_OF_NAME, "SEARCH e USING COVERING INDEX alineo_events_name_sandbox_ts (name=?)", 1},
    {SQL_LIST_OF_NAME,
     "SEARCH e USING COVERING INDEX alineo_events_name_sandbox_ts (name=? AND sandbox_id>?)", 1},
    {SQL_LIST_OF_NAME, "SEARCH x USING COVERING " INDEX, 4},
    {SQL_LIST_OF_NAME, "SEARCH x USING " INDEX, 1},
    {SQL_GET_SANDBOX, "SEARCH c USING COVERING " INDEX, 1},
    {SQL_GET_SANDBOX, "SEARCH x USING COVERING " INDEX, 2},
    {SQL_GET_SANDBOX, "SEARCH x USING " INDEX, 1},
    {SQL_COUNT_EXECS, EVENTS "COVERING " INDEX, 1},
    {SQL_GET_ENVIRONMENT, "SEARCH main.alineo_environments USING INDEX", 1},
    {SQL_DELETE_ENVIRONMENT, "SEARCH main.alineo_environments USING INDEX", 1},
};

/* Statements whose rows come out of an index in their order. */
static const statement_id sorted[] = {SQL_REPLAY,      SQL_REPLAY_SINCE,    SQL_REPLAY_WITHIN,
                                      SQL_CHECKPOINTS, SQL_LAST_CHECKPOINT, SQL_LIST_CHECKPOINTS};

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

static void check_nothing_is_sorted(sqlite3 *db)
{
    for (size_t i = 0; i < sizeof sorted / sizeof sorted[0]; i++) {
        char *plan = plan_of(db, sorted[i]);
        assert_null(strstr(plan, "TEMP B-TREE"));
        sqlite3_free(plan);
    }
}

/* But for the migration, which has to, none reads the events from end to end. */
static void check_nothing_is_scanned(sqlite3 *db)
{
    static const char *const scans[] = {"SCAN main.alineo_events", "SCAN e", "SCAN x",
                                        "BLOOM FILTER"};

    for (int id = 0; id < SQL_COUNT; id++) {
        char *plan = plan_of(db, (statement_id)id);
        for (size_t i = 0; id != SQL_MIGRATE && i < sizeof scans / sizeof scans[0]; i++)
            if (strstr(plan, scans[i]) != NULL)
                fail_msg("statement %d reads everything:\n%s", id, plan);
        sqlite3_free(plan);
    }
}

static void check_all(sqlite3 *db)
{
    check_paths(db);
    check_nothing_is_sorted(db);
    check_nothing_is_scanned(db);
}

static void a_new_ledger_is_read_by_its_indexes(void **state)
{
    run(db_of(state), "SELECT alineo_init()");
    check_all(db_of(state));
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
    check_all(db_of(state));
}

/* What the planner learns of a ledger by ANALYZE changes nothing. */
static void an_analyzed_ledger_is_read_by_the_same_indexes(void **state)
{
    run(db_of(state),
        "WITH RECURSIVE i(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM i WHERE i < 20000)"
        " SELECT max(alineo_append('name ' || (i % 7), 'sb-' || (i / 1000),"
        "  CASE i % 1000 WHEN 0 THEN 'sandbox.created' WHEN 1 THEN 'sandbox.checkpoint_created'"
        "  WHEN 999 THEN 'sandbox.closed' WHEN 500 THEN 'exec.completed' ELSE 'exec.output' END,"
        "  '{}', -1, NULL, NULL, i)) FROM i");
    run(db_of(state), "ANALYZE");
    check_all(db_of(state));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_new_ledger_is_read_by_its_indexes),
        MEMORY_TEST(an_adopted_ledger_is_read_by_the_same_indexes),
        MEMORY_TEST(an_analyzed_ledger_is_read_by_the_same_indexes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
