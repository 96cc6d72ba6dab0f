/*
 * events.c - see events.h.
 */
#include "events.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define OUTPUT_TEXT                                                                                \
    "[%7ld] compiling module %5ld of the project, nothing out of the ordinary here ok"

int output_payload(char *to, long seq, long i)
{
    return snprintf(to, PAYLOAD_ROOM,
                    "{\"seq\":%ld,\"type\":\"stdout\",\"text\":\"" OUTPUT_TEXT
                    "\\n\",\"timestamp\":%ld}",
                    seq, i, i % 99991, FIRST_TS + i);
}

/* Sandbox ids are drawn at random, so that they come in no order. */
static unsigned mix(long number)
{
    uint32_t x = (uint32_t)number * 2654435761U;

    x ^= x >> 16;
    x *= 2246822519U;
    return x ^ (x >> 13);
}

static const char *name_of(long number)
{
    static const char *const others[] = {"agent-a", "agent-b", "agent-c"};

    if (number == 5 || number == 37 || number == 61)
        return RARE_NAME;
    return number % 10 < 7 ? COMMON_NAME : others[number % 10 - 7];
}

session session_of(long number)
{
    long cycle = number / (SMALLS + 1), place = number % (SMALLS + 1);
    session s = {.number = number, .first = cycle * CYCLE, .step = 1, .events = LARGE};

    if (place > 0) {
        long group = (place - 1) / GROUP;
        s.first += LARGE + group * GROUP * SMALL + (place - 1) % GROUP;
        s.step = GROUP;
        s.events = SMALL;
        place = 1 + group;
    }
    s.name = name_of(number);
    snprintf(s.sandbox, sizeof s.sandbox, "sb-%08x-%06lx", mix(number), number);
    snprintf(s.run, sizeof s.run, "run-%ld-%ld", cycle, place);
    return s;
}

session small_session(long i)
{
    return session_of(i / SMALLS * (SMALLS + 1) + 1 + i % SMALLS);
}

long execs_of(const session *s)
{
    return (s->events - 2 + EXEC - 1) / EXEC;
}

long checkpoints_of(const session *s)
{
    return (s->events - 2) / EXEC / 5;
}

long completed_of(const session *s)
{
    return (s->events - 2) / EXEC;
}

long cached_of(const session *s)
{
    return checkpoints_of(s) * 5;
}

long output_of_exec(void)
{
    char text[PAYLOAD_ROOM];

    return (EXEC - 3) * (snprintf(text, sizeof text, OUTPUT_TEXT, 1L, 1L) + 1L);
}

/* The k-th event of a session, which is the i-th of the ledger. */
static const char *fill(event *e, const session *s, long k, long i)
{
    long block = (k - 1) / EXEC, place = (k - 1) % EXEC, seq = block + 1;
    char *to = e->payload;

    e->step = -1;
    if (k == 0) {
        snprintf(to, PAYLOAD_ROOM,
                 "{\"sandboxId\":\"%s\",\"runId\":\"%s\",\"resourceId\":\"res-%ld\",\"teamId\":"
                 "\"team-%ld\",\"resources\":{\"cpu\":2,\"memoryMb\":2048}}",
                 s->sandbox, s->run, s->number, s->number % 7);
        return "sandbox.created";
    }
    if (k == s->events - 1 && s->number % 10 != 9) {
        snprintf(to, PAYLOAD_ROOM, "{}");
        return "sandbox.closed";
    }
    if (place == EXEC - 1) {
        if (block % 5 == 4) {
            snprintf(to, PAYLOAD_ROOM, "{\"snapshotId\":\"snap-%ld-%ld\",\"tag\":\"tag-%ld\"}",
                     s->number, block, block / 5);
            return "sandbox.checkpoint_created";
        }
        snprintf(to, PAYLOAD_ROOM, "{\"checkpoint\":%ld}", block);
        return "agent.checkpointed";
    }
    e->step = seq;
    if (place == 0) {
        snprintf(to, PAYLOAD_ROOM, "{\"seq\":%ld,\"cmd\":\"make part-%ld\",\"cwd\":\"/work\"}", seq,
                 seq);
        return "exec.started";
    }
    if (place == EXEC - 2 && k < s->events - 1) {
        snprintf(to, PAYLOAD_ROOM, "{\"seq\":%ld,\"exitCode\":0}", seq);
        return "exec.completed";
    }
    output_payload(to, seq, i);
    return "exec.output";
}

event event_at(long i)
{
    long cycle = i / CYCLE, rest = i % CYCLE, number = cycle * (SMALLS + 1), k = rest;
    event e;

    if (rest >= LARGE) {
        rest -= LARGE;
        number += 1 + rest / (GROUP * SMALL) * GROUP + rest % GROUP;
        k = rest % (GROUP * SMALL) / GROUP;
    }
    session s = session_of(number);
    e.name = s.name;
    memcpy(e.sandbox, s.sandbox, sizeof e.sandbox);
    e.event = fill(&e, &s, k, i);
    e.payload_len = strlen(e.payload);
    e.ts = FIRST_TS + i;
    return e;
}

size_t event_copy_line(char *to, const event *e)
{
    char *at = to + sprintf(to, "%s\t%s\t%s\t", e->name, e->sandbox, e->event);

    for (const char *from = e->payload; *from != '\0'; from++) {
        if (*from == '\\')
            *at++ = '\\';
        *at++ = *from;
    }
    return (size_t)(at - to) + (size_t)sprintf(at, "\t%ld\t%ld\n", e->step, e->ts);
}

size_t event_entry(char *to, const event *e)
{
    return (size_t)sprintf(to,
                           "{\"ts\":%ld,\"name\":\"%s\",\"sandboxId\":\"%s\",\"stepIndex\":%ld,"
                           "\"event\":\"%s\",\"payload\":%s}",
                           e->ts, e->name, e->sandbox, e->step, e->event, e->payload);
}
