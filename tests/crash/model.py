"""What a ledger should hold after what its writers were told."""
from workload import OLD_NAMES, SHARED


class Event:
    """An event that was sent, and once it was seen in the ledger, what it is there."""

    def __init__(self, row, task):
        self.row = row
        self.token = row["payload"]["k"]
        self.session = (row["name"], row["sandbox_id"])
        self.old = row["wrapped"] is not None           # stored as an SDK of 0.2 does
        self.begun, self.done_at = task.begun, task.done_at
        self.migrated = False   # seen so
        self.own_init = False   # the same transaction migrated after it

    def forms(self):
        """How its event and payload may be stored: together, never one of each."""
        sent = self.row
        current = (OLD_NAMES.get(sent["event"], sent["event"]), sent["payload"])
        if not self.old:
            return [current]
        return [(sent["event"], Wrapped(sent["payload"]) if sent["wrapped"] else sent["payload"]), current]

    def others(self):
        """The columns whose value the sender knows."""
        row = self.row
        step = row["step_idx"]
        if step is None:
            event = OLD_NAMES.get(row["event"], row["event"])
            step = row["payload"]["seq"] if event.startswith("exec.") else -1
        known = {"name": row["name"], "sandbox_id": row["sandbox_id"], "step_idx": step, "branch": row["branch"],
                 "error": row["error"]}
        if row["ts"] is not None:
            known["ts"] = row["ts"]
        return known


class Wrapped(dict):
    """A payload that is stored as a JSON string which holds it."""

    def __eq__(self, other):
        return isinstance(other, Wrapped) and dict.__eq__(self, other)

    def __ne__(self, other):
        return not self == other


def steps_of(tasks):
    return [(task, step) for task in tasks for step in task.work["steps"]]


def sent_rows(step):
    """The events of a step, those that it takes back too."""
    return step.get("rows", []) + [row for inner in step.get("steps", []) for row in sent_rows(inner)]


def outcome(start, tasks, with_open, complain=None):
    """The events there should be, by token: those of `start`, and what the tasks did to them; with or without the one
    whose end is not known. `complain` hears of answers that were wrong."""
    events = dict(start)
    for task in tasks:
        if task.refused is not None or (task.open and not with_open):
            continue
        for i, step in enumerate(task.work["steps"]):
            got = task.results[i].get("count") if i < len(task.results) else None
            wanted = apply(events, task, step)
            if complain is not None and got is not None and got != wanted:
                complain("count", "%s answered %d and not %d in %s" % (step["do"], got, wanted, task.work))
    return events


def apply(events, task, step):
    """Does a step to the events; the count it should answer with."""
    if step["do"] == "delete":
        gone = [token for token, event in events.items() if event.session == tuple(step["session"])]
        for token in gone:
            del events[token]
        return len(gone)
    if step["do"] == "init":
        for event in events.values():
            if event.begun == task.begun:
                event.own_init = True
    for row in step.get("rows", []):
        event = Event(row, task)
        events[event.token] = event
    return len(step.get("rows", []))


def is_shared(event):
    return event.session == SHARED
