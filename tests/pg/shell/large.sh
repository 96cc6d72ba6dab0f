#!/bin/sh
# What is larger than a value of the server can be is an error that says so,
# with a hint, and can still be had in the parts that were recorded.
. "$(dirname "$0")/lib.sh"
if [ "$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo)" -lt 8 ]; then
    echo "skipped: less than 8 GB of memory are free"
    exit 0
fi

new_database alineo_large
# 9 chunks of 120,000,000 bytes, which TOAST makes small, the first one alone.
sql alineo_large "CREATE EXTENSION alineo_ledger; SELECT alineo_init()" >/dev/null
sql alineo_large "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 's', 'n', 1, e, '{\"seq\":1,\"exitCode\":0,\"snapshotId\":\"x\"}', i FROM unnest(ARRAY['sandbox.created', 'exec.started']) WITH ORDINALITY u(e, i);
    INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 's', 'n', 1, 'exec.output', jsonb_build_object('seq', 1, 'type', 'stdout', 'text', repeat('x', 120000000)), 10;
    INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 's', 'n', 1, event, payload, 10 + i FROM alineo_events, generate_series(1, 8) i WHERE event = 'exec.output';
    INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
    SELECT 's', 'n', 1, e, '{\"seq\":1,\"exitCode\":0,\"snapshotId\":\"x\"}', 30 + i FROM unnest(ARRAY['exec.completed', 'sandbox.checkpoint_created']) WITH ORDINALITY u(e, i)"

# The error, the hint and the SQLSTATE of a statement.
refusal() { # SQL
    psql -XqAt -v VERBOSITY=verbose -d alineo_large -c "$1" 2>&1 | sed -n 's/^ERROR:  //p; s/^HINT:  //p'
}
hint="alineo_replay(name, sandbox_id) gives it in the parts recorded."
expect "a stream" "$(refusal "SELECT length(alineo_output('n', 's', 1))")" \
    "54000: alineo_output: the stream is 1080000000 bytes long, the limit is 1073741819
$hint"
expect "a column" "$(refusal "SELECT length(stdout) FROM alineo_execs('n', 's')")" \
    "54000: alineo_execs: stdout of exec 1 is 1080000000 bytes long, the limit is 1073741819
$hint"
expect "the document" "$(refusal "SELECT length(alineo_resume('s')::text)" | sed 's/is 1080[0-9]* bytes/is 1080… bytes/')" \
    "54000: alineo_resume: the document is 1080… bytes long, the limit is 1073741819
$hint"
expect "the parts" "$(sql alineo_large "SELECT count(*) FROM alineo_replay('n', 's') WHERE event = 'exec.output'")" 9
