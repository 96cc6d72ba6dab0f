/*
 * test_databases.c - the kinds of databases a host may have: in memory, read
 * only, in UTF-16, beside TEMP and ATTACHed ones, changed by others; and WAL.
 */
#include "support.h"

#include <sys/stat.h>
#include <unistd.h>

#define APPEND "SELECT alineo_append('ci', 'sb-1', 'x', NULL, NULL, NULL, NULL, 1)"
#define COUNT  "SELECT count(*) FROM main.alineo_events"

static void the_schema_is_that_of_the_sdk(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, APPEND);
    assert_rows(db, "SELECT name, type, \"notnull\", pk FROM pragma_table_info('alineo_events')",
                "id|INTEGER|0|1\n"
                "sandbox_id|TEXT|1|0\n"
                "name|TEXT|1|0\n"
                "step_idx|INTEGER|1|0\n"
                "branch|INTEGER|0|0\n"
                "event|TEXT|1|0\n"
                "payload|TEXT|0|0\n"
                "error|TEXT|0|0\n"
                "ts|INTEGER|1|0");
    assert_rows(db,
                "SELECT name, type, \"notnull\", pk FROM pragma_table_info('alineo_environments')",
                "name|TEXT|0|1\n"
                "snapshot_id|TEXT|1|0\n"
                "image|TEXT|1|0\n"
                "built_at|INTEGER|1|0");
    assert_rows(db,
                "SELECT group_concat(name) FROM pragma_index_info('alineo_events_name_sandbox_ts')",
                "name,sandbox_id,ts,id");
    assert_rows(db,
                "SELECT name FROM sqlite_master WHERE name NOT LIKE 'alineo\\_%' ESCAPE '\\'"
                " AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                "");
}

static const char *const reads[] = {
    "SELECT * FROM alineo_replay('ci', 'sb-1')",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-1')",
    "SELECT * FROM alineo_replay_cache('ci', 'sb-1', 'tag')",
    "SELECT * FROM alineo_execs('ci', 'sb-1')",
    "SELECT * FROM alineo_last_checkpoint('ci', 'sb-1')",
    "SELECT * FROM alineo_list_checkpoints('ci', 'sb-1')",
    "SELECT * FROM alineo_list_sandboxes()",
    "SELECT * FROM alineo_get_sandbox('ci', 'sb-1')",
    "SELECT * FROM alineo_get_environment('py')",
    "SELECT * FROM alineo_list_environments()",
};

static void a_read_of_an_empty_database_gives_no_rows_and_creates_nothing(void **state)
{
    sqlite3 *db = db_of(state);
    struct stat file;

    for (size_t i = 0; i < COUNT_OF(reads); i++)
        assert_rows(db, reads[i], "");
    assert_rows(db, "SELECT alineo_output('ci', 'sb-1', 1)", "NULL");
    assert_error(db, "SELECT alineo_resume('sb-1')", SQLITE_ERROR,
                 "alineo_resume: no session has sandbox_id 'sb-1'");
    assert_rows(db, "SELECT count(*) FROM sqlite_master", "0");
    assert_rows(db, "PRAGMA journal_mode", "delete");
    assert_int_equal(stat(path_of(state), &file), 0);
    assert_int_equal(file.st_size, 0);
}

static void a_database_in_memory_is_a_ledger_too(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, APPEND);
    assert_rows(db, "SELECT event FROM alineo_replay('ci', 'sb-1')", "x");
    assert_rows(db, "PRAGMA journal_mode", "memory");
}

static void the_first_write_switches_a_file_database_to_wal(void **state)
{
    static const char *const writes[] = {
        APPEND,
        "SELECT alineo_append_batch('')",
        "SELECT alineo_init()",
        "SELECT alineo_save_environment('py', 's', 'i')",
        "SELECT alineo_delete_sandbox('ci', 'sb-1')",
        "SELECT alineo_delete_environment('py')",
    };
    for (size_t i = 0; i < COUNT_OF(writes); i++) {
        const char *path = sqlf("%s-%d", path_of(state), (int)i);
        sqlite3 *db = open_ledger(path, 0);
        assert_rows(db, "PRAGMA journal_mode", "delete");
        run(db, writes[i]);
        assert_rows(db, "PRAGMA journal_mode", "wal");
        close_ledger(db);
    }
}

static void a_first_write_inside_a_transaction_leaves_the_journal_mode(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "BEGIN; " APPEND "; COMMIT");
    assert_rows(db, "PRAGMA journal_mode", "delete");
    assert_rows(db, COUNT, "1");

    sqlite3 *next = open_ledger(path_of(state), 0);
    run(next, APPEND);
    assert_rows(next, "PRAGMA journal_mode; " COUNT, "wal\n2");
    close_ledger(next);
}

static void a_first_write_while_another_reads_goes_on_without_wal(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_plain(path_of(state), 0);
    sqlite3_stmt *reading;

    run(other, "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2)");
    reading = prepare(other, "SELECT a FROM t");
    assert_int_equal(sqlite3_step(reading), SQLITE_ROW);
    /* In rollback mode the reader also keeps the append from committing. */
    assert_error(db, APPEND, SQLITE_BUSY, "alineo_append: database is locked");
    assert_int_equal(sqlite3_finalize(reading), SQLITE_OK);
    run(db, APPEND);
    assert_rows(db, COUNT, "1");
    close_ledger(other);
}

static void a_read_only_connection_reads_and_refuses_to_write(void **state)
{
    (void)append(db_of(state), "sb-1", "sandbox.created", "{'runId':'r'}", 1);

    sqlite3 *db = open_ledger(path_of(state), SQLITE_OPEN_READONLY);
    assert_rows(db, "SELECT run_id FROM alineo_list_sandboxes()", "r");
    assert_error(db, APPEND, SQLITE_READONLY,
                 "alineo_append: attempt to write a readonly database");
    assert_error(db,
                 "SELECT alineo_append_batch('{\"name\":\"a\",\"sandboxId\":\"b\",\"event\":"
                 "\"c\"}')",
                 SQLITE_READONLY, "alineo_append_batch: attempt to write a readonly database");
    assert_error(db, "SELECT alineo_delete_sandbox('ci', 'sb-1')", SQLITE_READONLY,
                 "alineo_delete_sandbox: attempt to write a readonly database");
    assert_error(db, "SELECT alineo_save_environment('py', 's', 'i')", SQLITE_READONLY,
                 "alineo_save_environment: attempt to write a readonly database");
    assert_rows(db, COUNT, "1");
    close_ledger(db);
}

static void a_read_only_database_without_a_ledger_reads_as_empty(void **state)
{
    run(db_of(state), "CREATE TABLE t(a)");

    sqlite3 *db = open_ledger(path_of(state), SQLITE_OPEN_READONLY);
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        assert_rows(db, reads[i], "");
    assert_error(db, APPEND, SQLITE_READONLY,
                 "alineo_append: attempt to write a readonly database");
    close_ledger(db);
}

static void an_immutable_file_is_read_and_never_written(void **state)
{
    sqlite3 *db = db_of(state);
    struct stat before, after;

    (void)append(db, "sb-1", "sandbox.created", "{'runId':'r'}", 1);
    run(db, "PRAGMA wal_checkpoint(TRUNCATE)");
    assert_int_equal(stat(path_of(state), &before), 0);

    db = open_ledger(sqlf("file:%s?immutable=1", path_of(state)),
                     SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
    assert_rows(db, "SELECT run_id FROM alineo_list_sandboxes()", "r");
    assert_error(db, APPEND, SQLITE_READONLY,
                 "alineo_append: attempt to write a readonly database");
    close_ledger(db);
    assert_int_equal(stat(path_of(state), &after), 0);
    assert_int_equal(after.st_size, before.st_size);
    assert_int_equal(after.st_mtim.tv_nsec, before.st_mtim.tv_nsec);
}

static void query_only_is_respected(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE t(a); PRAGMA query_only = 1");
    assert_error(db, APPEND, SQLITE_READONLY,
                 "alineo_append: attempt to write a readonly database");
    assert_rows(db, "SELECT count(*) FROM sqlite_master; PRAGMA journal_mode", "1\ndelete");
    run(db, "PRAGMA query_only = 0; " APPEND "; PRAGMA query_only = 1");
    assert_error(db, APPEND, SQLITE_READONLY,
                 "alineo_append: attempt to write a readonly database");
    assert_rows(db, "SELECT event FROM alineo_replay('ci', 'sb-1')", "x");
    run(db, "PRAGMA query_only = 0; " APPEND);
    assert_rows(db, COUNT, "2");
}

#define COLUMNS                                                                                    \
    "(id INTEGER PRIMARY KEY, sandbox_id TEXT, name TEXT, step_idx INT, branch INT, event TEXT,"   \
    " payload TEXT, error TEXT, ts INT)"

static void a_temp_table_of_that_name_captures_nothing(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TEMP TABLE alineo_events" COLUMNS ";"
            "INSERT INTO temp.alineo_events VALUES"
            " (7, 'sb-1', 'ci', -1, NULL, 'sandbox.created', '{}', NULL, 9);"
            "CREATE TEMP TABLE alineo_environments(name, snapshot_id, image, built_at);"
            "INSERT INTO temp.alineo_environments VALUES ('fake', 's', 'i', 1);"
            "CREATE TEMP TABLE alineo_deleted(last_id INTEGER PRIMARY KEY);"
            "INSERT INTO temp.alineo_deleted VALUES (1000)");
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        assert_rows(db, reads[i], "");
    assert_int_equal(append(db, "sb-1", "sandbox.created", "{'runId':'real'}", 1), 1);
    (void)append(db, "sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s'}", 2);
    assert_rows(db, "SELECT run_id FROM alineo_list_sandboxes()", "real");
    assert_rows(db, "SELECT json_extract(alineo_resume('sb-1'), '$.runId')", "real");
    run(db, "DELETE FROM main.alineo_events WHERE id = 2");
    assert_int_equal(append(db, "sb-1", "x", NULL, 3), 3);
    run(db, "SELECT alineo_delete_sandbox('ci', 'sb-1'); SELECT alineo_delete_environment('fake');"
            "SELECT alineo_init()");
    assert_rows(db, "SELECT count(*) FROM temp.alineo_events", "1");
    assert_rows(db, "SELECT count(*) FROM temp.alineo_environments", "1");
    assert_rows(db, "SELECT * FROM temp.alineo_deleted", "1000");
}

static void an_attached_database_is_neither_read_nor_written(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, sqlf("ATTACH '%s-other' AS other", path_of(state)));
    run(db, "CREATE TABLE other.alineo_events" COLUMNS ";"
            "INSERT INTO other.alineo_events VALUES"
            " (7, 'sb-1', 'ci', -1, NULL, 'sandbox_created', '{}', NULL, 9)");
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        assert_rows(db, reads[i], "");
    assert_int_equal(append(db, "sb-1", "sandbox.created", "{}", 1), 1);
    run(db, "SELECT alineo_init(); SELECT alineo_delete_sandbox('ci', 'sb-1')");
    assert_rows(db, "SELECT id, event FROM other.alineo_events", "7|sandbox_created");
    assert_rows(db, "SELECT name FROM other.sqlite_master", "alineo_events");
    assert_rows(db, "PRAGMA other.journal_mode", "delete");
    run(db, "DETACH other");
}

static void a_database_in_utf_16_gives_the_same_answers(void **state)
{
    static const char *const encodings[] = {"UTF-8", "UTF-16le", "UTF-16be"};
    char *expected = NULL;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(encodings); i++) {
        sqlite3 *db = open_ledger(":memory:", 0);
        run(db, sqlf("PRAGMA encoding = '%s'", encodings[i]));
        (void)append(db, "sb-\xc3\xa9", "sandbox_created", "{'runId':'r\xc3\xa9'}", 1);
        (void)append(db, "sb-\xc3\xa9", "exec.started", "{'seq':1,'cmd':'echo \xf0\x9f\x98\x80'}",
                     2);
        (void)append(db, "sb-\xc3\xa9", "exec.output",
                     "{'seq':1,'type':'stdout','text':'\xf0\x9f\x98\x80\\ud83d'}", 3);
        (void)append(db, "sb-\xc3\xa9", "exec.completed", "{'seq':1,'exitCode':0}", 4);
        (void)append(db, "sb-\xc3\xa9", "snapshot", "{'snapshotId':'s\xc3\xa9','name':'t'}", 5);
        run(db, "SELECT alineo_append('ci', 'sb-\xc3\xa9', 'x', NULL, NULL, NULL,"
                " 'a' || char(0) || 'b', 6)");
        assert_int_equal(call_with(db, "SELECT alineo_append_batch(?1)",
                                   json("{'name':'ci','sandboxId':'sb-\xc3\xa9','event':'y',"
                                        "'payload':'\xc3\xa9','ts':7}")),
                         1);
        run(db, "SELECT alineo_save_environment('py\xc3\xa9', 's', 'i', 1)");
        assert_rows(db, "PRAGMA encoding", encodings[i]);
        char *answers = rows_of(db, "SELECT * FROM alineo_replay('ci', 'sb-\xc3\xa9');"
                                    "SELECT * FROM alineo_execs('ci', 'sb-\xc3\xa9');"
                                    "SELECT * FROM alineo_replay_cache('ci', 'sb-\xc3\xa9', 't');"
                                    "SELECT alineo_resume('sb-\xc3\xa9');"
                                    "SELECT alineo_output('ci', 'sb-\xc3\xa9', 1);"
                                    "SELECT * FROM alineo_list_sandboxes('ci', NULL, 'r\xc3\xa9');"
                                    "SELECT * FROM alineo_list_checkpoints('ci', 'sb-\xc3\xa9');"
                                    "SELECT * FROM alineo_get_environment('py\xc3\xa9');"
                                    "SELECT count(*) FROM alineo_get_sandbox('ci', 'sb-\xc3\xa9')");
        if (expected == NULL)
            expected = answers;
        assert_string_equal(answers, expected);
        if (answers != expected)
            sqlite3_free(answers);
        close_ledger(db);
    }
    sqlite3_free(expected);
}

static void a_change_of_schema_by_another_connection_breaks_no_call(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_ledger(path_of(state), 0);

    for (int i = 1; i <= 3; i++) {
        run(other, sqlf("CREATE TABLE t%d(a); CREATE INDEX i%d ON t%d(a)", i, i, i));
        assert_int_equal(append(db, "sb-1", "sandbox.created", "{}", i), i);
        run(other, sqlf("ALTER TABLE t%d ADD COLUMN b", i));
        assert_rows(db, "SELECT count(*) FROM alineo_replay('ci', 'sb-1')", sqlf("%d", i));
        run(other, sqlf("DROP TABLE t%d", i));
        assert_rows(db, "SELECT sandbox_id FROM alineo_list_sandboxes()", "sb-1");
        run(other, "VACUUM");
    }
    run(other, "DROP TABLE alineo_events");
    for (size_t i = 0; i < COUNT_OF(reads); i++)
        assert_rows(db, reads[i], "");
    run(db, APPEND);
    assert_rows(other, COUNT, "1");
    close_ledger(other);
}

/* A function that reads no table of its own statement sees no schema change. */
static void a_ledger_created_by_another_connection_is_found(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_ledger(path_of(state), 0);

    assert_error(db, "SELECT alineo_resume('sb-1')", SQLITE_ERROR,
                 "alineo_resume: no session has sandbox_id 'sb-1'");
    (void)append(other, "sb-1", "sandbox.created", "{}", 1);
    (void)append(other, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'a'}", 2);
    (void)append(other, "sb-1", "sandbox.checkpoint_created", "{'snapshotId':'s'}", 3);
    assert_rows(db, "SELECT json_extract(alineo_resume('sb-1'), '$.sandboxId')", "sb-1");
    assert_rows(db, "SELECT alineo_output('ci', 'sb-1', 1)", "0x61");
    close_ledger(other);
}

static void a_ledger_dropped_by_another_connection_is_gone(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3 *other = open_ledger(path_of(state), 0);

    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    (void)append(db, "sb-1", "exec.output", "{'seq':1,'type':'stdout','text':'a'}", 2);
    assert_rows(db, "SELECT alineo_output('ci', 'sb-1', 1)", "0x61");
    run(other, "DROP TABLE alineo_events");
    assert_rows(db, "SELECT alineo_output('ci', 'sb-1', 1)", "NULL");
    assert_error(db, "SELECT alineo_resume('sb-1')", SQLITE_ERROR,
                 "alineo_resume: no session has sandbox_id 'sb-1'");
    close_ledger(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        FILE_TEST(the_schema_is_that_of_the_sdk),
        FILE_TEST(a_read_of_an_empty_database_gives_no_rows_and_creates_nothing),
        MEMORY_TEST(a_database_in_memory_is_a_ledger_too),
        FILE_TEST(the_first_write_switches_a_file_database_to_wal),
        FILE_TEST(a_first_write_inside_a_transaction_leaves_the_journal_mode),
        FILE_TEST(a_first_write_while_another_reads_goes_on_without_wal),
        FILE_TEST(a_read_only_connection_reads_and_refuses_to_write),
        FILE_TEST(a_read_only_database_without_a_ledger_reads_as_empty),
        FILE_TEST(an_immutable_file_is_read_and_never_written),
        FILE_TEST(query_only_is_respected),
        FILE_TEST(a_temp_table_of_that_name_captures_nothing),
        FILE_TEST(an_attached_database_is_neither_read_nor_written),
        MEMORY_TEST(a_database_in_utf_16_gives_the_same_answers),
        FILE_TEST(a_change_of_schema_by_another_connection_breaks_no_call),
        FILE_TEST(a_ledger_created_by_another_connection_is_found),
        FILE_TEST(a_ledger_dropped_by_another_connection_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
