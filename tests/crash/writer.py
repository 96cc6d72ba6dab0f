"""A writer: takes work, does it, and keeps a journal of it, until it is killed or loses its server."""
import os
import sys
import traceback

from journal import Journal


class Refused(Exception):
    """The database refused a piece of work, and nothing of it is there."""


class Lost(Exception):
    """The connection is gone, and whether the last piece of work was done is not known."""


def take_step(ledger, step):
    """Does a step; what it answered, for the journal."""
    if step["do"] == "append":
        return {"ids": [ledger.append(step["rows"][0])]}
    if step["do"] == "batch":
        return {"count": ledger.append_batch(step["rows"])}
    if step["do"] == "old":
        return {"ids": [ledger.insert_old(row) for row in step["rows"]]}
    if step["do"] == "delete":
        return {"count": ledger.delete(*step["session"])}
    if step["do"] == "init":
        return {"rewritten": ledger.init()}
    if step["do"] == "read":
        return {"read": ledger.read(*step["session"])}
    ledger.run("SAVEPOINT s")
    for inner in step["steps"]:
        take_step(ledger, inner)
    ledger.run("ROLLBACK TO SAVEPOINT s")
    ledger.run("RELEASE SAVEPOINT s")
    return {}


def do_work(ledger, work):
    if work["mode"] == "auto":
        return [take_step(ledger, work["steps"][0])]
    try:
        ledger.run(work["mode"])
        results = [take_step(ledger, step) for step in work["steps"]]
        ledger.run("COMMIT")
    except Refused:
        ledger.roll_back()
        raise
    return results


def write(connect, path, workload, early=False):
    """Works until there is no more work. With `early`, lies: acknowledges before it has done it."""
    journal = Journal(path)
    ledger = connect()
    journal.write(started=os.getpid(), backend=ledger.backend())
    for number, work in enumerate(workload):
        journal.about(number, work)
        if early:
            journal.done(number, [{}] * len(work["steps"]))
        try:
            result = do_work(ledger, work)
        except Refused as error:
            journal.refused(number, str(error))
            continue
        if not early:
            journal.done(number, result)


def start(connect, path, workload, **options):
    """Starts a writer in a process of its own; its process id."""
    process = os.fork()
    if process != 0:
        return process
    status = 0
    try:
        write(connect, path, workload, **options)
    except Lost:
        pass
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stderr.flush()
    os._exit(status)
