#!/usr/bin/python3
"""Holds the documents against the library, the extension and the code.

Usage: ALINEO_SO=/path/to/alineo.so check_documents.py

- Every function that the library registers has a place in docs/reference.md
  and in README.md; every row function's `Columns:` line is what it returns.
- Where PGHOST names a PostgreSQL server that has the extension's files: it has
  the same functions; their arguments are those of the signatures in both
  documents, the optional ones those in brackets; the columns are those of the
  `Columns:` lines, and types those of the table in docs/reference.md; each is
  described by a COMMENT.
- Every heading that a comment in the code cites exists.
- Every link between the documents leads to a file, and to a heading in it.
"""
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/reference.md", "docs/differences.md",
             "docs/troubleshooting.md", "docs/design.md", "docs/performance.md"]
CODE = ["shared/*.[ch]", "sqlite_ext/*.[ch]", "pg_ext/*.[ch]", "sql/*.sql"]
# Names that are registered and of no use to callers; the reference lists them apart.
INTERNAL = {"alineo_visit", "alineo_entries", "alineo_migrated", "alineo_statements", "alineo_guard_deleting",
            "alineo_guard_updating", "alineo_guard_trigger", "alineo_outdated", "alineo_current_event", "alineo_current_payload"}

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


def documented_columns(name):
    place = re.search(rf"`{name}\([^`]*` → (?:0 or 1 row|rows).*?Columns:(.*?)\.\s", read("docs/reference.md"),
                      flags=re.S)
    return re.findall(r"`(\w+)`", place[1]) if place else None


def documented_arguments(document, name):
    """Of the signature in a document, at the start of a line or row: the required arguments and the optional ones."""
    place = re.search(rf"^(?:\| )?`{name}\(([^`]*)\)`", read(document), flags=re.M)
    if place is None:
        return None
    required, _, optional = place[1].partition("[")
    return re.findall(r"\w+", required), re.findall(r"\w+", optional)


def documented_types():
    """From the table `| type | arguments | columns |`: (where, name) to a type; what is not named is of `None`."""
    rows = re.findall(r"^ *\| `(\w+)` \| (.*?) ?\| (.*?) ?\|$", re.search(
        r"^ *\| type \| arguments \| columns \|\n.*?\n\n", read("docs/reference.md"), flags=re.M | re.S)[0], flags=re.M)
    types = {}
    for kind, arguments, columns in rows:
        for where, cell in (("argument", arguments), ("column", columns)):
            for name in [None] if cell == "all others" else re.findall(r"`(\w+)`", cell):
                types[where, name] = kind
    return types


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
        documented = documented_columns(name)
        if documented != columns:
            faults.append(f"docs/reference.md: columns of {name} are {columns}, not {documented}")
    version, = db.execute("SELECT alineo_version()").fetchone()
    if f"## [{version}]" not in read("CHANGELOG.md"):
        faults.append(f"CHANGELOG.md: nothing on {version}")
    return (functions | tables) - INTERNAL


# One JSON object a function: its arguments in order, each with mode, name and type.
POSTGRES_FUNCTIONS = """
SELECT json_build_object('name', p.proname, 'defaults', p.pronargdefaults,
    'returns', format_type(p.prorettype, NULL), 'comment', obj_description(p.oid, 'pg_proc'),
    'arguments', (SELECT coalesce(json_agg(json_build_array(coalesce(p.proargmodes[i], 'i'), p.proargnames[i],
            format_type(coalesce(p.proallargtypes[i], p.proargtypes[i - 1]), NULL)) ORDER BY i), '[]')
        FROM generate_series(1, coalesce(cardinality(p.proallargtypes), p.pronargs)) AS i))
FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'alineo_ledger'"""


def postgres_functions():
    database = f"alineo_check_{os.getpid()}"

    def psql(name, *commands):
        arguments = [argument for command in commands for argument in ("-c", command)]
        return subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", name, *arguments],
                              check=True, stdout=subprocess.PIPE, encoding="utf-8").stdout

    psql("postgres", f"CREATE DATABASE {database} ENCODING 'UTF8' TEMPLATE template0")
    try:
        rows = psql(database, "CREATE EXTENSION alineo_ledger", POSTGRES_FUNCTIONS)
        version = psql(database, "SELECT alineo_version()").strip()
    finally:
        psql("postgres", f"DROP DATABASE {database}")
    if f"## [{version}]" not in read("CHANGELOG.md"):
        faults.append(f"CHANGELOG.md: nothing on {version} of the extension")
    return [json.loads(row) for row in rows.splitlines()]


def check_postgres_function(function, types):
    name = function["name"]
    given = [argument for argument in function["arguments"] if argument[0] == "i"]
    columns = [argument for argument in function["arguments"] if argument[0] in "ot"]
    names = [argument[1] for argument in given]
    if not function["comment"]:
        faults.append(f"sql/: no COMMENT on {name}")
    for document in ("docs/reference.md", "README.md"):
        documented = documented_arguments(document, name)
        if documented is None:
            faults.append(f"{document}: no signature of {name}")
            continue
        required, optional = documented
        # The overloads whose payload has no default need it in its place.
        overload = name == "alineo_append" and given[3][2] != "text"
        if names != required + optional or function["defaults"] != len(optional) - overload:
            faults.append(f"{document}: the arguments of {name} are {names}, {function['defaults']} of them optional, "
                          f"not {required} and {optional}")
    if columns and [column[1] for column in columns] != documented_columns(name) and "environment" not in name:
        faults.append(f"docs/reference.md: columns of {name} are {[column[1] for column in columns]}")
    for where, some in (("argument", given), ("column", columns)):
        for _, argument, kind in some:
            if argument in ("payload", "entries") and where == "argument" and kind in ("json", "jsonb"):
                continue
            documented = types.get((where, argument), types[where, None])
            if kind != documented:
                faults.append(f"docs/reference.md: {argument} of {name} is {kind}, not {documented}")


def check_postgres(names):
    types = documented_types()
    functions = postgres_functions()
    for function in functions:
        if function["name"] not in INTERNAL:
            check_postgres_function(function, types)
    there = {function["name"] for function in functions} - INTERNAL
    for name in sorted(there ^ names):
        faults.append(f"{name} is in one of the engines only")
    return len(functions)


def main():
    links, citations, names = check_links(), check_citations(), check_functions()
    postgres = "not looked at, as PGHOST names no server"
    if os.environ.get("PGHOST"):
        postgres = f"{check_postgres(names)} checked"
    for fault in faults:
        print(fault)
    print(f"{len(names)} functions, {citations} citations, {links} links checked; "
          f"functions of PostgreSQL: {postgres}; {len(faults)} faults")
    return 1 if faults or not (links and citations and names) else 0


if __name__ == "__main__":
    sys.exit(main())
