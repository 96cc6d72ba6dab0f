"""A ledger on PostgreSQL, as writers and the checker use it."""
import json
import os
import subprocess

import psycopg2

from engine_sqlite import COLUMNS, entries
from model import Wrapped
from writer import Lost, Refused


class Ledger:
    one_writer = False
    waits = False
    old_ids_return = False  # ids come from a sequence, whoever inserts

    def __init__(self, database, settings=()):
        self.database = database
        try:
            self.db = psycopg2.connect(dbname=database)
        except psycopg2.OperationalError as error:
            raise Lost(str(error)) from error
        self.db.autocommit = True
        self.cursor = self.db.cursor()
        for setting in settings:
            self.run("SET " + setting)

    def execute(self, sql, values=None):
        try:
            self.cursor.execute(sql, values)
            return self.cursor.fetchall() if self.cursor.description else None
        except psycopg2.Error as error:
            if self.db.closed or (error.pgcode or "57P01").startswith("57P"):
                raise Lost(str(error)) from error
            raise Refused(str(error).split("\n")[0]) from error

    def run(self, sql):
        return self.execute(sql)

    def one(self, sql, *values):
        rows = self.execute(sql, values)
        return rows[0][0] if rows else None

    def roll_back(self):
        self.execute("ROLLBACK")

    def backend(self):
        return self.db.get_backend_pid()

    def append(self, row):
        return self.one("SELECT alineo_append(%s, %s, %s, %s, %s, %s, %s, %s)", row["name"], row["sandbox_id"],
                        row["event"], json.dumps(row["payload"]), row["step_idx"], row["branch"], row["error"],
                        row["ts"])

    def append_batch(self, rows):
        return self.one("SELECT alineo_append_batch(%s)", entries(rows))

    def insert_old(self, row):
        payload = json.dumps(row["payload"])
        return self.one(
            "INSERT INTO alineo_events(sandbox_id, name, step_idx, branch, event, payload, error, ts)"
            " VALUES (%s, %s, %s, %s, %s, %s, %s, %s) RETURNING id", row["sandbox_id"], row["name"], row["step_idx"],
            row["branch"], row["event"], json.dumps(payload) if row["wrapped"] else payload, row["error"], row["ts"])

    def delete(self, name, sandbox_id):
        return self.one("SELECT alineo_delete_sandbox(%s, %s)", name, sandbox_id)

    def init(self):
        return self.one("SELECT alineo_init()")

    def read(self, name, sandbox_id):
        return [row[0] for row in self.execute("SELECT id FROM alineo_replay(%s, %s)", (name, sandbox_id))]

    def rows(self):
        if self.one("SELECT to_regclass('alineo_events')") is None:
            return []
        rows = [dict(zip(COLUMNS.split(", "), row)) for row in
                self.execute("SELECT %s FROM alineo_events" % COLUMNS)]
        for row in rows:
            if isinstance(row["payload"], str):
                row["payload"] = Wrapped(json.loads(row["payload"]))
        return rows

    def damages(self):
        """What amcheck says of every table and index: the heap, the order and parents of an index, and whether it
        has an entry for each row."""
        program = os.path.join(os.environ["ALINEO_PG_BIN"], "pg_amcheck")
        ended = subprocess.run([program, "--heapallindexed", "--parent-check", "-d",
                                self.database], capture_output=True, text=True, check=False)
        said = (ended.stdout + ended.stderr).strip()
        return [said or "pg_amcheck ended with status %d" % ended.returncode] if said or ended.returncode else []

    def harm_index(self):
        """Stores an event that is not in an index."""
        change = "UPDATE pg_index SET indisready = %s WHERE indexrelid = 'alineo_events_name_sandbox_ts'::regclass"
        self.run(change % "false")
        self.run("SELECT alineo_append('probe', 'probe', 'mine', '{\"k\":\"probe.0\"}')")
        self.run(change % "true")

    def close(self):
        self.db.close()
