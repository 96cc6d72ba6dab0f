#!/bin/sh
# alineo_init over a large ledger of version 0.2: it tells how far it is, can be
# stopped, changes nothing then, and starts again.
. "$(dirname "$0")/lib.sh"
events=200000

new_database alineo_migration
sql alineo_migration "CREATE TABLE alineo_events (id BIGSERIAL PRIMARY KEY, sandbox_id TEXT NOT NULL, name TEXT NOT NULL,
    step_idx INTEGER NOT NULL, branch INTEGER, event TEXT NOT NULL, payload JSONB, error TEXT, ts BIGINT NOT NULL)"
sql alineo_migration "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 'sb-' || i / 1000, 'n', 1, CASE i % 1000 WHEN 0 THEN 'sandbox_created' WHEN 1 THEN 'exec_start' ELSE 'exec_event' END,
           to_jsonb(jsonb_build_object('seq', 1, 'type', 'stdout', 'text', 'line ' || i)::text), i
      FROM generate_series(0, $((events - 1))) i"
sql alineo_migration "ANALYZE alineo_events; CREATE EXTENSION alineo_ledger"

stored() {
    sql alineo_migration "SELECT count(*), count(*) FILTER (WHERE event LIKE '%.%'),
        count(*) FILTER (WHERE jsonb_typeof(payload) = 'object') FROM alineo_events"
}

# As often as it takes to stop it halfway: a limit of less than the rest of it.
limit=4000
while [ "$limit" -gt 20 ]; do
    stopped=$(psql -XqAtd alineo_migration -c "SET statement_timeout = $limit" -c "SELECT alineo_init()" 2>&1 || true)
    case $stopped in
    *"canceling statement due to statement timeout"*) break ;;
    esac
    sql alineo_migration "UPDATE alineo_events SET event = CASE event WHEN 'sandbox.created' THEN 'sandbox_created'
        WHEN 'exec.started' THEN 'exec_start' ELSE 'exec_event' END, payload = to_jsonb(payload::text)"
    limit=$((limit / 2))
done
expect "stopped" "$(echo "$stopped" | grep -c 'canceling statement')" 1
expect "a stopped migration changes nothing" "$(stored)" "$events|0|0"

notices=$(PGOPTIONS= psql -XqAtd alineo_migration -c "SELECT alineo_init()" 2>&1)
expect "rows rewritten" "$(echo "$notices" | tail -n 1)" "$events"
expect "what is stored" "$(stored)" "$events|$events|$events"
for tenth in 1 2 3 4 5 6 7 8 9 10; do
    read=$((events / 10 * tenth))
    expect "notice of $tenth tenths" \
        "$(echo "$notices" | grep -c "^NOTICE:  alineo_init: $read of about $events events read, $read rewritten$")" 1
done
expect "nothing is left to do" "$(sql alineo_migration 'SELECT alineo_init()')" 0
