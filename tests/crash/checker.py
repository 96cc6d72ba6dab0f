"""Holds a ledger against the journals of its writers.

A fault is a kind and a text. The kinds: lost, twice, unknown (nobody sent it), risen (deleted or taken back, and
there), half (of a batch, deletion or transaction), content, half migrated (one row), unmigrated, half migration (of
several rows), count (a wrong answer), wrong id (not the one acknowledged), id order, id reused, ts order, damaged
(what the engine's own check says), stuck (it takes no more appends), busy (refused, where a plain INSERT would have
waited).
"""
import bisect
import itertools
import time
from collections import Counter

from model import Event, is_shared, outcome, sent_rows, steps_of
from workload import SHARED


class Writer:
    """A writer that has ended: its journal, and the sessions of earlier writers that were handed to it."""

    def __init__(self, name, tasks, sessions):
        self.name, self.tasks = name, tasks
        self.sessions = set(map(tuple, sessions))


class Checker:
    def __init__(self, engine):
        self.engine = engine
        self.events = {}        # by token: what was there when last looked
        self.ids = {}           # every id ever seen or acknowledged: its token, and whether it was chosen by us
        self.highest = []       # (time, highest id known then), both growing
        self.probes = 0
        self.figures = Counter()
        self.faults = []

    def complain(self, kind, text):
        self.faults.append((kind, text[:500]))

    def sessions(self):
        """The sessions that can be handed to the next writers."""
        return sorted({event.session for event in self.events.values()} - {SHARED, ("probe", "probe")})

    def check(self, ledger, writers, deep=True):
        """Looks at the ledger after a round, and takes what is there for given in the next. `deep`: asks the engine
        too whether it is sound."""
        self.faults = []
        stored = self.by_token(ledger.rows())
        there = {}
        for writer in writers:
            self.check_writer(writer, stored, there)
            self.count(writer.tasks)
        mine = set().union(*[writer.sessions for writer in writers]) if writers else set()
        for token, event in self.events.items():
            if event.session not in mine:
                if token not in stored:
                    self.complain("lost", "event %s of an earlier round" % token)
                there[token] = event
        for token in stored.keys() - there.keys() - self.explained(writers):
            self.complain("unknown", str(stored[token]))
        there = {token: event for token, event in there.items() if token in stored}
        for token, event in there.items():
            self.check_content(event, stored[token])
        tasks = [task for writer in writers for task in writer.tasks if task.refused is None]
        self.check_migrations(there, tasks)
        self.check_ids(stored, there, tasks)
        self.check_ts(stored, there)
        self.check_replay(ledger, stored)
        self.settle(there)
        self.check_goes_on(ledger)
        for text in ledger.damages() if deep else []:
            self.complain("damaged", text)
        return self.faults

    def explained(self, writers):
        """Tokens that somebody sent; whether they should be there has been looked at."""
        sent = {row["payload"]["k"] for writer in writers for _, step in steps_of(writer.tasks)
                for row in sent_rows(step)}
        return sent | self.events.keys()

    def by_token(self, rows):
        stored = {}
        for row in rows:
            payload = row["payload"]
            token = payload.get("k") if isinstance(payload, dict) else None
            if token is None:
                self.complain("unknown", str(row))
            elif token in stored:
                self.complain("twice", "event %s has the ids %d and %d" % (token, stored[token]["id"], row["id"]))
            stored[token] = row
        return stored

    def check_writer(self, writer, stored, there):
        start = {token: event for token, event in self.events.items() if event.session in writer.sessions}
        sent = {row["payload"]["k"] for _, step in steps_of(writer.tasks) for row in sent_rows(step)}
        seen = {token for token in sent | start.keys() if token in stored}
        before = outcome(start, writer.tasks, False, self.complain)
        after = outcome(start, writer.tasks, True)
        unknown = [task for task in writer.tasks if task.open]
        if unknown and before.keys() != after.keys():
            self.figures["open, found done" if seen == after.keys() else "open, found undone"] += 1
        if seen == after.keys() and seen != before.keys():
            there.update(after)
            return
        there.update(before)
        if seen == before.keys():
            return
        if (before.keys() & after.keys()) - seen:
            self.complain("lost", "%s: events %s" % (writer.name, sorted((before.keys() & after.keys()) - seen)))
        elif seen - (before.keys() | after.keys()):
            self.complain("risen", "%s: events %s" % (writer.name, sorted(seen - (before.keys() | after.keys()))))
        else:
            self.complain("half", "%s: %d of %d events of %s" % (
                writer.name, len(seen - before.keys()) + len(before.keys() - seen),
                len(after.keys() ^ before.keys()), unknown[0].work))

    def check_content(self, event, row):
        for column, value in event.others().items():
            if row[column] != value:
                self.complain("content", "event %s: %s is %r and not %r" % (event.token, column, row[column], value))
        forms = event.forms()
        got = (row["event"], row["payload"])
        if got not in forms:
            kind = "half migrated" if event.old and any(
                (a[0], b[1]) == got for a, b in itertools.product(forms, forms)) else "content"
            self.complain(kind, "event %s is %s %s and not %s" % (event.token, *got, forms))
        if event.old and event.migrated and got != forms[-1]:
            self.complain("unmigrated", "event %s is old again" % event.token)
        event.before, event.migrated = event.migrated, got == forms[-1]

    def check_migrations(self, there, tasks):
        inits = [task for task, step in steps_of(tasks) if step["do"] == "init"]
        old = [event for event in there.values() if event.old and not event.before]
        unexplained = []
        for event in old:
            done = event.done_at if event.done_at is not None else float("inf")
            if event.own_init or any(task.begun > done for task in inits if not task.open):
                if not event.migrated:
                    self.complain("unmigrated", "event %s, in spite of an acknowledged migration" % event.token)
            elif not event.migrated or not any(task.done_at > event.begun for task in inits if not task.open):
                unexplained.append((event, done))
        unknown = [task for task in inits if task.open]
        for count in range(len(unknown) + 1):
            for happened in itertools.combinations(unknown, count):
                if all(event.migrated == bool(happened) or
                       (not event.migrated and not any(task.begun > done for task in happened))
                       for event, done in unexplained):
                    return
        self.complain("half migration", "%d of %d events" % (
            sum(event.migrated for event, _ in unexplained), len(unexplained)))

    def check_ids(self, stored, there, tasks):
        for token, row in stored.items():
            event = there.get(token)
            if event is not None:
                self.note_id(row["id"], event)
        done = []
        for task in tasks:
            ids = self.ids_of_task(task, stored, there)
            if ids and not task.open:
                done.append((task.done_at, max(i for i, _ in ids)))
        times, highest = self.grow(done)
        for task in tasks:
            ids = [i for i, plain in self.ids_of_task(task, stored, there, False) if not plain]
            if ids != sorted(set(ids)):
                self.complain("id order", "%s in the order of %s" % (ids, task.work))
            at = bisect.bisect_left(times, task.begun)
            if ids and at > 0 and min(ids) <= highest[at - 1]:
                self.complain("id order", "id %d was given out after %d" % (min(ids), highest[at - 1]))

    def note_id(self, number, event):
        ours = not (event.old and self.engine.old_ids_return)
        token, other_ours = self.ids.get(number, (event.token, ours))
        if token != event.token and ours and other_ours:
            self.complain("id reused", "%d is of %s and of %s" % (number, token, event.token))
        self.ids[number] = (event.token, ours)

    def ids_of_task(self, task, stored, there, complain=True):
        """The ids of its events, seen or acknowledged, and whether a plain INSERT chose them, in the order of work."""
        ids = []
        for i, step in enumerate(task.work["steps"]):
            told = task.results[i].get("ids") if i < len(task.results) else None
            for j, row in enumerate(step.get("rows", [])):
                token = row["payload"]["k"]
                seen = stored[token]["id"] if token in stored else None
                if told is not None and complain:
                    if seen not in (told[j], None):
                        self.complain("wrong id", "event %s has id %d and not %d" % (token, seen, told[j]))
                    self.note_id(told[j], Event(row, task))
                number = seen if seen is not None else told[j] if told is not None else None
                if number is not None:
                    ids.append((number, step["do"] == "old" and self.engine.old_ids_return))
        return ids

    def grow(self, done):
        """Times and the highest id that was acknowledged until then."""
        times, highest = [], []
        for at, number in sorted(self.highest + done):
            times.append(at)
            highest.append(max(number, highest[-1]) if highest else number)
        self.highest = [(times[-1], highest[-1])] if times else []
        return times, highest

    def check_ts(self, stored, there):
        """An append without a ts does not come before the latest of its session."""
        latest = {}
        for token in sorted(there, key=lambda token: stored[token]["id"]):
            event, ts = there[token], stored[token]["ts"]
            before = latest.get(event.session, 0)
            if event.row["ts"] is None and ts < before and not (is_shared(event) and not self.engine.one_writer):
                self.complain("ts order", "event %s has ts %d, behind one of %d" % (token, ts, before))
            latest[event.session] = max(ts, before)

    def check_replay(self, ledger, stored):
        """alineo_replay shows what the table holds."""
        rows = sorted(((row["ts"], row["id"]) for row in stored.values() if (row["name"], row["sandbox_id"]) == SHARED))
        if ledger.read(*SHARED) != [number for _, number in rows]:
            self.complain("content", "alineo_replay of %s" % (SHARED,))

    def settle(self, there):
        now = time.monotonic()
        for event in there.values():
            if event.done_at is None:
                event.done_at = now
        self.events = there

    def check_goes_on(self, ledger):
        """Migrates what is left, and appends."""
        left = [event for event in self.events.values() if event.old and not event.migrated]
        rewritten = ledger.init()
        if rewritten != len(left):
            self.complain("count", "alineo_init answered %d and not %d" % (rewritten, len(left)))
        stored = self.by_token(ledger.rows())
        for event in left:
            event.migrated = True
            self.check_content(event, stored[event.token])
        self.probes += 1
        row = {"name": "probe", "sandbox_id": "probe", "event": "mine", "step_idx": 3, "branch": None, "error": None,
               "ts": self.probes, "wrapped": None, "payload": {"seq": 1, "k": "probe.%d" % self.probes}}
        number = ledger.append(row)
        rows = [stored for stored in ledger.rows() if stored["id"] == number]
        if number in self.ids or (self.highest and number <= self.highest[0][1]) or len(rows) != 1:
            self.complain("stuck", "an append after the round has id %d" % number)
        if rows:
            task = type("Done", (), {"begun": time.monotonic(), "done_at": time.monotonic()})
            probe = Event(row, task)
            self.check_content(probe, rows[0])
            self.events[probe.token] = probe
            self.note_id(number, probe)
            self.grow([(task.done_at, number)])

    def count(self, tasks):
        for task in tasks:
            if task.refused is not None:
                self.figures["refused: " + task.refused] += 1
                if self.engine.waits and "locked" in task.refused and task.work["steps"][0]["do"] != "read":
                    self.complain("busy", "%s: %s" % (task.refused, task.work))
            elif task.open:
                self.figures["open when killed"] += 1
            else:
                self.figures["transaction" if task.work["mode"] != "auto" else "alone"] += 1
                for step in task.work["steps"]:
                    self.figures[step["do"]] += 1
                    self.figures["events"] += len(step.get("rows", []))
