#!/usr/bin/env python3
"""Ledgers of an unusual shape: a lineage a million sessions deep, cycles,
sessions with very many creations or checkpoints.

    deep.py [--sqlite ALINEO_SO] [--postgres CONNECTION] [--long]

What a lineage of n sessions must answer is known from how it is made. Memory is
the peak of the process that answers over that before, per session; that the
time is linear shows in the rows SQLite steps over, and in the work that twice
the depth takes on PostgreSQL (blocks looked at), neither of which depends on
the machine.
"""
import argparse
import ctypes
import json
import os
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import engines  # noqa: E402

failures = []


def check(engine, rule, holds, detail=""):
    print("  %-4s %s: %s %s" % ("ok" if holds else "FAIL", engine.name, rule, detail))
    if not holds:
        failures.append(rule)


def bulk(engine, sql):
    """Rows made in the database itself: sql has the columns of an event, but id,
    over a series n from 0."""
    engine.run("INSERT INTO alineo_events(id, sandbox_id, name, step_idx, event, payload, ts) " + sql)


def series(engine, count):
    if engine.sqlite:
        return ("(WITH RECURSIVE s(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM s WHERE n + 1 < %d)"
                " SELECT n FROM s) AS s" % count)
    return "generate_series(0, %d) AS s(n)" % (count - 1)


def json_of(engine, text):
    return text if engine.sqlite else "CAST(%s AS jsonb)" % text


def make_chain(engine, depth, cycle=None):
    """Session s0 is the root; each s(n) was resumed from s(n-1)'s checkpoint, and
    ran exec n. With `cycle`, s0 was resumed from s(cycle - 1) in its turn."""
    parent = "n - 1"
    if cycle is not None:
        parent = "CASE n WHEN 0 THEN %d ELSE n - 1 END" % (cycle - 1)
    created = "'{\"resumedFrom\":\"s' || (%s) || '\",\"snapshotId\":\"x\"}'" % parent
    if cycle is None:
        created = "CASE n WHEN 0 THEN '{\"runId\":\"root\"}' ELSE %s END" % created
    rows = series(engine, depth)
    bulk(engine, "SELECT 4 * n + 1, 's' || n, 'ci', -1, 'sandbox.created', %s, n FROM %s"
         % (json_of(engine, created), rows))
    bulk(engine, "SELECT 4 * n + 2, 's' || n, 'ci', n, 'exec.started', %s, n FROM %s"
         % (json_of(engine, "'{\"seq\":' || n || ',\"cmd\":\"c\"}'"), rows))
    bulk(engine, "SELECT 4 * n + 3, 's' || n, 'ci', n, 'exec.completed', %s, n FROM %s"
         % (json_of(engine, "'{\"seq\":' || n || ',\"exitCode\":0}'"), rows))
    bulk(engine, "SELECT 4 * n + 4, 's' || n, 'ci', -1, 'sandbox.checkpoint_created', %s, n FROM %s"
         % (json_of(engine, "'{\"snapshotId\":\"x\"}'"), rows))
    if not engine.sqlite:
        engine.run("ANALYZE alineo_events")


class Peak:
    """The memory of the process that answers: its peak over what it has now."""

    def __init__(self, engine):
        if engine.sqlite:
            ctypes.CDLL(None).malloc_trim(0)  # what making the ledger took is no room for the call
        self.process = "/proc/%s/" % ("self" if engine.sqlite else engine.run("SELECT pg_backend_pid()")[0][0])
        with open(self.process + "clear_refs", "w") as refs:
            refs.write("5")  # the peak starts again
        self.before = self.read("VmHWM")

    def read(self, what):
        with open(self.process + "status") as status:
            return next(int(line.split()[1]) for line in status if line.startswith(what))

    def grown_kb(self):
        return self.read("VmHWM") - self.before


def expected_document(depth):
    return {
        "name": "ci", "sandboxId": "s%d" % (depth - 1), "runId": "root",
        "checkpoint": {"snapshotId": "x", "createdAt": depth - 1, "sandboxId": "s%d" % (depth - 1)},
        "lineage": ["s%d" % n for n in range(depth)],
        "replayCache": [{"seq": n, "command": "c", "stdout": "", "stderr": "", "exitCode": 0} for n in range(depth)],
        "pendingInteractive": [], "egress": {"apply": [], "remove": []}, "credentials": [],
    }


class Work:
    """What a call costs, apart from time: virtual machine steps on SQLite, blocks
    looked at on PostgreSQL."""

    def __init__(self, engine):
        self.engine = engine
        self.steps = 0

    def of(self, sql, *values):
        if not self.engine.sqlite:
            plan = self.engine.run("EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + sql, *values)[0][0]
            plan = (json.loads(plan) if isinstance(plan, str) else plan)[0]["Plan"]
            return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
        self.steps = 0
        self.engine.db.set_progress_handler(self.count, 100)
        self.engine.run(sql, *values)
        self.engine.db.set_progress_handler(None, 0)
        return self.steps

    def count(self):
        self.steps += 1
        return 0


def lineage(engine, depth):
    engine.begin()
    make_chain(engine, depth)
    last = "s%d" % (depth - 1)
    engine.run("SELECT alineo_resume('s0')")
    peak = Peak(engine)
    begun = time.monotonic()
    rows = engine.run("SELECT count(*), min(seq), max(seq), sum(exit_code), count(DISTINCT seq)"
                      " FROM alineo_replay_cache('ci', ?)", last)[0]
    took = time.monotonic() - begun
    grown = peak.grown_kb()
    check(engine, "the cache of a lineage %d deep has every exec" % depth,
          tuple(int(v) for v in rows) == (depth, 0, depth - 1, 0, depth), "(%.1f s)" % took)
    # What is known of an exec takes some 700 bytes, a generation 200, on PostgreSQL a row of the answer some hundred.
    check(engine, "its memory is bounded by the depth", grown < 20000 + 2.5 * depth,
          "(%.0f bytes a session)" % (grown * 1024 / depth))
    begun = time.monotonic()
    document = engine.run("SELECT CAST(alineo_resume(?) AS text)", last)[0][0]
    took = time.monotonic() - begun
    check(engine, "the resume document names all %d" % depth, json.loads(document) == expected_document(depth),
          "(%.1f s, %d MB)" % (took, len(document) >> 20))
    work = Work(engine)
    some = min(depth, 40000)
    half = work.of("SELECT count(*) FROM alineo_replay_cache('ci', ?)", "s%d" % (some // 2 - 1))
    whole = work.of("SELECT count(*) FROM alineo_replay_cache('ci', ?)", "s%d" % (some - 1))
    check(engine, "twice the depth is twice the work", whole < 2.2 * half, "(%.2f times)" % (whole / half))
    interrupt(engine, last)


def interrupt(engine, last):
    """A call that would take long is stopped in the middle, and the next works."""
    stopped = None
    if engine.sqlite:
        timer = threading.Timer(0.05, engine.db.interrupt)
        timer.start()
    else:
        engine.run("SET statement_timeout = 50")
    try:
        for _ in range(200):
            engine.run("SELECT count(*) FROM alineo_replay_cache('ci', ?)", last)
    except engine.error as error:
        stopped = engine.message(error)
    if not engine.sqlite:
        engine.run("SET statement_timeout = 0")
    check(engine, "it can be interrupted", stopped is not None and ("interrupted" in stopped or "statement" in stopped),
          "(%s)" % stopped)
    check(engine, "and the next call answers", len(engine.run("SELECT * FROM alineo_replay_cache('ci', 's1')")) == 2)


def cycles(engine, sizes):
    for size in sizes:
        engine.begin()
        make_chain(engine, size, cycle=size)
        errors = []
        for sql in ("SELECT alineo_resume(?)", "SELECT * FROM alineo_replay_cache('ci', ?)"):
            try:
                engine.run(sql, "s%d" % (size // 2))
                errors.append("no error")
            except engine.error as error:
                errors.append(engine.message(error).split(": ", 1)[1])
        wanted = "the lineage of sandbox_id 's%d' is a cycle" % (size // 2)
        check(engine, "a cycle of %d is an error" % size, errors == [wanted] * 2)


def damaged_ancestors(engine):
    """A chain that leads through a session whose created row is damaged."""
    engine.begin()
    make_chain(engine, 100)
    if engine.sqlite:
        engine.damage(4 * 50 + 1, "payload", "{broken")
        wanted = "payload of event 201 is not valid JSON at byte 1: expected a key"
    else:
        engine.damage(4 * 50 + 1, "payload", "[" * 1001 + "]" * 1001)
        wanted = "payload of event 201 is nested deeper than 1000 levels"
    got = []
    for sql in ("SELECT alineo_resume('s99')", "SELECT * FROM alineo_replay_cache('ci', 's99')"):
        try:
            engine.run(sql)
            got.append("no error")
        except engine.error as error:
            got.append(engine.message(error).split(": ", 1)[1])
    check(engine, "a damaged ancestor is named", got == [wanted] * 2)
    check(engine, "those above it answer as before",
          len(engine.run("SELECT * FROM alineo_replay_cache('ci', 's49')")) == 50)
    check(engine, "all sessions are listed", engine.run("SELECT count(*) FROM alineo_list_sandboxes()")[0][0] == 100)


def many_created(engine, count):
    """A session that was created very often, the latest first by the clock."""
    engine.begin()
    rows = series(engine, count)
    bulk(engine, "SELECT n + 1, 'm', 'ci', -1, 'sandbox.created', %s, %d - n FROM %s"
         % (json_of(engine, "'{\"runId\":\"r' || n || '\"}'"), count, rows))
    bulk(engine, "SELECT %d + n, 'm', 'ci', -1, 'sandbox.checkpoint_created', %s, 1 FROM %s"
         % (count + 1, json_of(engine, "'{\"snapshotId\":\"x' || n || '\",\"tag\":\"t' || n || '\"}'"),
            series(engine, count // 10)))
    if not engine.sqlite:
        engine.run("ANALYZE alineo_events")
    begun = time.monotonic()
    document = json.loads(engine.run("SELECT CAST(alineo_resume('m', 't0') AS text)")[0][0])
    check(engine, "resuming a session created %d times, from the oldest of %d checkpoints" % (count, count // 10),
          document["runId"] == "r0" and document["checkpoint"]["snapshotId"] == "x0",
          "(%.1f s)" % (time.monotonic() - begun))
    last = engine.run("SELECT payload FROM alineo_last_checkpoint('ci', 'm')")
    check(engine, "its last checkpoint, its list of checkpoints",
          "x%d" % (count // 10 - 1) in str(last[0][0]) and
          engine.run("SELECT count(*) FROM alineo_list_checkpoints('ci', 'm')")[0][0] == count // 10)


def one_sandbox_id(engine, count):
    """Many sessions that share one sandbox_id."""
    engine.begin()
    rows = series(engine, count)
    bulk(engine, "SELECT n + 1, 'same', 'n' || n, -1, 'sandbox.created', NULL, n FROM " + rows)
    bulk(engine, "SELECT %d + n, 'same', 'n' || n, -1, 'sandbox.checkpoint_created', %s, n FROM %s"
         % (count + 1, json_of(engine, "'{\"snapshotId\":\"x' || n || '\"}'"), rows))
    document = json.loads(engine.run("SELECT CAST(alineo_resume('same') AS text)")[0][0])
    check(engine, "of %d sessions with one sandbox_id the last created is resumed" % count,
          document["name"] == "n%d" % (count - 1) and document["checkpoint"]["snapshotId"] == "x%d" % (count - 1))
    check(engine, "and all are listed", engine.run("SELECT count(*) FROM alineo_list_sandboxes()")[0][0] == count)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sqlite", metavar="ALINEO_SO")
    parser.add_argument("--postgres", metavar="CONNECTION")
    parser.add_argument("--long", action="store_true")
    options = parser.parse_args()
    tried = []
    if options.sqlite:
        tried.append(engines.Sqlite(options.sqlite))
    if options.postgres is not None:
        tried.append(engines.Postgres(options.postgres))
    for engine in tried:
        lineage(engine, 10**6 if options.long else 10000 if engine.sqlite else 1500)
        cycles(engine, (1, 2, 10**5) if options.long else (1, 2, 1000))
        damaged_ancestors(engine)
        many_created(engine, 10**6 if options.long else 5000)
        one_sandbox_id(engine, 10**5 if options.long else 1000)
    return 1 if failures or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
