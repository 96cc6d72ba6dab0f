/*
 * writers.c - see writers.h.
 */
#include "writers.h"
#include "events.h"
#include "measure.h"
#include "on_postgres.h"

#include <stdio.h>

#define INSERT                                                                                     \
    "INSERT INTO alineo_events (name, sandbox_id, event, payload, step_idx, branch, error, ts)"    \
    " VALUES ($1, $2, $3, $4, $5, $6, $7, "

static const struct {
    const char *name, *sql;
    int parameters;
} ways[WAYS] = {
    [PLAIN] = {"plain", INSERT "$8)", 8},
    [APPEND] = {"append", "SELECT alineo_append($1, $2, $3, $4, $5, $6, $7, $8)", 8},
    [APPEND_SHORT] = {"append_short", "SELECT alineo_append($1, $2, $3, $4)", 4},
    [RETURNING] = {"returning", INSERT "$8) RETURNING id", 8},
    [LATEST] = {"latest",
                INSERT "greatest($8, (SELECT e.ts FROM alineo_events e WHERE e.name = $1"
                       " AND e.sandbox_id = $2 AND e.ts > $8 ORDER BY e.ts DESC LIMIT 1)))"
                       " RETURNING id",
                8},
};

void writer_open(writer *w, const char *database, const char *setting)
{
    *w = (writer){.db = postgres_open(database)};
    postgres_run(w->db, setting);
    for (int how = 0; how < WAYS; how++)
        postgres_prepare(w->db, ways[how].name, ways[how].sql);
}

void writer_close(writer *w)
{
    PQfinish(w->db);
}

static void *append_events(void *argument)
{
    writer *w = argument;
    char payload[PAYLOAD_ROOM], step[24], ts[24];
    const char *const values[] = {"bench", w->sandbox, "exec.output", payload,
                                  step,    NULL,       NULL,          ts};

    for (w->appended = 0; seconds() < w->until; w->appended++) {
        long i = w->appended;
        output_payload(payload, 1 + i / 1000, i);
        snprintf(step, sizeof step, "%ld", 1 + i / 1000);
        snprintf(ts, sizeof ts, "%ld", FIRST_TS + i);
        postgres_done(w->db,
                      PQexecPrepared(w->db, ways[w->how].name, ways[w->how].parameters, values,
                                     NULL, NULL, 0),
                      ways[w->how].sql);
    }
    return NULL;
}

double writers_rate(writer *writers, int count, way how, double duration)
{
    double begin = seconds();
    long appended = 0;

    for (int i = 0; i < count; i++) {
        writers[i].how = how;
        snprintf(writers[i].sandbox, sizeof writers[i].sandbox, "sb-%d-%s", i, ways[how].name);
        writers[i].until = begin + duration;
        if (pthread_create(&writers[i].thread, NULL, append_events, &writers[i]) != 0)
            fail("writers", "cannot start a thread");
    }
    for (int i = 0; i < count; i++) {
        pthread_join(writers[i].thread, NULL);
        appended += writers[i].appended;
    }
    return (double)appended / (seconds() - begin);
}
