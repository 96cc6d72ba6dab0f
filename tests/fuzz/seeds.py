#!/usr/bin/python3
"""Makes the inputs in tests/fuzz/corpus/ that the harnesses start from.

seeds.py derive
    writes those that are made by hand (HAND) and those that come from the
    recorded sessions in tests/data/sessions.jsonl, as seed-*.
seeds.py keep HARNESS FOLDER COUNT
    out of a folder of inputs that a long run left (build/fuzz/corpus/NAME) adds
    the COUNT that cover most together, none of more than 600 bytes, as kept-*.
    HARNESS is the built one, build/fuzz/NAME, which tells what each covers.

Inputs of earlier findings are there by hand, as found-*.
"""
import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CORPUS = os.path.join(HERE, "corpus")
SESSIONS = os.path.join(HERE, "..", "data", "sessions.jsonl")
LONGEST = 600

HAND = {
    "fuzz_json": [
        b'{"b":1,"a":[1e2,1.50,-0,0.0015],"":null,"a":{"\\u0000":"\\ud83d"},"\xef\xb7\x90":true}',
        b'["\\ud83d\\ude00","\xf0\x9f\x98\x80","\\ude00\\ud83d","\\uD83D\\u0041","\\ufdd0d83d"]',
        b"[1e131071, 9e-16383, 0.000, -1E+2, 1e400, 18446744073709551616]",
        b"\xff[1]",  # 1,001 levels in all
        b"\xfe[]",  # 1,001
        b"\xfd7",  # 999 levels around a number
        b'{"a":1,}',
        b'["\x1f"]',
        b'["\\u12"]',
        b"\xef\xbb\xbf{}",
        b'{"key":"' + b"k" * 40 + b'\\n"}',
    ],
    "fuzz_text": [  # 0: any bytes; the ends of what UTF-8 allows
        b"\x00\x7f\xc1\xbf\xc2\x80\xdf\xbf\xe0\x9f\xbf\xe0\xa0\x80\xed\x9f\xbf\xed\xa0\x80\xee\x80\x80",
        b"\x00\xef\xbf\xbf\xf0\x8f\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf\xf4\x90\x80\x80\xf5\x80\x80\x80",
        b"\x00\xe2\x82\xf0\x9f\x98\xc3",
    ],
    "fuzz_batch": [
        b'{"name":7,"name":"ci","sandboxId":"a","event":"x"}',
        b'[{"name":"ci","sandbox_id":"a","event":"exec_start","payload":{"seq":4}},{"name":"ci"}]',
        b'\n {"name":"ci","sandboxId":"a",\n"event":"x","ts":1}\n\n{"name":"ci","sandboxId":"a",'
        b'"event":"exec.output","payload":"{\\"seq\\":3}"}\n',
    ],
}


def lines_by_event():
    """One recorded entry of each event, the shortest."""
    shortest = {}
    with open(SESSIONS, "rb") as sessions:
        for line in sessions:
            event = json.loads(line)["event"]
            if event not in shortest or len(line) < len(shortest[event]):
                shortest[event] = line.strip()
    return [line for line in shortest.values() if len(line) < LONGEST]


def derived(name):
    lines = lines_by_event()
    if name == "fuzz_json":
        return lines
    if name == "fuzz_batch":
        return [b"[" + b",".join(lines[:2]) + b"]", b"\n".join(lines[-2:])] + lines[:4]
    # The others read their input as a sequence of choices: any bytes will do.
    chance = random.Random(name)
    return [bytes(chance.randrange(256) for _ in range(60 + 90 * i)) for i in range(6)]


def write(name, kind, inputs):
    folder = os.path.join(CORPUS, name)
    os.makedirs(folder, exist_ok=True)
    for old in os.listdir(folder):
        if old.startswith(kind + "-"):
            os.remove(os.path.join(folder, old))
    for data in inputs:
        digest = hashlib.sha1(data).hexdigest()[:10]
        with open(os.path.join(folder, f"{kind}-{digest}"), "wb") as file:
            file.write(data)


def features(harness, folder):
    """What each input of a folder covers, as libFuzzer's merge tells."""
    with tempfile.TemporaryDirectory() as scratch:
        control = os.path.join(scratch, "control")
        os.mkdir(os.path.join(scratch, "merged"))
        subprocess.run(
            [harness, "-set_cover_merge=1", f"-merge_control_file={control}",
             os.path.join(scratch, "merged"), folder],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with open(control, encoding="utf-8") as file:
            lines = file.read().splitlines()
    count = int(lines[0])
    files = lines[2:2 + count]
    covered = {}
    for line in lines[2 + count:]:
        word, index, *numbers = line.split()
        if word == "FT":
            covered[files[int(index)]] = {int(number) for number in numbers}
    return covered


def worth(new, known):
    """What an input adds: an edge that no other takes counts more than how often
    it takes one (a feature is an edge and one of eight ranges)."""
    edges = {feature // 8 for feature in known}
    return len(new - known) + 20 * len({feature // 8 for feature in new} - edges)


def keep(harness, folder, count):
    covered = {path: seen for path, seen in features(harness, folder).items()
               if os.path.getsize(path) <= LONGEST}
    known, inputs = set(), []
    while len(inputs) < count and covered:
        best = max(covered, key=lambda path: worth(covered[path], known))
        known |= covered.pop(best)
        with open(best, "rb") as file:
            inputs.append(file.read())
    write(os.path.basename(harness), "kept", inputs)


def main():
    if sys.argv[1:] == ["derive"]:
        for file in sorted(os.listdir(HERE)):
            name, ending = os.path.splitext(file)
            if name.startswith("fuzz_") and ending == ".cpp":
                write(name, "seed", HAND.get(name, []) + derived(name))
    elif len(sys.argv) == 5 and sys.argv[1] == "keep":
        keep(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        sys.exit(__doc__)


main()
