#!/usr/bin/python3
"""Roles and rights: the SQL of docs/reference.md, taken from there, and then every allowed and every
refused action of each role, with its SQLSTATE; and that each privilege named there is needed."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs"))
from lib import *
from run_examples import read_blocks

ROLES = ("ledger_owner", "ledger_writer", "ledger_auditor", "ledger_ci", "ledger_nightly", "ledger_door", "ledger_least", "ledger_plain")
SECRET = "the-nightly-secret"
EVENTS, ENVIRONMENTS, SEQUENCE = "alineo_events", "alineo_environments", "alineo_events_id_seq"
COLUMNS = ("id", "sandbox_id", "name", "step_idx", "branch", "event", "payload", "error", "ts")
READ_EVENTS = {name: sql for name, sql in READS.items() if "environment" not in name}
READ_ENVIRONMENTS = {name: sql for name, sql in READS.items() if "environment" in name}
ALTER = {  # plain SQL that changes or locks what is recorded
    "UPDATE": "UPDATE alineo_events SET event = 'forged'",
    "UPDATE of one column": "UPDATE alineo_events SET payload = NULL WHERE id = 1",
    "DELETE": "DELETE FROM alineo_events",
    "TRUNCATE": "TRUNCATE alineo_events",
    "MERGE or upsert": "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, ts) VALUES ('a', 'ci', 1, 'e', 1) ON CONFLICT (id) DO UPDATE SET event = 'forged'",
    "SELECT FOR UPDATE": "SELECT id FROM alineo_events FOR UPDATE",
    "SELECT FOR SHARE": "SELECT id FROM alineo_events FOR SHARE",
    "LOCK": "LOCK alineo_events IN ACCESS EXCLUSIVE MODE",
    "ALTER TABLE": "ALTER TABLE alineo_events DISABLE ROW LEVEL SECURITY",
    "a trigger": "CREATE TRIGGER t BEFORE INSERT ON alineo_events FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "a policy": "CREATE POLICY all_of_it ON alineo_events USING (true)",
    "DROP": "DROP TABLE alineo_events",
    "setval": "SELECT setval('alineo_events_id_seq', 1000)",
    "an id of its choice": "INSERT INTO alineo_events (id, sandbox_id, name, step_idx, event, ts) VALUES (777777, 's', 'ci', 1, 'e', 1)",
    "COPY with an id": "COPY alineo_events FROM '/dev/null'",
    "an UPDATE of environments": "UPDATE alineo_environments SET image = 'forged'",
    "a DELETE of environments": "DELETE FROM alineo_environments",
    "a TRUNCATE of environments": "TRUNCATE alineo_environments",
    "alineo_delete_sandbox": "SELECT alineo_delete_sandbox('ci', 'big')",
    "alineo_save_environment": "SELECT alineo_save_environment('py', 'forged', 'image')",
    "alineo_delete_environment": "SELECT alineo_delete_environment('py')",
    "alineo_init over rows of 0.2": "SELECT alineo_init()",
}
APPENDS = {
    "alineo_append": "SELECT alineo_append('ci', 'new', 'e', '{\"a\":1}')",
    "alineo_append jsonb": "SELECT alineo_append('ci', 'new', 'e', '{\"a\":1}'::jsonb, ts => 5)",
    "alineo_append_batch": """SELECT alineo_append_batch('[{"name":"ci","sandboxId":"new","event":"e"},{"name":"ci","sandboxId":"big","event":"e","ts":7}]')""",
    "INSERT": "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, ts) VALUES ('new', 'ci', -1, 'e', 1)",
}


def recipes():
    """The blocks of the reference's section that grant something."""
    path = os.path.join(ROOT, "docs", "reference.md")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    first = lines.index("## Roles and rights") + 1
    last = next(i for i in range(first, len(lines)) if lines[i].startswith("## "))
    found = [block.text for block in read_blocks(path)
             if first < block.line < last and re.search(r"^(GRANT|CREATE POLICY) ", block.text, flags=re.M)]
    expect("blocks of SQL in the section Roles and rights that grant something", len(found), 4)
    return found


def allowed(connection, who, calls, want=None):
    for name, sql in calls.items():
        with connection.transaction(force_rollback=True):
            code, said = attempt(connection, sql)
            expect(f"{who} may: {name} ({said})", code, None)
        count("actions allowed")


def denied(connection, who, calls, code=REFUSED):
    for name, sql in calls.items():
        got, said = attempt(connection, f"BEGIN; {sql}")
        connection.execute("ROLLBACK")
        expect(f"{who} may not: {name} ({said})", got, code)
        expect(f"{who}, {name}: a secret of others in {said}", SECRET in said, False)
        count("actions refused")


def fill(admin):
    make_session(admin, "big", 40, name="ci")
    make_session(admin, "dark", 40, name="nightly")
    admin.execute("UPDATE alineo_events SET payload = payload || %s WHERE name = 'nightly'", [f'{{"text":"{SECRET}","snapshotId":"{SECRET}"}}'])
    admin.execute("SELECT alineo_append('nightly', 'dark', 'far', ts => 9000000000000000)")
    admin.execute("INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts) VALUES ('dark', 'nightly', 1, 'exec_event', %s, 1)",
                  [f'"{{\\"text\\":\\"{SECRET}\\"}}"'])
    admin.execute("SELECT alineo_save_environment('py', 'snap', 'python', 1)")


def ci(calls):
    """The same calls over the session ci/big."""
    return {name: sql.replace("'n', 'big'", "'ci', 'big'") for name, sql in calls.items()}


def owners(name, admin):
    """The owner may do all of it, and owns the sequence too."""
    with connect(name) as connection:
        connection.execute("SET SESSION AUTHORIZATION ledger_owner")
        ours = dict(ALTER)
        del ours["COPY with an id"]  # files are for superusers
        allowed(connection, "the owner", {**ours, **ci(READS), **APPENDS})
        connection.execute("RESET SESSION AUTHORIZATION")
    expect("owner of the sequence", value(admin, "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE relname = %s", [SEQUENCE]), "ledger_owner")


def auditors(name):
    with connect(name) as connection:
        connection.execute("SET SESSION AUTHORIZATION ledger_auditor")
        denied(connection, "the auditor", {**ALTER, **APPENDS, "nextval": "SELECT nextval('alineo_events_id_seq')"})
        allowed(connection, "the auditor", {**ci(READS), "COPY": "COPY alineo_events TO STDOUT", "SELECT": "SELECT * FROM alineo_events"})
        expect("sessions that the auditor sees", rows(connection, "SELECT DISTINCT name, sandbox_id FROM alineo_events ORDER BY 1, 2"),
               [("ci", "big"), ("nightly", "dark")])
        expect_in("what the auditor reads of others", SECRET, str(rows(connection, "SELECT * FROM alineo_replay('nightly', 'dark')")))
        expect("the auditor's list", len(rows(connection, "SELECT * FROM alineo_list_sandboxes()")), 2)


def writers(name):
    """A writer with the first block alone: it appends, and sees no more than that there is a session."""
    with connect(name) as connection:
        connection.execute("SET SESSION AUTHORIZATION ledger_plain")
        allowed(connection, "the writer", {**APPENDS, **READ_ENVIRONMENTS, "a ts": "SELECT ts FROM alineo_events",
                                           "an id": "SELECT max(id) FROM alineo_events"})
        denied(connection, "the writer", {**ALTER, **ci(READ_EVENTS), "SELECT": "SELECT * FROM alineo_events", "COPY": "COPY alineo_events TO STDOUT",
                                          "a payload": "SELECT payload FROM alineo_events", "the sequence": "SELECT * FROM alineo_events_id_seq",
                                          "a row returned": "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, ts) VALUES ('s', 'ci', 1, 'e', 1) RETURNING *"})
        with connection.transaction(force_rollback=True):
            with connection.cursor().copy("COPY alineo_events (sandbox_id, name, step_idx, event, ts) FROM STDIN") as copy:
                copy.write_row(("s", "ci", 1, "copied", 1))
        count("actions allowed")


def own_sessions(name, admin):
    """With policies a writer has its own sessions, and nothing else, whichever way it asks."""
    before = state(admin)
    with connect(name, user="ledger_ci") as connection:
        allowed(connection, "ledger_ci", {**APPENDS, **ci(READS), "SELECT": "SELECT * FROM alineo_events", "COPY": "COPY alineo_events TO STDOUT"})
        denied(connection, "ledger_ci", {call: sql for call, sql in ALTER.items() if call not in ("COPY with an id", "alineo_init over rows of 0.2")})
        denied(connection, "ledger_ci", {"COPY": "COPY alineo_events (sandbox_id, name, step_idx, event, ts) FROM STDIN"}, "0A000")
        # Rows of 0.2 that are hidden are not there to be rewritten.
        expect("alineo_init as ledger_ci", value(connection, "SELECT alineo_init()"), 0)
        others = {call: sql.replace("'ci'", "'nightly'").replace('"ci"', '"nightly"') for call, sql in APPENDS.items()}
        others["a batch that is partly its own"] = """SELECT alineo_append_batch('[{"name":"ci","sandboxId":"new","event":"e"},{"name":"nightly","sandboxId":"dark","event":"e"}]')"""
        denied(connection, "ledger_ci", others)
        # Every function over the session of others: as if it were not there.
        for call, sql in READ_EVENTS.items():
            dark = sql.replace("'n', 'big'", "'nightly', 'dark'").replace("'big'", "'dark'")
            nowhere = sql.replace("'n', 'big'", "'nightly', 'nowhere'").replace("'big'", "'nowhere'")
            got, want = ([attempt(connection, one)[0], None] for one in (dark, nowhere))
            for answer, one in ((got, dark), (want, nowhere)):
                answer[1] = rows(connection, one) if answer[0] is None else attempt(connection, one)[1].replace("dark", "nowhere")
            expect(f"{call} over a hidden session", got, want)
            expect(f"{call}: a secret of others", SECRET in str(got), False)
            count("hidden sessions asked for")
        expect("sessions of ledger_ci", rows(connection, "SELECT name, sandbox_id FROM alineo_list_sandboxes()"), [("ci", "big")])
        # The same sandbox_id under another name is another session; its time and rows do not matter.
        with connection.transaction(force_rollback=True):
            connection.execute("SELECT alineo_append('ci', 'dark', 'sandbox.created', '{\"resumedFrom\":\"dark2\",\"snapshotId\":\"x\"}')")
            connection.execute("SELECT alineo_append_batch('{\"name\":\"ci\",\"sandboxId\":\"dark\",\"event\":\"e\"}')")
            expect("times in a session whose sandbox_id others have", value(connection, "SELECT max(ts) < 9000000000000000 FROM alineo_events WHERE sandbox_id = 'dark'"), True)
            expect("a lineage whose parent is hidden", value(connection, "SELECT alineo_resume('dark') ->> 'lineage'"), '["dark"]')
        expect("the ledger", state(admin), before)

        # One session, of which a role sees a part: a ts that is left off is decided by that part.
        admin.execute("ALTER POLICY writer_reads ON alineo_events USING (error IS NULL)")
        admin.execute("UPDATE alineo_events SET error = 'hidden' WHERE name = 'nightly'; ALTER POLICY writer_appends ON alineo_events WITH CHECK (true)")
        with connection.transaction(force_rollback=True):
            connection.execute("SELECT alineo_append('nightly', 'dark', 'one')")
            connection.execute("SELECT alineo_append_batch('{\"name\":\"nightly\",\"sandboxId\":\"dark\",\"event\":\"two\"}')")
            expect("events of a session that is partly hidden", rows(connection, "SELECT event, ts < 9000000000000000 FROM alineo_replay('nightly', 'dark')"),
                   [("one", True), ("two", True)])
        # What an error says of a row is of a row that one sees: hidden ones are not even looked at.
        admin.execute(f"ALTER TABLE alineo_events ALTER payload TYPE text; UPDATE alineo_events SET payload = '{SECRET} is no json' WHERE error IS NOT NULL")
        for call, sql in {**ci(READ_EVENTS), "alineo_init": "SELECT alineo_init()"}.items():
            code, said = attempt(connection, sql)
            expect(f"{call} beside hidden rows that are damaged: {said}", code, None)
            count("hidden rows that are damaged")
        admin.execute("UPDATE alineo_events SET error = NULL WHERE id = (SELECT max(id) FROM alineo_events WHERE error IS NOT NULL)")
        expect("a damaged row that is not hidden", value(connection, "SELECT count(*) FROM alineo_replay('nightly', 'dark') WHERE payload #>> '{}' LIKE '%is no json'"), 1)


def by_own_name(name, admin):
    """The policies that need no table, and rights that change within a session."""
    admin.execute("""DROP POLICY writer_reads ON alineo_events; DROP POLICY writer_appends ON alineo_events;
        CREATE POLICY writer_reads ON alineo_events FOR SELECT TO ledger_writer USING (name = current_user);
        CREATE POLICY writer_appends ON alineo_events FOR INSERT TO ledger_writer WITH CHECK (name = current_user)""")
    with connect(name) as connection:
        # One session of the server, its plans made for one role and used by the next.
        for _ in range(3):
            for role in ("ledger_ci", "ledger_nightly"):
                connection.execute(f"SET ROLE {role}")
                expect("an append", value(connection, f"SELECT alineo_append('{role}', 's', 'e') > 0"), True)
                refused(connection, "SELECT alineo_append('somebody', 's', 'e')", REFUSED, "row-level security")
                other = "ledger_ci" if role == "ledger_nightly" else "ledger_nightly"
                refused(connection, f"SELECT alineo_append('{other}', 's', 'e')", REFUSED, "row-level security")
                expect("what it sees", rows(connection, "SELECT DISTINCT name FROM alineo_events"), [(role,)])
                expect("what it replays", value(connection, f"SELECT count(*) FROM alineo_replay('{other}', 's')"), 0)
                count("roles changed")
            connection.execute("SET ROLE ledger_plain")
            refused(connection, "SELECT alineo_append('ledger_ci', 's', 'e')", REFUSED, "row-level security")
            connection.execute("RESET ROLE")
            expect("what a superuser sees", value(connection, "SELECT count(DISTINCT name) FROM alineo_events WHERE name LIKE 'ledger%'"), 3)
        admin.execute("REVOKE INSERT (sandbox_id, name, step_idx, branch, event, payload, error, ts) ON alineo_events FROM ledger_writer")
        connection.execute("SET ROLE ledger_ci")
        refused(connection, "SELECT alineo_append('ledger_ci', 's', 'e')", REFUSED, "permission denied")
        count("rights revoked under a session")


def doors(name, admin):
    with connect(name, user="ledger_door") as connection:
        expect("an append through the door", value(connection, "SELECT ledger_append('s', 'e', '{\"a\":1}') > 0"), True)
        expect("what it appended", rows(admin, "SELECT name, event, payload FROM alineo_replay('ledger_door', 's')"), [("ledger_door", "e", {"a": 1})])
        refused(connection, "SELECT ledger_append('', 'e')", "22023", "alineo_append: sandbox_id must not be empty")
        denied(connection, "ledger_door", {**ALTER, **APPENDS, **READS, "SELECT": "SELECT * FROM alineo_events"})
        expect_in("a function that was revoked", "permission denied for function alineo_delete_sandbox",
                  attempt(connection, "SELECT alineo_delete_sandbox('ci', 'big')")[1])
    with connect(name, user="ledger_ci") as connection:
        refused(connection, "SELECT ledger_append('s', 'e')", REFUSED, "permission denied for function ledger_append")
        count("actions refused")
    admin.execute("ALTER EXTENSION alineo_ledger UPDATE")
    with connect(name, user="ledger_ci") as connection:
        refused(connection, "SELECT alineo_delete_sandbox('ci', 'big')", REFUSED, "permission denied for function")
        count("actions refused")


def of(privilege, *columns):
    return [f"{privilege} ({column})" for column in columns]


INSERTS = [(EVENTS, one) for one in of("INSERT", *COLUMNS[1:])] + [(SEQUENCE, "USAGE")]
LATEST = [(EVENTS, one) for one in of("SELECT", "name", "sandbox_id", "ts")]
ALL_OF = [(EVENTS, one) for one in of("SELECT", *COLUMNS)]
ENVIRONMENT = ("name", "snapshot_id", "image", "built_at")
LEAST = {
    "SELECT alineo_append('n', 'big', 'e', '{}', ts => 1)": [*INSERTS, (EVENTS, "SELECT (id)")],
    "SELECT alineo_append('n', 'big', 'e', '{}')": [*INSERTS, *LATEST, (EVENTS, "SELECT (id)")],
    """SELECT alineo_append_batch('{"name":"n","sandboxId":"big","event":"e","ts":1}')""": INSERTS,
    """SELECT alineo_append_batch('{"name":"n","sandboxId":"big","event":"e"}')""": INSERTS + LATEST,
    "SELECT alineo_delete_sandbox('n', 'big')": [(EVENTS, one) for one in ("DELETE", *of("SELECT", "name", "sandbox_id"))],
    "SELECT alineo_init()": [(EVENTS, one) for one in (*of("SELECT", "id", "event", "payload"), *of("UPDATE", "event", "payload"))],
    "SELECT * FROM alineo_replay('n', 'big')": ALL_OF,
    "SELECT * FROM alineo_last_checkpoint('n', 'big')": ALL_OF,
    "SELECT * FROM alineo_replay_cache('n', 'big')": ALL_OF,
    "SELECT * FROM alineo_execs('n', 'big')": ALL_OF,
    "SELECT alineo_resume('big')": ALL_OF,
    "SELECT alineo_output('n', 'big', 1)": ALL_OF,
    "SELECT * FROM alineo_list_checkpoints('n', 'big')": ALL_OF,
    "SELECT alineo_save_environment('py', 's', 'i')": [(ENVIRONMENTS, one) for one in (
        *of("INSERT", *ENVIRONMENT), *of("SELECT", *ENVIRONMENT), *of("UPDATE", *ENVIRONMENT[1:]))],
    "SELECT alineo_delete_environment('py')": [(ENVIRONMENTS, one) for one in ("DELETE", "SELECT (name)")],
    "SELECT * FROM alineo_get_environment('py')": [(ENVIRONMENTS, one) for one in of("SELECT", *ENVIRONMENT)],
    "SELECT * FROM alineo_list_environments()": [(ENVIRONMENTS, one) for one in of("SELECT", *ENVIRONMENT)],
}


def least(name, admin):
    """With the privileges that the reference names a call works; without any one of them it does not."""
    def grant(privileges):
        admin.execute(f"REVOKE ALL ON {EVENTS}, {ENVIRONMENTS} FROM ledger_least; REVOKE ALL ON SEQUENCE {SEQUENCE} FROM ledger_least")
        for table, privilege in privileges:
            admin.execute(f"GRANT {privilege} ON {table} TO ledger_least")

    make_session(admin, "big", 20)
    admin.execute("INSERT INTO alineo_events (sandbox_id, name, step_idx, event, ts) VALUES ('old', 'n', 1, 'exec_start', 1)")
    admin.execute("SELECT alineo_save_environment('py', 'snap', 'python', 1)")
    admin.execute("CREATE ROLE ledger_least LOGIN")
    with connect(name, user="ledger_least") as connection:
        for sql, privileges in LEAST.items():
            grant(privileges)
            allowed(connection, "with the least rights one", {sql: sql})
            for missing in privileges:
                grant([one for one in privileges if one != missing])
                denied(connection, f"without {missing} one", {sql: sql})
    admin.execute(f"REVOKE ALL ON {EVENTS}, {ENVIRONMENTS} FROM ledger_least; REVOKE ALL ON SEQUENCE {SEQUENCE} FROM ledger_least")


with connect("postgres") as server:
    there = [role for (role,) in rows(server, "SELECT rolname FROM pg_roles WHERE rolname = ANY(%s)", [list(ROLES)])]
    if there:
        sys.exit(f"{there} exist on the server; this test makes them, and would drop them")
    try:
        with database("alineo_least") as name, connect(name) as admin:
            admin.execute("SELECT alineo_init()")
            least(name, admin)
        grants, policies, door, execute = recipes()
        with database("alineo_rights") as name, connect(name) as admin:
            admin.execute(grants)
            # A role of its own: the others become members of ledger_writer in the second block.
            admin.execute("CREATE ROLE ledger_plain LOGIN IN ROLE ledger_writer")
            fill(admin)
            owners(name, admin)
            writers(name)
            auditors(name)
            admin.execute(policies)
            auditors(name)
            owners(name, admin)
            own_sessions(name, admin)
            admin.execute("ALTER TABLE alineo_events ALTER payload TYPE jsonb USING NULL")
            admin.execute(door)
            admin.execute(execute)
            doors(name, admin)
            by_own_name(name, admin)
    finally:
        for role in ROLES:
            server.execute(f"DROP ROLE IF EXISTS {role}")
finish()
