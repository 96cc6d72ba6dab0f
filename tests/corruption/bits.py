#!/usr/bin/env python3
"""Payloads of PostgreSQL with bits that were turned on the disk.

    bits.py --postgres CONNECTION [--long] [--seed N]

A cast that only a superuser can make turns bytes into JSONB unseen. Every
function is asked: the server lives on, an error names the event, what lists
lists all rows, and the session beside it answers as before.
"""
import argparse
import random
import sys

PAYLOADS = ['{"seq":1,"cmd":"make","cwd":"/w","env":{"A":["b",1.5,null,true]}}',
            '{"seq":1,"type":"stdout","text":"hello there world"}',
            '{"seq":123456.000001,"exitCode":12345678901234567890}',
            '{"rules":[{"target":"x","a":[1,[2,[3]]]}],"targets":["x","y"],"snapshotId":"s","tag":"k","runId":{"a":1},'
            '"resources":[1,2,3],"resumedFrom":"z","name":"n","binding":[]}',
            '"{\\"seq\\":1}"', '[1,2,[3]]', '7', 'null', '{}']
EVENTS = ["exec.started", "exec.output", "exec.completed", "egress.rule_added", "egress.rule_removed",
          "sandbox.created", "sandbox.checkpoint_created", "credential.bound", "mine"]
CALLS = [("SELECT * FROM alineo_execs('n', %s)", None), ("SELECT * FROM alineo_replay_cache('n', %s)", None),
         ("SELECT alineo_resume(%s)", None), ("SELECT alineo_output('n', %s, 1)", None),
         ("SELECT sandbox_id FROM alineo_list_sandboxes() WHERE %s <> ''", 2),
         ("SELECT * FROM alineo_get_sandbox('n', %s)", 1), ("SELECT id, event FROM alineo_replay('n', %s)", 4),
         ("SELECT created_at FROM alineo_list_checkpoints('n', %s)", None), ("SELECT alineo_init() WHERE %s <> ''", 1)]


def turned(choice, stored):
    data = bytearray(stored)
    for _ in range(choice.choice([1, 1, 2, 4])):
        at = choice.randrange(len(data) if choice.random() < .5 else min(len(data), 32))
        data[at] ^= 1 << choice.randrange(8) if choice.random() < .7 else choice.randrange(256)
    return bytes(data[:choice.randrange(len(data) + 1)] if choice.random() < .1 else data)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--postgres", metavar="CONNECTION", required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    import psycopg2
    connection = psycopg2.connect(options.postgres)
    connection.autocommit = True
    cursor = connection.cursor()
    cursor.execute("SET client_min_messages = warning")
    cursor.execute("DROP TABLE IF EXISTS alineo_events, alineo_environments CASCADE")
    cursor.execute("CREATE EXTENSION IF NOT EXISTS alineo_ledger")
    cursor.execute("SELECT alineo_init()")
    for types in ("bytea AS jsonb", "jsonb AS bytea"):
        cursor.execute("DROP CAST IF EXISTS (%s)" % types)
        cursor.execute("CREATE CAST (%s) WITHOUT FUNCTION" % types)
    choice = random.Random(options.seed)
    named = answered = wrong = 0
    rounds = 20000 if options.long else 150

    def fill(sandbox_id):
        cursor.execute("INSERT INTO alineo_events(sandbox_id, name, step_idx, event, payload, ts) VALUES"
                       " (%s, 'n', -1, 'sandbox.created', NULL, 1), (%s, 'n', 1, 'exec.started', '{\"seq\":1}', 2),"
                       " (%s, 'n', -1, 'snapshot', '{\"snapshotId\":\"x\"}', 9)", (sandbox_id,) * 3)

    fill("whole")
    expected = {}
    for sql, _ in CALLS:
        cursor.execute(sql, ("whole",))
        expected[sql] = cursor.fetchall()
    for number in range(rounds):
        payload, event = choice.choice(PAYLOADS), choice.choice(EVENTS)
        cursor.execute("DELETE FROM alineo_events WHERE sandbox_id = 's'")
        fill("s")
        cursor.execute("SELECT (%s::jsonb)::bytea", (payload,))
        data = turned(choice, bytes(cursor.fetchone()[0]))
        cursor.execute("INSERT INTO alineo_events(id, sandbox_id, name, step_idx, event, payload, ts)"
                       " VALUES (0, 's', 'n', 1, %s, CAST(%s::bytea AS jsonb), 0)", (event, data))
        for sql, rows in CALLS:
            what = "seed %d round %d, %s with %s: %s" % (options.seed, number, event, data.hex(), sql)
            try:
                cursor.execute(sql, ("s",))
                got = cursor.fetchall()
                answered += 1
                if rows is not None and len(got) != rows:
                    wrong += 1
                    print("WRONG %s: %d rows" % (what, len(got)))
            except psycopg2.OperationalError as error:
                sys.exit("CRASH %s: %s" % (what, error))
            except psycopg2.Error as error:
                named += 1
                text = error.diag.message_primary or ""
                # What could still be read may name a session or a checkpoint that is not there.
                if "event 0" not in text and "sandbox_id" not in text or rows is not None:
                    wrong += 1
                    print("WRONG %s: %s" % (what, text))
        if number % 10 == 0:
            for sql, _ in CALLS[:4]:
                cursor.execute(sql, ("whole",))
                if cursor.fetchall() != expected[sql]:
                    wrong += 1
                    print("WRONG: the session beside it, %s" % sql)
    print("PostgreSQL: bad payloads tried: %d, calls %d (answers %d, errors %d), crashes 0, wrong %d" %
          (rounds, named + answered, answered, named, wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
