/*
 * support.h - what the tests of alineo.so share: databases in directories of
 * their own with the extension loaded, and assertions over rows and errors.
 *
 * The extension is the file named by ALINEO_SO, ./alineo.so by default. JSON in
 * C strings is written with ' for ", which no test needs otherwise.
 */
#ifndef ALINEO_SQLITE_TEST_SUPPORT_H
#define ALINEO_SQLITE_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sqlite3.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A test's own database. Teardown closes it with sqlite3_close, which must
 * find no statement left, and removes the directory. */
typedef struct fixture {
    sqlite3 *db;
    char directory[64];
    char path[96]; /* of the database, also where it is in memory and not there */
} fixture;

int setup_file(void **state);
int setup_memory(void **state);
int teardown(void **state);

#define FILE_TEST(test)   cmocka_unit_test_setup_teardown(test, setup_file, teardown)
#define MEMORY_TEST(test) cmocka_unit_test_setup_teardown(test, setup_memory, teardown)

sqlite3 *db_of(void **state);
const char *path_of(void **state);

const char *extension_path(void);
/* Whether tests that do the same thing very often should do it less often. */
int is_slow(void);
/* Opens a database with the flags of sqlite3_open_v2, 0: to read and write,
 * created where it is not there. open_ledger loads the extension too. */
sqlite3 *open_plain(const char *path, int flags);
sqlite3 *open_ledger(const char *path, int flags);
void load(sqlite3 *db);
/* Closes a connection, which must have nothing left open. */
void close_ledger(sqlite3 *db);

/* Texts that live for the next 32 calls of the two: as sqlite3_mprintf makes
 * them, and with ' turned into ". */
const char *sqlf(const char *format, ...);
const char *json(const char *quoted);

/* Runs statements, which must succeed; their rows are passed over. */
#define run(db, sql) run_at(db, sql, __FILE__, __LINE__)
void run_at(sqlite3 *db, const char *sql, const char *file, int line);

/* Asserts the rows of a query: columns parted by |, rows by a line break, NULL
 * as NULL, a blob in hexadecimal behind 0x, a zero byte of a text as \0. */
#define assert_rows(db, sql, rows) check_rows(db, sql, rows, __FILE__, __LINE__)
void check_rows(sqlite3 *db, const char *sql, const char *rows, const char *file, int line);
/* The same with ' for " in the rows expected. */
#define assert_json(db, sql, rows) check_rows(db, sql, json(rows), __FILE__, __LINE__)

/* The rows as such a text; freed with sqlite3_free. */
char *rows_of(sqlite3 *db, const char *sql);
/* The one integer a query answers with. */
sqlite3_int64 integer(sqlite3 *db, const char *sql);

/* Asserts that a statement fails, with this extended code and message. */
#define assert_error(db, sql, code, text) check_error(db, sql, code, text, __FILE__, __LINE__)
void check_error(sqlite3 *db, const char *sql, int code, const char *text, const char *file,
                 int line);
/* The same, and that neither table of the ledger changed. */
#define assert_refused(db, sql, text) check_refused(db, sql, text, __FILE__, __LINE__)
void check_refused(sqlite3 *db, const char *sql, const char *text, const char *file, int line);

sqlite3_stmt *prepare(sqlite3 *db, const char *sql);

/* A file of tests/data, or of the directory named by ALINEO_DATA. */
const char *data_path(const char *file);
/* Its content, which ends in NUL; freed with sqlite3_free. */
char *read_file(const char *path, sqlite3_int64 *size);
/* Calls a function of one text argument, as "SELECT f(?1)" says; the result's
 * integer. */
sqlite3_int64 call_with(sqlite3 *db, const char *sql, const char *text);

/* Appends to session 'ci' of this sandbox_id; payload with ' for ", NULL: none.
 * Returns the id. */
sqlite3_int64 append(sqlite3 *db, const char *sandbox_id, const char *event, const char *payload,
                     sqlite3_int64 ts);

#endif
