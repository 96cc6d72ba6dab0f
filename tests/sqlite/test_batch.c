/*
 * test_batch.c - alineo_append_batch on SQLite: BLOBs, payloads to the byte, and
 * a batch in a transaction or a writing statement as one step of it.
 */
#include "support.h"

#define BATCH "SELECT alineo_append_batch(?1)"

static sqlite3_int64 append_batch(sqlite3 *db, const char *quoted)
{
    return call_with(db, BATCH, json(quoted));
}

#define A(n) "{'name':'ci','sandboxId':'sb-1','event':'e" #n "','ts':" #n "}"

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
    assert_rows(db, "SELECT alineo_append_batch(x'')", "0");
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
        MEMORY_TEST(a_batch_may_be_a_blob_of_utf_8),
        MEMORY_TEST(a_payload_in_a_batch_is_kept_to_the_byte),
        FILE_TEST(a_bad_batch_in_a_transaction_leaves_what_was_before_it),
        FILE_TEST(a_batch_in_a_transaction_rolls_back_with_it),
        FILE_TEST(batches_inside_a_writing_statement_are_one_with_it),
        MEMORY_TEST(the_recorded_sessions_are_one_batch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
