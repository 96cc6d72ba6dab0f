"""A ledger on SQLite, as writers and the checker use it."""
import json
import os
import sqlite3

from model import Wrapped
from writer import Refused

LIBRARY = os.environ.get("ALINEO_SO", "./alineo.so")
COLUMNS = "id, sandbox_id, name, step_idx, branch, event, payload, error, ts"


class Ledger:
    one_writer = True       # at a time, so that an append sees every ts before it
    waits = True            # for a lock, but not in a transaction that has read before
    old_ids_return = True   # a plain INSERT takes the highest id again after it was deleted

    def __init__(self, path, pragmas=(), in_wal=True):
        """`in_wal`: whether the first write may turn to WAL. It does so where it stands alone; else it begins in a
        transaction, here, and migrates in transactions."""
        self.db = sqlite3.connect(path, timeout=60, isolation_level=None)
        self.in_wal = in_wal
        self.db.enable_load_extension(True)
        self.db.load_extension(LIBRARY)
        for pragma in pragmas:
            self.db.execute("PRAGMA " + pragma).fetchall()
        if not in_wal:
            self.run("BEGIN IMMEDIATE")
            self.one("SELECT alineo_delete_environment('none')")
            self.run("COMMIT")

    def run(self, sql):
        try:
            return self.db.execute(sql).fetchall()
        except sqlite3.OperationalError as error:
            raise Refused("%s: %s" % (sql.split()[0], error)) from error

    def one(self, sql, *values):
        try:
            rows = self.db.execute(sql, values).fetchall()
        except sqlite3.OperationalError as error:
            raise Refused(str(error)) from error
        return rows[0][0] if rows else None

    def roll_back(self):
        if self.db.in_transaction:
            self.db.execute("ROLLBACK")

    def backend(self):
        return None

    def append(self, row):
        return self.one("SELECT alineo_append(?, ?, ?, ?, ?, ?, ?, ?)", row["name"], row["sandbox_id"], row["event"],
                        json.dumps(row["payload"]), row["step_idx"], row["branch"], row["error"], row["ts"])

    def append_batch(self, rows):
        return self.one("SELECT alineo_append_batch(?)", entries(rows))

    def insert_old(self, row):
        try:
            return self.db.execute(
                "INSERT INTO alineo_events(sandbox_id, name, step_idx, branch, event, payload, error, ts)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)", old_values(row)).lastrowid
        except sqlite3.OperationalError as error:
            raise Refused(str(error)) from error

    def delete(self, name, sandbox_id):
        return self.one("SELECT alineo_delete_sandbox(?, ?)", name, sandbox_id)

    def init(self):
        if self.in_wal or self.db.in_transaction:
            return self.one("SELECT alineo_init()")
        self.run("BEGIN IMMEDIATE")
        rewritten = self.one("SELECT alineo_init()")
        self.run("COMMIT")
        return rewritten

    def read(self, name, sandbox_id):
        try:
            return [row[0] for row in self.db.execute("SELECT id FROM alineo_replay(?, ?)", (name, sandbox_id))]
        except sqlite3.OperationalError as error:
            raise Refused(str(error)) from error

    def rows(self):
        try:
            rows = self.db.execute("SELECT %s FROM alineo_events" % COLUMNS).fetchall()
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise
        return [with_payload(dict(zip(COLUMNS.split(", "), row))) for row in rows]

    def damages(self):
        return [row[0] for row in self.db.execute("PRAGMA integrity_check") if row[0] != "ok"]

    def harm_index(self):
        """Makes an index say something else than its entries do."""
        self.db.execute("PRAGMA writable_schema = ON")
        self.db.execute("UPDATE sqlite_master SET sql = replace(sql, '(ts, id)', '(id, ts)')"
                        " WHERE name = 'alineo_events_created'")
        self.db.execute("UPDATE sqlite_master SET sql = replace(sql, 'ts, id)', 'id, ts)')"
                        " WHERE name = 'alineo_events_name_sandbox_ts'")

    def close(self):
        self.db.close()


def entries(rows):
    """The text of a batch."""
    keys = {"sandbox_id": "sandboxId", "step_idx": "stepIndex"}
    return json.dumps([{keys.get(key, key): value for key, value in row.items() if key != "wrapped"} for row in rows])


def old_values(row):
    """The values of a plain INSERT by an SDK of 0.2."""
    payload = json.dumps(row["payload"])
    return (row["sandbox_id"], row["name"], row["step_idx"], row["branch"], row["event"],
            json.dumps(payload) if row["wrapped"] else payload, row["error"], row["ts"])


def with_payload(row):
    payload = json.loads(row["payload"])
    row["payload"] = Wrapped(json.loads(payload)) if isinstance(payload, str) else payload
    return row
