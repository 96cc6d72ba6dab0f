"""The ledger that is damaged, and what is done to it."""
import json

from engines import Raw

TOP = 2**63 - 1


def event(row_id, sandbox_id, name, payload, ts, step_idx=-1, session="ci"):
    text = None if payload is None else json.dumps(payload)
    return (row_id, sandbox_id, session, step_idx, None, name, text, None, ts)


# Three generations, with everything in them, and a session that has nothing to
# do with them: whatever is done to the others, it answers as before.
LEDGER = [
    event(1, "a", "sandbox.created", {"runId": "r", "teamId": "t", "resources": {"cpu": 2}}, 1000),
    event(2, "a", "exec.started", {"seq": 1, "cmd": "make", "cwd": "/w"}, 1010, 1),
    event(3, "a", "exec.output", {"seq": 1, "type": "stdout", "text": "one "}, 1020, 1),
    event(4, "a", "exec.output", {"seq": 1, "type": "stderr", "text": "warn\u001b\n"}, 1020, 1),
    event(5, "a", "exec_event", {"seq": 1, "type": "stdout", "text": "two\ud83d"}, 1015, 1),
    event(6, "a", "exec.completed", {"seq": 1, "exitCode": 3}, 1030, 1),
    event(7, "a", "exec.started", {"cmd": "sh", "interactive": True, "env": {"A": "b"}}, 1040, 2),
    event(8, "a", "exec.output", {"seq": 2, "type": "stdin", "text": "ls\n"}, 1041, 2),
    event(9, "a", "egress.rule_added", {"rules": [{"target": "x.org", "action": "allow"}, {"target": "y"}]}, 1050),
    event(10, "a", "sandbox.checkpoint_created", {"snapshotId": "s1", "tag": "k"}, 1060),
    event(11, "a", "egress.rule_removed", {"targets": ["x.org"]}, 1061),
    event(12, "a", "credential.bound", {"name": "git", "binding": {"h": 1}, "source": "env"}, 1062),
    event(13, "a", "credential.revoked", {"name": "npm"}, 1063),
    event(14, "a", "snapshot", {"snapshotId": "s2", "name": "k2"}, 1070),
    event(15, "a", "sandbox.closed", None, 1080),
    event(16, "b", "sandbox_created", {"resumedFrom": "a", "snapshotId": "s1", "resourceId": "q"}, 2000),
    event(17, "b", "exec.output", {"seq": 2, "type": "stdin", "text": "pwd\n"}, 2010, 2),
    event(18, "b", "exec.started", {"seq": 3, "code": "f()"}, 2020, 3),
    event(19, "b", "exec.completed", {"seq": 3, "exitCode": 0, "stdout": "whole"}, 2030, 3),
    event(20, "b", "sandbox.checkpoint_created", {"snapshotId": "s3", "tag": "k"}, 2040),
    event(21, "c", "sandbox.created", {"resumedFrom": "b", "snapshotId": "s3"}, 3000),
    event(22, "c", "exec.started", {"seq": 4, "cmd": "z"}, 3010, 4),
    event(23, "c", "my.event", {"any": [1, 2]}, 3020),
    event(24, "d", "sandbox.created", {"runId": "r"}, 1500, session="other"),
    event(25, "d", "exec.started", {"seq": 1, "cmd": "true"}, 1510, 1, "other"),
    event(26, "d", "exec.completed", {"seq": 1, "exitCode": 0}, 1520, 1, "other"),
    event(27, "d", "sandbox.checkpoint_created", {"snapshotId": "s9"}, 1530, session="other"),
]
SESSIONS = [("ci", "a"), ("ci", "b"), ("ci", "c"), ("other", "d")]

DEEP = 1000


def nested(depth):
    return "[" * depth + "]" * depth


def payloads(short):
    """Payload texts: no JSON, JSON of another shape, and the ends of what fits."""
    yield from ("", " ", "{", "{broken", '{"seq":1', '{"seq":1}}', '{"seq":1,}', "{'seq':1}", "nul", "NaN", "\ufeff{}",
                '{"seq":01}', '{"seq":1,"cmd":"a\nb"}', '{"cmd":"\\x"}', '{"cmd":"\\u12"}', "[1,2", '"', '"\\ud83d',
                '{"seq":1e200000}', '{"a":1e-17000}', "null", "true", "7", "-0", '"text"', "[]", "{}",
                '[{"seq":1,"cmd":"x"}]', '{"seq":"1","cmd":"x"}', '{"seq":1e400,"cmd":"x"}', '{"seq":1.5,"exitCode":1}',
                '{"seq":1.0,"exitCode":"0"}', '{"seq":9223372036854775807,"exitCode":9223372036854775808}',
                '{"seq":9223372036854775808,"cmd":"x"}', '{"seq":-7,"cmd":"x","exitCode":-1}', '{"seq":null,"seq":1}',
                '{"seq":[1],"type":7,"text":1}', '{"seq":1,"type":"stdout","text":{"a":1}}',
                '{"seq":1,"type":"stdout","text":"\\u0000\\udc00\\ufdd0"}', '{"seq":1,"type":"stdlog","text":"x"}',
                '{"seq":1,"interactive":"true","cmd":1,"command":2,"code":3}', '{"rules":{"target":"x"}}',
                '{"rules":[1,"x",null,[],{},{"target":1},{"target":"z"}]}', '{"targets":"x.org"}',
                '{"targets":[1,null,"y",{},["y"]]}', '{"name":7,"binding":1}', '{"name":"git","binding":null}',
                '{"snapshotId":7,"tag":false}', '{"snapshotId":"s1","tag":"k","tag":null}',
                '{"runId":{"a":[1.50,1e2]}}',
                '{"resumedFrom":7,"snapshotId":"s1"}', '{"resumedFrom":"","snapshotId":"s1"}',
                '{"resumedFrom":"gone","snapshotId":"s1"}', '{"resumedFrom":"a","snapshotId":"gone"}',
                '{"resumedFrom":"c","snapshotId":"s1"}', '{"resumedFrom":"a"}')
    once = '{"seq":1,"cmd":"twice","runId":"t","snapshotId":"s1","resumedFrom":"a"}'
    twice = json.dumps(once)
    yield from (twice, " " + twice, json.dumps(twice), json.dumps(json.dumps(twice)), json.dumps("{broken"),
                json.dumps("\ud83d"), twice[:-1])
    yield from (nested(DEEP), nested(DEEP + 1), '{"env":%s}' % nested(DEEP - 1), '{"env":%s}' % nested(DEEP),
                '{"runId":%s}' % nested(DEEP), '{"x":%s}' % nested(DEEP), json.dumps('{"env":%s}' % nested(DEEP)))
    if not short:
        yield from (nested(100000), "[" * 100000, '{"a":' * 100000, '{"seq":1,"cmd":"%s"}' % ("x" * 3000000),
                    '{"seq":%s}' % ("1" * 100000), '{"seq":1,%s}' % ",".join('"k%d":0' % i for i in range(20000)))


# Bytes that are no UTF-8, as text and as BLOB.
BYTES = [b"\xff", b"\xed\xa0\xbd", b"\xed\xa0", b"\xc0\x80", b"\xf4\x90\x80\x80", b"a\x00b", b"\xed\xa0\xbd\x00\xff"]


def damages(short):
    """(column, value): everything a column may be made to hold."""
    for text in payloads(short):
        yield "payload", text
    for data in BYTES:
        yield "payload", Raw(b'{"seq":1,"cmd":"' + data + b'"}')
    yield from (("payload", v) for v in (None, 7, 1.5, 1e300, b"", b"\x00\xff", b'{"seq":1,"cmd":"blob"}',
                                         Raw(b'{"seq":1}\x00'), b"\xc7\x0b", TOP))
    for name in ("event", "name", "sandbox_id"):
        yield from ((name, v) for v in ("", "ci", "a", "sandbox.closed", "exec_start", "exec.completed ",
                                        "EXEC.STARTED", "sandbox.created", None, 7, 1.5, b"", b"exec.started", b"ci",
                                        b"a", b"b",
                                        Raw(b"exec.started\x00"), Raw(b"ci\x00"), Raw(b"\xff"), Raw(b"a\xed\xa0")))
    for name in ("step_idx", "branch", "ts"):
        yield from ((name, v) for v in (None, "", "abc", "7", " 7", "0x7", "7.0", "7.5", "1e3", "2024-01-01", "NaN",
                                        "Infinity", "1e400", -1, -7, 0, 1.5, 1e300, -1e300, float("inf"), 2**31,
                                        2**53 + 1, TOP, -TOP - 1, b"", b"\x01", b"7", Raw(b"\xff"), Raw(b"7\x00")))
    yield from (("error", v) for v in ("", "x", None, 7, b"", b"\xff"))
    yield from (("error", Raw(data)) for data in BYTES)
    yield from (("id", v) for v in (TOP, TOP - 1, -TOP - 1, -5, 0, 2**53 + 1, 100, None, "abc", 1.5))
