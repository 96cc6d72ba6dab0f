#!/usr/bin/python3
"""What a server runs out of: disk, memory, temporary files, locks, the size of a value. Its own
error, the ledger as it was, and the next call works once there is room again.

Usage: resources.py [long]

A disk that is full needs root, to mount a small one; memory needs prlimit on the server's process.
"""
import contextlib
import os
import pwd
import shutil
import subprocess
import sys
import tempfile

from lib import *

LONG = sys.argv[1:] == ["long"]
ENTRY = '{"name":"n","sandboxId":"new","event":"e","payload":{"text":"%s"}}'


@contextlib.contextmanager
def small_disk(megabytes):
    """A file system of so many megabytes that the server can write to, or None."""
    folder = tempfile.mkdtemp(prefix="alineo-disk-")
    owner = os.stat(os.environ["PGHOST"]).st_uid
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=700,uid={owner}", "tmpfs", folder],
                          capture_output=True, text=True, check=False)
    try:
        yield folder if done.returncode == 0 else None
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)
        shutil.rmtree(folder)
    if done.returncode != 0:
        print(f"skipped: disks that are full, as none can be mounted here ({done.stderr.strip()})")


def fill_up(folder):
    """Takes all room that is left."""
    with open(os.path.join(folder, "filler"), "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(b"x" * 4096)


def make_room(folder, name="filler"):
    os.remove(os.path.join(folder, name))


def disk_full(connection, folder):
    text = "No space left on device"
    connection.execute(f"CREATE TABLESPACE alineo_small LOCATION '{folder}'")
    connection.execute("SET default_tablespace = alineo_small")
    with open(os.path.join(folder, "reserve"), "wb") as file:
        file.write(b"x" * (1 << 20))
    # The first write, with room for no table.
    fill_up(folder)
    for name in ("alineo_append", "alineo_append_batch", "alineo_save_environment", "alineo_init"):
        refused(connection, WRITES[name], DISK_FULL, text)
        expect(f"tables after {name}", state(connection), None)
        count("disks full")
    make_room(folder)
    expect("the first write", value(connection, "SELECT alineo_append('n', 'big', 'sandbox.created', ts => 1) > 0"), True)
    # Appends one by one: what was acknowledged is there.
    fill_up(folder)
    acknowledged = 1
    while attempt(connection, "SELECT alineo_append('n', 'one', 'e', to_json(repeat(%s, 90)), ts => 1)",
                  [f"{acknowledged:08}" * 10])[0] is None:
        acknowledged += 1
    refused(connection, "SELECT alineo_append('n', 'one', 'e', to_json(repeat('0123456789', 720)))", DISK_FULL, text)
    expect("appends one by one", value(connection, "SELECT count(*) FROM alineo_events"), acknowledged)
    count("disks full", 2)
    # A batch, in the middle of it; a deletion needs no room; a batch that fits goes in.
    before = state(connection)
    batch = "[" + ",".join(ENTRY % os.urandom(900).hex() for _ in range(3000)) + "]"
    make_room(folder)
    for _ in range(3):
        refused(connection, "SELECT alineo_append_batch(%s)", DISK_FULL, text, [batch])
        expect("the ledger after a batch", state(connection), before)
        count("disks full")
    expect("a deletion", value(connection, "SELECT alineo_delete_sandbox('n', 'one')"), acknowledged - 1)
    make_room(folder, "reserve")
    connection.execute("VACUUM FULL alineo_events")
    expect("a batch that fits", value(connection, "SELECT alineo_append_batch(%s)", [f"[{ENTRY % 'y'}]"]), 1)
    # The migration writes each row anew.
    connection.execute("""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT 'old', 'n', 1, 'exec_event', to_jsonb(repeat('x', 1000)), i FROM generate_series(1, 2000) i""")
    fill_up(folder)
    before = state(connection)
    refused(connection, "SELECT alineo_init()", DISK_FULL, text)
    expect("the ledger after the migration", state(connection), before)
    count("disks full")
    # So do results that are too large for work_mem.
    connection.execute("SET temp_tablespaces = alineo_small; SET work_mem = '64kB'")
    refused(connection, "SELECT * FROM alineo_replay('n', 'old')", DISK_FULL, text)
    count("disks full")
    make_room(folder)
    connection.execute("RESET work_mem; RESET temp_tablespaces; RESET default_tablespace")
    expect("the replay", value(connection, "SELECT count(*) FROM alineo_replay('n', 'old')"), 2000)
    connection.execute("ALTER TABLE alineo_events SET TABLESPACE pg_default")
    expect("the migration", value(connection, "SELECT alineo_init()"), 2000)


def drop_tablespace(connection):
    connection.execute("DROP TABLE IF EXISTS alineo_events, alineo_environments")
    connection.execute("DROP TABLESPACE IF EXISTS alineo_small")


def temporary_files(connection):
    make_session(connection, "big", 20000)
    want = answers(connection)
    connection.execute("SET work_mem = '64kB'; SET temp_file_limit = '256kB'")
    for sql in (READS["alineo_replay"], "SELECT count(*) FROM alineo_replay('n', 'big')",
                "SELECT r FROM alineo_replay('n', 'big') r ORDER BY r.payload::text"):
        refused(connection, sql, TOO_MANY_FILES, "temporary file size exceeds temp_file_limit")
        count("temp_file_limit")
    connection.execute("RESET temp_file_limit")
    expect("answers with a small work_mem", answers(connection), want)
    connection.execute("RESET work_mem")


def limit_memory(pid, bytes_more):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        now = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
    limit = "unlimited" if bytes_more is None else now + bytes_more
    # As the server's own user: root may lack what it takes to limit others.
    user = [] if os.geteuid() else ["runuser", "-u", pwd.getpwuid(os.stat(f"/proc/{pid}").st_uid).pw_name, "--"]
    return subprocess.run([*user, "prlimit", "--pid", str(pid), f"--as={limit}:"], capture_output=True, check=False).returncode == 0


def out_of_memory(name, other):
    """Each call with less and less memory, until it needs none of what is missing."""
    other.execute("""CREATE TABLE huge AS SELECT '{"name":"n","sandboxId":"new","event":"e","error":"' || repeat('\\n', 1000000)
        || '","payload":"' || repeat('\\u0000', 500000) || '"}' AS t""")
    other.execute("""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT 'big', 'n', 1, 'exec.output', jsonb_build_object('seq', 1, 'type', 'stdout', 'text', repeat(i || E'\\n', 100000)), i
          FROM generate_series(1, 12) i""")
    want = value(other, "SELECT octet_length(alineo_output('n', 'big', 1))")
    before = state(other)
    ours = 0
    calls = ["SELECT alineo_append_batch(t) FROM huge", "SELECT alineo_append_batch(t::json) FROM huge",
             "SELECT alineo_append('n', 'new', 'e', t) FROM huge", READS["alineo_execs"], READS["alineo_resume"],
             READS["alineo_output"], READS["alineo_replay_cache"]]
    for sql in calls:
        with connect(name) as connection:
            pid = connection.info.backend_pid
            connection.execute("SET jit = off; SELECT count(*) FROM alineo_events; SELECT * FROM alineo_get_sandbox('n', 'big')")
            failed = 0
            for kilobytes in (0, 256, 512, 1024, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 32768, 65536):
                if not limit_memory(pid, kilobytes << 10):
                    print("skipped: memory that runs out, as prlimit cannot limit the server here")
                    return
                code, said = attempt(connection, sql)
                limit_memory(pid, None)
                if code is None:
                    other.execute("DELETE FROM alineo_events WHERE sandbox_id = 'new'")
                    break
                expect(f"SQLSTATE of {sql}: {said}", code, NO_MEMORY)
                ours += 'in memory context "alineo' in said
                failed += 1
                count("out of memory")
                if sql not in READS.values():
                    expect(f"the ledger after {sql}", state(other), before)
                expect("the next call", value(connection, "SELECT event FROM alineo_last_checkpoint('n', 'big')"),
                       "sandbox.checkpoint_created")
            expect(f"{sql} ran out of memory", failed > 0, True)
            expect("the same call with memory", attempt(connection, f"BEGIN; {sql}; ROLLBACK"), (None, ""))
    expect("memory that the ledger itself asked for", ours > 0, True)
    expect("the output", value(other, "SELECT octet_length(alineo_output('n', 'big', 1))"), want)


def too_large(connection):
    """More than a value can hold. Most take gigabytes, and so are for the long form."""
    before = state(connection)
    calls = [
        ("SELECT alineo_append('n', 'new', 'e', '[' || repeat('1,', 17000000) || '1]')", "jsonb array elements exceeds"),
        ("""SELECT alineo_append('n', 'new', 'e', '{' || repeat('"":1,', 9000000) || '"":1}')""", "jsonb object pairs exceeds"),
        ("""SELECT alineo_append('n', 'new', 'e', '"' || repeat('x', 268435456) || '"')""", "string too long to represent as jsonb string"),
        ("""SELECT alineo_append_batch('{"name":"n","sandboxId":"new","event":"e","payload":["' || repeat('x', 268435456) || '"]}')""",
         "string too long to represent as jsonb string"),
    ]
    for sql, text in calls if LONG else calls[:1]:
        refused(connection, sql, TOO_LARGE, text)
        expect("the ledger", state(connection), before)
        count("too large")
    if not LONG:
        return
    # More output than a value can hold, in parts that each fit.
    connection.execute("""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT 'vast', 'n', 1, 'exec.output', jsonb_build_object('seq', 1, 'type', 'stdout', 'text', repeat('x', 230000000)), i
          FROM generate_series(1, 5) i""")
    for event in ("sandbox.created", "exec.completed", "sandbox.checkpoint_created"):
        connection.execute("SELECT alineo_append('n', 'vast', %s, '{\"seq\":1,\"exitCode\":0,\"snapshotId\":\"x\"}')", [event])
    for sql, text in (("SELECT alineo_output('n', 'vast', 1)", "alineo_output: the stream is 1150000000 bytes long, the limit is 1073741819"),
                      ("SELECT * FROM alineo_execs('n', 'vast')", "alineo_execs: stdout of exec 1 is 1150000000 bytes long, the limit is 1073741819"),
                      ("SELECT * FROM alineo_replay_cache('n', 'vast')", "alineo_replay_cache: stdout of exec 1 is 1150000000 bytes long"),
                      ("SELECT alineo_resume('vast')", "alineo_resume: the document is")):
        said = refused(connection, sql, TOO_LARGE, text)
        expect_in("the hint", "alineo_replay(name, sandbox_id) gives it in the parts recorded", said)
        count("too large")
    expect("the parts", value(connection, "SELECT count(*) FROM alineo_replay('n', 'vast')"), 8)
    connection.execute("SELECT alineo_delete_sandbox('n', 'vast')")


def too_many_locks(connection, greedy):
    """The server's table of locks is full: what takes one there fails."""
    refused(greedy, "SELECT pg_advisory_lock(i) FROM generate_series(1, 10000000) i", NO_MEMORY, "out of shared memory")
    for name in ("alineo_append", "alineo_append_batch", "alineo_save_environment", "alineo_init"):
        refused(connection, WRITES[name], NO_MEMORY, "out of shared memory")
        count("out of locks")
    greedy.execute("SELECT pg_advisory_unlock_all()")
    expect("tables", state(connection), None)
    expect("the first write", value(connection, "SELECT alineo_append('n', 's', 'e') > 0"), True)


with database("alineo_resources") as name, connect(name) as connection:
    with connect("postgres") as greedy:
        too_many_locks(connection, greedy)
    connection.execute("DROP TABLE alineo_events, alineo_environments")
    with small_disk(4) as folder:
        if folder:
            try:
                disk_full(connection, folder)
            finally:
                drop_tablespace(connection)
    connection.execute("SELECT alineo_init()")
    temporary_files(connection)
    too_large(connection)
    out_of_memory(name, connection)
finish()
