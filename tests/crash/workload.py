"""Work for a writer, made at random: appends, batches, deletions, migrations, and transactions of several of them.

A piece of work is {"mode": ..., "steps": [...]}. The mode is "auto" (one step, committed by itself), or how its
transaction begins. A step is one call:

    append  one event through alineo_append
    batch   several through alineo_append_batch
    old     events as an SDK of 0.2 stores them, by a plain INSERT: older names, payloads encoded twice
    delete  alineo_delete_sandbox
    init    alineo_init, which migrates what `old` left
    read    alineo_replay, so that a transaction has a snapshot before it writes
    undone  steps inside a savepoint that is rolled back

Every event has a token of its own in its payload. A session is written by one writer at a time, but for SHARED, to
which all append and which none deletes.
"""
import random

SHARED = ("all", "shared")
OLD_NAMES = {"exec_start": "exec.started", "exec_event": "exec.output", "exec_complete": "exec.completed",
             "sandbox_created": "sandbox.created", "snapshot": "sandbox.checkpoint_created"}
NAMES = list(OLD_NAMES.values()) + ["exec.output"] * 6 + ["mine", "step.started"]
KINDS = ["append"] * 8 + ["batch"] * 4 + ["old"] * 3 + ["delete"] * 2 + ["init"] + ["transaction"] * 5
STEPS = ["append"] * 6 + ["batch"] * 2 + ["old"] + ["delete"] * 2 + ["init"] + ["undone"] * 2


class Workload:
    def __init__(self, seed, writer, sessions, modes, alone=True):
        """`sessions`: those of earlier writers that are this one's now; `modes`: of transactions; `alone`: whether
        a step may stand outside of a transaction, or the kinds of those that may."""
        self.random = random.Random(seed)
        self.writer = writer
        self.sessions = list(sessions)
        self.modes = modes
        self.alone = alone
        self.number = 0
        self.rows = 0

    def session(self):
        if not self.sessions or self.random.random() < 0.05:
            self.sessions.append((self.writer, "%s-%d" % (self.writer, self.number)))
        return self.random.choice(self.sessions)

    def row(self, session, event, wrapped=None):
        self.rows += 1
        seq = self.random.randint(0, 9)
        payload = {"seq": seq, "k": "%s.%d" % (self.writer, self.rows), "type": "stdout",
                   "text": "x" * self.random.choice([0, 3, 40, 300, 5000])}
        return {"name": session[0], "sandbox_id": session[1], "event": event, "payload": payload,
                "step_idx": self.random.choice([None, None, 7]), "branch": self.random.choice([None, 2]),
                "error": self.random.choice([None, None, "an error"]),
                "ts": self.random.choice([None, None, None, self.random.randint(0, 2000)]), "wrapped": wrapped}

    def events(self, most):
        session = SHARED if self.random.random() < 0.2 else self.session()
        return [self.row(session, self.random.choice(NAMES)) for _ in range(self.random.randint(1, most))]

    def step(self, kind, alone=False):
        if kind == "append":
            return {"do": kind, "rows": self.events(1)}
        if kind == "batch":
            rows = self.events(self.random.choice([3, 10, 60]))
            return {"do": kind, "rows": rows + (self.events(3) if self.random.random() < 0.3 else [])}
        if kind == "old":
            session = self.session()
            rows = []
            for _ in range(1 if alone else self.random.randint(1, 4)):
                rows.append(self.row(session, self.random.choice(list(OLD_NAMES)), self.random.random() < 0.5))
                rows[-1]["ts"] = self.random.randint(0, 2000)
                rows[-1]["step_idx"] = 7
            return {"do": kind, "rows": rows}
        if kind == "undone":
            return {"do": kind, "steps": [self.step(self.random.choice(["append", "batch", "delete"]))
                                          for _ in range(self.random.randint(1, 2))]}
        return {"do": kind, "session": self.session()} if kind in ("delete", "read") else {"do": kind}

    def __next__(self):
        self.number += 1
        kind = self.random.choice(KINDS)
        if kind != "transaction" and (self.alone is True or kind in self.alone):
            return {"mode": "auto", "steps": [self.step(kind, True)]}
        kinds = [self.random.choice(STEPS) for _ in range(self.random.randint(1, 5))] \
            if kind == "transaction" else [kind]
        if self.random.random() < 0.2:
            kinds.insert(0, "read")
        return {"mode": self.random.choice(self.modes), "steps": [self.step(kind) for kind in kinds]}

    def __iter__(self):
        return self
