"""What every function must answer, written again over the stored rows.

A second implementation of docs/reference.md, as an oracle: it knows only the
rows, as SELECT gives them, and raises Damaged where the ledger must fail with
an error that names a row, Refused where it fails otherwise.
"""
import decimal
import re

from fold import Fold
from values import (LEGACY, PAYLOADS, TOP, Damaged, Jsonb, NotJson, Refused, Row, Text, canonical, chars, column_text,
                    integer, is_text, joined, parsed, parsed_deep, run, same, string, unstored, whole)


def rank(value):
    """How the engines order what stands in one column."""
    if value is None:
        return (0,)
    if value != value:
        return (1.5,)  # NaN
    if isinstance(value, (int, float, decimal.Decimal)):
        return (1, value)
    return (2 if is_text(value) else 3, value)


def key(value):
    """What two columns have alike where they are equal: the str of a text."""
    if is_text(value):
        return chars(value) if chars(value) is not None else ("text", bytes(value))
    return value if value is None or isinstance(value, (int, float)) else ("blob", bytes(value))


def shown_text(value):
    """A column as SQLite makes it text."""
    if isinstance(value, (int, float)):
        return repr(value)
    return value if isinstance(value, str) else Text(value)


class Ledger:
    """The rows, and the answers they must give."""

    def __init__(self, rows, sqlite):
        self.rows = [Row(r) for r in rows]
        self.sqlite = sqlite
        self.by_session = {}
        for row in self.rows:
            self.by_session.setdefault((key(row.name), key(row.sandbox_id)), []).append(row)

    def session(self, name, sandbox_id):
        rows = self.by_session.get((name, sandbox_id), ())
        return sorted(rows, key=lambda r: (r.id is None, rank(r.id)))

    def of(self, name, sandbox_id, kind):
        return [r for r in self.session(name, sandbox_id) if r.kind == kind]

    # What lists.

    def shown(self, row):
        """A row of alineo_replay."""
        payload = row.payload
        if payload is not None and not self.sqlite:
            try:
                payload = canonical(PAYLOADS.value(payload))
            except NotJson:
                deep = isinstance(payload, Jsonb)
                payload = canonical(unstored(parsed_deep(payload)) if deep else str(payload))
        elif isinstance(payload, Text):
            try:
                value = PAYLOADS.value(payload)
                outer = parsed(chars(payload))
                if isinstance(outer, str) and not isinstance(outer, run.Number) and isinstance(value, (dict, list)):
                    payload = Text(joined(outer).encode("utf-8", "surrogatepass"))
            except NotJson:
                pass
        event = row.event
        if is_text(event) and chars(event) in LEGACY:
            event = LEGACY[chars(event)] if not self.sqlite else Text(LEGACY[chars(event)].encode())
        error = row.error
        if isinstance(error, Text):
            error = Text(re.sub(b"\xed[\xa0-\xbf][\x80-\xbf]", "\ufffd".encode(), bytes(error))
                         .replace(b"\0", "\u2400".encode()))
        numbers = (row.id, row.step_idx, row.branch, row.ts)
        if not self.sqlite:
            for column, value, most in (("id", numbers[0], TOP), ("ts", numbers[3], TOP),
                                        ("step_idx", numbers[1], 2**31 - 1), ("branch", numbers[2], 2**31 - 1)):
                if value is not None and (integer(value) is None or not -most - 1 <= integer(value) <= most):
                    raise Damaged(row.id, column)
            numbers = tuple(None if n is None else integer(n) for n in numbers)
        return (numbers[0], row.sandbox_id, row.name, numbers[1], numbers[2], event, payload, error, numbers[3])

    def replay(self, name, sandbox_id):
        nulls_last = 0 if self.sqlite else 9
        rows = sorted(self.session(name, sandbox_id),
                      key=lambda r: ((nulls_last,) if r.ts is None else rank(r.ts), rank(r.id)))
        return [self.shown(r) for r in rows]

    def last_checkpoint(self, name, sandbox_id):
        return [self.shown(r) for r in self.of(name, sandbox_id, "sandbox.checkpoint_created")[-1:]]

    def list_checkpoints(self, name, sandbox_id):
        out = []
        for row in self.of(name, sandbox_id, "sandbox.checkpoint_created"):
            fields = row.fields(listed=True)
            ts = row.ts if self.sqlite or row.ts is None else row.time()
            out.append((column_text(string(fields, "snapshotId")), column_text(string(fields, "tag", "name")), ts))
        return out

    def get_sandbox(self, name, sandbox_id):
        created = self.of(name, sandbox_id, "sandbox.created")
        if not created:
            return []
        # One without a ts, in a table that allows it, does not count.
        times = [r.ts for r in self.of(name, sandbox_id, "sandbox.closed") if r.ts is not None]
        fields = created[0].fields(listed=True)
        given = [column_text(fields.get(k))
                 for k in ("runId", "resourceId", "teamId", "parentSandboxId", "resumedFrom")]
        if given[0] is None:
            given[0] = shown_text(created[0].sandbox_id)
        started, ended = min((r.ts for r in created), key=self.start_rank), max(times, key=rank) if times else None
        if not self.sqlite:
            for row in created + self.of(name, sandbox_id, "sandbox.closed"):
                if row.ts in (started, ended) and row.ts is not None:
                    row.time()
        execs = len(self.of(name, sandbox_id, "exec.completed"))
        return [(created[0].name, created[0].sandbox_id, "completed" if times else "running", started, ended, execs,
                 *given)]

    def start_rank(self, ts):
        return (9,) if ts is None and not self.sqlite else rank(ts)

    def list_sandboxes(self, run_id=None):
        found = []
        for name, sandbox_id in self.by_session:
            if name is None or sandbox_id is None:
                continue
            for line in self.get_sandbox(name, sandbox_id):
                created = self.of(name, sandbox_id, "sandbox.created")
                first = min(r.id for r in created if self.start_rank(r.ts) == self.start_rank(line[3]))
                found.append((self.start_rank(line[3]), first, line))
        found.sort(key=lambda f: f[:2], reverse=True)
        return [line for _, _, line in found if run_id is None or same(line[6], run_id) or line[6] == run_id]

    # What folds.

    def history(self, name, sandbox_id, only=None):
        fold = Fold()
        for row in self.session(name, sandbox_id):
            if only is not None and self.other_exec(row, only):
                continue
            fold.feed(row)
        return fold

    @staticmethod
    def other_exec(row, only):
        """Whether the row is of another exec, and its ts is not looked at."""
        if row.kind not in ("exec.started", "exec.output", "exec.completed"):
            return False
        seq = whole(row.fields(), "seq")
        seq = integer(row.step_idx) if seq is None else seq
        return seq is not None and seq != only

    def execs(self, name, sandbox_id):
        return list(self.history(name, sandbox_id).rows(False))

    def output(self, name, sandbox_id, seq, stream):
        it = self.history(name, sandbox_id, seq).execs.get(seq)
        if it is None:
            return None
        text = {"stdout": it.current.out, "stderr": it.current.err, "stdin": "".join(it.current.stdin)}[stream]
        return re.sub("[\ud800-\udfff]", "\ufffd", joined(text)).encode()

    def checkpoint(self, name, sandbox_id, wanted, noted):
        """The latest wanted checkpoint: (row, fields) or None."""
        for row in reversed(self.of(name, sandbox_id, "sandbox.checkpoint_created")):
            fields = row.fields()
            if wanted(fields):
                if integer(row.id) is None:
                    raise Damaged(row.id, "id")
                if noted(fields):
                    row.time()
                return row, fields
        return None

    def load(self, name, sandbox_id, tag):
        """The lineage and the fold; None where there is no checkpoint."""
        generations, settings, note = [], {}, None
        keys = ("runId", "resourceId", "teamId", "resources", "networkPolicy", "credentialProxy")

        def generation(name, sandbox_id):
            created = self.of(name, sandbox_id, "sandbox.created")
            parent = snapshot = None
            if created:
                fields = created[0].fields()
                parent = string(fields, "resumedFrom") or None
                snapshot = string(fields, "snapshotId") if parent else None
                for key in keys:
                    if key in fields:
                        settings.setdefault(key, fields[key])
            return {"name": name, "id": sandbox_id, "parent": parent, "snapshot": snapshot, "before": None}

        own = generation(name, sandbox_id)
        found = self.checkpoint(name, sandbox_id, lambda f: tag is None or string(f, "tag", "name") == tag,
                                lambda f: True)
        if found:
            own["before"] = found[0].id
            note = (found[0], found[1], sandbox_id)
        elif tag is not None or not own["snapshot"]:
            return None
        generations.append(own)
        seen = {(name, sandbox_id)}
        child = own
        while child["parent"]:
            child_name, parent_id = child["name"], joined(child["parent"])
            if not self.of(child_name, parent_id, "sandbox.created"):
                child_name = self.latest_name(parent_id)
                if child_name is None:
                    break
            parent = generation(child_name, parent_id)
            if child["snapshot"]:
                wanted = child["snapshot"]
                noting = note is None and wanted == own["snapshot"]
                found = self.checkpoint(child_name, parent_id, lambda f: string(f, "snapshotId") == wanted,
                                        lambda f: noting)
                if found:
                    parent["before"] = found[0].id
                    if noting:
                        note = (found[0], found[1], parent_id)
                    elif note is None:
                        note = False
            if (child_name, parent_id) in seen:
                raise Refused("the lineage of sandbox_id '%s' is a cycle" % sandbox_id)
            seen.add((child_name, parent_id))
            generations.append(parent)
            child = parent
        fold = Fold()
        for it in reversed(generations):
            if it["before"] is not None:
                for row in self.session(it["name"], it["id"]):
                    if integer(row.id) is None or row.id < it["before"]:
                        fold.feed(row)
            fold.settle()
        return generations, settings, note or None, fold

    def latest_name(self, sandbox_id):
        rows = [r for r in self.rows if r.kind == "sandbox.created" and same(r.sandbox_id, sandbox_id)]
        if not rows:
            return None
        row = max(rows, key=lambda r: (r.id is None, r.id))
        # Its payload is read with it.
        row.fields()
        if integer(row.id) is None:
            raise Damaged(row.id, "id")
        if not is_text(row.name) or chars(row.name) is None:
            raise Damaged(row.id, "name")
        return chars(row.name)

    def replay_cache(self, name, sandbox_id, tag=None):
        loaded = self.load(name, sandbox_id, tag)
        return [] if loaded is None else list(loaded[3].rows(True))

    def resume(self, sandbox_id, tag=None):
        name = self.latest_name(sandbox_id)
        if name is None:
            raise Refused("no session has sandbox_id '%s'" % sandbox_id)
        loaded = self.load(name, sandbox_id, tag)
        if loaded is None:
            raise Refused("sandbox_id '%s' has no checkpoint%s" %
                          (sandbox_id, " with tag '%s'" % tag if tag is not None else ""))
        generations, settings, note, fold = loaded
        document = [("name", name), ("sandboxId", sandbox_id), ("runId", settings.get("runId", sandbox_id))]
        document += [(k, settings.get(k)) for k in ("resourceId", "teamId")]
        if note:
            row, fields, where = note
            checkpoint = [("snapshotId", string(fields, "snapshotId")), ("tag", string(fields, "tag", "name")),
                          ("createdAt", run.Number(row.time())), ("sandboxId", where)]
        else:
            checkpoint = [("snapshotId", generations[0]["snapshot"]), ("sandboxId", joined(generations[0]["parent"]))]
        document += [("checkpoint", checkpoint), ("lineage", [g["id"] for g in reversed(generations)])]
        document += [(k, settings.get(k)) for k in ("resources", "networkPolicy", "credentialProxy")]
        cached, pending = [], []
        for seq in sorted(fold.execs):
            it = fold.execs[seq]
            if it.done:
                a = it.done
                cached.append([("seq", run.Number(seq)), ("command", a.command), ("stdout", a.out), ("stderr", a.err),
                               ("exitCode", None if a.exit_code is None else run.Number(a.exit_code))])
            if it.pending:
                a = it.pending
                pending.append([("seq", run.Number(seq)), ("cmd", a.command), ("cwd", a.cwd), ("env", a.env),
                                ("stdin", a.stdin), ("stdout", a.out)])
        document += [("replayCache", cached), ("pendingInteractive", pending)]
        document += self.settings(name, sandbox_id)
        return written(document)

    def settings(self, name, sandbox_id):
        apply, remove, credentials = {}, {}, {}
        for row in self.session(name, sandbox_id):
            if row.kind not in ("egress.rule_added", "egress.rule_removed", "credential.bound", "credential.revoked"):
                continue
            fields = row.fields()
            if row.kind == "egress.rule_added":
                rules = fields.get("rules")
                for rule in rules if isinstance(rules, list) else []:
                    target = string(rule, "target") if isinstance(rule, dict) else None
                    if target is not None:
                        apply[target] = rule
                        remove.pop(target, None)
            elif row.kind == "egress.rule_removed":
                targets = fields.get("targets")
                for target in targets if isinstance(targets, list) else []:
                    if isinstance(target, str) and not isinstance(target, run.Number):
                        apply.pop(target, None)
                        remove[target] = target
            elif string(fields, "name") is not None:
                key = string(fields, "name")
                if row.kind == "credential.bound":
                    credentials[key] = [("name", key), ("binding", fields.get("binding")),
                                        ("source", fields.get("source"))]
                else:
                    credentials.pop(key, None)
        return [("egress", [("apply", list(apply.values())), ("remove", list(remove.values()))]),
                ("credentials", list(credentials.values()))]


def written(value):
    """The document: members in the order given, absent ones left out, values in canonical form."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return "{%s}" % ",".join(run.string(k) + ":" + written(v) for k, v in value if v is not None)
    if isinstance(value, list):
        return "[%s]" % ",".join(written(v) for v in value)
    return canonical(value)
