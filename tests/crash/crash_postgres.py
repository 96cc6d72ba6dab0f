#!/usr/bin/python3
"""Kills backends and stops the server under writers, round after round, and looks what the ledger holds.

    scripts/postgres run crash_postgres.py [--rounds N] [--seed N]

First come N rounds in which backends of writers are killed (SIGKILL, after which the server ends all others and
recovers) or terminated (pg_terminate_backend), then N in which the whole server is stopped at once and started again
(pg_ctl -m immediate). In each, two to eight sessions append, batch, delete, migrate, and do so in transactions, in one
database; then the checker looks (checker.py), amcheck included. Every few rounds there is a new database, so that they
also race to create the tables. No machine crashes here, so the server may run with fsync off; synchronous_commit is
on. Before the first round the checker is tried on ledgers that were harmed (self_test.py).

It needs a server of its own: PGHOST, PGDATA and ALINEO_PG_BIN, as scripts/postgres sets them.
"""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter

import psycopg2

import journal
import report
import self_test
from checker import Checker, Writer
from engine_postgres import Ledger
from workload import Workload
from writer import start

MODES = ["BEGIN", "BEGIN", "BEGIN ISOLATION LEVEL REPEATABLE READ", "BEGIN ISOLATION LEVEL SERIALIZABLE"]


def pg_ctl(*arguments):
    """As the server's owner, which root is not."""
    command = [os.path.join(os.environ["ALINEO_PG_BIN"], "pg_ctl"), "-D", os.environ["PGDATA"], "-w", "-t", "60",
               "-l", os.path.join(os.environ["PGHOST"], "server.log"), *arguments]
    if os.geteuid() == 0:
        command = ["runuser", "-u", "postgres", "--"] + command
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def on_server(sql, *values):
    """Runs one statement outside of the ledgers, as soon as the server takes it."""
    for _ in range(600):
        try:
            connection = psycopg2.connect(dbname="postgres")
            connection.autocommit = True
            connection.cursor().execute(sql, values)
            connection.close()
            return
        except psycopg2.OperationalError:
            time.sleep(0.05)
    raise SystemExit("the server does not come back")


def new_database(name):
    on_server("DROP DATABASE IF EXISTS %s WITH (FORCE)" % name)
    on_server("CREATE DATABASE %s TEMPLATE template0 ENCODING 'UTF8'" % name)
    ledger = Ledger(name)
    ledger.run("CREATE EXTENSION alineo_ledger; CREATE EXTENSION amcheck")
    ledger.close()


class Rounds:
    def __init__(self, folder, seed):
        self.folder = folder
        self.random = random.Random(seed)
        self.figures = Counter()
        self.number = 0
        self.checker = None
        self.database = None

    def new_ledger(self):
        if self.database is not None:
            on_server("DROP DATABASE %s WITH (FORCE)" % self.database)
        self.database = "alineo_crash_%d" % self.number
        new_database(self.database)
        self.checker = Checker(Ledger)
        self.figures["ledgers"] += 1

    def connect(self):
        # Sessions that migrate at once may wait for each other in a circle.
        return Ledger(self.database, ["deadlock_timeout = '50ms'", "synchronous_commit = on"])

    def spawn(self, number, sessions):
        name = "w%d-%d" % (self.number, number)
        path = os.path.join(self.folder, name)
        load = Workload(self.random.random(), name, sessions, MODES)
        return {"name": name, "path": path, "sessions": sessions, "process": start(self.connect, path, load)}

    def run(self, fault):
        self.number += 1
        if self.checker is None or self.random.random() < 0.2:
            self.new_ledger()
        count = self.random.randint(2, 8)
        handed = self.checker.sessions()
        self.random.shuffle(handed)
        writers = [self.spawn(i, handed[i::count]) for i in range(count)]
        time.sleep(self.random.choice([0.02, 0.1, 0.4]) * self.random.random())
        writers += fault(self, writers)
        for writer in writers:
            self.end(writer)
        return self.look(writers)

    def backends(self, writers):
        """Of those that have come to connect."""
        found = []
        for writer in writers:
            if os.path.exists(writer["path"]):
                found += [entry["backend"] for entry in journal.read(writer["path"])[1]]
        return found

    def kill_backends(self, writers):
        """Kills or terminates one to three; meanwhile new writers begin. Ends with one that is killed."""
        joined = []
        for _ in range(self.random.randint(0, 2)):
            backends = self.backends(writers + joined)
            if backends:
                on_server("SELECT pg_terminate_backend(%s)", self.random.choice(backends))
                self.figures["backends terminated"] += 1
                joined.append(self.spawn(len(writers) + len(joined), []))
                time.sleep(0.1 * self.random.random())
        backends = self.living(self.backends(writers + joined))
        if backends:
            os.kill(self.random.choice(backends), signal.SIGKILL)
            self.figures["backends killed"] += 1
        return joined

    @staticmethod
    def living(backends):
        """Those that are still backends of this server."""
        with open(os.path.join(os.environ["PGDATA"], "postmaster.pid"), encoding="utf-8") as file:
            server = file.readline().strip()
        living = []
        for backend in backends:
            try:
                with open("/proc/%d/stat" % backend, encoding="utf-8") as file:
                    if file.read().rpartition(")")[2].split()[1] == server:
                        living.append(backend)
            except OSError:
                pass
        return living

    def stop_server(self, writers):
        pg_ctl("-m", "immediate", "restart")
        self.figures["servers stopped"] += 1
        return []

    @staticmethod
    def end(writer):
        """It ends when it has lost its connection; where the fault has passed it by, it is killed."""
        for _ in range(20):
            process, status = os.waitpid(writer["process"], os.WNOHANG)
            if process != 0:
                if status != 0:
                    raise SystemExit("a writer ended with status %d" % status)
                return
            time.sleep(0.005)
        os.kill(writer["process"], signal.SIGKILL)
        os.waitpid(writer["process"], 0)

    def look(self, ended):
        on_server("SELECT 1")
        # A backend whose client was killed may still be at its last statement.
        on_server("SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = %s"
                  " AND pid <> pg_backend_pid()", self.database)
        writers = [Writer(w["name"], journal.read(w["path"])[0] if os.path.exists(w["path"]) else [], w["sessions"])
                   for w in ended]
        ledger = Ledger(self.database)
        faults = self.checker.check(ledger, writers)
        ledger.close()
        self.figures.update(self.checker.figures)
        self.checker.figures.clear()
        for writer in ended:
            if os.path.exists(writer["path"]):
                os.unlink(writer["path"])
        return faults


def tried(folder):
    """Opens ledgers for the checker to be tried on."""
    made = set()

    def connect(name):
        if name not in made:
            new_database("alineo_" + name)
            made.add(name)
        return Ledger("alineo_" + name)
    self_test.run(connect, Ledger, folder)
    for name in made:
        on_server("DROP DATABASE alineo_%s WITH (FORCE)" % name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    arguments = parser.parse_args()
    if not {"PGHOST", "PGDATA", "ALINEO_PG_BIN"} <= os.environ.keys():
        raise SystemExit("run by scripts/postgres run, for it kills the server")
    print("PostgreSQL: %d rounds of each kind, --seed %d" % (arguments.rounds, arguments.seed), flush=True)
    folder = tempfile.mkdtemp(prefix="alineo-crash-")
    tried(folder)
    rounds = Rounds(folder, arguments.seed)
    for fault in (Rounds.kill_backends, Rounds.stop_server):
        for i in range(arguments.rounds):
            faults = rounds.run(fault)
            if faults:
                return report.failed(i, faults, folder)
    on_server("DROP DATABASE %s WITH (FORCE)" % rounds.database)
    shutil.rmtree(folder)
    report.passed(rounds.figures, 2 * arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
