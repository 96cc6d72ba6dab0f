/*
 * ledger.c - connection state, and the small change of calls: arguments,
 * results, errors. See ledger.h.
 */
#include "ledger.h"
#include "text.h"

#include <string.h>
#include <time.h>

static void *resize(void *context, void *block, size_t size)
{
    (void)context;
    return sqlite3_realloc64(block, size);
}

static void release(void *context, void *block)
{
    (void)context;
    sqlite3_free(block);
}

const alineo_memory ledger_memory = {NULL, resize, release};

ledger *ledger_new(sqlite3 *db)
{
    ledger *l = sqlite3_malloc64(sizeof *l);

    if (l == NULL)
        return NULL;
    memset(l, 0, sizeof *l);
    l->db = db;
    l->references = 1;
    return l;
}

ledger *ledger_hold(ledger *l)
{
    l->references++;
    return l;
}

void ledger_release(void *l)
{
    ledger *it = l;

    if (--it->references == 0)
        sqlite3_free(it);
}

void call_init(call *c, ledger *l, const char *function)
{
    c->ledger = l;
    c->rc = SQLITE_OK;
    alineo_error_init(&c->error, function);
}

alineo_code call_failed(call *c, int rc)
{
    /* Of several errors the first is the cause. */
    if (c->error.code != ALINEO_OK)
        return c->error.code;
    if (rc == SQLITE_NOMEM)
        return alineo_fail_memory(&c->error);
    /* The connection knows more than the bare code, of a failure of its own. */
    int extended = sqlite3_extended_errcode(c->ledger->db);
    bool own = (extended & 0xFF) == (rc & 0xFF);
    c->rc = own ? extended : rc;
    const char *text = own ? sqlite3_errmsg(c->ledger->db) : sqlite3_errstr(rc);
    /* Called by itself, through a view, the function has named itself already. */
    size_t len = strlen(c->error.function);
    if (strncmp(text, c->error.function, len) == 0 && strncmp(text + len, ": ", 2) == 0)
        text += len + 2;
    return alineo_fail(&c->error, ALINEO_ENGINE, "%s", text);
}

static int sqlite_code(const call *c)
{
    switch (c->error.code) {
    case ALINEO_NO_MEMORY: return SQLITE_NOMEM;
    case ALINEO_TOO_LARGE: return SQLITE_TOOBIG;
    case ALINEO_ENGINE: return c->rc;
    default: return SQLITE_ERROR;
    }
}

void call_report(const call *c, sqlite3_context *context)
{
    if (c->error.code == ALINEO_NO_MEMORY) {
        sqlite3_result_error_nomem(context);
        return;
    }
    sqlite3_result_error(context, c->error.text, -1);
    sqlite3_result_error_code(context, sqlite_code(c));
}

int call_report_table(const call *c, sqlite3_vtab *table)
{
    sqlite3_free(table->zErrMsg);
    table->zErrMsg =
        c->error.code == ALINEO_NO_MEMORY ? NULL : sqlite3_mprintf("%s", c->error.text);
    return sqlite_code(c);
}

void call_bind(call *c, sqlite3_stmt *statement, int parameter, alineo_span text)
{
    /* A parameter is NULL until it is bound. In a database that is not UTF-8
     * this converts, and may lack memory. */
    int rc = text.at == NULL ? SQLITE_OK
                             : sqlite3_bind_text64(statement, parameter, text.at, text.len,
                                                   SQLITE_STATIC, SQLITE_UTF8);

    if (rc != SQLITE_OK)
        (void)call_failed(c, rc);
}

/* A file may hold a view that poses as a table of ours and calls functions of
 * ours, which read that view: without a bound the stack would run out. */
enum { NESTED_MOST = 16 };

alineo_code call_step(call *c, sqlite3_stmt *statement, bool *row)
{
    *row = false;
    if (c->error.code != ALINEO_OK)
        return c->error.code;
    if (c->ledger->nested == NESTED_MOST)
        return alineo_fail(&c->error, ALINEO_DAMAGED,
                           "the tables of the ledger call its functions");
    c->ledger->nested++;
    int rc = sqlite3_step(statement);
    c->ledger->nested--;
    *row = rc == SQLITE_ROW;
    return rc == SQLITE_ROW || rc == SQLITE_DONE ? ALINEO_OK : call_failed(c, rc);
}

alineo_code call_run(call *c, sqlite3_stmt *statement)
{
    alineo_code code;
    bool row;

    /* To the very end: autocommit happens there, and only then is it true. */
    do
        code = call_step(c, statement, &row);
    while (row);
    return code;
}

bool call_lacks(call *c, const char *table)
{
    sqlite3_stmt *statement = NULL;

    if (c->error.code != ALINEO_ENGINE || (c->rc & 0xFF) != SQLITE_ERROR)
        return false;
    int rc = sqlite3_prepare_v2(c->ledger->db,
                                "SELECT 1 FROM main.sqlite_schema WHERE name = ?1 COLLATE nocase"
                                " AND type IN ('table', 'view')",
                                -1, &statement, NULL);
    if (rc == SQLITE_OK)
        rc = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    if (rc == SQLITE_OK)
        rc = sqlite3_step(statement);
    /* A table or view that is there has failed for another reason. */
    if (rc != SQLITE_ROW)
        call_init(c, c->ledger, c->error.function);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        (void)call_failed(c, rc);
    (void)sqlite3_finalize(statement);
    return rc == SQLITE_DONE;
}

alineo_code call_text(call *c, const char *argument, sqlite3_value *value, alineo_span *text)
{
    *text = (alineo_span){NULL, 0};
    if (value == NULL || sqlite3_value_type(value) == SQLITE_NULL)
        return ALINEO_OK;
    if (sqlite3_value_type(value) == SQLITE_BLOB)
        return alineo_fail(&c->error, ALINEO_BAD_ARGUMENT, "%s must be text", argument);
    *text = value_text(value);
    return text->at == NULL ? alineo_fail_memory(&c->error) : ALINEO_OK;
}

alineo_span value_text(sqlite3_value *value)
{
    /* Asking for the bytes makes it UTF-8; asking for a blob, unlike asking for
     * text, does not copy it to put a NUL behind. */
    size_t len = (size_t)sqlite3_value_bytes(value);
    const char *at = len > 0 ? sqlite3_value_blob(value) : NULL;

    if (at == NULL) {
        at = (const char *)sqlite3_value_text(value);
        len = (size_t)sqlite3_value_bytes(value);
    }
    return (alineo_span){at, len};
}

alineo_integer integer_of(sqlite3_value *value)
{
    if (value == NULL || sqlite3_value_type(value) == SQLITE_NULL)
        return (alineo_integer){false, false, 0};
    switch (sqlite3_value_numeric_type(value)) {
    case SQLITE_INTEGER: return (alineo_integer){true, true, sqlite3_value_int64(value)};
    case SQLITE_FLOAT: return alineo_integer_of_double(sqlite3_value_double(value));
    default: return (alineo_integer){true, false, 0};
    }
}

sqlite3_value *argument(int argc, sqlite3_value **argv, int i)
{
    return i < argc ? argv[i] : NULL;
}

void bind_bound(sqlite3_stmt *statement, int parameter, int64_t bound)
{
    /* A blob sorts behind every number and every text. */
    if (bound == INT64_MAX)
        (void)sqlite3_bind_zeroblob(statement, parameter, 0);
    else
        (void)sqlite3_bind_int64(statement, parameter, bound);
}

alineo_span column_text(sqlite3_stmt *statement, int column)
{
    /* As value_text does. */
    size_t len = (size_t)sqlite3_column_bytes(statement, column);
    const char *at = len > 0 ? sqlite3_column_blob(statement, column) : NULL;

    if (at == NULL) {
        at = (const char *)sqlite3_column_text(statement, column);
        len = (size_t)sqlite3_column_bytes(statement, column);
    }
    return (alineo_span){at, len};
}

static bool integer_of_double(double real, int64_t *integer)
{
    alineo_integer value = alineo_integer_of_double(real);

    *integer = value.value;
    return value.exact;
}

bool value_integer(sqlite3_value *value, int64_t *integer)
{
    int type = sqlite3_value_type(value);

    *integer = 0;
    if (type == SQLITE_FLOAT)
        return integer_of_double(sqlite3_value_double(value), integer);
    if (type == SQLITE_INTEGER)
        *integer = sqlite3_value_int64(value);
    return type == SQLITE_INTEGER;
}

bool column_integer(sqlite3_stmt *statement, int column, int64_t *integer)
{
    int type = sqlite3_column_type(statement, column);

    *integer = 0;
    if (type == SQLITE_FLOAT)
        return integer_of_double(sqlite3_column_double(statement, column), integer);
    if (type == SQLITE_INTEGER)
        *integer = sqlite3_column_int64(statement, column);
    return type == SQLITE_INTEGER;
}

void result_text(sqlite3_context *context, alineo_span text)
{
    if (text.at == NULL)
        sqlite3_result_null(context);
    else
        sqlite3_result_text64(context, text.at, text.len, SQLITE_TRANSIENT, SQLITE_UTF8);
}

void result_shown(sqlite3_context *context, alineo_span text, alineo_buffer *scratch)
{
    if (!alineo_text_has_nul(text) && !alineo_text_has_surrogate(text)) {
        result_text(context, text);
        return;
    }
    scratch->len = 0;
    alineo_text_display(scratch, text);
    if (scratch->failed)
        sqlite3_result_error_nomem(context);
    else
        result_text(context, alineo_buffer_span(scratch));
}

int check_table_name(const char *const *argv, char **message)
{
    /* The module's name, that of the database, that of the table. */
    if (sqlite3_stricmp(argv[0], argv[2]) == 0)
        return SQLITE_OK;
    *message = sqlite3_mprintf("%s is a function and makes no tables", argv[0]);
    return SQLITE_ERROR;
}

int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}
