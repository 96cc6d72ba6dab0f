#!/usr/bin/python3
"""Runs the fenced examples of the documents and compares what they print.

Usage: ALINEO_SO=/path/to/alineo.so run_examples.py [--node FOLDER] [--skip LANGUAGE]... [FILE.md]...

Without files, those of DOCUMENTS. The blocks of one file run in order, in one
temporary folder that holds a copy of the source, as a reader's folder would;
what one leaves there the next one finds. `alineo` is found by its bare name,
as after `make install-sqlite`. Conventions:

    ```sql      runs in the sqlite3 shell on ledger.db. A shell stays open: the
                .load, .mode, .headers, .nullvalue and .timeout lines of earlier
                blocks hold in later ones.
    ```sh       runs in sh -eu, with $DESTDIR set, so that installing needs no root
    ```python   runs in /usr/bin/python3
    ```js       runs in node, with the packages of package.json beside this file, which
                are installed first; so is a newer node where Debian's is too old

A second word says that a block needs PostgreSQL (a rendered page does not show
it; the text around says so too):

    ```sql postgres    runs in psql. An ERROR must be expected.
    ```sh postgres     and python, js: as above, with libpq's environment
    ```sql both        runs in the sqlite3 shell, and again in psql; the values that psql
                       prints must be those that the sqlite3 shell is expected to print.
                       A line that begins with a dot is refused in it.

The psql blocks of a file are typed into one psql, as a reader pastes them: roles and
settings of one hold in those behind it.

These run where PGHOST names a server that has the extension's files, as a
superuser, in a database that is made for the file and dropped after it. So are
the databases (createdb) and roles (CREATE ROLE) that the examples make, which
must not be there before. Without PGHOST they are not run.

A ```text or ```output block with only blank lines between holds what the block
above it prints, its standard error included. In it `…` stands for any text in
a line, and a line of `…` alone for any lines. Every block must succeed.

A comment on the line above a block keeps it from being run, and says why:

    <!-- example: not run, it installs packages -->
"""
import argparse
import contextlib
import difflib
import filecmp
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DOCUMENTS = ["README.md", "docs/reference.md", "docs/differences.md", "docs/troubleshooting.md"]
SOURCE = ["Makefile", "LICENSE", "alineo_ledger.control", "shared", "sqlite_ext", "pg_ext", "sql", "tests/data"]
LANGUAGES = ("sql", "sh", "python", "js")
ENGINES = {"": ("sqlite",), "postgres": ("postgres",), "both": ("sqlite", "postgres")}
OUTPUTS = ("text", "output")
KEPT = re.compile(r"\.(load|mode|headers?|nullvalue|timeout)\b")
NO_SERVER = "PGHOST names no PostgreSQL server"
NOT_RUN = re.compile(r"<!-- example: not run, (.+) -->")
SECONDS = 600
NODE_MAJOR = 20  # the oldest that the packages of package.json run on


class Block:
    def __init__(self, language, engines, line, text, reason):
        self.language = language
        self.engines = engines
        self.line = line  # of the opening fence, counted from 1
        self.text = text
        self.reason = reason  # why it is not run, or None
        self.expected = None


def read_blocks(path):
    """The blocks of a file that are examples, each with what it should print."""
    blocks = []
    before = ""  # the last line that is not blank
    last = None  # the block before, while only blank lines follow it
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        i += 1
        if not line.startswith("```"):
            if line.strip():
                before = line
                last = None
            continue
        language, _, engine = line[3:].strip().partition(" ")
        opened, text = i, []
        while lines[i] != "```":  # an unclosed fence ends in an IndexError
            text.append(lines[i])
            i += 1
        i += 1
        text = "\n".join(text) + "\n"
        if language in LANGUAGES and engine in ENGINES and (engine != "both" or language == "sql"):
            match = NOT_RUN.fullmatch(before.strip())
            last = Block(language, ENGINES[engine], opened, text, match and match[1])
            if engine == "both" and re.search(r"^\.", text, flags=re.M):
                sys.exit(f"{path}:{opened}: a line that begins with a dot, in a block for psql too")
            blocks.append(last)
        elif language in OUTPUTS:
            if last is not None:
                last.expected = text
            last = None
        else:
            sys.exit(f"{path}:{opened}: a block in '{line[3:]}', which nothing here can run")
        before = ""
    return blocks


def matches(expected, got):
    """Whether the lines of `got` are the expected ones, `…` standing for anything."""
    pattern = ""
    for line in expected:
        if line == "…":
            pattern += r"(?:[^\n]*\n)*"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("…")) + "\n"
    return re.fullmatch(pattern, "".join(line + "\n" for line in got)) is not None


def lines_of(text):
    return [line.rstrip() for line in text.rstrip("\n").split("\n")]


def values_of(text):
    """What a table says, whoever drew it: its values in order, without headers, borders and empty ones."""
    values, header = [], False
    for line in text.split("\n"):
        if line.startswith("┌"):
            header = True
        elif re.fullmatch(r"[─├┼┤└┴┘]*", line):
            header = False
        elif not header:
            values += [cell.strip() for cell in re.split(r"[│|]", line) if cell.strip()]
    return values


class Server:
    """A database for the examples of one file."""

    def __init__(self, blocks):
        self.database = f"alineo_docs_{os.getpid()}"
        text = "".join(block.text for block in blocks if "postgres" in block.engines)
        self.databases = [self.database] + re.findall(r"^createdb .*?(\w+)$", text, flags=re.M)
        self.roles = re.findall(r"^CREATE ROLE (\w+)", text, flags=re.M)

    def ask(self, *commands):
        arguments = [argument for command in commands for argument in ("-c", command)]
        done = subprocess.run(["psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", "postgres", *arguments],
                              stdout=subprocess.PIPE, encoding="utf-8")
        if done.returncode != 0:
            sys.exit("the server that PGHOST names does not serve")
        return done.stdout.split()

    def __enter__(self):
        there = self.ask("SELECT datname FROM pg_database UNION ALL SELECT rolname FROM pg_roles")
        for name in self.databases + self.roles:
            if name in there:
                sys.exit(f"{name} exists on the server; the examples make it, and would drop it")
        self.ask(f"CREATE DATABASE {self.database} ENCODING 'UTF8' TEMPLATE template0")
        return self

    def __exit__(self, *_):
        self.ask("SET client_min_messages = warning",
                 *(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)" for name in self.databases),
                 *(f"DROP ROLE IF EXISTS {name}" for name in self.roles))


class Psql:
    """A psql that stays open."""

    # Errors and results come in the order in which they were printed.
    COMMAND = ["stdbuf", "-oL", "psql", "-X"]
    END = "-- end of block --"
    VALUES_ON = "\\set QUIET on\n\\pset format unaligned\n\\pset tuples_only on\n"
    VALUES_OFF = "\\pset format aligned\n\\pset tuples_only off\n\\set QUIET off\n"

    def __init__(self, path, environment):
        self.process = subprocess.Popen(self.COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, cwd=path, env=environment,
                                        encoding="utf-8", errors="replace")

    def run(self, text, values_only):
        """What psql prints for a text; None where it ended or was stopped."""
        if values_only:
            text = self.VALUES_ON + text + self.VALUES_OFF
        timer = threading.Timer(SECONDS, self.process.kill)
        timer.start()
        try:
            self.process.stdin.write(f"{text}\\echo {self.END}\n")
            self.process.stdin.flush()
            lines = []
            for line in self.process.stdout:
                if line.rstrip("\n") == self.END:
                    return "".join(lines)
                lines.append(line)
        except BrokenPipeError:
            pass
        finally:
            timer.cancel()
        return None

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Folder:
    """The folder, environment and open shells that the blocks of a file share."""

    def __init__(self, path, library, node, server):
        self.path = path
        self.shell = []  # dot-commands that hold
        self.psql = None  # once there was a block for it
        self.count = 0
        for name in SOURCE:
            source, copy = os.path.join(ROOT, name), os.path.join(path, name)
            if os.path.isdir(source):
                shutil.copytree(source, copy, ignore=shutil.ignore_patterns("*.o", "*.d"))
            else:
                shutil.copy(source, copy)
        folder = os.path.dirname(library)
        # Debian's python3, whatever else is on the PATH.
        os.mkdir(os.path.join(path, "bin"))
        os.symlink("/usr/bin/python3", os.path.join(path, "bin", "python3"))
        search = [os.path.join(path, "bin"), runtime_bin(node)]
        self.environment = dict(
            os.environ,
            ALINEO_SO=library,
            DESTDIR=os.path.join(path, "root"),
            HOME=path,
            LC_ALL="C.UTF-8",
            LD_LIBRARY_PATH=":".join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")])),
            NODE_PATH=os.path.join(node, "node_modules"),
            PATH=":".join(search + [os.environ["PATH"]]),
        )
        if server is not None:
            self.environment["PGDATABASE"] = server.database
            self.environment.setdefault("PG_CONFIG", pg_config())
        for name in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL", "BUILD"):
            self.environment.pop(name, None)

    def script(self, text, suffix):
        self.count += 1
        path = os.path.join(self.path, f"example-{self.count}{suffix}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def command(self, block):
        if block.language == "sh":
            return ["sh", "-eu", self.script(block.text, ".sh")], ""
        if block.language == "python":
            return ["/usr/bin/python3", self.script(block.text, ".py")], ""
        if block.language == "js":
            return ["node", self.script(block.text, ".cjs")], ""
        typed = "".join(line + "\n" for line in self.shell) + block.text
        self.shell += [line for line in block.text.split("\n") if KEPT.match(line)]
        return ["sqlite3", "-batch", "-bail", "ledger.db"], typed

    def in_psql(self, block):
        """What psql prints for a block, and what is wrong with that, or None."""
        if self.psql is None:
            self.psql = Psql(self.path, self.environment)
        printed = self.psql.run(block.text, len(block.engines) > 1)
        if printed is None:
            return "", "psql ended"
        error = r"^(ERROR|FATAL): "
        if re.search(error, printed, flags=re.M) and not re.search(error, block.expected or "", flags=re.M):
            return printed, "an error\n" + printed
        return printed, None

    def in_command(self, block):
        """What a block prints when it is run by a command of its own, likewise."""
        command, typed = self.command(block)
        try:
            done = subprocess.run(command, input=typed, cwd=self.path, env=self.environment,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=SECONDS, encoding="utf-8", errors="replace")
        except (OSError, subprocess.TimeoutExpired) as error:
            return "", str(error)
        if done.returncode != 0:
            return done.stdout, f"exit status {done.returncode}\n{done.stdout}"
        return done.stdout, None

    def run(self, block, engine):
        """None, or what is wrong with the block."""
        in_psql = engine == "postgres" and block.language == "sql"
        printed, fault = self.in_psql(block) if in_psql else self.in_command(block)
        if fault or block.expected is None:
            return fault
        lines = values_of if in_psql and len(block.engines) > 1 else lines_of
        expected, got = lines(block.expected), lines(printed)
        if matches(expected, got):
            return None
        return "\n".join(difflib.unified_diff(expected, got, "expected", "printed", lineterm=""))

    def close(self):
        if self.psql is not None:
            self.psql.close()


def pg_config():
    script = os.path.join(ROOT, "scripts", "postgres")
    return subprocess.run([script, "config"], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()


def node_is_new_enough():
    try:
        version = subprocess.run(["node", "--version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    return int(version.stdout.lstrip("v").split(".")[0]) >= NODE_MAJOR


def runtime_bin(node):
    """Where a node of our own is, if one had to be installed."""
    return os.path.join(node, "runtime", "node_modules", ".bin")


def npm_install(folder, environment, *packages):
    subprocess.run(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", *packages],
                   cwd=folder, check=True, env=environment)


def install_packages(node):
    """Installs what the Node examples need, unless it is there."""
    wanted = os.path.join(os.path.dirname(os.path.abspath(__file__)), "package.json")
    done = os.path.join(node, "installed.json")
    if os.path.isfile(done) and filecmp.cmp(done, wanted, shallow=False):
        return
    print(f"installing the packages of the Node examples into {node}", flush=True)
    os.makedirs(node, exist_ok=True)
    environment = dict(os.environ, PATH=runtime_bin(node) + ":" + os.environ["PATH"])
    if not node_is_new_enough():
        runtime = os.path.join(node, "runtime")
        os.makedirs(runtime, exist_ok=True)
        with open(os.path.join(runtime, "package.json"), "w", encoding="utf-8") as file:
            file.write('{"private": true}\n')
        npm_install(runtime, environment, f"node@{NODE_MAJOR}")
    shutil.copy(wanted, node)
    npm_install(node, environment)
    shutil.copy(wanted, done)


def run_file(path, library, options):
    """How many blocks of a file passed, failed and were left out."""
    counts = {"passed": 0, "failed": 0, "not run": 0}
    name = os.path.relpath(path, ROOT)
    blocks = read_blocks(path)
    has_server = bool(os.environ.get("PGHOST"))
    no_packages = None
    if "js" not in options.skip and any(block.language == "js" for block in blocks):
        try:
            install_packages(options.node)
        except (OSError, subprocess.CalledProcessError) as error:
            no_packages = f"npm could not install what it needs ({error})"
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="alineo-docs-"))
        server = stack.enter_context(Server(blocks)) if has_server else None
        shared = stack.enter_context(contextlib.closing(Folder(folder, library, options.node, server)))
        for block, engine in ((block, engine) for block in blocks for engine in block.engines):
            where = f"{name}:{block.line} {block.language}" + (" postgres" if engine == "postgres" else "")
            reason = block.reason
            if block.language in options.skip:
                reason = f"--skip {block.language}"
            elif engine == "postgres" and not has_server:
                reason = reason or NO_SERVER
            elif block.language == "js":
                reason = reason or no_packages
            if reason:
                print(f"not run  {where}: {reason}")
                counts["not run"] += 1
                continue
            fault = shared.run(block, engine)
            counts["failed" if fault else "passed"] += 1
            print(f"{'FAILED' if fault else 'ok    '}   {where}", flush=True)
            if fault:
                print("         " + fault.replace("\n", "\n         "), flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(description="Runs the examples of the documents.")
    parser.add_argument("--node", default=os.path.join(ROOT, "build", "node"), metavar="FOLDER",
                        help="where the packages of the Node examples are, or get installed")
    parser.add_argument("--skip", action="append", default=[], choices=LANGUAGES,
                        help="leave out the examples in a language")
    parser.add_argument("files", nargs="*", default=[os.path.join(ROOT, f) for f in DOCUMENTS])
    options = parser.parse_args()
    library = os.path.abspath(os.environ.get("ALINEO_SO", os.path.join(ROOT, "alineo.so")))
    options.node = os.path.abspath(options.node)
    if not os.path.isfile(library) or os.path.basename(library) != "alineo.so":
        sys.exit(f"{library} is no alineo.so")
    total = {"passed": 0, "failed": 0, "not run": 0}
    for path in options.files:
        for outcome, count in run_file(os.path.abspath(path), library, options).items():
            total[outcome] += count
    left_out = f", {total['not run']} not run" if total["not run"] else ""
    print(f"{total['passed']} passed, {total['failed']} failed{left_out}")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
