"""The fold, written again: part of the model."""
from values import Damaged, display, integer, string, whole


class Attempt:
    def __init__(self):
        self.command = self.exit_code = self.started = self.completed = None
        self.out, self.err, self.stdin = "", "", []
        self.interactive = False
        self.cwd = self.env = None


class Exec:
    def __init__(self):
        self.current = self.done = self.pending = None


class Fold:
    def __init__(self):
        self.execs = {}

    def feed(self, row):
        if integer(row.id) is None:
            raise Damaged(row.id, "id")
        if row.kind is None:
            raise Damaged(row.id, "event")
        if row.kind not in ("exec.started", "exec.output", "exec.completed"):
            return
        fields = row.fields()
        seq = whole(fields, "seq")
        if seq is None:
            if row.step_idx is None:
                return
            seq = integer(row.step_idx)
            if seq is None:
                raise Damaged(row.id, "step_idx")
            if seq < 0:
                return
        if row.kind == "exec.output":
            self.output(seq, fields)
            return
        ts = row.time()
        it = self.execs.setdefault(seq, Exec())
        attempt = it.current
        if row.kind == "exec.started":
            if attempt is None or attempt.started is not None or attempt.completed is not None:
                attempt = it.current = Attempt()
            attempt.started = ts
            attempt.interactive = fields.get("interactive") is True
            attempt.command = string(fields, "cmd", "command", "code")
            attempt.cwd, attempt.env = fields.get("cwd"), fields.get("env")
        else:
            if attempt is None:
                attempt = it.current = Attempt()
            it.done = attempt
            attempt.completed = ts
            attempt.exit_code = whole(fields, "exitCode")
            attempt.out = string(fields, "stdout") if string(fields, "stdout") is not None else attempt.out
            attempt.err = string(fields, "stderr") if string(fields, "stderr") is not None else attempt.err

    def output(self, seq, fields):
        text, stream = string(fields, "text"), string(fields, "type")
        if text is None or stream not in ("stdout", "stderr", "stdin"):
            return
        it = self.execs.setdefault(seq, Exec())
        if it.current is None:
            it.current = Attempt()
        if stream == "stdout":
            it.current.out += text
        elif stream == "stderr":
            it.current.err += text
        elif text:
            it.current.stdin.append(text)

    def settle(self):
        for it in self.execs.values():
            own = it.current
            waits = it.done is None and own is not None and own.interactive
            if waits and it.pending is not None:
                own.stdin = it.pending.stdin + own.stdin
            if it.done is not None or (own is not None and own.started is not None):
                it.pending = own if waits else None
            it.current = None

    def rows(self, cache):
        for seq in sorted(self.execs):
            attempt = self.execs[seq].done if cache else self.execs[seq].current
            if attempt is not None:
                yield (seq, None if attempt.command is None else display(attempt.command), display(attempt.out),
                       display(attempt.err), attempt.exit_code, attempt.started, attempt.completed)
