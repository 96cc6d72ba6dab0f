#!/usr/bin/env python3
"""Appends the same entries to a ledger on each engine and compares every answer.

    compare_engines.py [--sqlite ALINEO_SO] [--postgres CONNECTION] [--ledgers N] [--seed N]

The entries are the recorded sessions in tests/data, then ledgers made at random
from a seed: with NUL and halves of surrogate pairs, U+FDD0, clocks that step
back, reused seqs, several sessions that resume from each other. Each is one
alineo_append_batch on both. Payloads are compared in canonical form, all else
as it comes. ALINEO_SO names the library where --sqlite does not; without a
PostgreSQL server (PGHOST or --postgres) nothing is compared.
"""
import argparse
import json
import os
import random
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import run  # noqa: E402


# --- random ledgers -------------------------------------------------------------

PIECES = ["a", "", "\\u0000", "\\ud83d", "\\ude00", "\\ufdd0", "\ufdd0", "\\ufdd00000", "\ufdd0d83d", "é😀",
          "\\n\\\"\\\\\\/", "\\u001f", "ed\\uda00", "\\u2400\ufffd", "line of output\\r\\n"]
NUMBERS = ["0", "1", "2", "3", "1.0", "2e0", "1.5", "-1", "4294967296", "9007199254740993", "1e2", "-0", "0.10e1",
           "12345678901234567890.50", "1e-7"]
SESSION_EVENTS = ["sandbox.created", "sandbox_created", "sandbox.created", "snapshot", "sandbox.checkpoint_created",
                  "sandbox.checkpoint_created", "checkpoint_created", "egress.rule_added", "egress_rule_added",
                  "egress.rule_removed", "credential.bound", "credential.revoked", "sandbox.closed", "sandbox_closed",
                  "step.started", "mine"]
EXEC_EVENTS = ["exec.started", "exec_start", "exec.output", "exec.output", "exec.output", "exec_event",
               "exec.completed", "exec_complete", "exec.mine"]


class Maker:
    """Writes entries as JSON text, to choose how each value is spelled."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def maybe(self, chance):
        return self.random.random() < chance

    def text(self):
        return '"%s"' % "".join(self.random.choice(PIECES) for _ in range(self.random.randint(0, 4)))

    def number(self):
        return self.random.choice(NUMBERS)

    def value(self):
        return self.random.choice([self.text, self.number, lambda: "null", lambda: "true", self.nested])()

    def nested(self):
        return '{"b":%s,"a":%s,"cc":{"z":[1,2.50,{}],"b":1},"a\\u0000":1,"b":%s,"é":[]}' % (
            self.number(), self.text(), self.text())

    def one_of(self, prefix):
        return '"%s%d"' % (prefix, self.random.randint(0, 3))

    def exec_members(self):
        choices = (("type", .85), ("text", .85), ("cmd", .5), ("command", .3), ("code", .3), ("interactive", .6),
                   ("cwd", .2), ("env", .2), ("exitCode", .5), ("stdout", .1), ("stderr", .1))
        if self.maybe(.95):
            yield "seq", self.random.choice(["0", "1", "2", "3", "1.0", "2e0", self.value()])
        for key, chance in choices:
            if not self.maybe(chance):
                continue
            if key == "type":
                yield key, self.random.choice(['"stdout"'] * 4 + ['"stdin"'] * 3 + ['"stderr"', '"init"', '"std\\u006fut"', "7"])
            elif key == "interactive":
                yield key, self.random.choice(["true", "true", "false", "1"])
            elif key in ("env", "cwd", "exitCode"):
                yield key, self.value()
            else:
                yield key, self.text() if self.maybe(.9) else self.value()

    def session_members(self, event, own):
        for key in ("runId", "teamId", "resourceId", "resources", "networkPolicy", "credentialProxy", "binding", "source"):
            if self.maybe(.4):
                yield key, self.value()
        for key, chance in (("snapshotId", .8), ("tag", .5), ("name", .5)):
            if self.maybe(chance):
                yield key, self.one_of("k") if self.maybe(.95) else self.value()
        # Of the sessions before its own, mostly: others make a cycle.
        if own > 0 and self.maybe(.5):
            yield "resumedFrom", '"s%d"' % self.random.randrange(own) if self.maybe(.95) else self.one_of("s")
        if event.endswith("rule_added"):
            yield "rules", "[%s]" % ",".join('{"target":%s,"action":%s}' % (self.one_of("t"), self.text()) for _ in range(2))
        if event.endswith("rule_removed"):
            yield "targets", "[%s,%s]" % (self.one_of("t"), self.number())

    def payload(self, event, own):
        if self.maybe(.03):
            return self.random.choice(["null", "[1]", '"x"', "7", "{}"])
        members = list(self.exec_members() if event.startswith("exec") else self.session_members(event, own))
        self.random.shuffle(members)
        made = "{%s}" % ",".join('"%s":%s' % member for member in members)
        # Encoded twice, as a ledger of 0.2 holds it.
        return json.dumps(made, ensure_ascii=False) if self.maybe(.05) else made

    def entry(self, ts):
        event = self.random.choice(EXEC_EVENTS if self.maybe(.6) else SESSION_EVENTS)
        own = self.random.randint(0, 3)
        members = ['"ts":%d' % ts, '"name":"n%d"' % self.maybe(.1), '"sandboxId":"s%d"' % own, '"event":"%s"' % event]
        if self.maybe(.97):
            members.append('"payload":%s' % self.payload(event, own))
        if self.maybe(.2):
            members.append('"error":%s' % self.text())
        if self.maybe(.1):
            members.append('"stepIndex":%d,"branch":%d' % (self.random.randint(-1, 3), self.random.randint(0, 2)))
        return "{%s}" % ",".join(members)

    def ledger(self):
        ts = 1000
        lines = []
        back = self.random.choice([0, 0, 2, 40])
        for _ in range(self.random.randint(5, 120)):
            ts = max(0, ts + self.random.randint(-back, 3))
            lines.append(self.entry(ts))
        return "\n".join(lines)


# --- the answers ----------------------------------------------------------------

class Ledger:
    """One engine with one ledger."""

    def __init__(self, engine):
        self.engine = engine
        # Where SQL of ours differs: how a parameter is written.
        self.mark = "?" if isinstance(engine, run.Sqlite) else "%s"

    def ask(self, sql, *values):
        """The rows, or the text of the error."""
        cursor = self.engine.db.cursor()
        try:
            cursor.execute(sql.replace("?", self.mark), values)
            names = [d[0] for d in cursor.description]
            return [[self.plain(n, v) for n, v in zip(names, row)] for row in cursor.fetchall()]
        except self.engine.error as error:
            return self.engine.message(error)
        finally:
            cursor.close()

    def plain(self, name, value):
        if isinstance(value, (bytes, memoryview)):
            return bytes(value)
        return self.engine.payload(value) if name == "payload" and value is not None else value

    def answers(self, ids):
        """Every answer of the ledger, each with the question."""
        def put(sql, *values):
            yield "%s %r" % (sql, values), self.ask(sql, *values)

        yield from put("SELECT * FROM alineo_list_sandboxes()")
        for status in ("running", "completed"):
            yield from put("SELECT * FROM alineo_list_sandboxes(NULL, ?, NULL, 1100, 3)", status)
        for name, sandbox in ids:
            for function in ("replay", "execs", "replay_cache", "last_checkpoint", "list_checkpoints", "get_sandbox"):
                yield from put("SELECT * FROM alineo_%s(?, ?)" % function, name, sandbox)
            seqs = self.ask("SELECT seq FROM alineo_execs(?, ?)", name, sandbox)
            for seq, stream in ((s[0], t) for s in seqs for t in ("stdout", "stderr", "stdin")):
                yield from put("SELECT alineo_output(?, ?, ?, ?)", name, sandbox, seq, stream)
            for tag in ("k0", "k1"):
                yield from put("SELECT * FROM alineo_replay_cache(?, ?, ?)", name, sandbox, tag)
                yield from put("SELECT alineo_resume(?, ?)", sandbox, tag)
            yield from put("SELECT alineo_resume(?)", sandbox)


def compare(engines, what, entries):
    """Appends to both and compares; returns how many answers, and how many differ."""
    ledgers = []
    for engine in engines:
        engine.begin()
        ledgers.append(Ledger(engine))
    counts = [ledger.ask("SELECT alineo_append_batch(?)", entries) for ledger in ledgers]
    ids = ledgers[0].ask("SELECT DISTINCT name, sandbox_id FROM alineo_events ORDER BY 1, 2")
    pairs = [(("alineo_append_batch", counts[0]), ("alineo_append_batch", counts[1]))]
    pairs += zip(ledgers[0].answers(ids), ledgers[1].answers(ids))
    different = 0
    for (question, first), (other_question, second) in pairs:
        if question == other_question and first == second:
            continue
        different += 1
        if different <= 3:
            print("%s: %s" % (what, question))
            for engine, got in zip(engines, (first, second)):
                print("  %-10s %.2000r" % (engine.name, got))
    if not isinstance(counts[0], list):
        print("%s: nothing was appended: %s" % (what, counts[0]))
        different += 1
    for engine in engines:
        engine.end()
    return len(pairs), different


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sqlite", metavar="ALINEO_SO", default=os.environ.get("ALINEO_SO", "alineo.so"))
    parser.add_argument("--postgres", metavar="CONNECTION", default="" if os.environ.get("PGHOST") else None)
    parser.add_argument("--ledgers", type=int, default=48)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.postgres is None:
        print("skipped: no PostgreSQL server (PGHOST)")
        return 0
    engines = [run.Sqlite(options.sqlite), run.Postgres(options.postgres)]
    with open(os.path.join(HERE, "..", "data", "sessions.jsonl"), encoding="utf-8") as file:
        ledgers = [("sessions.jsonl", file.read())]
    for seed in range(options.seed, options.seed + options.ledgers):
        ledgers.append(("seed %d" % seed, Maker(seed).ledger()))
    answers = different = 0
    for what, entries in ledgers:
        compared, differing = compare(engines, what, entries)
        answers += compared
        different += differing
    print("%d ledgers on both engines: %d answers compared, %d differ" % (len(ledgers), answers, different))
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
