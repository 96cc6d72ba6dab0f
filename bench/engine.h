/*
 * engine.h - a ledger on either engine, for the benchmarks that ask both the
 * same. There is one ledger at a time: on SQLite a file in the folder that
 * TMPDIR names, on PostgreSQL a database. SQL is common to both, its parameters
 * written $1, $2 in that order. Whatever fails ends the benchmark.
 */
#ifndef BENCH_ENGINE_H
#define BENCH_ENGINE_H

#include <stddef.h>

typedef struct parameter {
    enum { NOTHING, TEXT, NUMBER } kind;
    const char *text;
    long number;
} parameter;

typedef struct answer {
    long rows;
    long first; /* the first column of the first row, as far as it is a number */
    long sum;   /* and of all rows */
    size_t bytes;
} answer;

typedef struct engine {
    const char *name;
    const char *(*version)(void);
    /* Makes the ledger anew, without any table. */
    void (*create)(void);
    void (*drop)(void);
    /* Makes the schema, and the first so many events of events.h. */
    void (*load)(long events);
    long (*size)(void); /* of the ledger, in bytes */
    /* A connection with the extension, whose commits do not wait for the disk,
     * so that what is measured is work and not the disk's answer. */
    void *(*open)(void);
    void (*close)(void *db);
    long (*process)(void *db); /* that does the connection's work */
    void (*run)(void *db, const char *sql);
    long (*ask)(void *db, const char *sql);
    void *(*prepare)(void *db, const char *sql, int parameters);
    answer (*call)(void *statement, const parameter *values);
    void (*finish)(void *statement);
} engine;

extern const engine engine_sqlite, engine_postgres;

/* The engine of that name; NULL where there is none. */
const engine *engine_of(const char *name);

static inline parameter text_parameter(const char *text)
{
    return (parameter){TEXT, text, 0};
}

static inline parameter number_parameter(long number)
{
    return (parameter){NUMBER, NULL, number};
}

#endif
