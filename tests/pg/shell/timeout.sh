#!/bin/sh
# statement_timeout ends a call over a million events within 100 ms of its limit.
. "$(dirname "$0")/lib.sh"
events=${1:-1000000}
late_ms=${ALINEO_LATE_MS:-100}

new_database alineo_timeout
sql alineo_timeout "CREATE EXTENSION alineo_ledger; SELECT alineo_init()" >/dev/null
sql alineo_timeout "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 's', 'n', 1, CASE i % 10 WHEN 0 THEN 'exec.started' WHEN 9 THEN 'exec.completed' ELSE 'exec.output' END,
           jsonb_build_object('seq', i / 10, 'type', 'stdout', 'text', repeat('line of output ', 5), 'exitCode', 0), i
      FROM generate_series(1, $events) i"
# The same in an order that makes the fold start again and sort.
sql alineo_timeout "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 'o', 'n', 1, event, payload, $events - ts FROM alineo_events"
sql alineo_timeout "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT s, 'n', -1, e, '{\"snapshotId\":\"x\"}', 9999999 FROM unnest(ARRAY['s', 'o']) s, unnest(ARRAY['sandbox.created', 'sandbox.checkpoint_created']) e"
sql alineo_timeout "VACUUM ANALYZE alineo_events"

for limit in 50 150 300 450 700 1000; do
    for session in s o; do
        for call in "count(*) FROM alineo_replay_cache('n', '$session')" "pg_column_size(alineo_resume('$session'))" \
            "count(*) FROM alineo_replay('n', '$session')" "count(*) FROM alineo_execs('n', '$session')"; do
            answer=$(psql -XAtd alineo_timeout 2>&1 <<SQL
SET statement_timeout = $limit;
\\timing on
SELECT $call;
SQL
            )
            took=$(echo "$answer" | sed -n 's/^Time: \([0-9]*\).*/\1/p' | tail -1)
            case $answer in
            *"canceling statement due to statement timeout"*) ended=timeout ;;
            *) ended=finished ;;
            esac
            echo "limit $limit ms: $call: $ended after $took ms"
            expect "late by $((took - limit)) ms: $call" "$((took <= limit + late_ms))" 1
        done
    done
done
