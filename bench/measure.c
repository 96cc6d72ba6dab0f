/*
 * measure.c - see measure.h.
 */
#include "measure.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

_Noreturn void fail(const char *what, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "bench: %s: %s\n", what, why);
    exit(1);
}

double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

void *allocate(size_t size)
{
    void *block = malloc(size);

    if (block == NULL)
        fail("memory", "out of memory");
    return block;
}

void note(series *s, double value)
{
    if (s->count == s->room) {
        s->room = s->room == 0 ? 32 : 2 * s->room;
        s->values = realloc(s->values, (size_t)s->room * sizeof *s->values);
        if (s->values == NULL)
            fail("memory", "out of memory");
    }
    s->values[s->count++] = value;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static spread spread_of(const series *s)
{
    size_t size = (size_t)s->count * sizeof *s->values;

    if (s->count == 0)
        fail("series", "nothing was measured");
    double *sorted = memcpy(allocate(size), s->values, size);
    qsort(sorted, (size_t)s->count, sizeof *sorted, compare);
    spread found = {sorted[0], (sorted[(s->count - 1) / 2] + sorted[s->count / 2]) / 2,
                    sorted[s->count - 1]};
    free(sorted);
    return found;
}

double median(const series *s)
{
    return spread_of(s).middle;
}

double lowest(const series *s)
{
    return spread_of(s).low;
}

void forget(series *s)
{
    free(s->values);
    *s = (series){0};
}

spread ratio_of(const series *above, const series *below)
{
    series ratios = {0};

    if (above->count != below->count)
        fail("series", "two that were not measured in turn");
    for (int i = 0; i < above->count; i++)
        note(&ratios, above->values[i] / below->values[i]);
    spread found = spread_of(&ratios);
    forget(&ratios);
    return found;
}

void report(const char *what, const series *above, const series *below, const char *meaning,
            double target)
{
    spread ratio = ratio_of(above, below);
    char aim[32] = "";

    if (target > 0)
        snprintf(aim, sizeof aim, ", target %.2f", target);
    printf("  %-44s %5.2f  %s (%.2f to %.2f%s)\n", what, ratio.middle, meaning, ratio.low,
           ratio.high, aim);
    fflush(stdout);
}

long process_kb(long process, const char *word)
{
    char path[64] = "/proc/self/status", line[256];
    size_t len = strlen(word);
    long kb = -1;

    if (process != 0)
        snprintf(path, sizeof path, "/proc/%ld/status", process);
    FILE *file = fopen(path, "r");
    while (file != NULL && kb < 0 && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, word, len) == 0 && line[len] == ':')
            kb = atol(line + len + 1);
    if (file != NULL)
        fclose(file);
    return kb;
}

double process_seconds(long process)
{
    struct timespec own;
    char path[64];
    long long nanoseconds;

    if (process == 0) {
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &own);
        return (double)own.tv_sec + (double)own.tv_nsec / 1e9;
    }
    snprintf(path, sizeof path, "/proc/%ld/schedstat", process);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%lld", &nanoseconds) != 1)
        fail(path, "the process cannot be looked at");
    fclose(file);
    return (double)nanoseconds / 1e9;
}

long pick(long count)
{
    static uint64_t state = 88172645463325252U;

    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (long)((state >> 11) % (uint64_t)count);
}
