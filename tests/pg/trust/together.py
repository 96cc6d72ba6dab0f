#!/usr/bin/python3
"""Sessions that call everything at once, while tables, indexes and the extension come and go: only
what the server says of such changes is an error, no session ends, and the ledger is sound after.

Usage: together.py [CALLS]: how many each of six sessions makes.
"""
import sys
import threading

from lib import *

CALLS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
SESSIONS = 6
OURS = list(READS.values()) + list(WRITES.values())
CHANGES = [
    "DROP TABLE IF EXISTS alineo_events", "DROP TABLE IF EXISTS alineo_environments", "DROP TABLE IF EXISTS alineo_events, alineo_environments",
    "TRUNCATE alineo_events", "DROP INDEX IF EXISTS alineo_events_name_sandbox_ts", "DROP INDEX CONCURRENTLY IF EXISTS alineo_events_milestones",
    "REINDEX TABLE alineo_events", "REINDEX INDEX CONCURRENTLY alineo_events_name_sandbox_ts", "VACUUM FULL alineo_events", "ANALYZE alineo_events",
    "ALTER TABLE alineo_events ADD COLUMN IF NOT EXISTS extra text", "ALTER TABLE alineo_events DROP COLUMN IF EXISTS extra",
    "ALTER TABLE alineo_events ENABLE ROW LEVEL SECURITY", "ALTER TABLE alineo_events DISABLE ROW LEVEL SECURITY",
    "UPDATE alineo_events SET event = 'exec_event' WHERE id % 7 = 0", "DISCARD ALL",
    "BEGIN; DROP EXTENSION IF EXISTS alineo_ledger; CREATE EXTENSION alineo_ledger; COMMIT",
]
# Nothing to resume, a deadlock, and a function that is gone. What the server says where it looks a
# function up that was dropped meanwhile, and where two sessions change one thing, is XX000.
EXPECTED = {None, "P0002", "40P01", "42883"}
SERVERS_OWN = ("cache lookup failed for function", "tuple concurrently")


def session(name, number, failures, finished):
    chance = seeded(number)
    with connect(name) as connection:
        pid = connection.info.backend_pid
        for _ in range(CALLS):
            changes = chance.random() < (0.4 if number == 0 else 0.01)
            sql = chance.choice(CHANGES if changes else OURS)
            if not changes and chance.random() < 0.2:
                sql = f"BEGIN; {sql}; {chance.choice(OURS)}; {chance.choice(['COMMIT', 'ROLLBACK'])}"
            code, said = attempt(connection, sql)
            if not changes and code not in EXPECTED and not any(text in said for text in SERVERS_OWN):
                failures.append((code, sql, said))
            if connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE:
                connection.execute("ROLLBACK")
        if value(connection, "SELECT pg_backend_pid()") != pid:
            failures.append("another process of the server")
    finished.append(number)


with database("alineo_together") as name:
    with connect(name) as connection:
        connection.execute("SELECT alineo_init()")
        make_session(connection, "big", 50)
    failures, finished = [], []
    threads = [threading.Thread(target=session, args=(name, number, failures, finished)) for number in range(SESSIONS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expect("errors that no change explains", failures[:3], [])
    expect("sessions that came to their end", sorted(finished), list(range(SESSIONS)))
    count("calls at once", CALLS * SESSIONS)
    with connect(name) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS alineo_ledger")
        connection.execute("SELECT alineo_init()")
        connection.execute("CREATE EXTENSION amcheck")
        connection.execute("SELECT bt_index_check(indexrelid, true) FROM pg_index WHERE indrelid = 'alineo_events'::regclass")
        connection.execute("TRUNCATE alineo_events")
        make_session(connection, "big", 50)
        expect("execs at the end", value(connection, "SELECT count(*) FROM alineo_execs('n', 'big')"), 5)
        for sql in OURS:
            connection.execute(sql)
finish()
