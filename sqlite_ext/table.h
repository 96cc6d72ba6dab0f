/*
 * table.h - table-valued functions: what they have in common.
 *
 * Each row function is an eponymous-only virtual table. Its arguments are
 * hidden columns; some visible columns take comparisons that are handed to
 * the function as bounds. A function gives a description and four callbacks.
 */
#ifndef ALINEO_SQLITE_TABLE_H
#define ALINEO_SQLITE_TABLE_H

#include "ledger.h"

enum { TABLE_ARGUMENTS = 5, TABLE_BOUNDS = 2 };

/* Comparisons with integers narrow a column to [least, most]; SQLite checks
 * every row again, so what is no integer may simply be left to it. */
typedef struct table_bound {
    int64_t least, most;
} table_bound;

typedef struct table_cursor {
    sqlite3_vtab_cursor base; /* first: SQLite sees only this */
    call call;
    sqlite3_value *arguments[TABLE_ARGUMENTS]; /* NULL where left off; copies */
    table_bound bounds[TABLE_BOUNDS];
    bool done;
} table_cursor;

typedef struct table_function {
    const char *name;
    const char *columns; /* as in CREATE TABLE, without the arguments */
    int column_count;
    const char *arguments[TABLE_ARGUMENTS + 1]; /* up to a NULL */
    int required;                               /* so many of them must be there, and not be NULL */
    int bounds[TABLE_BOUNDS];                   /* columns with bounds, from 1; 0: no more */
    int order[TABLE_BOUNDS];                    /* columns the rows are ordered by, likewise */
    bool descending;
    size_t cursor_size; /* of the function's cursor, a table_cursor first */
    /* Starts a scan, no required argument being NULL; may be called again. */
    alineo_code (*start)(table_cursor *cursor);
    /* Moves to the next row, to the first after start; sets done at the end. */
    alineo_code (*next)(table_cursor *cursor);
    void (*column)(table_cursor *cursor, sqlite3_context *context, int column);
    /* A number of the row that is the same in every scan that gives it, which
     * tells SQLite what the sides of an OR have in common. */
    sqlite3_int64 (*rowid)(table_cursor *cursor);
    /* Drops what start and next made; fine to call twice. */
    void (*stop)(table_cursor *cursor);
} table_function;

int table_register(ledger *l, const table_function *function);

/* A text argument, `at` NULL where it is NULL or left off. */
alineo_code table_text(table_cursor *cursor, int index, alineo_span *text);
/* The first two arguments of most functions. */
alineo_code table_session(table_cursor *cursor, alineo_span *name, alineo_span *sandbox_id);
alineo_integer table_integer(const table_cursor *cursor, int index);
const char *table_argument_name(const table_cursor *cursor, int index);

/* For functions whose rows are those of one statement. */
typedef struct statement_cursor {
    table_cursor base;
    const char *table; /* that the rows are from; without it there are none */
    statement_id id;
    sqlite3_stmt *statement;
} statement_cursor;

/* Takes a statement over `table`, and sets done where that is not there. */
alineo_code statement_start(statement_cursor *cursor, const char *table, statement_id id);
alineo_code statement_next(table_cursor *cursor);
void statement_stop(table_cursor *cursor);
/* The first column, for statements that start with the event's id. */
sqlite3_int64 statement_rowid(table_cursor *cursor);
/* A hash of the arguments and one more number, where there is no id. */
sqlite3_int64 table_hash(const table_cursor *cursor, int64_t number);

#endif
