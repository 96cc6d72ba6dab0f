"""Tries the checker: on a ledger as its writer left it, it must find nothing; on one that was harmed, just that.

The harm is done in a transaction that is rolled back, so that each finds the same ledger. Last come a writer that
acknowledges before it has done its work, and dies in between, and an index that lacks an entry.
"""
import copy
import os

import journal
import writer
from checker import Checker, Writer
from workload import Workload

ONE, TWO = ("self", "one"), ("self", "two")


class Script:
    """Known work, of every kind; `token` has the token of each event by a name."""

    def __init__(self):
        self.made = Workload(1, "self", [], [])
        self.token = {}
        add, old = self.row, lambda name, wrapped: self.row(name, ONE, "exec_start", wrapped, 5)
        self.work = [
            auto("append", rows=[add("first", ONE)]),
            auto("batch", rows=[add("batch %d" % i, ONE) for i in range(3)]),
            auto("append", rows=[add("gone", TWO)]),
            {"mode": "BEGIN", "steps": [{"do": "append", "rows": [add("gone too", TWO)]}]},
            auto("delete", session=TWO),
            {"mode": "BEGIN", "steps": [
                {"do": "append", "rows": [add("kept", ONE)]},
                {"do": "undone", "steps": [{"do": "append", "rows": [add("undone", ONE)]}]},
                {"do": "old", "rows": [old("wrapped", True), old("old", False)]}]},
            auto("init"),
            auto("append", rows=[add("last", ONE)]),
            {"mode": "BEGIN", "steps": [{"do": "old", "rows": [old("left", True), old("left too", True)]}]},
        ]

    def row(self, name, session, event="exec.output", wrapped=None, ts=None):
        row = self.made.row(session, event, wrapped)
        row.update(ts=ts, step_idx=7)
        self.token[name] = row["payload"]["k"]
        return row


def auto(kind, **step):
    return {"mode": "auto", "steps": [dict(step, do=kind)]}


class Harm:
    """What the cases below do their harm with."""

    def __init__(self, ledger, script, tasks):
        self.ledger, self.script, self.tasks = ledger, script, tasks
        stored = {row["payload"]["k"]: row["id"] for row in ledger.rows()}
        self.id = {name: stored.get(token) for name, token in script.token.items()}

    def change(self, name, what):
        self.ledger.run("UPDATE alineo_events SET %s WHERE id = %d" % (what, self.id[name]))

    def remove(self, name):
        self.ledger.run("DELETE FROM alineo_events WHERE id = %d" % self.id[name])

    def sent(self, name):
        for task in self.tasks:
            for step in task.work["steps"]:
                for inner in [step] + step.get("steps", []):
                    for row in inner.get("rows", []):
                        if row["payload"]["k"] == self.script.token[name]:
                            return row

    def open_from(self, number):
        """As if the writer had been killed in its task of this number."""
        del self.tasks[number + 1:]
        self.tasks[number].done_at, self.tasks[number].results = None, []

    def unknown(self):
        self.ledger.append(self.script.made.row(ONE, "mine"))

    def half_a_batch(self):
        self.ledger.run("DELETE FROM alineo_events WHERE id > %d OR id = %d" % (self.id["batch 2"], self.id["batch 1"]))
        self.open_from(1)

    def half_a_deletion(self):
        self.ledger.run("DELETE FROM alineo_events WHERE id > %d" % self.id["batch 2"])
        self.ledger.append(self.sent("gone"))
        self.tasks[2].results[0]["ids"] = [self.ledger.rows()[-1]["id"]]
        self.open_from(4)

    def half_a_migration(self):
        self.ledger.run("DELETE FROM alineo_events WHERE id > %d" % self.id["old"])
        self.remove("wrapped")
        row = self.sent("wrapped")
        number = self.ledger.insert_old(row)
        self.tasks[5].results[2]["ids"][0] = number
        self.open_from(6)

    def old_again(self, name):
        self.remove(name)
        self.ledger.insert_old(self.sent(name))

    def swap(self, one, other):
        self.change(one, "id = -1")
        self.change(other, "id = %d" % self.id[one])
        self.ledger.run("UPDATE alineo_events SET id = %d WHERE id = -1" % self.id[other])

    def answer(self, number, **result):
        self.tasks[number].results[0] = result


CASES = [
    ("lost", lambda h: h.remove("first")),
    ("lost", lambda h: h.remove("batch 1")),
    ("lost", lambda h: h.remove("last")),
    ("twice", lambda h: h.ledger.append(h.sent("first"))),
    ("unknown", lambda h: h.unknown()),
    ("risen", lambda h: h.ledger.append(h.sent("undone"))),
    ("risen", lambda h: h.ledger.append(h.sent("gone"))),
    ("half", lambda h: h.half_a_batch()),
    ("half", lambda h: h.half_a_deletion()),
    ("content", lambda h: h.change("kept", "payload = '{\"seq\":1,\"k\":\"%s\"}'" % h.script.token["kept"])),
    ("content", lambda h: h.change("kept", "event = 'mine'")),
    ("content", lambda h: h.change("kept", "branch = 1")),
    ("half migrated", lambda h: h.change("left", "event = 'exec.started'")),
    ("half migrated", lambda h: h.change("wrapped", "event = 'exec_start'")),
    ("unmigrated", lambda h: h.old_again("old")),
    ("half migration", lambda h: h.half_a_migration()),
    ("half migration", lambda h: h.ledger.init()),
    ("count", lambda h: h.answer(1, count=2)),
    ("count", lambda h: h.answer(4, count=1)),
    ("wrong id", lambda h: h.answer(0, ids=[h.id["last"] + 100])),
    ("id order", lambda h: h.swap("batch 0", "batch 2")),
    ("id order", lambda h: h.swap("first", "last")),
    ("id reused", lambda h: h.change("last", "id = %d" % h.tasks[2].results[0]["ids"][0])),
    ("ts order", lambda h: h.change("last", "ts = 4")),
]


def faults_of(ledger, engine, tasks, deep=False):
    return Checker(engine).check(ledger, [Writer("self", tasks, [])], deep)


def liar(connect, folder):
    """Its journal: an acknowledged append more than the ledger has."""
    class Dying:
        def __init__(self):
            self.ledger, self.left = connect(), 2

        def __getattr__(self, name):
            return getattr(self.ledger, name)

        def append(self, row):
            self.left -= 1
            if self.left == 0:
                raise writer.Lost()
            return self.ledger.append(row)

    path = os.path.join(folder, "liar.journal")
    made = Workload(2, "liar", [], [])
    try:
        writer.write(Dying, path, [auto("append", rows=[made.row(ONE, "mine")]) for _ in range(2)], early=True)
    except writer.Lost:
        pass
    return journal.read(path)[0]


def run(connect, engine, folder):
    """`connect` opens a ledger by a name; with another name it is another ledger."""
    script, path = Script(), os.path.join(folder, "self.journal")
    writer.write(lambda: connect("self"), path, script.work)
    tasks = journal.read(path)[0]
    ledger = connect("self")

    def expect(kind, faults):
        if kind not in {found for found, _ in faults} if kind else faults:
            raise SystemExit("the checker should find %s, and finds %s" % (kind or "nothing", faults))

    for kind, harm in [(None, lambda h: None)] + CASES:
        copied = copy.deepcopy(tasks)
        ledger.run("BEGIN")
        harm(Harm(ledger, script, copied))
        expect(kind, faults_of(ledger, engine, copied))
        ledger.run("ROLLBACK")
    expect("lost", faults_of(connect("liar"), engine, liar(lambda: connect("liar"), folder)))
    ledger.harm_index()
    ledger.close()
    expect("damaged", faults_of(connect("self"), engine, tasks, True))
    print("the checker found %d faults that were made on purpose" % (len(CASES) + 2), flush=True)
