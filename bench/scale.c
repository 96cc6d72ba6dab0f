/*
 * scale.c - what each function costs in ledgers of different size.
 * Usage: scale EXTENSION DATA [ENGINE...]; the sizes are in ALINEO_SCALE_SIZES,
 * multiples of 100,000 events.
 *
 * Each call is about a session drawn at random from 20 that lie all over the
 * ledger, the same number at every size, and all read once before: what is
 * compared is the work, not how much of a ledger a machine can keep in memory.
 * A figure is the median of the calls. Each answer is checked.
 */
#include "scale.h"
#include "measure.h"
#include "on_sqlite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_CALLS = 3, MOST_CALLS = 400 };
static const double call_seconds = 0.3;

static void check_answer(const call *c, const answer *got, const expected *want)
{
    char why[200];

    if (got->rows == want->rows && (want->first == ANY || got->first == want->first) &&
        got->bytes >= want->bytes)
        return;
    snprintf(why, sizeof why, "%ld rows, %ld first, %zu bytes instead of %ld, %ld, %zu", got->rows,
             got->first, got->bytes, want->rows, want->first, want->bytes);
    fail(c->sql, why);
}

/* One call; returns how long it took, in microseconds. */
static double one_call(const site *s, const call *c, void *statement)
{
    const engine *e = s->engine;
    parameter values[6] = {0};
    expected want = {.rows = 1, .first = ANY};
    void *db = s->db;

    if (c->choose != NULL)
        c->choose(s, values, &want);
    if (c->how == UNDONE)
        e->run(db, "BEGIN");
    double begin = seconds();
    if (c->how == OPENING) {
        db = e->open();
        statement = e->prepare(db, c->sql, c->parameters);
    }
    answer got = e->call(statement, values);
    double took = seconds() - begin;
    check_answer(c, &got, &want);
    if (c->how == UNDONE)
        e->run(db, "ROLLBACK");
    if (c->how == OPENING) {
        e->finish(statement);
        e->close(db);
    }
    return took * 1e6;
}

static double measure(const site *s, const call *c)
{
    void *statement = NULL;
    series took = {0};

    if (c->how != OPENING)
        statement = s->engine->prepare(s->db, c->sql, c->parameters);
    (void)one_call(s, c, statement);
    double begin = seconds();
    while (took.count < LEAST_CALLS ||
           (took.count < MOST_CALLS && seconds() - begin < call_seconds))
        note(&took, one_call(s, c, statement));
    if (statement != NULL)
        s->engine->finish(statement);
    double middle = median(&took);
    forget(&took);
    return middle;
}

/* All calls at one size; figures[i] is of the i-th call. */
static void measure_size(const engine *e, long events, double *figures)
{
    double begin = seconds();

    e->create();
    e->load(events);
    fprintf(stderr, "%s, %ld events: built in %.0f s, %ld MB\n", e->name, events, seconds() - begin,
            e->size() / 1000000);
    site s = {.engine = e, .db = e->open(), .events = events};
    site_begin(&s);
    for (int i = 0; i < scale_call_count; i++)
        figures[i] = measure(&s, &scale_calls[i]);
    site_end(&s);
    e->close(s.db);
    e->drop();
}

static void print_size(long events)
{
    int power = 0;

    for (long rest = events; rest > 1 && rest % 10 == 0; rest /= 10)
        power++;
    long whole = 1;
    for (int i = 0; i < power; i++)
        whole *= 10;
    if (events == whole)
        printf(" 10^%d |", power);
    else
        printf(" %ld |", events);
}

static void print_table(const engine *e, const long *sizes, int count, double *const *figures)
{
    int missed = 0;

    printf("%s %s, microseconds a call, by the number of events\n\n| call |", e->name,
           e->version());
    for (int k = 0; k < count; k++)
        print_size(sizes[k]);
    printf(" growth | target |\n| --- |");
    for (int k = 0; k < count; k++)
        printf(" ---: |");
    printf(" ---: | --- |\n");
    for (int i = 0; i < scale_call_count; i++) {
        const call *c = &scale_calls[i];
        double growth = figures[count - 1][i] / figures[0][i];
        printf("| %s |", c->what);
        for (int k = 0; k < count; k++)
            printf(" %.*f |", figures[k][i] < 100 ? 1 : 0, figures[k][i]);
        printf(" %.2f |", growth);
        if (c->target > 0)
            printf(" within %.0f%s", c->target,
                   count == 1            ? ""
                   : growth <= c->target ? ": met"
                                         : ": **missed**");
        missed += c->target > 0 && growth > c->target;
        printf(" |\n");
    }
    printf("\nTargets missed: %d\n\n", missed);
    fflush(stdout);
}

/* For gnuplot, which finds a block by the comment in front of it. */
static void write_data(FILE *data, const engine *e, const long *sizes, int count,
                       double *const *figures)
{
    for (int i = 0; i < scale_call_count; i++) {
        fprintf(data, "# %s ", e->name);
        for (const char *at = scale_calls[i].what; *at != '\0'; at++)
            if (*at != '`')
                fputc(*at, data);
        fputc('\n', data);
        for (int k = 0; k < count; k++)
            fprintf(data, "%ld %.2f\n", sizes[k], figures[k][i]);
        fprintf(data, "\n\n");
    }
}

static int read_sizes(long *sizes, int room)
{
    const char *text = getenv("ALINEO_SCALE_SIZES");
    int count = 0;
    char *end;

    if (text == NULL || *text == '\0')
        text = "100000 1000000 10000000";
    for (; count < room && *text != '\0'; text = end) {
        sizes[count] = strtol(text, &end, 10);
        if (end == text || sizes[count] <= 0 || sizes[count] % CYCLE != 0)
            fail("ALINEO_SCALE_SIZES", "must be multiples of 100000, with blanks between");
        count++;
        while (*end == ' ')
            end++;
    }
    return count;
}

int main(int argc, char **argv)
{
    long sizes[8];
    double *figures[8];

    if (argc < 4)
        fail("usage", "scale EXTENSION DATA sqlite|postgres...");
    sqlite_extension = argv[1];
    int count = read_sizes(sizes, 8);
    FILE *data = fopen(argv[2], "w");
    if (data == NULL)
        fail(argv[2], "cannot be written");
    for (int k = 0; k < count; k++)
        figures[k] = allocate((size_t)scale_call_count * sizeof *figures[k]);
    for (int i = 3; i < argc; i++) {
        const engine *e = engine_of(argv[i]);
        if (e == NULL)
            fail(argv[i], "no such engine");
        for (int k = 0; k < count; k++)
            measure_size(e, sizes[k], figures[k]);
        print_table(e, sizes, count, figures);
        write_data(data, e, sizes, count, figures);
    }
    for (int k = 0; k < count; k++)
        free(figures[k]);
    if (fclose(data) != 0)
        fail(argv[2], "cannot be written");
    return 0;
}
