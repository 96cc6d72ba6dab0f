/*
 * migration.h - a ledger of 0.2 on either engine, for bench/migration.c. It is
 * built once; one copy of it at a time is open.
 */
#ifndef BENCH_MIGRATION_H
#define BENCH_MIGRATION_H

typedef struct migration_side {
    const char *name;
    void (*build)(long events);
    void (*remove)(void);
    void (*open_copy)(void);
    void (*close_copy)(void);
    long (*process)(void); /* that works on the copy, 0: this one */
    long (*init)(void);    /* alineo_init: rows rewritten, -1 where interrupted */
    void (*interrupt)(void);
    long (*told)(void);         /* how many notices of progress came so far */
    void (*note_indexes)(void); /* those of the copy, for plain */
    void (*plain)(void);
    long (*count)(void);
    long (*stale)(void); /* rows as 0.2 wrote them */
    long (*sum)(void);   /* over all that was written */
} migration_side;

extern const migration_side migration_sqlite, migration_postgres;

/* An event's name in 0.2, and SQL for the current one of the column event. */
const char *legacy_name(const char *current);
const char *current_name_sql(void);

#endif
