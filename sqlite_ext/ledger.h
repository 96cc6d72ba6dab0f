/*
 * ledger.h - the extension's state on one connection, and one call in progress.
 *
 * Statements are cached by an eponymous virtual table's object (statement_cache.c):
 * SQLite disconnects it before it looks for unfinalized statements, so the
 * cache never keeps a connection from closing. A statement in use is taken out
 * of the cache and belongs to its user until it is given back; so calls may
 * nest, and a connection may close under an open cursor.
 */
#ifndef ALINEO_SQLITE_LEDGER_H
#define ALINEO_SQLITE_LEDGER_H

#include <sqlite3ext.h>
#ifndef ALINEO_ENTRY_FILE
SQLITE_EXTENSION_INIT3
#endif

#include "arguments.h"
#include "error.h"
#include "memory.h"
#include "statements.h"
#include "tail.h"

typedef struct ledger {
    sqlite3 *db;
    int references;                /* registrations that hold it */
    struct statements *cache;      /* NULL while no object owns one */
    bool ready;                    /* this connection has seen to the schema */
    bool writing;                  /* a write of the ledger's is under way */
    int nested;                    /* statements of the ledger's that are being stepped */
    sqlite3_stmt *behind;          /* one of ours, prepared right after the last caller */
    tail tail;                     /* what the last append left */
    const struct guard_pass *pass; /* what we change just now, or NULL; see guard.h */
} ledger;

ledger *ledger_new(sqlite3 *db);
ledger *ledger_hold(ledger *l);
void ledger_release(void *l); /* a destructor for SQLite */

/* The core's allocator over sqlite3_malloc: NULL where memory ran out. */
extern const alineo_memory ledger_memory;

/* A stored integer, or a real number equal to one; false where it is neither. */
bool value_integer(sqlite3_value *value, int64_t *integer);
bool column_integer(sqlite3_stmt *statement, int column, int64_t *integer);

/* One SQL call in progress: whose, and what went wrong. */
typedef struct call {
    struct ledger *ledger;
    alineo_error error;
    int rc; /* SQLite's code behind ALINEO_ENGINE */
} call;

void call_init(call *c, ledger *l, const char *function);
/* Notes what SQLite says of a failed call (rc not SQLITE_OK), unless an error
 * has been noted already. */
alineo_code call_failed(call *c, int rc);
/* Hands the error to whoever called the SQL function. */
void call_report(const call *c, sqlite3_context *context);
/* The same for a virtual table's method: sets zErrMsg, returns the code. */
int call_report_table(const call *c, sqlite3_vtab *table);

/* Takes a prepared statement. On failure the error is noted, *statement NULL. */
alineo_code call_take(call *c, statement_id id, sqlite3_stmt **statement);
/* Gives it back, reset and with its bindings cleared; NULL is fine. */
void ledger_give(ledger *l, statement_id id, sqlite3_stmt *statement);
/* Binds a text; NULL where `at` is NULL. A failure is noted, and found by the
 * step that follows. */
void call_bind(call *c, sqlite3_stmt *statement, int parameter, alineo_span text);
/* Steps once, unless a binding failed: whether there is a row. */
alineo_code call_step(call *c, sqlite3_stmt *statement, bool *row);
/* Steps to the end a statement whose rows are of no interest. */
alineo_code call_run(call *c, sqlite3_stmt *statement);

/* Whether a call failed because the database has no such table of ours, which
 * for a read is no failure: the error is then forgotten. Asked only afterwards,
 * when SQLite has looked at the file: another connection may have created or
 * dropped the table. */
bool call_lacks(call *c, const char *table);

/* Arguments as the core takes them. A text lives as long as the value; what is
 * no text (a blob) is noted as an error. */
alineo_code call_text(call *c, const char *argument, sqlite3_value *value, alineo_span *text);
/* A value as UTF-8; `at` NULL for NULL, and where memory ran out. */
alineo_span value_text(sqlite3_value *value);
alineo_integer integer_of(sqlite3_value *value);
/* The i-th argument of a function, or NULL where it was left off. */
sqlite3_value *argument(int argc, sqlite3_value **argv, int i);

/* Binds an upper bound; INT64_MAX as no bound at all. */
void bind_bound(sqlite3_stmt *statement, int parameter, int64_t bound);
alineo_span column_text(sqlite3_stmt *statement, int column);
/* Returns a text, or NULL where `at` is NULL; SQLite copies it. */
void result_text(sqlite3_context *context, alineo_span text);
/* Returns WTF-8 as a text column shows it, converted in `scratch` where needed. */
void result_shown(sqlite3_context *context, alineo_span text, alineo_buffer *scratch);

/* For xConnect: a function's table has the function's name. One that a file
 * declares, with CREATE VIRTUAL TABLE, under another name is refused. */
int check_table_name(const char *const *argv, char **message);

/* JSON's subtype, as SQLite's own functions mark it. */
enum { JSON_SUBTYPE = 'J' };

/* Milliseconds since 1970. */
int64_t now_ms(void);

#endif
