#!/usr/bin/python3
"""Calls that are cancelled, run into statement_timeout or cannot get a lock: the server's
own error, the ledger as it was, and the next call works.

Usage: interrupts.py [ROUNDS]: how often each call is cancelled, and timed out.
"""
import sys
import threading
import time

from lib import *

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 3
EVENTS = 8000
LONG = {
    **{name: READS[name] for name in ("alineo_replay", "alineo_replay_cache", "alineo_execs",
                                      "alineo_resume", "alineo_output", "alineo_list_sandboxes")},
    "alineo_append_batch": "SELECT alineo_append_batch(t) FROM batch",
    "alineo_append_batch jsonb": "SELECT alineo_append_batch(t::jsonb) FROM batch",
    "alineo_delete_sandbox": "SELECT alineo_delete_sandbox('n', 'big')",
    "alineo_init": "SELECT alineo_init()",
}
random = seeded()


def fill(connection):
    connection.execute("SELECT alineo_init()")
    make_session(connection, "big", EVENTS)
    # Many sessions for the list, and rows to migrate.
    connection.execute("""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT 's' || i, 'n', -1, 'sandbox.created', '{}', i FROM generate_series(1, 1000) i""")
    connection.execute("""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT 'old', 'n', 1, 'exec_event', to_jsonb('{"seq":1,"type":"stdout","text":"x"}'::text), i
          FROM generate_series(1, 4000) i""")
    connection.execute("SELECT alineo_save_environment('py', 'snap', 'python', 1)")
    connection.execute("""CREATE TABLE batch AS SELECT json_agg(json_build_object('name', 'n', 'sandboxId', 'new',
        'event', 'exec.output', 'payload', json_build_object('seq', i, 'text', 'some output')))::text AS t
          FROM generate_series(1, 4000) i""")
    connection.execute("CREATE TABLE saved AS SELECT * FROM alineo_events")
    connection.execute("ANALYZE")


def restore(connection):
    """Undoes what a call that was not stopped in time has done."""
    connection.execute("TRUNCATE alineo_events")
    connection.execute("INSERT INTO alineo_events SELECT * FROM saved")


def length_of(connection, sql):
    """How long a call takes, in seconds; it is rolled back."""
    started = time.monotonic()
    with connection.transaction(force_rollback=True):
        connection.execute(sql)
    return time.monotonic() - started


def cancel(connection, other, sql, delay):
    pid = connection.info.backend_pid

    def stop():
        time.sleep(delay)
        other.execute("SELECT pg_cancel_backend(%s)", [pid])

    thread = threading.Thread(target=stop)
    thread.start()
    answer = attempt(connection, sql)
    thread.join()
    if answer[0] is None:
        attempt(connection, "SELECT 1")  # where the request came after the call
    return answer


def time_out(connection, _, sql, delay):
    connection.execute(f"SET statement_timeout = {max(1, round(delay * 1000))}")
    answer = attempt(connection, sql)
    connection.execute("SET statement_timeout = 0")
    return answer


def interrupt(connection, other, kind, stop, text):
    before = state(connection)
    for name, sql in LONG.items():
        length = min(length_of(connection, sql) for _ in range(3))
        hits = 0
        for _ in range(20 * ROUNDS):
            code, said = stop(connection, other, sql, random.uniform(0.05, 0.9) * length)
            if code is None:
                if state(other) != before:
                    restore(other)
                continue
            hits += 1
            expect(f"SQLSTATE of {name}: {said}", code, CANCELLED)
            expect_in(f"what {name} said", text, said)
            expect(f"the ledger after {name} was stopped", state(other), before)
            refused(connection, "SELECT alineo_append('', 's', 'e')", "22023", "alineo_append: name must not be empty")
            expect("the next call", value(connection, "SELECT event FROM alineo_last_checkpoint('n', 'big')"),
                   "sandbox.checkpoint_created")
            if hits == ROUNDS:
                break
        expect(f"{name}: times stopped", hits, ROUNDS)
        count(kind, hits)


def lock(connection, other, what, held, calls):
    """Calls that need what another session holds fail at lock_timeout, and work after."""
    before = state(connection)
    other.execute("BEGIN")
    other.execute(held)
    connection.execute("SET lock_timeout = '10ms'")
    for sql in calls:
        refused(connection, sql, LOCKED, "canceling statement due to lock timeout")
        count(f"locks not got ({what})")
    connection.execute("SET lock_timeout = 0")
    other.execute("ROLLBACK")
    expect("the ledger after lock_timeout", state(connection), before)
    for sql in calls:
        with connection.transaction(force_rollback=True):
            connection.execute(sql)


with database("alineo_interrupts") as name, connect(name) as connection, connect(name) as other:
    # Before there are tables: the first write waits for the one of another session.
    other.execute("BEGIN")
    other.execute("SELECT alineo_append('n', 'first', 'e')")
    connection.execute("SET lock_timeout = '10ms'")
    for sql in (WRITES["alineo_append"], WRITES["alineo_append_batch"], WRITES["alineo_save_environment"], WRITES["alineo_init"]):
        refused(connection, sql, LOCKED, "canceling statement due to lock timeout")
        count("locks not got (first write)")
    connection.execute("SET lock_timeout = 0")
    other.execute("ROLLBACK")
    expect("no ledger yet", state(connection), None)
    expect("the first write", value(connection, "SELECT alineo_append('n', 'first', 'e') > 0"), True)

    fill(connection)
    want = answers(connection)
    interrupt(connection, other, "cancelled", cancel, "canceling statement due to user request")
    interrupt(connection, other, "timed out", time_out, "canceling statement due to statement timeout")

    env = ("alineo_save_environment", "alineo_delete_environment", "alineo_get_environment", "alineo_list_environments")
    everything = {**READS, **WRITES}
    lock(connection, other, "table", "LOCK alineo_events IN ACCESS EXCLUSIVE MODE",
         [sql for call, sql in everything.items() if call not in env])
    lock(connection, other, "table", "LOCK alineo_environments IN ACCESS EXCLUSIVE MODE",
         [everything[call] for call in env])
    lock(connection, other, "row", "SELECT * FROM alineo_events WHERE sandbox_id IN ('big', 'old') FOR UPDATE",
         [WRITES["alineo_delete_sandbox"], WRITES["alineo_init"]])
    lock(connection, other, "row", "UPDATE alineo_environments SET built_at = 2",
         [WRITES["alineo_save_environment"], WRITES["alineo_delete_environment"]])
    lock(connection, other, "schema", "SELECT alineo_init()", [WRITES["alineo_init"]])
    # What is not in the way: readers and appends pass locks on rows.
    other.execute("BEGIN")
    other.execute("SELECT * FROM alineo_events FOR UPDATE")
    connection.execute("SET lock_timeout = '10ms'")
    expect("answers beside locked rows", answers(connection), want)
    with connection.transaction(force_rollback=True):
        connection.execute(WRITES["alineo_append"])
    other.execute("ROLLBACK")
    expect("answers at the end", answers(connection), want)
finish()
