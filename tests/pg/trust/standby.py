#!/usr/bin/python3
"""A hot standby of the server: every function that reads gives what it gives on the primary, every
one that writes is refused, and after promotion the sessions that were there go on to write."""
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

from lib import *

PORT = 5433


def as_owner(owner, *command):
    user = ["runuser", "-u", owner, "--"] if os.geteuid() == 0 else []
    done = subprocess.run([*user, *command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stdout}")


def wait_for(standby, primary):
    """Until the standby has what the primary wrote."""
    target = value(primary, "SELECT pg_current_wal_lsn()")
    for _ in range(600):
        if value(standby, "SELECT pg_last_wal_replay_lsn() >= %s::pg_lsn", [target]):
            return
        time.sleep(0.05)
    sys.exit("the standby does not follow")


def compare(primary, standby, nothing):
    """Both servers, with the ledger as it is and as it changes."""
    wait_for(standby, primary)
    before = state(primary)
    expect("answers on the standby", answers(standby), answers(primary))
    for sql in WRITES.values():
        refused(standby, sql, READ_ONLY, "in a read-only transaction")
        count("writes on a standby")
    for call in ("alineo_append", "alineo_append_batch", "alineo_save_environment", "alineo_init"):
        refused(nothing, WRITES[call], READ_ONLY, f"cannot execute {call}() in a read-only transaction")
        count("writes on a standby")
    expect("a ledger that is not there yet", rows(nothing, READS["alineo_replay"]), [])

    def answers_or_codes(connection):
        return {call: attempt(connection, sql)[0] or rows(connection, sql) for call, sql in READS.items()}

    # What comes from the primary is seen, under plans made before.
    for change in ("SELECT alineo_append('n', 'big', 'exec.output', '{\"seq\":1,\"type\":\"stdout\",\"text\":\"more\"}', ts => 5)",
                   "DROP INDEX alineo_events_name_sandbox_ts", "SELECT alineo_init()", "SELECT alineo_save_environment('py', 'other', 'python', 2)",
                   "ALTER TABLE alineo_events ADD extra text", "SELECT alineo_delete_sandbox('n', 'big')"):
        primary.execute(change)
        wait_for(standby, primary)
        expect(f"answers on the standby after {change}", answers_or_codes(standby), answers_or_codes(primary))
        count("changes that were followed")
    expect("the ledger was written to", state(primary) != before, True)


with connect("postgres") as server:
    bindir = value(server, "SELECT setting FROM pg_config() WHERE name = 'BINDIR'")
    owner = pwd.getpwuid(os.stat(f"/proc/{server.info.backend_pid}").st_uid).pw_name if os.path.isdir(f"/proc/{server.info.backend_pid}") else None
    if owner is None or value(server, "SELECT setting::int FROM pg_settings WHERE name = 'max_wal_senders'") < 2:
        print("skipped: a standby, as the server is elsewhere or allows none")
        sys.exit(0)
folder = tempfile.mkdtemp(prefix="alineo-standby-")
data = os.path.join(folder, "data")
try:
    if os.geteuid() == 0:
        shutil.chown(folder, owner)
    with database("alineo_standby") as name, database("alineo_standby_empty") as empty, connect(name) as primary:
        primary.execute("SELECT alineo_init(), alineo_save_environment('py', 'snap', 'python', 1)")
        make_session(primary, "big", 500)
        as_owner(owner, f"{bindir}/pg_basebackup", "-D", data, "-h", os.environ["PGHOST"], "-p", os.environ.get("PGPORT", "5432"),
                 "-U", os.environ.get("PGUSER", "postgres"), "-X", "stream", "-R", "-c", "fast", "--no-sync")
        as_owner(owner, f"{bindir}/pg_ctl", "-D", data, "-l", os.path.join(folder, "log"), "-w", "-o",
                 f"-c port={PORT} -k {os.environ['PGHOST']} -c listen_addresses= -c fsync=off -c shared_buffers=16MB", "start")
        try:
            with connect(name, port=PORT) as standby, connect(empty, port=PORT) as nothing:
                compare(primary, standby, nothing)
                as_owner(owner, f"{bindir}/pg_ctl", "-D", data, "-w", "promote")
                for sql in WRITES.values():
                    standby.execute(sql)
                expect("an append after promotion", rows(standby, "SELECT event FROM alineo_replay('n', 'new')"), [("e",), ("e",), ("e",), ("e",)])
                expect("a first write after promotion", value(nothing, WRITES["alineo_append"]), 1)
                count("promotions")
        finally:
            as_owner(owner, f"{bindir}/pg_ctl", "-D", data, "-m", "immediate", "stop")
finally:
    shutil.rmtree(folder)
finish()
