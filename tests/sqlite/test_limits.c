/*
 * test_limits.c - values longer than SQLITE_LIMIT_LENGTH allows.
 */
#include "support.h"

/* One exec whose stdout is longer than what any of its events says. */
static void fill(sqlite3 *db)
{
    (void)append(db, "sb-1", "sandbox.created", "{}", 1);
    for (int i = 0; i < 3; i++)
        run(db, "SELECT alineo_append('ci', 'sb-1', 'exec.output', printf("
                "'{\"seq\":1,\"type\":\"stdout\",\"text\":\"%.300c\"}', 'x'))");
    (void)append(db, "sb-1", "exec.completed", "{'seq':1,'exitCode':0}", 1);
    (void)append(db, "sb-1", "snapshot", "{'snapshotId':'s'}", 1);
}

static void a_document_longer_than_the_limit_is_too_big(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    int len = (int)integer(db, "SELECT length(alineo_resume('sb-1'))");
    int before = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, len - 1);
    assert_error(
        db, "SELECT alineo_resume('sb-1')", SQLITE_TOOBIG,
        sqlf("alineo_resume: the document is %d bytes long, the limit is %d", len, len - 1));
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, before);
    assert_rows(db, "SELECT length(alineo_resume('sb-1'))", sqlf("%d", len));
}

static void a_stream_longer_than_the_limit_is_too_big(void **state)
{
    sqlite3 *db = db_of(state);

    fill(db);
    int before = sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 899);
    assert_error(db, "SELECT alineo_output('ci', 'sb-1', 1)", SQLITE_TOOBIG,
                 "alineo_output: the stream is 900 bytes long, the limit is 899");
    (void)sqlite3_limit(db, SQLITE_LIMIT_LENGTH, before);
    assert_rows(db, "SELECT length(alineo_output('ci', 'sb-1', 1))", "900");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MEMORY_TEST(a_document_longer_than_the_limit_is_too_big),
        MEMORY_TEST(a_stream_longer_than_the_limit_is_too_big),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
