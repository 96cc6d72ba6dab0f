#!/bin/sh
# The access path of each function, as the server's auto_explain tells it of every
# statement inside: which index, and by which of its columns.
. "$(dirname "$0")/lib.sh"

new_database alineo_plans
sql alineo_plans "CREATE EXTENSION alineo_ledger; SELECT alineo_init()" >/dev/null
sql alineo_plans "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 'sb' || s, CASE WHEN s = 7 THEN 'rare' ELSE 'n' END, -1,
           CASE WHEN e = 1 THEN 'sandbox.created' WHEN e % 100 = 0 THEN 'sandbox.checkpoint_created'
                WHEN e % 10 = 2 THEN 'exec.started' WHEN e % 10 = 3 THEN 'exec.completed'
                WHEN e = 399 AND s % 10 > 0 THEN 'sandbox.closed' ELSE 'exec.output' END,
           jsonb_build_object('seq', 1, 'type', 'stdout', 'text', 'x', 'snapshotId', 'snap'), s * 1000 + e
      FROM generate_series(1, 500) s, generate_series(1, 400) e"
sql alineo_plans "VACUUM ANALYZE alineo_events"

# Each scan of the events once, in the order of names: the index with the columns
# it is searched by, "all" for the table from end to end, and what is sorted.
paths() { # call
    PGOPTIONS="$PGOPTIONS -c session_preload_libraries=auto_explain" psql -Xqd alineo_plans 2>&1 <<SQL |
SET auto_explain.log_min_duration = 0;
SET auto_explain.log_nested_statements = on;
SET auto_explain.log_level = warning;
$1;
SQL
        awk '
            /Seq Scan on alineo_events/ { print "all" }
            / Scan .*using alineo_|Bitmap Index Scan on alineo_events/ {
                index_name = $0
                sub(/.*(using|Scan on) alineo_events_?/, "", index_name)
                sub(/ .*/, "", index_name)
                backward = /Backward/ ? " backward" : ""
                getline
                searched = ""
                if (/Index Cond:/) {
                    n = split($0, words, /[( ]/)
                    for (i = 1; i < n; i++)
                        if (words[i] ~ /^(name|sandbox_id|event|ts|id)$/ && words[i + 1] ~ /^[=<>]/)
                            searched = searched " " words[i] (words[i + 1] == "=" ? "" : words[i + 1])
                }
                print index_name ":" searched backward
            }' | LC_ALL=C sort -u | paste -sd, -
}

path() { # call, paths
    expect "$1" "$(paths "SELECT * FROM $1")" "$2"
}

event="milestones: sandbox_id event name"
path "alineo_replay('n', 'sb8')" "name_sandbox_ts: name sandbox_id"
path "alineo_execs('n', 'sb8')" "name_sandbox_ts: name sandbox_id"
path "alineo_replay_cache('n', 'sb8')" "$event,name_sandbox_ts: name sandbox_id"
path "alineo_output('n', 'sb8', 1)" "name_sandbox_ts: name sandbox_id"
path "alineo_last_checkpoint('n', 'sb8')" "$event"
path "alineo_list_checkpoints('n', 'sb8')" "$event"
path "alineo_get_sandbox('n', 'sb8')" "$event"
path "alineo_list_sandboxes(max_rows => 50)" "created: backward,$event"
path "alineo_list_sandboxes(before => 90000, max_rows => 50)" "created: ts<= backward,$event"
path "alineo_list_sandboxes(status => 'running', max_rows => 50)" "created: backward,$event"
path "alineo_list_sandboxes(run_id => 'r', max_rows => 50)" "created: backward,$event"
path "alineo_list_sandboxes('n', max_rows => 50)" \
    "created: name backward,$event,name_sandbox_ts: name,name_sandbox_ts: name sandbox_id>"
path "alineo_list_sandboxes('rare')" "$event,name_sandbox_ts: name,name_sandbox_ts: name sandbox_id>"
path "alineo_resume('sb8')" "milestones: sandbox_id event,$event,name_sandbox_ts: name sandbox_id"
path "alineo_append('n', 'sb8', 'exec.output')" ""
path "alineo_delete_sandbox('n', 'sb9')" "name_sandbox_ts: name sandbox_id"
