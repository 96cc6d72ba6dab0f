"""The two engines, as the corruption tests use them: a ledger whose rows are
written behind the ledger's back, and every function asked."""
import decimal
import os
import re
import sqlite3

from values import Jsonb, Text, canonical, parsed_deep, unstored

COLUMNS = ("id", "sandbox_id", "name", "step_idx", "branch", "event", "payload", "error", "ts")


class Raw:
    """A text with any bytes, for a column of SQLite."""

    def __init__(self, data):
        self.data = data

    def __repr__(self):
        return "Raw(%r)" % (self.data[:60],)


class Sqlite:
    name = "SQLite"
    sqlite = True
    error = sqlite3.Error
    # As the ledger makes it; without constraints and types.
    tables = {
        "own": None,
        "loose": "CREATE TABLE alineo_events(id INTEGER PRIMARY KEY, sandbox_id, name, step_idx, branch, event,"
                 " payload, error, ts)",
    }

    def __init__(self, library):
        self.library = os.path.abspath(library)
        self.db = None

    def begin(self, table="own"):
        if self.db is not None:
            self.db.close()
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.text_factory = Text
        self.db.enable_load_extension(True)
        self.db.load_extension(self.library)
        if self.tables[table]:
            self.db.execute(self.tables[table])
        self.db.execute("SELECT alineo_init()").fetchall()

    def run(self, sql, *values):
        return self.db.execute(sql, values).fetchall()

    def insert(self, rows):
        for row in rows:
            marks = ["CAST(? AS TEXT)" if isinstance(v, Raw) else "?" for v in row]
            self.db.execute("INSERT INTO alineo_events(%s) VALUES (%s)" % (", ".join(COLUMNS), ", ".join(marks)),
                            [v.data if isinstance(v, Raw) else v for v in row])

    def damage(self, row_id, column, value):
        """Whether the table takes the value."""
        mark = "CAST(? AS TEXT)" if isinstance(value, Raw) else "?"
        try:
            self.db.execute("UPDATE alineo_events SET %s = %s WHERE id = ?" % (column, mark),
                            (value.data if isinstance(value, Raw) else value, row_id))
        except sqlite3.IntegrityError:
            return False
        return True

    def restore(self, row_id, row, now_id=None):
        self.db.execute("DELETE FROM alineo_events WHERE id = ?", (row_id if now_id is None else now_id,))
        self.db.execute("DELETE FROM alineo_deleted")
        self.insert([row])

    def rows(self):
        return self.run("SELECT %s FROM alineo_events ORDER BY id" % ", ".join(COLUMNS))

    def savepoint(self):
        self.db.execute("SAVEPOINT s")

    def back(self):
        self.db.execute("ROLLBACK TO s")
        self.db.execute("RELEASE s")

    @staticmethod
    def message(error):
        return str(error)

    @staticmethod
    def plain(name, value):
        if isinstance(value, Text):
            return ("text", bytes(value))
        if isinstance(value, str):
            return ("text", value.encode("utf-8", "surrogatepass"))
        return value


class Postgres:
    name = "PostgreSQL"
    sqlite = False
    tables = {
        "own": None,
        "loose": "CREATE TABLE alineo_events(id bigint NOT NULL, sandbox_id text, name text, step_idx integer,"
                 " branch integer, event text, payload jsonb, error text, ts bigint)",
        "text": "CREATE TABLE alineo_events(id numeric NOT NULL, sandbox_id varchar, name varchar(60), step_idx text,"
                " branch bigint, event varchar, payload text, error varchar, ts numeric)",
        "json": "CREATE TABLE alineo_events(id integer NOT NULL, sandbox_id text, name text, step_idx smallint,"
                " branch text, event text, payload json, error text, ts double precision)",
    }

    def __init__(self, connection):
        import psycopg2
        import psycopg2.extras
        psycopg2.extras.register_default_json(globally=True, loads=lambda text: text)
        psycopg2.extras.register_default_jsonb(globally=True, loads=lambda text: text)
        self.error = psycopg2.Error
        self.db = psycopg2.connect(connection)
        self.db.autocommit = True
        self.cursor = self.db.cursor()
        self.jsonb = True

    def begin(self, table="own"):
        cursor = self.cursor
        cursor.execute("SET client_min_messages = warning")
        cursor.execute("DROP TABLE IF EXISTS alineo_events, alineo_environments CASCADE")
        cursor.execute("CREATE EXTENSION IF NOT EXISTS alineo_ledger")
        if self.tables[table]:
            cursor.execute(self.tables[table])
        cursor.execute("SELECT alineo_init()")
        if table == "own":
            cursor.execute("SELECT setval('alineo_events_id_seq', 1000)")
        self.jsonb = table in ("own", "loose")

    def run(self, sql, *values):
        self.cursor.execute(sql.replace("?", "%s"), values)
        return self.cursor.fetchall() if self.cursor.description else []

    def insert(self, rows):
        for row in rows:
            # Half of a character, as the ledger stores it.
            row = [v.replace("\\ud83d", "\ufdd0d83d") if isinstance(v, str) else v for v in row]
            self.run("INSERT INTO alineo_events(%s) VALUES (%s)" % (", ".join(COLUMNS), ", ".join("?" * 9)), *row)

    def damage(self, row_id, column, value):
        if isinstance(value, (Raw, bytes)):
            return False
        try:
            self.run("UPDATE alineo_events SET %s = ? WHERE id = ?" % column, value, row_id)
        except ValueError:
            return False  # the driver knows no such text
        except self.error as error:
            if error.pgcode and error.pgcode[:2] in ("22", "23", "42", "54"):
                return False
            raise
        return True

    def restore(self, row_id, row, now_id=None):
        self.run("DELETE FROM alineo_events WHERE id IS NOT DISTINCT FROM ?", row_id if now_id is None else now_id)
        self.insert([row])

    def rows(self):
        rows = self.run("SELECT id, sandbox_id, name, step_idx, branch, event, payload::text, error, ts"
                        " FROM alineo_events ORDER BY id")
        if not self.jsonb:
            return rows
        return [r[:6] + (None if r[6] is None else Jsonb(r[6]),) + r[7:] for r in rows]

    def savepoint(self):
        self.run("BEGIN")

    def back(self):
        self.run("ROLLBACK")

    @staticmethod
    def message(error):
        return error.diag.message_primary or str(error)

    @staticmethod
    def plain(name, value):
        if isinstance(value, memoryview):
            return bytes(value)
        if isinstance(value, decimal.Decimal):
            return int(value)
        if name == "payload" and value is not None:
            return ("text", canonical_payload(str(value)))
        if isinstance(value, str):
            return ("text", value.encode("utf-8", "surrogatepass"))
        return value


def canonical_payload(text):
    return canonical(unstored(parsed_deep(text))).encode("utf-8", "surrogatepass")


# How an error names a row.
NAMES = re.compile(r"\bevent (-?\d+)\b|\b(-?\d+) is the id of more than one event|the id of an event|"
                   r"ts of an event of sandbox_id")
