#!/usr/bin/python3
"""Calls that fail, or whose transaction does, one after another in one session: nothing of them
stays, in the ledger or in memory, and the next call works."""
from lib import *

ENTRY = '{"name":"n","sandboxId":"new","event":"e"}'
# What fails, by the SQLSTATE it fails with; as what role, where that is why.
FAILING = [
    ("22023", "SELECT alineo_append('', 's', 'e')"),
    ("22023", "SELECT alineo_append('n', 's', 'e', branch => -1)"),
    ("22032", "SELECT alineo_append('n', 's', 'e', '{\"a\":[1,2,{\"b\":')"),
    ("22032", "SELECT alineo_append('n', 's', 'e', '[' || repeat('[', 2000))"),
    ("P0001", "SELECT alineo_append('n', 's', 'refused')"),
    ("P0001", "SELECT alineo_append('n', 's', 'refused', '{\"a\":\"\\u0000\"}', ts => 1)"),
    ("22023", f"SELECT alineo_append_batch('[{ENTRY},{ENTRY},{{}}]')"),
    ("22032", f"SELECT alineo_append_batch('[{ENTRY},{ENTRY}')"),
    ("P0001", f"SELECT alineo_append_batch('[{ENTRY},{ENTRY.replace(chr(34) + 'e' + chr(34), chr(34) + 'refused' + chr(34))}]')"),
    ("22023", f"SELECT alineo_append_batch('[{ENTRY},{{}}]'::jsonb)"),
    ("P0001", "SELECT alineo_delete_sandbox('n', 'guarded')"),
    ("22023", "SELECT alineo_delete_sandbox('n', NULL)"),
    ("22023", "SELECT alineo_save_environment('', 's', 'i')"),
    ("P0001", "SELECT alineo_save_environment('refused', 's', 'i')"),
    ("P0001", "SELECT alineo_init()"),
    ("P0002", "SELECT alineo_resume('nothing')"),
    ("P0002", "SELECT alineo_resume('big', 'nothing')"),
    ("22023", "SELECT alineo_resume('cycle1')"),
    ("22023", "SELECT * FROM alineo_replay_cache('n', 'cycle1')"),
    ("22023", "SELECT alineo_output('n', 'big', 1, 'nothing')"),
    # In the middle of the rows of a query of the function's own.
    ("XX001", "SELECT * FROM alineo_execs('n', 'deep')"),
    ("XX001", "SELECT alineo_output('n', 'deep', 1)"),
    ("XX001", "SELECT * FROM alineo_replay_cache('n', 'deep')"),
    ("22023", "SELECT * FROM alineo_list_sandboxes(status => 'nothing')"),
    ("22023", "SELECT * FROM alineo_list_sandboxes(max_rows => -1)"),
    # The caller's own query fails in the middle of the rows, or over the value.
    ("22012", "SELECT 1 / (id - (SELECT min(id) + 30 FROM alineo_events)) FROM alineo_replay('n', 'big')"),
    ("22012", "SELECT 1 / (seq - 3) FROM alineo_replay_cache('n', 'big')"),
    ("22012", "SELECT 1 / (seq - 3) FROM alineo_execs('n', 'big')"),
    ("22012", "SELECT 1 / (exec_count - exec_count) FROM alineo_list_sandboxes()"),
    ("22012", "SELECT 1 / (length(alineo_resume('big')::text) - length(alineo_resume('big')::text))"),
    ("22012", "SELECT 1 / (octet_length(alineo_output('n', 'big', 1)) * 0)"),
    *(("42501", f"SET LOCAL ROLE pg_monitor; {sql}") for sql in (*READS.values(), *WRITES.values())),
]
TIMES = 1000
SLACK = 8192  # what the caches of the server may grow by meanwhile: less than the smallest block a call


def prepare(connection):
    """A ledger with triggers that refuse, sessions that descend from each other, and rows to migrate."""
    connection.execute("SELECT alineo_init()")
    make_session(connection, "big", 60)
    connection.execute("SELECT alineo_append('n', 'guarded', 'e'), alineo_save_environment('py', 'snap', 'python', 1)")
    for child, parent in (("cycle1", "cycle2"), ("cycle2", "cycle1")):
        connection.execute("SELECT alineo_append('n', %s, 'sandbox.created', json_build_object('resumedFrom', %s::text, 'snapshotId', 'x'))", [child, parent])
        connection.execute("SELECT alineo_append('n', %s, 'sandbox.checkpoint_created', '{\"snapshotId\":\"x\"}')", [child])
    connection.execute("INSERT INTO alineo_events (sandbox_id, name, step_idx, event, ts) VALUES ('guarded', 'n', 1, 'exec_start', 1)")
    connection.execute("""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT 'deep', 'n', 1, e, ('{"seq":1,"snapshotId":"x","env":' || repeat('[', 1100) || repeat(']', 1100) || '}')::jsonb, 1
          FROM unnest(ARRAY['exec.started', 'exec.completed', 'sandbox.checkpoint_created']) e""")
    connection.execute("""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$;
        CREATE TRIGGER refuse BEFORE INSERT ON alineo_events FOR EACH ROW WHEN (NEW.event = 'refused') EXECUTE FUNCTION refuse();
        CREATE TRIGGER keep BEFORE UPDATE OR DELETE ON alineo_events FOR EACH ROW WHEN (OLD.sandbox_id = 'guarded') EXECUTE FUNCTION refuse();
        CREATE TRIGGER refuse BEFORE INSERT ON alineo_environments FOR EACH ROW WHEN (NEW.name = 'refused') EXECUTE FUNCTION refuse();
        -- Runs a statement so many times, each in a subtransaction that is given up.
        CREATE FUNCTION fail(sql text, times int) RETURNS text LANGUAGE plpgsql AS $$
        DECLARE code text := 'none';
        BEGIN
            FOR i IN 1 .. times LOOP
                BEGIN
                    EXECUTE sql;
                EXCEPTION WHEN OTHERS THEN
                    code := SQLSTATE;
                END;
            END LOOP;
            RETURN code;
        END $$""")


def lasting_memory(connection):
    """Bytes in use in the contexts that live as long as the session, and in those of ours."""
    return dict(rows(connection, """SELECT name, sum(used_bytes) FROM pg_backend_memory_contexts
        WHERE name IN ('TopMemoryContext', 'CacheMemoryContext') OR name LIKE 'alineo%' GROUP BY name"""))


def expect_memory(what, connection, held):
    now = lasting_memory(connection)
    expect(f"contexts that stay after {what}", set(now), set(held))
    for name, size in now.items():
        expect(f"growth of {name} from {held[name]} to {size} after {what}", size <= held[name] + SLACK, True)


def failing_calls(connection):
    before = state(connection)
    for code, sql in FAILING:
        role = sql.startswith("SET LOCAL ROLE")
        *_, call = sql.split("; ")
        quoted = call.replace("'", "''")
        many = f"SELECT fail('{quoted}', %s)"

        def run(times):
            with connection.transaction():
                if role:
                    connection.execute("SET LOCAL ROLE pg_monitor")
                expect(call, value(connection, many % times), code)

        run(20)  # what is made once is made
        held = lasting_memory(connection)
        run(TIMES)
        expect_memory(call, connection, held)
        # The same as statements of their own.
        for _ in range(3):
            expect(call, attempt(connection, f"BEGIN; {sql}")[0], code)
            connection.execute("ROLLBACK")
        expect_memory(f"{call} alone", connection, held)
        count("calls that failed", 3 + 20 + TIMES)
    expect("the ledger", state(connection), before)


def subtransactions(connection):
    """Writers inside EXCEPTION blocks and savepoints: only what was not given up is there."""
    before = state(connection)
    connection.execute("""DO $$
        BEGIN
            FOR i IN 1 .. 100 LOOP
                BEGIN
                    PERFORM alineo_append('n', 'sub', 'kept', ts => i);
                    BEGIN
                        PERFORM alineo_append('n', 'sub', 'lost', ts => i);
                        PERFORM alineo_append_batch(json_build_array(json_build_object('name', 'n', 'sandboxId', 'sub', 'event', 'lost')));
                        PERFORM alineo_save_environment('lost', 's', 'i'), alineo_delete_environment('py');
                        PERFORM alineo_delete_sandbox('n', 'sub');
                        PERFORM count(*) FROM alineo_replay_cache('n', 'big');
                        PERFORM 1 / 0;
                    EXCEPTION WHEN division_by_zero THEN NULL;
                    END;
                    PERFORM alineo_append_batch(json_build_array(json_build_object('name', 'n', 'sandboxId', 'sub', 'event', 'batch', 'ts', i)));
                END;
            END LOOP;
        END $$""")
    count("subtransactions given up", 100)
    expect("events of subtransactions", rows(connection, "SELECT event, count(*) FROM alineo_replay('n', 'sub') GROUP BY event ORDER BY event"),
           [("batch", 100), ("kept", 100)])
    expect("deleted", value(connection, "SELECT alineo_delete_sandbox('n', 'sub')"), 200)
    expect("the ledger after subtransactions", state(connection), before)
    # A first write that is given up takes its tables along.
    connection.execute("BEGIN; ALTER TABLE alineo_events RENAME TO events_before; ALTER TABLE alineo_environments RENAME TO environments_before")
    connection.execute("ALTER INDEX alineo_events_name_sandbox_ts RENAME TO a; ALTER INDEX alineo_events_milestones RENAME TO b; ALTER INDEX alineo_events_created RENAME TO c")
    for _ in range(5):
        for name in ("alineo_append", "alineo_append_batch", "alineo_save_environment", "alineo_init"):
            connection.execute(f"SAVEPOINT s; {WRITES[name]}; ROLLBACK TO s")
            expect(f"tables after {name} was given up", state(connection), None)
            count("first writes given up")
        connection.execute("SAVEPOINT s")
        expect("a first write", value(connection, "SELECT count(*) FROM (SELECT alineo_append('n', 's', 'e')) a"), 1)
        expect("its event", value(connection, "SELECT count(*) FROM alineo_replay('n', 's')"), 1)
        connection.execute("ROLLBACK TO s")
    connection.execute("ROLLBACK")
    expect("the ledger after first writes", state(connection), before)


def cursors(connection):
    """Half-read results, held and not: they go, and what they kept in memory is given back."""
    make_session(connection, "wide", 3000, 1500)
    functions = {"alineo_replay": 3002, "alineo_replay_cache": 300, "alineo_execs": 300}
    connection.execute("SET work_mem = '64kB'")
    for function, many in functions.items():
        sql = f"SELECT * FROM {function}('n', 'wide')"
        whole = rows(connection, sql)
        expect(f"rows of {function}", len(whole), many)

        def half(holds):
            connection.execute(f"BEGIN; DECLARE c SCROLL CURSOR {'WITH HOLD' if holds else ''} FOR {sql}")
            expect(f"the first half of {function}", rows(connection, f"FETCH {many // 2} FROM c"), whole[:many // 2])

        def ways():
            half(True)
            connection.execute("COMMIT")
            expect(f"the other half of {function}, held", rows(connection, "FETCH ALL FROM c"), whole[many // 2:])
            expect(f"{function}, backwards", rows(connection, "FETCH BACKWARD 5 FROM c"), whole[:-6:-1])
            connection.execute("CLOSE c")
            half(True)
            connection.execute("COMMIT; CLOSE c")
            half(True)
            connection.execute("ROLLBACK")
            half(False)
            connection.execute("CLOSE c; COMMIT")
            half(False)
            connection.execute("COMMIT")
            half(False)
            expect("a cursor in a transaction that failed", attempt(connection, "SELECT 1 / 0")[0], "22012")
            connection.execute("ROLLBACK")
            # A hold that fails when it is to be kept.
            connection.execute("SET temp_file_limit = '100kB'")
            connection.execute(f"BEGIN; DECLARE c CURSOR WITH HOLD FOR SELECT 1 / (9 - row_number() OVER ()), r FROM {function}('n', 'wide') r")
            code, said = attempt(connection, "COMMIT")
            expect(f"a hold that cannot be kept: {said}", code in ("22012", TOO_MANY_FILES), True)
            connection.execute("ROLLBACK; RESET temp_file_limit")
            # Deleted, after it was opened.
            half(False)
            connection.execute("SELECT alineo_delete_sandbox('n', 'wide'); DELETE FROM alineo_events WHERE sandbox_id = 'wide'")
            expect(f"the other half of {function}, of a session deleted", rows(connection, "FETCH ALL FROM c"), whole[many // 2:])
            connection.execute("ROLLBACK")

        ways()
        held = lasting_memory(connection)
        for _ in range(3):
            ways()
            count("cursors ended early", 6)
        expect_memory(f"cursors over {function}", connection, held)

    # What such results kept beyond work_mem no longer counts: a cache still stays in memory.
    def files():
        connection.execute("SELECT pg_stat_force_next_flush()" if connection.info.server_version >= 150000 else "SELECT pg_sleep(1)")
        connection.execute("SELECT pg_stat_clear_snapshot()")
        return value(connection, "SELECT temp_files FROM pg_stat_database WHERE datname = current_database()")

    before = files()
    expect("a cache", value(connection, "SELECT count(*) FROM alineo_replay_cache('n', 'wide')"), 300)
    expect("temporary files of a cache", files() - before, 0)
    connection.execute("RESET work_mem")
    connection.execute("SELECT alineo_delete_sandbox('n', 'wide')")


def read_only(connection):
    """A transaction that may only read."""
    before = state(connection)
    want = answers(connection)
    for setting, begin in (("SELECT", "BEGIN READ ONLY"), ("SELECT", "BEGIN; SET TRANSACTION READ ONLY"),
                           ("SET default_transaction_read_only = on", "BEGIN")):
        connection.execute(setting)
        for name, sql in WRITES.items():
            connection.execute(begin)
            said = refused(connection, sql, READ_ONLY, "in a read-only transaction")
            expect_in(f"what {name} said", "cannot execute", said)
            connection.execute("ROLLBACK")
            count("writes in a read-only transaction")
        connection.execute(begin)
        expect("answers in a read-only transaction", answers(connection), want)
        connection.execute("ROLLBACK; RESET default_transaction_read_only")
    expect("the ledger", state(connection), before)
    connection.execute("BEGIN; DROP TABLE alineo_events, alineo_environments; SET TRANSACTION READ ONLY")
    for name in ("alineo_append", "alineo_append_batch", "alineo_save_environment", "alineo_init"):
        function = name.split()[0]
        connection.execute("SAVEPOINT s")
        refused(connection, WRITES[name], READ_ONLY, f"cannot execute {function}() in a read-only transaction")
        connection.execute("ROLLBACK TO s")
        count("writes in a read-only transaction")
    connection.execute("ROLLBACK")


def parallel(connection):
    """Plans that would rather be parallel."""
    want = answers(connection)
    force = "debug_parallel_query" if connection.info.server_version >= 160000 else "force_parallel_mode"
    connection.execute(f"""SET {force} = on; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0;
        SET min_parallel_table_scan_size = 0; SET min_parallel_index_scan_size = 0; SET max_parallel_workers_per_gather = 2""")
    expect_in("a plan", "Gather", str(rows(connection, "EXPLAIN SELECT count(*) FROM alineo_events")))
    expect("answers of parallel plans", answers(connection), want)
    expect("a join with the table", value(connection, """SELECT count(*) FROM alineo_events e
        JOIN LATERAL alineo_replay(e.name, e.sandbox_id) r ON r.id = e.id"""), value(connection, "SELECT count(*) FROM alineo_events"))
    before = state(connection)
    for sql in WRITES.values():
        attempt(connection, f"BEGIN; {sql}")
        connection.execute("ROLLBACK")
    expect("appends over a parallel scan", value(connection, """SELECT count(alineo_append('n', 'new', 'e')) FROM
        (SELECT FROM alineo_events ORDER BY ts LIMIT 50) e"""), 50)
    connection.execute("DELETE FROM alineo_events WHERE sandbox_id = 'new'")
    expect("the ledger", state(connection), before)
    count("parallel plans", len(READS) + 1)
    connection.execute("RESET ALL; SET client_min_messages = warning")


def procedures(connection):
    """Transactions that end inside a procedure, between the rows of one of ours."""
    connection.execute("""CREATE PROCEDURE copy_all(give_up bool) LANGUAGE plpgsql AS $$
        DECLARE r record; i int := 0;
        BEGIN
            FOR r IN SELECT * FROM alineo_replay('n', 'big') LOOP
                PERFORM alineo_append(r.name, 'copy', r.event, r.payload, r.step_idx, r.branch, r.error, r.ts);
                i := i + 1;
                IF give_up AND i % 2 = 0 THEN ROLLBACK; ELSE COMMIT; END IF;
            END LOOP;
        END $$""")
    # Expressions that are evaluated right after the transaction has ended.
    connection.execute("""DO $$
        DECLARE id bigint; size bigint; seen bigint;
        BEGIN
            FOR i IN 1 .. 20 LOOP
                id := alineo_append('n', 'right after', 'e');
                COMMIT;
                size := length(alineo_resume('big')::text);
                COMMIT;
                size := octet_length(alineo_output('n', 'big', 1));
                ROLLBACK;
                seen := alineo_append_batch('{"name":"n","sandboxId":"right after","event":"e"}');
                COMMIT;
                IF size IS NULL OR id IS NULL OR seen <> 1 THEN RAISE 'nothing'; END IF;
            END LOOP;
        END $$""")
    expect("appended right after", value(connection, "SELECT alineo_delete_sandbox('n', 'right after')"), 40)
    for give_up, want in ((False, 62), (True, 31)):
        connection.execute(f"CALL copy_all({give_up})")
        expect("copied", value(connection, "SELECT count(*) FROM alineo_replay('n', 'copy')"), want)
        expect("deleted", value(connection, "SELECT alineo_delete_sandbox('n', 'copy')"), want)
    count("transactions ended by a procedure", 204)


with database("alineo_aborts") as name, connect(name) as connection:
    prepare(connection)
    answers(connection)
    failing_calls(connection)
    read_only(connection)
    procedures(connection)
    connection.execute("DROP TRIGGER keep ON alineo_events; DROP TRIGGER refuse ON alineo_events; SELECT alineo_init()")
    subtransactions(connection)
    cursors(connection)
    parallel(connection)
finish()
