"""What a writer says of its work: before it starts something, and when it was acknowledged.

One file a writer, outside of the database, one JSON line an entry, each written by a single write(2): what was written
before the writer was killed is there. An entry without its line break was cut short and counts as never written.
"""
import json
import os
import time


class Journal:
    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, **entry):
        entry["at"] = time.monotonic()
        os.write(self.file, json.dumps(entry).encode() + b"\n")

    def about(self, number, work):
        self.write(about=number, work=work)

    def done(self, number, result):
        self.write(done=number, result=result)

    def refused(self, number, error):
        self.write(refused=number, error=error)


class Task:
    """A piece of work as the journal has it: when it was begun, and when and how it ended, if it did."""

    def __init__(self, number, work, begun):
        self.number, self.work, self.begun = number, work, begun
        self.done_at = None     # acknowledged
        self.results = []
        self.refused = None     # the error's text: it has left nothing behind

    @property
    def open(self):
        return self.done_at is None and self.refused is None


def read(path):
    """The tasks of a journal, and its other entries."""
    tasks, others = {}, []
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    for entry in map(json.loads, lines):
        if "about" in entry:
            tasks[entry["about"]] = Task(entry["about"], entry["work"], entry["at"])
        elif "done" in entry:
            tasks[entry["done"]].done_at = entry["at"]
            tasks[entry["done"]].results = entry["result"]
        elif "refused" in entry:
            tasks[entry["refused"]].refused = entry["error"]
        else:
            others.append(entry)
    return list(tasks.values()), others
