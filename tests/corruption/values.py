"""What stands in columns and payloads, read anew: part of the model.

Text of SQLite is a Text, a BLOB is bytes; of PostgreSQL text is a str, and a
payload a Jsonb or a str.
"""
import decimal
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "conformance"))
import run  # noqa: E402

sys.setrecursionlimit(20000)
decimal.getcontext().prec = 150000  # of the numbers a payload may hold

LEGACY = {
    "sandbox_created": "sandbox.created", "exec_start": "exec.started", "exec_event": "exec.output",
    "exec_complete": "exec.completed", "checkpoint_created": "sandbox.checkpoint_created",
    "snapshot": "sandbox.checkpoint_created", "sandbox_paused": "sandbox.paused",
    "sandbox_resumed": "sandbox.resumed", "sandbox_closed": "sandbox.closed",
    "egress_rule_added": "egress.rule_added", "egress_rule_removed": "egress.rule_removed",
    "credential_bound": "credential.bound", "credential_revoked": "credential.revoked",
    "permission_requested": "permission.requested", "permission_request": "permission.requested",
    "permission_resolved": "permission.resolved", "run_started": "workflow.started",
    "workflow_complete": "workflow.completed", "workflow_failed": "workflow.failed",
    "step_start": "step.started", "step_complete": "step.completed", "step_failed": "step.failed",
    "step_rolled_back": "step.rolled_back", "checkpoint": "step.checkpointed",
}
BOTTOM = -2**63
TOP = 2**63 - 1


class Text(bytes):
    """A text of SQLite, which need not be UTF-8."""


class Jsonb(str):
    """A payload of PostgreSQL's jsonb, as text."""


class Damaged(Exception):
    """An error that names the row."""

    def __init__(self, row_id, column):
        super().__init__("%s of event %s" % (column, row_id))
        self.id = row_id


class Refused(Exception):
    """An error of another kind: the text."""


# --- values ---------------------------------------------------------------------

def is_text(value):
    return isinstance(value, (Text, str))


def chars(value):
    """A text that is valid UTF-8, else None."""
    if isinstance(value, str):
        return str(value)
    try:
        return bytes(value).decode()
    except UnicodeDecodeError:
        return None


def same(stored, wanted):
    """Whether a column is this text."""
    return is_text(stored) and (stored if isinstance(stored, str) else bytes(stored)) == \
        (wanted if isinstance(stored, str) else wanted.encode())


def event_of(value):
    """The current name of a stored event; None where it is no text."""
    if not is_text(value):
        return None
    name = chars(value)
    return LEGACY.get(name, name if name is not None else "\udcff")


def integer(value):
    """A stored integer, or a number equal to one; None where it is neither."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")) or value != int(value):
            return None
        value = int(value)
    elif isinstance(value, str):
        if not re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?", value):
            return None
        value = decimal.Decimal(value)
    elif isinstance(value, bytes):
        return None
    if isinstance(value, decimal.Decimal):
        if not value.is_finite() or value != value.to_integral_value():
            return None
        value = int(value)
    return value if BOTTOM <= value <= TOP else None


def joined(text):
    """Halves of a character that meet are that character."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def display(text):
    text = joined(text).replace("\0", "\u2400")
    return re.sub("[\ud800-\udfff]", "\ufffd", text)


# --- payloads -------------------------------------------------------------------

class NotJson(Exception):
    pass


def depth_of(text):
    depth = most = 0
    for part in re.finditer(r'"(?:[^"\\]|\\.)*"?|[\[{]|[\]}]', text, re.S):
        if part[0] in "[{":
            depth += 1
            most = max(most, depth)
        elif part[0] in "]}":
            depth -= 1
    return most


def number_of(text):
    """Within the bounds of PostgreSQL's numeric, written out."""
    value = decimal.Decimal(text)
    before = value.adjusted() + 1 if value else 0
    after = max(0, -value.as_tuple().exponent)
    if before > 131072 or after > 16383:
        raise NotJson
    return run.Number(text)


def no_constant(_):
    raise NotJson


def parsed(text):
    """A JSON text (str) as a value; raises NotJson."""
    if depth_of(text) > 1000 or re.search("[\ud800-\udfff]", text) or text.startswith("\ufeff"):
        raise NotJson
    try:
        return json.loads(text, parse_int=number_of, parse_float=number_of, parse_constant=no_constant)
    except (ValueError, decimal.InvalidOperation):
        raise NotJson from None


def unstored(value):
    if isinstance(value, str) and not isinstance(value, run.Number):
        return run.unstored(value)
    if isinstance(value, list):
        return [unstored(v) for v in value]
    if isinstance(value, dict):
        return {run.unstored(k): unstored(v) for k, v in value.items()}
    return value


def canonical(value):
    return run.canonical(value, joined)


class Payloads:
    """Payloads read once each."""

    def __init__(self):
        self.read = {}

    def value(self, payload):
        """The value, unwrapped where it was encoded twice. Raises NotJson."""
        key = (type(payload), payload)
        if key not in self.read:
            try:
                self.read[key] = self.fresh(payload)
            except NotJson:
                self.read[key] = NotJson
        if self.read[key] is NotJson:
            raise NotJson
        return self.read[key]

    @staticmethod
    def fresh(payload):
        if payload is None:
            return None
        if isinstance(payload, (int, float)) and not isinstance(payload, bool):
            text = repr(payload) if isinstance(payload, int) else "%.15g" % payload
            return parsed(text if re.fullmatch(r"-?\d.*", text) else "Inf")
        text = chars(payload)
        if text is None:
            raise NotJson
        value = parsed(text)
        if isinstance(payload, str):
            value = unstored(value)
        if isinstance(value, str) and not isinstance(value, run.Number):
            try:
                inner = parsed(joined(value))
            except NotJson:
                return value
            if isinstance(inner, (dict, list)):
                return inner
        return value


PAYLOADS = Payloads()


class Row:
    def __init__(self, columns):
        (self.id, self.sandbox_id, self.name, self.step_idx, self.branch, self.event, self.payload, self.error,
         self.ts) = self.columns = tuple(columns)
        self.kind = event_of(self.event)

    def fields(self, listed=False):
        try:
            value = PAYLOADS.value(self.payload)
        except NotJson:
            if listed:
                return {}
            raise Damaged(self.id, "payload") from None
        return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else {}

    def time(self):
        ts = integer(self.ts)
        if ts is None:
            raise Damaged(self.id, "ts")
        return ts


def string(fields, *keys):
    for key in keys:
        value = fields.get(key)
        if isinstance(value, str) and not isinstance(value, run.Number):
            return value
    return None


def whole(fields, key):
    """A number with an integer value of 64 bits."""
    value = fields.get(key)
    if not isinstance(value, run.Number):
        return None
    value = decimal.Decimal(value)
    # A number of a hundred thousand digits is not expanded.
    if value.adjusted() > 20 or (value and value.as_tuple().exponent < -20000):
        return None
    return int(value) if value == value.to_integral_value() and BOTTOM <= value <= TOP else None


def column_text(value):
    if value is None:
        return None
    if isinstance(value, str) and not isinstance(value, run.Number):
        return display(value)
    return display(canonical(value))


def parsed_deep(text):
    """What the ledger shows, which may nest deeper than it lets in."""
    return json.loads(text, parse_int=run.Number, parse_float=run.Number)
