#!/bin/sh
# Shows the ledger at work: appends recorded sessions, replays and resumes them.
# Usage: demo/demo.sh ALINEO_SO. Needs sqlite3 and python3.
set -eu

library=${1:?usage: demo/demo.sh ALINEO_SO}
library=$(cd "$(dirname "$library")" && pwd)/$(basename "$library")
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d "${TMPDIR:-/tmp}/alineo-demo.XXXXXX")
ledger=$folder/ledger.db
cp "$here/../tests/data/sessions.jsonl" "$folder/sessions.jsonl"

# A run that was checkpointed, and the one that was resumed from it.
name=ci-build
first=sb-11073-1
second=sb-11073-4

title() {
    printf '\n== %s\n\n' "$*"
}

# Runs SQL that is read from standard input, with the ledger open.
sql() {
    (cd "$folder" && sqlite3 -batch -bail -cmd ".load \"$library\"" ledger.db "$@")
}

# Text in one short line: control characters show as symbols, a long text is cut.
short() {
    printf "substr(replace(replace(replace(replace(%s, char(10), '⏎'), char(13), '␍'), \
char(27), '␛'), char(9), ' '), 1, %s) || iif(length(%s) > %s, '…', '')" "$1" "$2" "$1" "$2"
}

title "Appended: tests/data/sessions.jsonl, one event a line, in one call"
sql <<SQL
SELECT 'alineo_append_batch stored ' ||
       alineo_append_batch(CAST(readfile('sessions.jsonl') AS TEXT)) || ' events.';
SQL

title "Sessions: alineo_list_sandboxes()"
sql <<SQL
.mode column
SELECT name, sandbox_id, status, exec_count AS execs, completed_at - started_at AS ms, resumed_from
FROM alineo_list_sandboxes();
SQL

title "One of them, event by event: alineo_replay('$name', '$second')"
sql <<SQL
.mode column
.width -4 -4 26 18 46
SELECT ts - first_value(ts) OVER (ORDER BY ts, id) AS 'ms', step_idx AS exec, event,
       coalesce(payload ->> 'type', '') AS type,
       $(short "coalesce(payload ->> 'cmd', payload ->> 'text', 'exit ' || (payload ->> 'exitCode'),
                         payload ->> 'snapshotId', '')" 44) AS what
FROM alineo_replay('$name', '$second') ORDER BY ts, id;
SQL

title "What it need not run again: alineo_replay_cache('$name', '$second')"
sql <<SQL
.mode column
.width -3 -4 10 36 36
SELECT seq, exit_code AS exit,
       iif(seq IN (SELECT seq FROM alineo_execs('$name', '$second')), '$second', '$first') AS 'ran in',
       $(short command 34) AS command, $(short stdout 34) AS stdout
FROM alineo_replay_cache('$name', '$second');
SQL

title "Checkpoints to resume from: alineo_list_checkpoints('$name', '$first')"
sql <<SQL
.mode column
SELECT * FROM alineo_list_checkpoints('$name', '$first');
SQL

title "All a client needs to go on: alineo_resume('$second'), long texts cut"
sql "SELECT alineo_resume('$second')" | python3 -c '
import json, sys

def cut(value):
    if isinstance(value, str):
        return value if len(value) <= 56 else value[:55] + "…"
    if isinstance(value, list):
        return [cut(item) for item in value]
    if isinstance(value, dict):
        return {key: cut(item) for key, item in value.items()}
    return value

sys.stdout.reconfigure(encoding="utf-8")
print(json.dumps(cut(json.load(sys.stdin)), indent=2, ensure_ascii=False))'

rm "$folder/sessions.jsonl"
title "The ledger is yours to play with"
cat <<TEXT
It is in $ledger
Open it:  sqlite3 -cmd '.load "$library"' $ledger
Then try: SELECT * FROM alineo_replay_cache('parallel', 'sb-11073-7');
          SELECT hex(alineo_output('binary-output', 'sb-11073-6', 1));
TEXT
