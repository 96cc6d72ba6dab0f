/*
 * support.c - see support.h.
 */
#include "support.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *extension_path(void)
{
    const char *path = getenv("ALINEO_SO");

    return path != NULL ? path : "./alineo.so";
}

int is_slow(void)
{
    return getenv("ALINEO_VALGRIND") != NULL;
}

sqlite3 *open_plain(const char *path, int flags)
{
    sqlite3 *db;

    if (flags == 0)
        flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    assert_int_equal(sqlite3_open_v2(path, &db, flags, NULL), SQLITE_OK);
    return db;
}

void load(sqlite3 *db)
{
    char *message = NULL;

    assert_int_equal(sqlite3_enable_load_extension(db, 1), SQLITE_OK);
    if (sqlite3_load_extension(db, extension_path(), NULL, &message) != SQLITE_OK)
        fail_msg("cannot load %s: %s", extension_path(), message);
}

sqlite3 *open_ledger(const char *path, int flags)
{
    sqlite3 *db = open_plain(path, flags);

    load(db);
    return db;
}

static int close_connection(sqlite3 *db)
{
    int rc = sqlite3_close(db);

    if (rc == SQLITE_OK)
        return 0;
    for (sqlite3_stmt *left = sqlite3_next_stmt(db, NULL); left != NULL;
         left = sqlite3_next_stmt(db, left))
        print_error("left open: %s\n", sqlite3_sql(left));
    (void)sqlite3_close_v2(db);
    return -1;
}

void close_ledger(sqlite3 *db)
{
    if (close_connection(db) != 0)
        fail_msg("the connection does not close");
}

static int setup(void **state, const char *path)
{
    fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    strcpy(f->directory, "/tmp/alineo-test-XXXXXX");
    if (mkdtemp(f->directory) == NULL) {
        free(f);
        return -1;
    }
    (void)snprintf(f->path, sizeof f->path, "%s/ledger.db", f->directory);
    *state = f;
    f->db = open_ledger(path != NULL ? path : f->path, 0);
    return 0;
}

int setup_file(void **state)
{
    return setup(state, NULL);
}

int setup_memory(void **state)
{
    return setup(state, ":memory:");
}

int teardown(void **state)
{
    fixture *f = *state;
    int rc = f->db != NULL ? close_connection(f->db) : 0;
    DIR *directory = opendir(f->directory);

    for (struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        char path[sizeof f->directory + sizeof entry->d_name + 1];
        (void)snprintf(path, sizeof path, "%s/%s", f->directory, entry->d_name);
        if (entry->d_name[0] != '.')
            (void)unlink(path);
    }
    if (directory != NULL)
        (void)closedir(directory);
    rc |= rmdir(f->directory);
    free(f);
    return rc;
}

sqlite3 *db_of(void **state)
{
    return ((fixture *)*state)->db;
}

const char *path_of(void **state)
{
    return ((fixture *)*state)->path;
}

/* A place for a text that is overwritten 32 texts later. Threads have their own. */
static const char *keep(char *text)
{
    static _Thread_local char *kept[32];
    static _Thread_local unsigned next;
    char **place = &kept[next++ % COUNT_OF(kept)];

    assert_non_null(text);
    free(*place);
    *place = strdup(text);
    sqlite3_free(text);
    assert_non_null(*place);
    return *place;
}

const char *sqlf(const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    char *text = sqlite3_vmprintf(format, arguments);
    va_end(arguments);
    return keep(text);
}

const char *json(const char *quoted)
{
    char *text = sqlite3_mprintf("%s", quoted);

    assert_non_null(text);
    for (char *at = text; *at != '\0'; at++)
        *at = *at == '\'' ? '"' : *at;
    return keep(text);
}

static void put_value(sqlite3_str *out, sqlite3_stmt *statement, int column)
{
    const unsigned char *at;
    int len;

    switch (sqlite3_column_type(statement, column)) {
    case SQLITE_NULL: sqlite3_str_appendall(out, "NULL"); break;
    case SQLITE_BLOB:
        at = sqlite3_column_blob(statement, column);
        len = sqlite3_column_bytes(statement, column);
        sqlite3_str_appendall(out, "0x");
        for (int i = 0; i < len; i++)
            sqlite3_str_appendf(out, "%02x", at[i]);
        break;
    default:
        at = sqlite3_column_text(statement, column);
        len = sqlite3_column_bytes(statement, column);
        for (int i = 0; i < len; i++) {
            if (at[i] == '\0')
                sqlite3_str_appendall(out, "\\0");
            else
                sqlite3_str_appendchar(out, 1, (char)at[i]);
        }
    }
}

/* Runs each statement of the text; NULL after an error, *text is then the one
 * that failed and the error the connection's. */
static char *rows_or_error(sqlite3 *db, const char *sql)
{
    sqlite3_str *out = sqlite3_str_new(NULL);
    sqlite3_stmt *statement;
    int rc = SQLITE_OK;

    while (rc == SQLITE_OK && *sql != '\0') {
        rc = sqlite3_prepare_v2(db, sql, -1, &statement, &sql);
        if (rc != SQLITE_OK || statement == NULL)
            continue;
        while ((rc = sqlite3_step(statement)) == SQLITE_ROW) {
            if (sqlite3_str_length(out) > 0)
                sqlite3_str_appendchar(out, 1, '\n');
            for (int i = 0; i < sqlite3_column_count(statement); i++) {
                if (i > 0)
                    sqlite3_str_appendchar(out, 1, '|');
                put_value(out, statement, i);
            }
        }
        rc = sqlite3_finalize(statement);
    }
    char *rows = sqlite3_str_finish(out);
    if (rc == SQLITE_OK)
        return rows != NULL ? rows : sqlite3_mprintf("");
    sqlite3_free(rows);
    return NULL;
}

static char *rows_at(sqlite3 *db, const char *sql, const char *file, int line)
{
    char *rows = rows_or_error(db, sql);

    if (rows == NULL) {
        print_error("%s\n%s (code %d)\n", sql, sqlite3_errmsg(db), sqlite3_extended_errcode(db));
        _fail(file, line);
    }
    return rows;
}

char *rows_of(sqlite3 *db, const char *sql)
{
    return rows_at(db, sql, __FILE__, __LINE__);
}

void run_at(sqlite3 *db, const char *sql, const char *file, int line)
{
    sqlite3_free(rows_at(db, sql, file, line));
}

void check_rows(sqlite3 *db, const char *sql, const char *rows, const char *file, int line)
{
    char *actual = rows_at(db, sql, file, line);

    if (strcmp(actual, rows) != 0)
        print_error("%s\nanswers\n%s\nand not\n%s\n", sql, actual, rows);
    bool equal = strcmp(actual, rows) == 0;
    sqlite3_free(actual);
    if (!equal)
        _fail(file, line);
}

sqlite3_int64 integer(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement = prepare(db, sql);

    assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
    assert_int_equal(sqlite3_column_type(statement, 0), SQLITE_INTEGER);
    sqlite3_int64 value = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    return value;
}

void check_error(sqlite3 *db, const char *sql, int code, const char *text, const char *file,
                 int line)
{
    char *rows = rows_or_error(db, sql);

    if (rows != NULL) {
        print_error("%s\nis no error, it answers\n%s\n", sql, rows);
        sqlite3_free(rows);
        _fail(file, line);
        return;
    }
    if (sqlite3_extended_errcode(db) == code && strcmp(sqlite3_errmsg(db), text) == 0)
        return;
    print_error("%s\nfails with code %d, %s\nand not %d, %s\n", sql, sqlite3_extended_errcode(db),
                sqlite3_errmsg(db), code, text);
    _fail(file, line);
}

void check_refused(sqlite3 *db, const char *sql, const char *text, const char *file, int line)
{
    const char *all = "SELECT * FROM main.alineo_events ORDER BY id;"
                      "SELECT * FROM main.alineo_environments ORDER BY name";
    char *before = rows_at(db, all, file, line);

    check_error(db, sql, SQLITE_ERROR, text, file, line);
    check_rows(db, all, before, file, line);
    sqlite3_free(before);
}

sqlite3_stmt *prepare(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *statement;

    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    return statement;
}

const char *data_path(const char *file)
{
    const char *directory = getenv("ALINEO_DATA");

    return sqlf("%s/%s", directory != NULL ? directory : "tests/data", file);
}

char *read_file(const char *path, sqlite3_int64 *size)
{
    FILE *file = fopen(path, "rb");

    if (file == NULL)
        fail_msg("cannot read %s", path);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = ftell(file);
    rewind(file);
    char *content = sqlite3_malloc64((sqlite3_uint64)*size + 1);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, (size_t)*size, file), *size);
    content[*size] = '\0';
    (void)fclose(file);
    return content;
}

sqlite3_int64 call_with(sqlite3 *db, const char *sql, const char *text)
{
    sqlite3_stmt *statement = prepare(db, sql);

    assert_int_equal(sqlite3_bind_text(statement, 1, text, -1, SQLITE_STATIC), SQLITE_OK);
    if (sqlite3_step(statement) != SQLITE_ROW)
        fail_msg("%s: %s", sql, sqlite3_errmsg(db));
    sqlite3_int64 result = sqlite3_column_int64(statement, 0);
    assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
    return result;
}

sqlite3_int64 append(sqlite3 *db, const char *sandbox_id, const char *event, const char *payload,
                     sqlite3_int64 ts)
{
    return integer(db, sqlf("SELECT alineo_append('ci', %Q, %Q, %Q, NULL, NULL, NULL, %lld)",
                            sandbox_id, event, payload == NULL ? NULL : json(payload), ts));
}
