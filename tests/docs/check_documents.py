#!/usr/bin/python3
"""Holds the documents against the library and the code.

Usage: ALINEO_SO=/path/to/alineo.so check_documents.py

- Every function that the library registers has a place in docs/reference.md
  and in README.md; every row function's `Columns:` line is what it returns.
- Every heading that a comment in the code cites exists.
- Every link between the documents leads to a file, and to a heading in it.
"""
import glob
import os
import re
import sqlite3
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/reference.md", "docs/design.md"]
CODE = ["shared/*.[ch]", "sqlite_ext/*.[ch]", "pg_ext/*.[ch]", "sql/*.sql"]
# Names that are registered and of no use to callers; the reference lists them apart.
INTERNAL = {"alineo_visit", "alineo_entries", "alineo_migrated", "alineo_statements"}

faults = []


def read(name):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read()


def without_blocks(text):
    return re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S)


def headings(text):
    return re.findall(r"^#+ +(.+?) *$", without_blocks(text), flags=re.M)


def anchor(heading):
    """As GitHub makes it: lower case, punctuation dropped, blanks as hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def check_links():
    checked = 0
    for document in DOCUMENTS:
        text = re.sub(r"`[^`]*`", "", without_blocks(read(document)))
        for target in re.findall(r"\]\(([^)]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            checked += 1
            path, _, fragment = target.partition("#")
            path = os.path.normpath(os.path.join(os.path.dirname(document), path)) if path else document
            if not os.path.exists(os.path.join(ROOT, path)):
                faults.append(f"{document}: no file {path}")
            elif fragment and fragment not in map(anchor, headings(read(path))):
                faults.append(f"{document}: no heading #{fragment} in {path}")
    return checked


def check_citations():
    """`docs/x.md, "Heading"` in comments, also with `and "Heading"` behind it."""
    checked = 0
    for pattern in CODE:
        for path in sorted(glob.glob(os.path.join(ROOT, pattern))):
            name = os.path.relpath(path, ROOT)
            comments = re.sub(r"\n[ \t]*(\*|--)[ \t]*", " ", read(name))
            for document, cited in re.findall(r'(docs/\w+\.md),((?:\s+(?:and\s+)?"[^"]+",?)+)', comments):
                for heading in re.findall(r'"([^"]+)"', cited):
                    checked += 1
                    if heading not in headings(read(document)):
                        faults.append(f"{name}: no heading \"{heading}\" in {document}")
    return checked


def check_functions():
    library = os.path.abspath(os.environ.get("ALINEO_SO", os.path.join(ROOT, "alineo.so")))
    db = sqlite3.connect(":memory:")
    db.enable_load_extension(True)
    db.load_extension(library)
    reference, readme = read("docs/reference.md"), read("README.md")
    functions = {name for name, in db.execute(
        "SELECT name FROM pragma_function_list WHERE name GLOB 'alineo_*'")}
    tables = {name for name, in db.execute(
        "SELECT name FROM pragma_module_list WHERE name GLOB 'alineo_*'")}
    for name in sorted(functions | tables):
        if name in INTERNAL:
            if f"`{name}`" not in reference:
                faults.append(f"docs/reference.md: {name} is not listed")
            continue
        for document, text in (("docs/reference.md", reference), ("README.md", readme)):
            if f"`{name}(" not in text:
                faults.append(f"{document}: nothing on {name}")
        if name not in tables:
            continue
        columns = [row[1] for row in db.execute(f"PRAGMA table_info({name})")]
        place = re.search(rf"`{name}\([^`]*` → (?:0 or 1 row|rows).*?Columns:(.*?)\.\s", reference, flags=re.S)
        documented = re.findall(r"`(\w+)`", place[1]) if place else None
        if documented != columns:
            faults.append(f"docs/reference.md: columns of {name} are {columns}, not {documented}")
    version, = db.execute("SELECT alineo_version()").fetchone()
    if f"## [{version}]" not in read("CHANGELOG.md"):
        faults.append(f"CHANGELOG.md: nothing on {version}")
    return len((functions | tables) - INTERNAL)


def main():
    links, citations, functions = check_links(), check_citations(), check_functions()
    for fault in faults:
        print(fault)
    print(f"{functions} functions, {citations} citations, {links} links checked, {len(faults)} faults")
    return 1 if faults or not (links and citations and functions) else 0


if __name__ == "__main__":
    sys.exit(main())
