#!/usr/bin/python3
"""Tables, indexes, schemas and the extension that change in another session while this one has
plans for them: the next call works with what is there, or says what is missing."""
import threading

from lib import *

TYPES = {"id": "bigserial PRIMARY KEY", "sandbox_id": "text NOT NULL", "name": "text NOT NULL", "step_idx": "integer NOT NULL",
         "branch": "integer", "event": "text NOT NULL", "payload": "jsonb", "error": "text", "ts": "bigint NOT NULL"}


def fill(connection):
    make_session(connection, "big", 300)
    connection.execute("SELECT alineo_save_environment('py', 'snap', 'python', 1)")


def warm(connection):
    """Has a plan for every statement there is."""
    for sql in (*READS.values(), *WRITES.values()):
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
    with connection.transaction(force_rollback=True):
        connection.execute("UPDATE alineo_events SET event = 'exec_event'")
        connection.execute("SELECT alineo_init()")
    return answers(connection)


def write_all(connection):
    """Every function that writes works, and leaves the ledger as it was."""
    before = state(connection)
    for sql in WRITES.values():
        with connection.transaction(force_rollback=True):
            connection.execute(sql)
    expect("the ledger after it all was rolled back", state(connection), before)


def tables(connection, other):
    want = warm(connection)
    other.execute("CREATE TABLE saved AS SELECT * FROM alineo_events; CREATE TABLE saved_env AS SELECT * FROM alineo_environments")
    for round in range(3):
        other.execute("DROP TABLE alineo_events, alineo_environments")
        count("tables dropped", 2)
        for name, sql in READS.items():
            if name == "alineo_resume":
                refused(connection, sql, "P0002", "alineo_resume: no session has sandbox_id 'big'")
            else:
                expect(f"{name} without tables", [row for row in rows(connection, sql) if row != (None,)], [])
        expect("deletions without tables", rows(connection, "SELECT alineo_delete_sandbox('n', 'big'), alineo_delete_environment('py')"), [(0, 0)])
        # Made again by the first write, whichever it is.
        first = ("alineo_append", "alineo_append_batch", "alineo_save_environment")[round]
        connection.execute(WRITES[first])
        expect("indexes", value(other, "SELECT count(*) FROM pg_index WHERE indrelid = 'alineo_events'::regclass"), 4)
        other.execute("TRUNCATE alineo_events, alineo_environments")
        other.execute("INSERT INTO alineo_events SELECT * FROM saved; INSERT INTO alineo_environments SELECT * FROM saved_env")
        other.execute("SELECT setval('alineo_events_id_seq', max(id)) FROM alineo_events")
        expect("answers in the table made again", answers(connection), want)
        write_all(connection)
    # Made again by others: in another order, with more columns, with other types.
    for change in ({}, {"extra": "text DEFAULT 'x'"}, {"ts": "numeric NOT NULL", "step_idx": "bigint NOT NULL", "event": "varchar(60) NOT NULL"}):
        columns = {**dict(reversed(TYPES.items())), **change}
        other.execute("DROP TABLE alineo_events")
        other.execute(f"CREATE TABLE alineo_events ({', '.join(f'{name} {type}' for name, type in columns.items())})")
        other.execute("INSERT INTO alineo_events (id, sandbox_id, name, step_idx, branch, event, payload, error, ts) SELECT * FROM saved")
        other.execute("SELECT setval('alineo_events_id_seq', max(id)) FROM alineo_events")
        count("tables replaced")
        expect(f"answers in a table of other columns {change}", answers(connection), want)
        write_all(connection)
    # A column that is missing is named, and all is well when it is there again.
    other.execute("ALTER TABLE alineo_events RENAME COLUMN branch TO twig")
    for sql in (READS["alineo_replay"], READS["alineo_execs"], WRITES["alineo_append"], WRITES["alineo_append_batch"]):
        refused(connection, sql, "42703", "branch")
        count("columns missing")
    other.execute("ALTER TABLE alineo_events RENAME COLUMN twig TO branch")
    expect("answers with the column", answers(connection), want)
    # A type that no cast leads from.
    other.execute("ALTER TABLE alineo_events ALTER payload TYPE point USING NULL")
    for sql in (WRITES["alineo_append with ts"], WRITES["alineo_append_batch"]):
        state_, said = attempt(connection, sql)
        expect(f"SQLSTATE of {sql}: {said}", state_ in ("42846", "42804"), True)
        count("columns of no use")
    other.execute("DROP TABLE alineo_events")
    connection.execute("SELECT alineo_init()")
    other.execute("INSERT INTO alineo_events SELECT * FROM saved")
    other.execute("SELECT setval('alineo_events_id_seq', max(id)) FROM alineo_events")
    expect("answers in the ledger's own table", answers(connection), want)
    other.execute("DROP TABLE saved, saved_env")


def indexes(connection, other):
    want = warm(connection)
    names = ("alineo_events_name_sandbox_ts", "alineo_events_milestones", "alineo_events_created")
    for how in ("DROP INDEX {}", "DROP INDEX CONCURRENTLY {}", "ALTER INDEX {} RENAME TO elsewhere", "REINDEX INDEX CONCURRENTLY {}"):
        for name in names:
            other.execute(how.format(name))
            count("indexes changed")
            expect(f"answers after {how.format(name)}", answers(connection), want)
            write_all(connection)
            other.execute("DROP INDEX IF EXISTS elsewhere")
            connection.execute("SELECT alineo_init()")
    # An index that bears the name and has other columns decides nothing.
    for columns in ("(name)", "(name, sandbox_id, ts DESC)", "(sandbox_id, name, ts)", "(name, sandbox_id, ts) WHERE ts < 0",
                    "(name, sandbox_id, ts, id) INCLUDE (payload)", '(name COLLATE "C", sandbox_id COLLATE "C", ts)'):
        other.execute(f"DROP INDEX alineo_events_name_sandbox_ts; CREATE INDEX alineo_events_name_sandbox_ts ON alineo_events {columns}")
        count("indexes changed")
        expect(f"answers with an index on {columns}", answers(connection), want)
        with connection.transaction(force_rollback=True):
            connection.execute("SELECT alineo_append('n', 'big', 'far', ts => 9000000000000000)")
            connection.execute("SELECT alineo_append('n', 'big', 'after')")
            expect(f"ts with an index on {columns}", value(connection, "SELECT ts FROM alineo_events WHERE event = 'after'"), 9000000000000000)
    other.execute("DROP INDEX alineo_events_name_sandbox_ts")
    connection.execute("SELECT alineo_init()")


def extension(connection, other):
    want = warm(connection)
    before = state(connection)
    connection.execute("PREPARE kept AS SELECT alineo_append('n', 'new', 'prepared', ts => 1) > 0")
    connection.execute("PREPARE seen AS SELECT count(*) FROM alineo_replay('n', 'big')")
    connection.execute("""CREATE FUNCTION in_plpgsql() RETURNS bigint LANGUAGE plpgsql AS
        $$ DECLARE id bigint := alineo_append('n', 'new', 'plpgsql', ts => 1); BEGIN RETURN (SELECT count(*) FROM alineo_replay('n', 'big')); END $$""")
    events = value(connection, "EXECUTE seen")
    for _ in range(3):
        with connection.transaction(force_rollback=True):
            connection.execute("EXECUTE kept; SELECT in_plpgsql()")
        other.execute("DROP EXTENSION alineo_ledger")
        count("extensions dropped")
        for sql in (*READS.values(), *WRITES.values(), "EXECUTE kept", "EXECUTE seen", "SELECT in_plpgsql()"):
            refused(connection, sql, "42883", "does not exist")
            count("calls without the extension")
        other.execute("CREATE EXTENSION alineo_ledger")
        expect("answers of the extension made again", answers(connection), want)
        with connection.transaction(force_rollback=True):
            expect("a prepared append", value(connection, "EXECUTE kept"), True)
            expect("a prepared replay", value(connection, "EXECUTE seen"), events)
            expect("a function that appends", value(connection, "SELECT in_plpgsql()"), events)
        write_all(connection)
    # The extension stays where it is; a schema may be renamed.
    refused(other, "CREATE SCHEMA elsewhere; ALTER EXTENSION alineo_ledger SET SCHEMA elsewhere", "0A000", "does not support SET SCHEMA")
    count("moves refused")
    expect("answers after that", answers(connection), want)
    other.execute("CREATE SCHEMA ledger; DROP EXTENSION alineo_ledger; CREATE EXTENSION alineo_ledger SCHEMA ledger")
    other.execute("ALTER TABLE alineo_events SET SCHEMA ledger; ALTER TABLE alineo_environments SET SCHEMA ledger")
    for path in ("ledger", "ledger2", "ledger", "ledger3", "ledger"):
        now = value(other, "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'ledger%'")
        if now != path:
            other.execute(f"ALTER SCHEMA {now} RENAME TO {path}")
            count("schemas renamed")
        connection.execute(f"SET search_path = {path}, public")
        # First what was called last, before the schema had this name.
        connection.execute("SELECT alineo_init()")
        expect(f"answers in schema {path}", answers(connection), want)
        write_all(connection)
    # Another schema takes the name that plans were made for: it is not written to.
    with connection.transaction(force_rollback=True):
        connection.execute(WRITES["alineo_append"])
    other.execute("ALTER SCHEMA ledger RENAME TO ledger2; CREATE SCHEMA ledger")
    other.execute("CREATE TABLE ledger.alineo_events (LIKE ledger2.alineo_events INCLUDING ALL)")
    connection.execute("SET search_path = ledger2, public")
    count("schemas renamed")
    expect("an append", value(connection, "SELECT alineo_append('n', 'new', 'e') > 0"), True)
    expect("events in the table that took the name", value(connection, "SELECT count(*) FROM ledger.alineo_events"), 0)
    connection.execute("DELETE FROM alineo_events WHERE sandbox_id = 'new'")
    expect("the ledger at the end", state(connection), before)


def creation(name):
    """Sessions that create the extension, and write first, at the same time."""
    with database(name, extension=False):
        def first(number, failures):
            with connect(name) as one:
                code, said = attempt(one, "CREATE EXTENSION IF NOT EXISTS alineo_ledger")
                # What plain SQL gives where two create an extension at once.
                if code not in (None, "23505", "42710", "40P01"):
                    failures.append(said)
                code, said = attempt(one, f"SELECT alineo_append('n', 's', 'first {number}')")
                if code is not None:
                    failures.append(said)

        for round in range(4):
            failures = []
            threads = [threading.Thread(target=first, args=(number, failures)) for number in range(6)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            expect("failures of sessions that create and write at once", failures, [])
            with connect(name) as one:
                expect("first writes", value(one, "SELECT count(DISTINCT event) FROM alineo_replay('n', 's')"), 6)
                one.execute("DROP TABLE alineo_events, alineo_environments; DROP EXTENSION alineo_ledger")
            count("creations at once", 6)
        # The one that creates it has not committed, or gives up.
        with connect(name) as one, connect(name) as two:
            for end in ("ROLLBACK", "COMMIT"):
                one.execute("BEGIN; CREATE EXTENSION alineo_ledger; SELECT alineo_append('n', 's', 'one')")
                waiting = threading.Thread(target=attempt, args=(two, "CREATE EXTENSION IF NOT EXISTS alineo_ledger"))
                waiting.start()
                while not value(one, "SELECT EXISTS (SELECT FROM pg_stat_activity WHERE pid = %s AND wait_event_type = 'Lock')", [two.info.backend_pid]):
                    pass
                one.execute(end)
                waiting.join()
                two.execute("SELECT alineo_append('n', 's', 'two')")
                expect(f"events after {end}", value(two, "SELECT array_agg(event ORDER BY id) FROM alineo_replay('n', 's')"),
                       ["one", "two"] if end == "COMMIT" else ["two"])
                count("creations at once")
                two.execute("DROP TABLE alineo_events, alineo_environments; DROP EXTENSION alineo_ledger")


def discard(connection):
    want = warm(connection)
    for what in ("ALL", "PLANS", "SEQUENCES", "TEMP") * 3:
        connection.execute(f"DISCARD {what}")
        count("DISCARD")
        expect(f"answers after DISCARD {what}", answers(connection), want)
        write_all(connection)


creation("alineo_creation")
with database("alineo_catalog") as name, connect(name) as connection, connect(name) as other:
    connection.execute("SELECT alineo_init()")
    fill(connection)
    discard(connection)
    tables(connection, other)
    indexes(connection, other)
    extension(connection, other)
finish()
