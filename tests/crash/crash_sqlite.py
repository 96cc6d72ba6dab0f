#!/usr/bin/python3
"""Kills writers of a SQLite ledger at random moments, round after round, and looks whether it is as acknowledged.

    crash_sqlite.py [--rounds N] [--seed N]

A round: two to eight processes append, batch, delete, migrate, and do so in transactions, on one file, in WAL mode or
with a rollback journal, under any PRAGMA synchronous. Each is killed at a moment of its own, some begin anew, and then
the checker looks (checker.py). Every few rounds there is a new file, so that they also race to create it. The library
is the one named by ALINEO_SO. Before the first round the checker is tried on ledgers that were harmed (self_test.py).
"""
import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter

import journal
import report
import self_test
from checker import Checker, Writer
from engine_sqlite import Ledger
from workload import Workload
from writer import start

JOURNALS = ["WAL"] * 6 + ["DELETE", "TRUNCATE", "PERSIST"]
ALONE = {True: True, False: ["append", "batch", "old", "delete"]}


class Rounds:
    def __init__(self, folder, seed):
        self.folder = folder
        self.random = random.Random(seed)
        self.figures = Counter()
        self.number = 0
        self.checker = None

    def new_ledger(self):
        """Another file, of another kind."""
        self.path = os.path.join(self.folder, "ledger-%d.db" % self.number)
        self.journal = self.random.choice(JOURNALS)
        pragmas = ["page_size = %d" % self.random.choice([512, 4096]),
                   "wal_autocheckpoint = %d" % self.random.choice([1, 20, 1000])]
        if self.journal != "WAL":
            pragmas.append("journal_mode = " + self.journal)
        self.pragmas = pragmas
        self.checker = Checker(Ledger)
        self.figures["ledgers"] += 1

    def connect(self, *pragmas):
        return Ledger(self.path, self.pragmas + list(pragmas), self.journal == "WAL")

    def spawn(self, number, sessions):
        name = "w%d-%d" % (self.number, number)
        path = os.path.join(self.folder, name)
        load = Workload(self.random.random(), name, sessions, ["BEGIN", "BEGIN IMMEDIATE"],
                        ALONE[self.journal == "WAL"])
        synchronous = "synchronous = " + self.random.choice(["OFF", "NORMAL", "FULL", "EXTRA"])
        process = start(lambda: self.connect(synchronous), path, load)
        return {"name": name, "path": path, "sessions": sessions, "process": process,
                "until": time.monotonic() + self.random.choice([0.02, 0.1, 0.4]) * self.random.random() + 0.002}

    def kill(self, writer):
        os.kill(writer["process"], signal.SIGKILL)
        _, status = os.waitpid(writer["process"], 0)
        if not os.WIFSIGNALED(status):
            raise SystemExit("a writer ended by itself, with status %d" % status)
        self.figures["kills"] += 1

    def run(self):
        self.number += 1
        if self.checker is None or self.random.random() < 0.3:
            self.new_ledger()
        count = self.random.randint(2, 8)
        handed = self.checker.sessions()
        self.random.shuffle(handed)
        running = [self.spawn(i, handed[i::count]) for i in range(count)]
        ended = []
        while running:
            writer = min(running, key=lambda writer: writer["until"])
            time.sleep(max(0, writer["until"] - time.monotonic()))
            self.kill(writer)
            running.remove(writer)
            ended.append(writer)
            if len(ended) < 2 * count and self.random.random() < 0.4:
                running.append(self.spawn(len(running) + len(ended), []))
        return self.look(ended)

    def look(self, ended):
        writers = [Writer(w["name"], tasks_of(w["path"]), w["sessions"]) for w in ended]
        ledger = self.connect()
        faults = self.checker.check(ledger, writers)
        mode = ledger.one("PRAGMA journal_mode").upper()
        self.figures["rounds in %s mode" % ("WAL" if mode == "WAL" else "rollback")] += 1
        ledger.close()
        self.figures.update(self.checker.figures)
        self.checker.figures.clear()
        for writer in ended:
            if os.path.exists(writer["path"]):
                os.unlink(writer["path"])
        return faults


def tasks_of(path):
    return journal.read(path)[0] if os.path.exists(path) else []


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    print("SQLite: %d rounds, --seed %d" % (arguments.rounds, arguments.seed), flush=True)
    folder = tempfile.mkdtemp(prefix="alineo-crash-")
    self_test.run(lambda name: Ledger(os.path.join(folder, name)), Ledger, folder)
    rounds = Rounds(folder, arguments.seed)
    for i in range(arguments.rounds):
        faults = rounds.run()
        if faults:
            return report.failed(i, faults, folder)
    shutil.rmtree(folder)
    report.passed(rounds.figures, arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
