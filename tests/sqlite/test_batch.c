/*
 * test_batch.c - alineo_append_batch: the forms a batch comes in, what an entry
 * may hold, and that a batch is appended whole or not at all.
 */
#include "support.h"

#include <string.h>

#define BATCH  "SELECT alineo_append_batch(?1)"
#define FUTURE "4102444800000"

static sqlite3_int64 append_batch(sqlite3 *db, const char *quoted)
{
    return call_with(db, BATCH, json(quoted));
}

static void an_entry_has_the_keys_of_the_sdk(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(append_batch(db, "[{'ts':12,'name':'ci','sandboxId':'sb-1','stepIndex':3,"
                                      "'branch':1,'event':'exec.started','payload':{'seq':9},"
                                      "'error':'boom'}]"),
                     1);
    assert_json(db,
                "SELECT id, sandbox_id, name, step_idx, branch, event, payload, error, ts"
                " FROM alineo_events",
                "1|sb-1|ci|3|1|exec.started|{'seq':9}|boom|12");
}

static void an_entry_may_use_the_names_of_the_columns(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(append_batch(db, "{'name':'ci','sandbox_id':'sb-1','step_idx':3,'event':'x'}"),
                     1);
    assert_rows(db, "SELECT sandbox_id, step_idx FROM alineo_events", "sb-1|3");
}

static void the_keys_of_an_entry_may_be_escaped_repeated_and_unknown(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(append_batch(db, "{'x':[{'event':'no'}],'\\u006eame':'ci','sandboxId':'a',"
                                      "'sandboxId':'sb-\\u0031','event':'x','ts':1.0}"),
                     1);
    assert_rows(db, "SELECT name, sandbox_id, event, ts FROM alineo_events", "ci|sb-1|x|1");
}

static void what_an_entry_leaves_off_or_sets_to_null_is_filled_in(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(
        append_batch(db, "[{'name':'ci','sandboxId':'sb-1','event':'exec_start',"
                         "'payload':{'seq':4}},"
                         "{'name':'ci','sandboxId':'sb-1','event':'x','ts':null,'stepIndex':null,"
                         "'branch':null,'payload':null,'error':null}]"),
        2);
    assert_json(db,
                "SELECT step_idx, branch, event, payload, error, ts > 1700000000000"
                " FROM alineo_events ORDER BY id",
                "4|NULL|exec.started|{'seq':4}|NULL|1\n-1|NULL|x|NULL|NULL|1");
}

#define A(n) "{'name':'ci','sandboxId':'sb-1','event':'e" #n "','ts':" #n "}"

static const struct {
    const char *text;
    int count;
} forms[] = {
    {"", 0},
    {" \n\t\r\n ", 0},
    {"[]", 0},
    {" [ ] \n", 0},
    {A(1), 1},
    {"\n" A(1) "\n", 1},
    {"[" A(1) "]", 1},
    {" [ " A(1) " ,\n " A(2) " ] ", 2},
    {A(1) "\n" A(2), 2},
    {A(1) "\n" A(2) "\n", 2},
    {A(1) " \r\n\r\n \t" A(2) "\r\n" A(3) "\n\n", 3},
    /* An entry may itself go over lines. */
    {"{'name':'ci',\n'sandboxId':'sb-1',\n'event':'e1'\n,'ts':1}\n" A(2), 2},
};

static void a_batch_is_an_array_one_entry_or_json_lines(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init()");
    for (size_t i = 0; i < COUNT_OF(forms); i++) {
        assert_int_equal(append_batch(db, forms[i].text), forms[i].count);
        assert_rows(db,
                    "SELECT group_concat(event, ' ') FROM (SELECT event FROM alineo_events"
                    " ORDER BY id)",
                    forms[i].count == 0   ? "NULL"
                    : forms[i].count == 1 ? "e1"
                    : forms[i].count == 2 ? "e1 e2"
                                          : "e1 e2 e3");
        run(db, "DELETE FROM alineo_events");
    }
}

#define BAD(member) "[" A(1) ",{'name':'ci','sandboxId':'sb-1','event':'x'," member "}," A(2) "]"

static const struct {
    const char *text, *error;
} faults[] = {
    {"null", "entry 0: must be an object"},
    {"5", "entry 0: must be an object"},
    {"[" A(1) ",7]", "entry 1: must be an object"},
    {"[[" A(1) "]]", "entry 0: must be an object"},
    {A(1) "\n[" A(2) "]", "entry 1: must be an object"},
    {"{}", "entry 0: name must not be NULL"},
    {"[" A(1) ",{'name':'ci','event':'x'}]", "entry 1: sandboxId must not be NULL"},
    {A(1) "\n" A(2) "\n{'name':'ci','sandboxId':'sb-1'}", "entry 2: event must not be NULL"},
    {BAD("'name':''"), "entry 1: name must not be empty"},
    {BAD("'name':7"), "entry 1: name must be a string"},
    {BAD("'event':'a\\u0000'"), "entry 1: event must not contain NUL"},
    {BAD("'sandboxId':'\\ud83d'"), "entry 1: sandboxId must be valid UTF-8"},
    {BAD("'sandbox_id':null"), "entry 1: sandboxId must not be NULL"},
    {BAD("'error':{}"), "entry 1: error must be a string"},
    {BAD("'stepIndex':-2"), "entry 1: stepIndex must be an integer from -1 to 2147483647"},
    {BAD("'step_idx':1.5"), "entry 1: stepIndex must be an integer from -1 to 2147483647"},
    {BAD("'stepIndex':'1'"), "entry 1: stepIndex must be an integer from -1 to 2147483647"},
    {BAD("'branch':-1"), "entry 1: branch must be an integer from 0 to 2147483647"},
    {BAD("'branch':true"), "entry 1: branch must be an integer from 0 to 2147483647"},
    {BAD("'ts':-1"), "entry 1: ts must be an integer of at least 0"},
    {BAD("'ts':9223372036854775808"), "entry 1: ts must be an integer of at least 0"},
    {BAD("'ts':'now'"), "entry 1: ts must be an integer of at least 0"},
    {"[{'name':'ci'", "entry 0: not valid JSON at byte 13: unexpected end"},
    {A(1) "\n{'name':}", "entry 1: not valid JSON at byte 61: unexpected character"},
    {A(1) A(2), "entry 1: not valid JSON at byte 52: unexpected text behind the value"},
    {"[" A(1) "] 1", "entry 1: not valid JSON at byte 55: unexpected text behind the value"},
    {"[" A(1) ",]", "entry 1: not valid JSON at byte 54: unexpected character"},
    {"nope", "entry 0: not valid JSON at byte 0: unexpected character"},
};

static void an_error_names_the_entry_and_the_field_and_nothing_is_appended(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(append_batch(db, A(7)), 1);
    for (size_t i = 0; i < COUNT_OF(faults); i++)
        assert_refused(db, sqlf("SELECT alineo_append_batch(%Q)", json(faults[i].text)),
                       sqlf("alineo_append_batch: %s", faults[i].error));
    assert_int_equal(append_batch(db, A(8)), 1);
    assert_rows(db, "SELECT id, event FROM alineo_events ORDER BY id", "1|e7\n2|e8");
}

static void a_batch_that_is_null_is_refused(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init()");
    assert_refused(db, "SELECT alineo_append_batch(NULL)",
                   "alineo_append_batch: entries must not be NULL");
}

/* As readfile gives it. */
static void a_batch_may_be_a_blob_of_utf_8(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init()");
    assert_rows(db,
                sqlf("SELECT alineo_append_batch(CAST(%Q AS BLOB))",
                     json("{'name':'ci','sandboxId':'sb-\xc3\xa9','event':'x','payload':[1]}")),
                "1");
    assert_rows(db, "SELECT sandbox_id, payload, typeof(payload) FROM alineo_events",
                "sb-\xc3\xa9|[1]|text");
    assert_refused(db, "SELECT alineo_append_batch(x'7bff')",
                   "alineo_append_batch: entry 0: not valid JSON at byte 1: expected a key");
    assert_refused(db, "SELECT alineo_append_batch(x'7b22ff')",
                   "alineo_append_batch: entry 0: not valid JSON at byte 2: invalid UTF-8");
    assert_refused(db, "SELECT alineo_append_batch(x'00')",
                   "alineo_append_batch: entry 0: not valid JSON at byte 0: unexpected character");
}

static void a_payload_in_a_batch_is_kept_to_the_byte(void **state)
{
    sqlite3 *db = db_of(state);
    const char *payload = "{ 'b' : [1.50, 1e2 ,123456789012345678901234567890],\n"
                          "'a':'\\ud83d\\u0000\\u0041\xc3\xa9' }";

    (void)append_batch(db, sqlf("{\"name\":\"ci\",\"sandboxId\":\"sb-1\",\"event\":\"x\","
                                "\"payload\": %s }",
                                payload));
    (void)append_batch(db, "{'name':'ci','sandboxId':'sb-1','event':'x','payload':'te\\u0078t'}");
    assert_rows(db, "SELECT payload FROM alineo_events ORDER BY id",
                json(sqlf("%s\n'te\\u0078t'", payload)));
}

static void a_bad_batch_in_a_transaction_leaves_what_was_before_it(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "BEGIN");
    assert_int_equal(append_batch(db, A(1)), 1);
    assert_refused(db, sqlf("SELECT alineo_append_batch(%Q)", json(A(2) "\n" A(3) "\n{}")),
                   "alineo_append_batch: entry 2: name must not be NULL");
    assert_int_equal(append_batch(db, A(4)), 1);
    run(db, "COMMIT");
    assert_rows(db, "SELECT event FROM alineo_events ORDER BY id", "e1\ne4");
}

static void a_batch_in_a_transaction_rolls_back_with_it(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(append_batch(db, A(1)), 1);
    run(db, "BEGIN");
    assert_int_equal(append_batch(db, A(2) "\n" A(3)), 2);
    run(db, "ROLLBACK");
    assert_rows(db, "SELECT event FROM alineo_events ORDER BY id", "e1");
}

static void batches_inside_a_writing_statement_are_one_with_it(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "CREATE TABLE batches(n, b); CREATE TABLE results(r)");
    run(db, sqlf("INSERT INTO batches VALUES (1, %Q)", json("[" A(1) "," A(2) "]")));
    run(db, sqlf("INSERT INTO batches VALUES (2, %Q)", json(A(3))));
    run(db, "INSERT INTO results SELECT alineo_append_batch(b) FROM batches ORDER BY n");
    assert_rows(db, "SELECT r FROM results ORDER BY rowid", "2\n1");
    assert_rows(db, "SELECT event FROM alineo_events ORDER BY id", "e1\ne2\ne3");
    /* The third fails, so the first two are undone, and the INSERT around them. */
    run(db, "INSERT INTO batches VALUES (3, '{}')");
    assert_refused(db, "INSERT INTO results SELECT alineo_append_batch(b) FROM batches ORDER BY n",
                   "alineo_append_batch: entry 0: name must not be NULL");
    assert_rows(db, "SELECT count(*) FROM results", "2");
}

static const char *const ten_thousand =
    "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 10000)"
    " SELECT alineo_append_batch(json_group_array(json_object('name', 'ci', 'sandboxId', 'sb-1',"
    " 'event', %s, 'ts', i, 'payload', json_object('n', i)))) FROM n";

static void ten_thousand_entries_are_one_batch(void **state)
{
    sqlite3 *db = db_of(state);

    assert_rows(db, sqlf(ten_thousand, "'x'"), "10000");
    assert_rows(db,
                "SELECT count(*), min(id), max(id), sum(ts = id), sum(json_extract(payload, '$.n'))"
                " FROM alineo_events",
                "10000|1|10000|10000|50005000");
}

static void the_last_of_ten_thousand_entries_can_undo_them_all(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init()");
    assert_refused(db, sqlf(ten_thousand, "iif(i = 10000, '', 'x')"),
                   "alineo_append_batch: entry 9999: event must not be empty");
    assert_rows(db, "SELECT count(*) FROM alineo_events", "0");
}

#define UNTIMED(sandbox, event) "{'name':'ci','sandboxId':'" sandbox "','event':'" event "'}"

static const char *const timed =
    "[{'name':'ci','sandboxId':'sb-1','event':'a','ts':" FUTURE "},"
    "{'name':'ci','sandboxId':'sb-1','event':'b','ts':5}," UNTIMED("sb-1", "c") "," UNTIMED(
        "sb-2", "d") "," UNTIMED("sb-1", "e") "]";

static void ts_left_off_counts_the_entries_before_it_in_the_batch(void **state)
{
    sqlite3 *db = db_of(state);

    assert_int_equal(append_batch(db, timed), 5);
    assert_rows(db, "SELECT event, ts = " FUTURE " FROM alineo_events ORDER BY id",
                "a|1\nb|0\nc|1\nd|0\ne|1");
}

/* With a trigger SQLite reads all rows of an INSERT ... SELECT before it stores
 * the first. */
static void ts_left_off_counts_them_also_where_the_table_has_a_trigger(void **state)
{
    sqlite3 *db = db_of(state);

    run(db, "SELECT alineo_init(); CREATE TABLE audit(id);"
            "CREATE TRIGGER t AFTER INSERT ON alineo_events"
            " BEGIN INSERT INTO audit VALUES (NEW.id); END");
    assert_int_equal(append_batch(db, timed), 5);
    assert_rows(db, "SELECT event, ts = " FUTURE " FROM alineo_events ORDER BY id",
                "a|1\nb|0\nc|1\nd|0\ne|1");
    assert_rows(db, "SELECT id FROM audit ORDER BY rowid", "1\n2\n3\n4\n5");
}

static void the_recorded_sessions_are_one_batch(void **state)
{
    sqlite3 *db = db_of(state);
    sqlite3_int64 size;
    char *sessions = read_file(data_path("sessions.jsonl"), &size);

    assert_int_equal(call_with(db, BATCH, sessions), 99);
    sqlite3_free(sessions);
    assert_rows(db, "SELECT count(*), min(id), max(id) FROM alineo_events", "99|1|99");
    assert_rows(db,
                "SELECT name, sandbox_id, status, exec_count FROM alineo_list_sandboxes()"
                " ORDER BY name, sandbox_id",
                "binary-output|sb-11073-6|completed|4\n"
                "ci-build|sb-11073-1|running|5\n"
                "ci-build|sb-11073-4|completed|1\n"
                "fork-parallel-sb-11073|sb-11073-10|completed|1\n"
                "parallel|sb-11073-7|completed|3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(an_entry_has_the_keys_of_the_sdk),
        MEMORY_TEST(an_entry_may_use_the_names_of_the_columns),
        MEMORY_TEST(the_keys_of_an_entry_may_be_escaped_repeated_and_unknown),
        MEMORY_TEST(what_an_entry_leaves_off_or_sets_to_null_is_filled_in),
        MEMORY_TEST(a_batch_is_an_array_one_entry_or_json_lines),
        MEMORY_TEST(an_error_names_the_entry_and_the_field_and_nothing_is_appended),
        MEMORY_TEST(a_batch_that_is_null_is_refused),
        MEMORY_TEST(a_batch_may_be_a_blob_of_utf_8),
        MEMORY_TEST(a_payload_in_a_batch_is_kept_to_the_byte),
        FILE_TEST(a_bad_batch_in_a_transaction_leaves_what_was_before_it),
        FILE_TEST(a_batch_in_a_transaction_rolls_back_with_it),
        FILE_TEST(batches_inside_a_writing_statement_are_one_with_it),
        FILE_TEST(ten_thousand_entries_are_one_batch),
        FILE_TEST(the_last_of_ten_thousand_entries_can_undo_them_all),
        MEMORY_TEST(ts_left_off_counts_the_entries_before_it_in_the_batch),
        MEMORY_TEST(ts_left_off_counts_them_also_where_the_table_has_a_trigger),
        MEMORY_TEST(the_recorded_sessions_are_one_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
