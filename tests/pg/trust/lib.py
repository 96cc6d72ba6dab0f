"""For the tests in this folder, which break a ledger on purpose.

They use the server that libpq's environment names, each in databases of its own,
and end with a line that counts what was injected. A test fails by an exception.
"""
import contextlib
import os
import random
import sys

import psycopg

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

# What a server says of itself, in the words of the fault that was injected.
CANCELLED, LOCKED, READ_ONLY, REFUSED = "57014", "55P03", "25006", "42501"
DISK_FULL, NO_MEMORY, TOO_MANY_FILES, TOO_LARGE = "53100", "53200", "53400", "54000"

counts = {}


def count(what, many=1):
    """Counts faults of a kind, for the line at the end."""
    counts[what] = counts.get(what, 0) + many


def finish():
    print("[  PASSED  ] " + ", ".join(f"{many} {what}" for what, many in counts.items()))


SEED = int(os.environ.get("ALINEO_SEED") or random.SystemRandom().randrange(1 << 32))


def seeded(part=0):
    """A source of random numbers for a part of a test; the seed is printed, and can be given by ALINEO_SEED."""
    if part == 0:
        print(f"ALINEO_SEED={SEED}")
    return random.Random(f"{SEED} {part}")


def expect(what, got, want):
    if got != want:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {what}\n  got  {got!r}\n  want {want!r}")


def expect_in(what, part, whole):
    if part not in whole:
        sys.exit(f"{os.path.basename(sys.argv[0])}: {what}\n  got  {whole!r}\n  want something with {part!r}")


def connect(database, **options):
    connection = psycopg.connect(dbname=database, autocommit=True, prepare_threshold=None, **options)
    connection.execute("SET client_min_messages = warning")
    return connection


@contextlib.contextmanager
def database(name, extension=True):
    """A new database, dropped at the end whatever happened."""
    with connect("postgres") as admin:
        admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
        admin.execute(f"CREATE DATABASE {name} ENCODING 'UTF8' TEMPLATE template0")
        try:
            if extension:
                with connect(name) as made:
                    made.execute("CREATE EXTENSION alineo_ledger")
            yield name
        finally:
            admin.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def rows(connection, sql, parameters=None):
    return connection.execute(sql, parameters).fetchall()


def value(connection, sql, parameters=None):
    return rows(connection, sql, parameters)[0][0]


def attempt(connection, sql, parameters=None):
    """Runs a statement that may fail: its SQLSTATE, or None, and what the server said."""
    *before, last = sql.split("; ")
    try:
        if last.startswith("COPY ") and " STD" in last:
            for one in before:
                connection.execute(one)
            with connection.cursor().copy(last) as copy:
                if "TO STDOUT" in last:
                    list(copy)
        else:
            connection.execute(sql, parameters)
    except psycopg.Error as error:
        return error.sqlstate, str(error)
    return None, ""


def refused(connection, sql, sqlstate, text="", parameters=None):
    """Runs a statement that must fail in this way."""
    state, said = attempt(connection, sql, parameters)
    expect(f"SQLSTATE of {sql[:300]} ({said})", state, sqlstate)
    expect_in(f"the text of {sql[:300]}", text, said)
    return said


STATE = """SELECT count(*), sum(hashtextextended(e::text, 0)) FROM alineo_events e
    UNION ALL SELECT count(*), sum(hashtextextended(v::text, 0)) FROM alineo_environments v"""


def state(connection):
    """What the ledger holds, in two numbers a table; None where there is none."""
    if value(connection, "SELECT to_regclass('alineo_events') IS NULL OR to_regclass('alineo_environments') IS NULL"):
        return None
    return rows(connection, STATE)


def make_session(connection, sandbox, events, text=80, name="n"):
    """A session of so many events: execs of ten, with output, and a checkpoint that covers them."""
    connection.execute(f"""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT '{sandbox}', '{name}', i / 10,
               CASE i %% 10 WHEN 0 THEN 'exec.started' WHEN 9 THEN 'exec.completed' ELSE 'exec.output' END,
               jsonb_build_object('seq', i / 10, 'cmd', 'c' || i, 'type', 'stdout', 'exitCode', 0,
                                  'text', repeat('line of output ', {text} / 15) || i), 1000 + i
          FROM generate_series(0, {events} - 1) i""".replace("%%", "%"))
    connection.execute(f"""INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT '{sandbox}', '{name}', -1, e, '{{"snapshotId":"x","tag":"t"}}', 100000000
          FROM unnest(ARRAY['sandbox.created', 'sandbox.checkpoint_created']) e""")


# Every function that reads, over session n/big.
READS = {
    "alineo_replay": "SELECT * FROM alineo_replay('n', 'big')",
    "alineo_last_checkpoint": "SELECT * FROM alineo_last_checkpoint('n', 'big')",
    "alineo_replay_cache": "SELECT * FROM alineo_replay_cache('n', 'big')",
    "alineo_execs": "SELECT * FROM alineo_execs('n', 'big')",
    "alineo_resume": "SELECT alineo_resume('big')::text",
    "alineo_output": "SELECT alineo_output('n', 'big', 1)",
    "alineo_list_checkpoints": "SELECT * FROM alineo_list_checkpoints('n', 'big')",
    "alineo_list_sandboxes": "SELECT * FROM alineo_list_sandboxes()",
    "alineo_get_sandbox": "SELECT * FROM alineo_get_sandbox('n', 'big')",
    "alineo_get_environment": "SELECT * FROM alineo_get_environment('py')",
    "alineo_list_environments": "SELECT * FROM alineo_list_environments()",
}

# Every function that writes. alineo_init comes with something to rewrite where
# the ledger holds a legacy name.
WRITES = {
    "alineo_append": "SELECT alineo_append('n', 'new', 'e', '{\"a\":1}')",
    "alineo_append with ts": "SELECT alineo_append('n', 'new', 'e', '{\"a\":1}'::jsonb, ts => 5)",
    "alineo_append_batch": """SELECT alineo_append_batch('[{"name":"n","sandboxId":"new","event":"e"},
        {"name":"n","sandboxId":"new","event":"e","ts":7}]')""",
    "alineo_delete_sandbox": "SELECT alineo_delete_sandbox('n', 'big')",
    "alineo_save_environment": "SELECT alineo_save_environment('py', 'snap', 'python')",
    "alineo_delete_environment": "SELECT alineo_delete_environment('py')",
    "alineo_init": "SELECT alineo_init()",
}


def answers(connection):
    """What every reading function says; numbers that only the clock decides are not among it."""
    return {name: rows(connection, sql) for name, sql in READS.items()}
