#!/usr/bin/env python3
"""Runs tests/conformance/*.cases on SQLite, PostgreSQL or both.

    run.py [--sqlite ALINEO_SO] [--postgres CONNECTION] [FILE ...]

A case is a rule and the SQL that shows it, on an empty ledger:

    # the rule
    SQL, on one line or more;
    = a row of the answer, columns parted by |
    ! the error, word for word

A statement without = or ! below it must succeed; its rows are not looked at.
"= (none)" is an answer without rows. A row shows NULL as NULL, a blob as x'..'
in hex, a line break as \\n, a backslash as \\\\, a zero byte as \\0; a payload
in canonical form. Answers are compared with the expected ones, and so, where
both engines run, with each other.
"""
import argparse
import decimal
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


# --- the canonical form, written again as an oracle -----------------------------

def stored(text):
    """A string as JSONB stores it: what orders the members."""
    out = []
    for c in text:
        if c == "\0" or c == "\ufdd0" or 0xD800 <= ord(c) <= 0xDFFF:
            out.append("\ufdd0%04x" % ord(c))
        else:
            out.append(c)
    return "".join(out).encode()


def unstored(text):
    """The string that a JSONB string stands for."""
    return re.sub("\ufdd0(0000|fdd0|d[89a-f][0-9a-f]{2})", lambda m: chr(int(m[1], 16)), text)


def string(text):
    short = {'"': '\\"', "\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    out = []
    for c in text:
        if c in short:
            out.append(short[c])
        elif ord(c) < 0x20 or 0xD800 <= ord(c) <= 0xDFFF:
            out.append("\\u%04x" % ord(c))
        else:
            out.append(c)
    return '"' + "".join(out) + '"'


def number(text):
    value = decimal.Decimal(text)
    value = abs(value) if value == 0 else value
    return format(value, "f") if value.as_tuple().exponent <= 0 else format(value.quantize(1), "f")


class Number(str):
    pass


def canonical(value, decode):
    if isinstance(value, Number):
        return number(value)
    if isinstance(value, str):
        return string(decode(value))
    if isinstance(value, list):
        return "[" + ",".join(canonical(v, decode) for v in value) + "]"
    if isinstance(value, dict):
        members = {decode(k): v for k, v in value.items()}
        order = sorted(members, key=lambda k: (len(stored(k)), stored(k)))
        return "{" + ",".join(string(k) + ":" + canonical(members[k], decode) for k in order) + "}"
    return json.dumps(value)


def payload(text, decode):
    value = json.loads(text, parse_int=Number, parse_float=Number)
    return canonical(value, decode)


# --- the engines ----------------------------------------------------------------

class Sqlite:
    name = "SQLite"

    def __init__(self, library):
        self.library = os.path.abspath(library)
        self.db = None

    def begin(self):
        import sqlite3
        self.error = sqlite3.Error
        self.db = sqlite3.connect(":memory:", isolation_level=None)
        self.db.enable_load_extension(True)
        self.db.load_extension(self.library)

    def end(self):
        self.db.close()

    def run(self, sql):
        cursor = self.db.execute(sql)
        names = [d[0] for d in cursor.description or []]
        return names, cursor.fetchall()

    @staticmethod
    def message(error):
        return str(error)

    @staticmethod
    def payload(text):
        return payload(text, lambda s: s)


class Postgres:
    name = "PostgreSQL"

    def __init__(self, connection):
        import psycopg2
        import psycopg2.extras
        psycopg2.extras.register_default_json(globally=True, loads=lambda text: text)
        psycopg2.extras.register_default_jsonb(globally=True, loads=lambda text: text)
        self.error = psycopg2.Error
        self.db = psycopg2.connect(connection)
        self.db.autocommit = True

    def begin(self):
        with self.db.cursor() as cursor:
            cursor.execute("SET client_min_messages = warning")
            cursor.execute("DROP TABLE IF EXISTS alineo_events, alineo_environments CASCADE")
            cursor.execute("CREATE EXTENSION IF NOT EXISTS alineo_ledger")

    def end(self):
        if self.db.info.transaction_status != 0:
            with self.db.cursor() as cursor:
                cursor.execute("ROLLBACK")

    def run(self, sql):
        with self.db.cursor() as cursor:
            cursor.execute(sql)
            names = [d[0] for d in cursor.description or []]
            return names, cursor.fetchall() if names else []

    @staticmethod
    def message(error):
        return error.diag.message_primary

    @staticmethod
    def payload(text):
        return payload(text, unstored)


# --- cases ----------------------------------------------------------------------

class Case:
    def __init__(self, rule, where):
        self.rule = rule
        self.where = where
        self.steps = []  # of (sql, expected lines)


def read_cases(path):
    cases = []
    sql = []
    with open(path, encoding="utf-8") as lines:
        for count, line in enumerate(lines, 1):
            line = line.rstrip("\n")
            if line.startswith("# "):
                cases.append(Case(line[2:], "%s:%d" % (os.path.relpath(path), count)))
            elif line.startswith(("= ", "! ")) or line == "=":
                if sql or not cases or not cases[-1].steps:
                    sys.exit("%s:%d: an answer without a statement" % (path, count))
                cases[-1].steps[-1][1].append(line)
            elif line.startswith("--") or (not line and not sql):
                continue
            else:
                sql.append(line)
                if line.endswith(";"):
                    cases[-1].steps.append(("\n".join(sql)[:-1], []))
                    sql = []
    if sql:
        sys.exit("%s: the last statement has no end" % path)
    return cases


def shown(engine, name, value):
    if value is None:
        return "NULL"
    if isinstance(value, (bytes, memoryview)):
        return "x'" + bytes(value).hex() + "'"
    text = str(value)
    if name == "payload":
        text = engine.payload(text)
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r").replace("\0", "\\0")


def answer(engine, sql):
    try:
        names, rows = engine.run(sql)
    except engine.error as error:
        return ["! " + engine.message(error)]
    lines = ["= " + "|".join(shown(engine, n, v) for n, v in zip(names, row)) for row in rows]
    return lines or ["= (none)"]


def run_case(engine, case):
    """The reason why the case fails, or None."""
    engine.begin()
    try:
        for sql, expected in case.steps:
            got = answer(engine, sql)
            wrong = got != expected if expected else got[0].startswith("! ")
            if wrong:
                return "%s\nexpected\n  %s\ngot\n  %s" % (
                    sql, "\n  ".join(expected or ["no error"]), "\n  ".join(got))
    finally:
        engine.end()
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sqlite", metavar="ALINEO_SO")
    parser.add_argument("--postgres", metavar="CONNECTION")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    engines = []
    if options.sqlite:
        engines.append(Sqlite(options.sqlite))
    if options.postgres:
        engines.append(Postgres(options.postgres))
    files = options.files or sorted(glob.glob(os.path.join(HERE, "*.cases")))
    passed = failed = 0
    for path in files:
        for case in read_cases(path):
            for engine in engines:
                reason = run_case(engine, case)
                if reason is None:
                    passed += 1
                else:
                    failed += 1
                    print("FAILED on %s: %s (%s)\n%s\n" % (engine.name, case.rule, case.where, reason))
    print("conformance on %s:" % " and ".join(e.name for e in engines))
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
