/*
 * test_surface.c - what the extension registers, to the name and the column.
 * A name added or taken away has to be added or taken away here.
 */
#include "calls.h"
#include "version.h"

#include <string.h>

static void every_function_is_there_with_its_argument_counts(void **state)
{
    assert_rows(db_of(state),
                "SELECT name, group_concat(narg) FROM (SELECT DISTINCT name, narg"
                " FROM pragma_function_list WHERE name LIKE 'alineo%' ORDER BY name, narg)"
                " GROUP BY name",
                "alineo_append|3,4,5,6,7,8\n"
                "alineo_append_batch|1\n"
                "alineo_delete_environment|1\n"
                "alineo_delete_sandbox|2\n"
                "alineo_guard|1\n"
                "alineo_guard_deleting|1\n"
                "alineo_guard_updating|6\n"
                "alineo_init|0\n"
                "alineo_output|3,4\n"
                "alineo_resume|1,2\n"
                "alineo_save_environment|3,4\n"
                "alineo_version|0\n"
                "alineo_visit|6");
}

static void every_module_is_there(void **state)
{
    assert_rows(db_of(state),
                "SELECT name FROM pragma_module_list WHERE name LIKE 'alineo%' ORDER BY name",
                "alineo_entries\n"
                "alineo_execs\n"
                "alineo_get_environment\n"
                "alineo_get_sandbox\n"
                "alineo_last_checkpoint\n"
                "alineo_list_checkpoints\n"
                "alineo_list_environments\n"
                "alineo_list_sandboxes\n"
                "alineo_migrated\n"
                "alineo_replay\n"
                "alineo_replay_cache\n"
                "alineo_statements");
}

/* SQLITE_DIRECTONLY is 0x80000, as pragma_function_list shows flags. */
static void the_writing_functions_are_directonly_and_no_others(void **state)
{
    assert_rows(db_of(state),
                "SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE 'alineo%'"
                " AND flags & 0x80000 ORDER BY name",
                "alineo_append\n"
                "alineo_append_batch\n"
                "alineo_delete_environment\n"
                "alineo_delete_sandbox\n"
                "alineo_guard\n"
                "alineo_init\n"
                "alineo_save_environment\n"
                "alineo_visit");
}

/* What a trigger of the guard asks changes from row to row. */
static void
only_the_version_is_deterministic_and_it_and_what_the_guard_asks_are_innocuous(void **state)
{
    assert_rows(db_of(state),
                "SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE 'alineo%'"
                " AND flags & 0x800 ORDER BY name",
                "alineo_version");
    assert_rows(db_of(state),
                "SELECT DISTINCT name FROM pragma_function_list WHERE name LIKE 'alineo%'"
                " AND flags & 0x200000 ORDER BY name",
                "alineo_guard_deleting\nalineo_guard_updating\nalineo_version");
}

static bool is_called(const char *name)
{
    for (size_t i = 0; i < call_count; i++) {
        int len;
        const char *function = call_function(&call_cases[i], &len);
        if ((int)strlen(name) == len && strncmp(name, function, (size_t)len) == 0)
            return true;
    }
    return false;
}

static void every_function_is_called_by_the_tests_with_faults(void **state)
{
    static const char *const internal =
        "alineo_visit alineo_entries alineo_migrated"
        " alineo_statements alineo_guard_deleting alineo_guard_updating";
    sqlite3_stmt *names = prepare(db_of(state), "SELECT DISTINCT name FROM pragma_function_list"
                                                " WHERE name LIKE 'alineo%' UNION"
                                                " SELECT name FROM pragma_module_list"
                                                " WHERE name LIKE 'alineo%'");

    while (sqlite3_step(names) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(names, 0);
        if (strstr(internal, name) == NULL && !is_called(name))
            fail_msg("no call of %s in calls.c", name);
    }
    assert_int_equal(sqlite3_finalize(names), SQLITE_OK);
}

#define EVENT_COLUMNS "id, sandbox_id, name, step_idx, branch, event, payload, error, ts"
#define EXEC_COLUMNS  "seq, command, stdout, stderr, exit_code, started_at, completed_at"
#define SANDBOX_COLUMNS                                                                            \
    "name, sandbox_id, status, started_at, completed_at, exec_count, run_id, resource_id,"         \
    " team_id, parent_sandbox_id, resumed_from"
#define ENVIRONMENT_COLUMNS "name, snapshot_id, image, built_at"

static const struct {
    const char *call, *columns;
} row_functions[] = {
    {"alineo_replay('ci', 'sb-1')", EVENT_COLUMNS},
    {"alineo_last_checkpoint('ci', 'sb-1')", EVENT_COLUMNS},
    {"alineo_replay_cache('ci', 'sb-1')", EXEC_COLUMNS},
    {"alineo_execs('ci', 'sb-1')", EXEC_COLUMNS},
    {"alineo_list_checkpoints('ci', 'sb-1')", "snapshot_id, tag, created_at"},
    {"alineo_list_sandboxes()", SANDBOX_COLUMNS},
    {"alineo_get_sandbox('ci', 'sb-1')", SANDBOX_COLUMNS},
    {"alineo_get_environment('py')", ENVIRONMENT_COLUMNS},
    {"alineo_list_environments()", ENVIRONMENT_COLUMNS},
};

static void a_row_function_has_its_columns_in_their_order(void **state)
{
    for (size_t i = 0; i < COUNT_OF(row_functions); i++) {
        sqlite3_stmt *statement =
            prepare(db_of(state), sqlf("SELECT * FROM %s", row_functions[i].call));
        sqlite3_str *columns = sqlite3_str_new(NULL);
        for (int c = 0; c < sqlite3_column_count(statement); c++)
            sqlite3_str_appendf(columns, "%s%s", c > 0 ? ", " : "",
                                sqlite3_column_name(statement, c));
        char *text = sqlite3_str_finish(columns);
        assert_string_equal(text, row_functions[i].columns);
        sqlite3_free(text);
        (void)sqlite3_finalize(statement);
    }
}

static const struct {
    const char *name;
    int most; /* arguments */
} row_arguments[] = {
    {"alineo_replay", 2},      {"alineo_last_checkpoint", 2},  {"alineo_replay_cache", 3},
    {"alineo_execs", 2},       {"alineo_list_checkpoints", 2}, {"alineo_list_sandboxes", 5},
    {"alineo_get_sandbox", 2}, {"alineo_get_environment", 1},  {"alineo_list_environments", 0},
};

static void a_row_function_takes_so_many_arguments_and_no_more(void **state)
{
    for (size_t i = 0; i < COUNT_OF(row_arguments); i++) {
        const char *name = row_arguments[i].name;
        char list[64] = "";
        for (int n = 0; n < row_arguments[i].most; n++)
            strcat(list, n == 0 ? "NULL" : ", NULL");
        assert_rows(db_of(state), sqlf("SELECT count(*) FROM %s(%s)", name, list), "0");
        strcat(list, row_arguments[i].most == 0 ? "NULL" : ", NULL");
        assert_error(db_of(state), sqlf("SELECT count(*) FROM %s(%s)", name, list), SQLITE_ERROR,
                     sqlf("too many arguments on %s() - max %d", name, row_arguments[i].most));
    }
}

static void a_function_with_too_few_or_too_many_arguments_is_refused(void **state)
{
    static const char *const calls[] = {
        "alineo_append('a', 'b')",
        "alineo_append(1, 2, 3, 4, 5, 6, 7, 8, 9)",
        "alineo_append_batch()",
        "alineo_delete_sandbox('a')",
        "alineo_guard()",
        "alineo_guard(1, 1)",
        "alineo_init(1)",
        "alineo_resume()",
        "alineo_resume('a', 'b', 'c')",
        "alineo_output('a', 'b')",
        "alineo_save_environment('a', 'b')",
        "alineo_version(1)",
    };
    for (size_t i = 0; i < COUNT_OF(calls); i++) {
        int len = (int)(strchr(calls[i], '(') - calls[i]);
        assert_error(db_of(state), sqlf("SELECT %s", calls[i]), SQLITE_ERROR,
                     sqlf("wrong number of arguments to function %.*s()", len, calls[i]));
    }
}

static void a_view_or_trigger_cannot_write_to_the_ledger(void **state)
{
    sqlite3 *db = db_of(state);
    static const char *const writers[] = {
        "alineo_append('ci', 'sb-1', 'x')",
        "alineo_append_batch('[]')",
        "alineo_delete_sandbox('ci', 'sb-1')",
        "alineo_save_environment('py', 's', 'i')",
        "alineo_delete_environment('py')",
        "alineo_init()",
        "alineo_guard(1)",
    };
    run(db, "CREATE TABLE t(a); SELECT alineo_init()");
    for (size_t i = 0; i < COUNT_OF(writers); i++) {
        int len = (int)(strchr(writers[i], '(') - writers[i]);
        const char *refusal = sqlf("unsafe use of %.*s()", len, writers[i]);
        run(db, sqlf("CREATE VIEW v AS SELECT %s", writers[i]));
        assert_refused(db, "SELECT * FROM v", refusal);
        run(db, "DROP VIEW v");
        run(db, sqlf("CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT %s; END", writers[i]));
        assert_refused(db, "INSERT INTO t VALUES (1)", refusal);
        run(db, "DROP TRIGGER g");
    }
}

static void the_internal_tables_answer_no_one_but_the_extension(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "exec.started", "{'seq':1}", 1);
    assert_rows(db, "SELECT count(*) FROM alineo_entries", "0");
    assert_rows(db, "SELECT count(*) FROM alineo_entries('{}')", "0");
    assert_rows(db, "SELECT rowid, * FROM alineo_entries('{}') WHERE name = 'a' OR rowid = 0", "");
    assert_rows(db, "SELECT count(*) FROM alineo_statements", "0");
    assert_rows(db, "SELECT rowid, * FROM alineo_statements WHERE rowid = 0", "");
    assert_error(db, "INSERT INTO alineo_statements VALUES (1)", SQLITE_READONLY,
                 "alineo_statements is the extension's own");
    assert_rows(db, "SELECT alineo_visit(1, 2, 3, 4, 'exec.started', '{}')", "NULL");
    assert_rows(db, "SELECT * FROM alineo_migrated('exec_start', '{}')", "exec.started|{}");
    assert_rows(db, "SELECT * FROM alineo_migrated('exec.started', '{}')", "");
    assert_rows(db, "SELECT count(rowid) FROM alineo_migrated('exec_start', '{}')", "1");
    assert_error(db,
                 "SELECT 1 FROM alineo_entries a, alineo_entries b WHERE a.batch = b.name"
                 " AND b.batch = a.name",
                 SQLITE_ERROR, "no query solution");
    run(db, "CREATE VIEW v AS SELECT * FROM alineo_entries");
    assert_error(db, "SELECT * FROM v", SQLITE_ERROR,
                 "unsafe use of virtual table \"alineo_entries\"");
}

static void a_view_may_read_the_ledger(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{'runId':'r-1'}", 7);
    run(db, "CREATE VIEW running AS SELECT sandbox_id, run_id FROM alineo_list_sandboxes(NULL,"
            " 'running')");
    assert_rows(db, "SELECT * FROM running", "sb-1|r-1");
}

static void a_payload_is_json_to_the_json_functions(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "exec.started", "{'seq':1,'cmd':'ls'}", 1);
    (void)append(db, "sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s'}", 2);
    assert_json(db, "SELECT json_array(payload) FROM alineo_replay('ci', 'sb-1') LIMIT 1",
                "[{'seq':1,'cmd':'ls'}]");
    assert_json(db, "SELECT json_array(payload) FROM alineo_last_checkpoint('ci', 'sb-1')",
                "[{'snapshotId':'s'}]");
}

static void a_resume_document_is_json_to_the_json_functions(void **state)
{
    sqlite3 *db = db_of(state);

    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s'}", 2);
    assert_rows(db,
                "SELECT json_type(json_array(alineo_resume('sb-1')), '$[0]'),"
                " json_type(json_array(alineo_resume('sb-1', NULL)), '$[0]')",
                "object|object");
}

static void the_version_is_that_of_the_source(void **state)
{
    assert_rows(db_of(state), "SELECT alineo_version()", ALINEO_VERSION);
    assert_rows(db_of(state),
                "SELECT alineo_version() GLOB '[0-9]*.[0-9]*.[0-9]*', typeof(alineo_version())",
                "1|text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(every_function_is_there_with_its_argument_counts),
        MEMORY_TEST(every_module_is_there),
        MEMORY_TEST(the_writing_functions_are_directonly_and_no_others),
        MEMORY_TEST(every_function_is_called_by_the_tests_with_faults),
        MEMORY_TEST(only_the_version_is_deterministic_and_it_and_what_the_guard_asks_are_innocuous),
        MEMORY_TEST(a_row_function_has_its_columns_in_their_order),
        MEMORY_TEST(a_row_function_takes_so_many_arguments_and_no_more),
        MEMORY_TEST(a_function_with_too_few_or_too_many_arguments_is_refused),
        MEMORY_TEST(a_view_or_trigger_cannot_write_to_the_ledger),
        MEMORY_TEST(the_internal_tables_answer_no_one_but_the_extension),
        MEMORY_TEST(a_view_may_read_the_ledger),
        MEMORY_TEST(a_payload_is_json_to_the_json_functions),
        MEMORY_TEST(a_resume_document_is_json_to_the_json_functions),
        MEMORY_TEST(the_version_is_that_of_the_source),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
