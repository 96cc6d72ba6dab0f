#!/usr/bin/env python3
"""Damages rows of a ledger, asks every function, and checks each answer.

    corrupt.py [--sqlite ALINEO_SO] [--postgres CONNECTION] [--long] [--seed N]

Every row is made to hold everything its columns may be made to hold (damage.py),
one cell at a time, on tables as the ledger makes them and on adopted ones; all
cells with --long, else some hundred chosen by the seed.
Each answer is then what model.py, a second implementation, makes of the stored
rows; where that says that a row cannot be read, the answer is an error that
names the row. Then several cells at random, from a seed that is printed: the
error names one of the rows, or the answer is right, and sessions in which
nothing was damaged answer exactly as before.
"""
import argparse
import collections
import os
import random
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import damage  # noqa: E402
import engines  # noqa: E402
import model  # noqa: E402


class Question:
    """One call, and what the model says of it."""

    def __init__(self, sql, values, answer, column=None):
        self.sql, self.values, self.answer, self.column = sql, values, answer, column

    def __repr__(self):
        return "%s %r" % (self.sql, self.values)


def questions(sessions):
    """Every function, over these sessions."""
    def rows(function, *values):
        marks = ", ".join("?" * len(values))
        return Question("SELECT * FROM alineo_%s(%s)" % (function, marks), values,
                        lambda m: getattr(m, function)(*values))

    yield rows("list_sandboxes")
    yield Question("SELECT * FROM alineo_list_sandboxes(NULL, NULL, ?)", ("r",),
                   lambda m: m.list_sandboxes("r"))
    for name, sandbox_id in sessions:
        for function in ("replay", "last_checkpoint", "list_checkpoints", "get_sandbox", "execs", "replay_cache"):
            yield rows(function, name, sandbox_id)
        yield rows("replay_cache", name, sandbox_id, "k")
        for seq, stream in ((1, "stdout"), (1, "stderr"), (2, "stdin")):
            yield Question("SELECT alineo_output(?, ?, ?, ?)", (name, sandbox_id, seq, stream),
                           lambda m, a=(name, sandbox_id, seq, stream): [(m.output(*a),)])
        for tag in ((), ("k",)):
            yield Question("SELECT alineo_resume(?%s)" % (", ?" if tag else ""), (sandbox_id, *tag),
                           lambda m, a=(sandbox_id, *tag): [(m.resume(*a),)])


class Counts(collections.Counter):
    def report(self, what):
        print("%s: bad rows tried: %d, calls %d (answers as computed %d, errors that name the row %d, other errors as"
              " documented %d), crashes 0, silent wrong answers %d, wrong errors %d" %
              (what, self["rows"], self["calls"], self["right"], self["named"], self["refused"], self["wrong"],
               self["unnamed"]))


class Checker:
    def __init__(self, engine, seed):
        self.engine = engine
        self.seed = seed
        self.counts = Counts()
        self.complaints = 0

    def ask(self, sql, values):
        """The rows as plain values, or the error as a text."""
        try:
            rows = self.engine.run(sql, *values)
        except self.engine.error as error:
            return self.engine.message(error)
        except MemoryError:
            return "out of memory"  # as sqlite3 says it
        names = self.columns(sql)
        return [tuple(self.engine.plain(names(i), v) for i, v in enumerate(row)) for row in rows]

    @staticmethod
    def columns(sql):
        replay = "alineo_replay(" in sql or "alineo_last_checkpoint(" in sql
        return lambda i: "payload" if replay and i == 6 else ""

    def complain(self, kind, what, question, expected, got):
        self.counts[kind] += 1
        self.complaints += 1
        if self.complaints <= 12:
            print("%s on %s: %s\n  %r\n  expected %.1500r\n  got      %.1500r" %
                  (kind.upper(), self.engine.name, what, question, expected, got))

    def check(self, what, question, ledger, bad):
        """`bad` are the ids that were damaged."""
        self.counts["calls"] += 1
        got = self.ask(question.sql, question.values)
        try:
            expected = question.answer(ledger)
            expected = [tuple(self.value(v) for v in row) for row in expected]
        except model.Damaged as error:
            expected = error
        except model.Refused as error:
            expected = str(error)
        function = question.sql.split("(")[0].split()[-1]
        if isinstance(expected, model.Damaged):
            named = isinstance(got, str) and got.startswith(function + ": ") and engines.NAMES.search(got)
            ids = {int(n) for n in named.groups() if n} if named else set()
            if named and (not ids or ids & bad):
                self.counts["named"] += 1
            else:
                self.complain("wrong" if not isinstance(got, str) else "unnamed", what, question, expected, got)
        elif isinstance(expected, str):
            if got == "%s: %s" % (function, expected):
                self.counts["refused"] += 1
            else:
                self.complain("wrong" if not isinstance(got, str) else "unnamed", what, question, expected, got)
        elif got == expected:
            self.counts["right"] += 1
        else:
            self.complain("wrong" if not isinstance(got, str) else "unnamed", what, question, expected, got)

    def value(self, v):
        return ("text", v.encode("utf-8", "surrogatepass")) if isinstance(v, str) else self.engine.plain("", v)

    def write(self, what, bad):
        """Appends to what is damaged: stored, and not before what is there."""
        engine = self.engine
        for sql in ("SELECT alineo_append('ci', 'a', 'x')",
                    "SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"a\",\"event\":\"x\"}')"):
            engine.savepoint()
            self.counts["calls"] += 1
            got = self.ask(sql, ())
            if isinstance(got, str):
                if "no id is left" in got or "nextval" in got:
                    self.counts["refused"] += 1
                else:
                    self.complain("unnamed", what, sql, "an append", got)
            else:
                last = engine.run("SELECT id, ts FROM alineo_events WHERE event = 'x' AND name = 'ci' AND"
                                  " sandbox_id = 'a' ORDER BY id DESC LIMIT 1")[0]
                times = [model.integer(r[8]) for r in engine.rows() if model.same(r[2], "ci") and model.same(r[1], "a")]
                least = max([t for t in times if t is not None] or [0])
                if model.integer(last[1]) is None or model.integer(last[1]) < least or \
                        (engine.sqlite and not isinstance(last[1], int)):
                    self.complain("wrong", what, sql, "a ts of at least %d" % least, last)
                else:
                    self.counts["right"] += 1
            engine.back()

    def cells(self, table, most):
        """Every damage to every row, one at a time; or so many of them."""
        engine = self.engine
        engine.begin(table)
        engine.insert(damage.LEDGER)
        asked = list(questions(damage.SESSIONS))
        ledger = model.Ledger(engine.rows(), engine.sqlite)
        for question in asked:
            self.check("the ledger as it was", question, ledger, set())
        every = [(row, *d) for d in damage.damages(most is not None) for row in damage.LEDGER]
        if most is not None:
            random.Random(self.seed).shuffle(every)
            # The end of the ids in an exec is always tried.
            every.sort(key=lambda e: (e[0][0], e[1], e[2]) != (6, "id", damage.TOP))
        tried = 0
        for row, column, value in every:
            # A fraction the server may round to the id of another row.
            if column == "id" and not engine.sqlite and table != "text" and isinstance(value, float):
                continue
            if not engine.damage(row[0], column, value):
                continue
            now = value if column == "id" else row[0]
            self.counts["rows"] += 1
            what = "%s table, event %s with %s = %.80r" % (table, row[0], column, value)
            ledger = model.Ledger(engine.rows(), engine.sqlite)
            for question in asked:
                self.check(what, question, ledger, {now})
            if column in ("ts", "id", "step_idx") and (engine.sqlite or table == "own"):
                self.write(what, {now})
            engine.restore(row[0], row, now)
            tried += 1
            if tried == most:
                break

    def random_damage(self, table, rounds):
        engine = self.engine
        engine.begin(table)
        engine.insert(damage.LEDGER)
        asked = list(questions(damage.SESSIONS))
        before = {repr(q): self.ask(q.sql, q.values) for q in asked}
        choice = random.Random(self.seed)
        every = [d for d in damage.damages(True) if d[0] not in ("id", "name", "sandbox_id")]
        for round_number in range(rounds):
            damaged = {}
            for _ in range(choice.randint(1, 6)):
                row = choice.choice(damage.LEDGER)
                column, value = choice.choice(every)
                if engine.damage(row[0], column, value):
                    damaged[row[0]] = row
                    self.counts["rows"] += 1
            what = "%s table, seed %d round %d, events %s" % (table, self.seed, round_number, sorted(damaged))
            ledger = model.Ledger(engine.rows(), engine.sqlite)
            untouched = {("other", "d")} if not any(r[2] == "other" for r in damaged.values()) else set()
            for question in asked:
                self.check(what, question, ledger, set(damaged))
                if untouched and len(question.values) > 1 and question.values[:2] == ("other", "d"):
                    got = self.ask(question.sql, question.values)
                    if got != before[repr(question)]:
                        self.complain("wrong", what, question, before[repr(question)], got)
            for row in damaged.values():
                engine.restore(row[0], row)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sqlite", metavar="ALINEO_SO")
    parser.add_argument("--postgres", metavar="CONNECTION")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--cells", type=int, help="how many, on each table")
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(10**6)
    tried = []
    if options.sqlite:
        tried.append(engines.Sqlite(options.sqlite))
    if options.postgres is not None:
        tried.append(engines.Postgres(options.postgres))
    failed = 0
    print("seed %d" % seed)
    for engine in tried:
        checker = Checker(engine, seed)
        for table in engine.tables:
            begun = time.monotonic()
            checker.cells(table, options.cells or (None if options.long else 120 if engine.sqlite else 25))
            checker.random_damage(table, 2000 if options.long else 15 if engine.sqlite else 4)
            print("  %s, %s table: %.0f s" % (engine.name, table, time.monotonic() - begun))
        checker.counts.report(engine.name)
        failed += checker.complaints
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())
