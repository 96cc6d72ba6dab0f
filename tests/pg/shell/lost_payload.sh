#!/bin/sh
# A payload that the server keeps out of line, and whose chunks are lost: its
# error names the event or the session, and whatever does not need it answers.
. "$(dirname "$0")/lib.sh"
new_database alineo_lost
long="(SELECT string_agg(md5(i::text), '') FROM generate_series(1, 400) i)"
sql alineo_lost "CREATE EXTENSION alineo_ledger; CREATE EXTENSION pg_surgery" >/dev/null
sql alineo_lost "
    SELECT alineo_append('ci', 'a', 'sandbox.created');
    SELECT alineo_append('ci', 'a', 'exec.started', '{\"seq\":1,\"cmd\":\"x\"}');
    SELECT alineo_append('ci', 'a', 'exec.output', json_build_object('seq', 1, 'type', 'stdout', 'text', $long));
    SELECT alineo_append('ci', 'a', 'sandbox.checkpoint_created', '{\"snapshotId\":\"s\"}');
    SELECT alineo_append('ci', 'b', 'sandbox.created', json_build_object('runId', $long));
    SELECT alineo_append('ci', 'c', 'sandbox.created');
    SELECT alineo_append('ci', 'c', 'sandbox.checkpoint_created', json_build_object('snapshotId', 's', 'x', $long));
    SELECT alineo_append('ci', 'd', 'sandbox.created');
    SELECT alineo_append('ci', 'd', 'mine', json_build_object('x', $long));
    SELECT alineo_append('ci', 'd', 'sandbox.checkpoint_created', '{\"snapshotId\":\"s\"}')" >/dev/null
toast=$(sql alineo_lost "SELECT reltoastrelid::regclass FROM pg_class WHERE relname = 'alineo_events'")
sql alineo_lost "SELECT heap_force_kill('$toast', ARRAY(SELECT ctid FROM $toast))" >/dev/null

# The server's error, without its numbers, and the context.
lost() { # SQL
    psql -XqAtd alineo_lost -c "$1" 2>&1 | grep -E '^(ERROR|CONTEXT)' | sed 's/toast value.*/…/' | head -2 | paste -sd ' '
}
error='ERROR:  missing chunk number 0 for …'
expect replay "$(lost "SELECT * FROM alineo_replay('ci', 'a')")" "$error CONTEXT:  payload of event 3"
expect execs "$(lost "SELECT * FROM alineo_execs('ci', 'a')")" "$error CONTEXT:  payload of event 3"
expect resume "$(lost "SELECT alineo_resume('b')")" "$error CONTEXT:  payload of event 5"
expect checkpoints "$(lost "SELECT * FROM alineo_list_checkpoints('ci', 'c')")" "$error CONTEXT:  payload of event 7"
expect cache "$(lost "SELECT * FROM alineo_replay_cache('ci', 'c')")" "$error CONTEXT:  payload of event 7"
expect listing "$(lost "SELECT * FROM alineo_list_sandboxes()")" \
    "$error CONTEXT:  payload of the first sandbox.created of sandbox_id 'b'"
expect "an event that is not needed" "$(sql alineo_lost "SELECT alineo_resume('d') ->> 'sandboxId'")" d
expect "another session" "$(sql alineo_lost "SELECT sandbox_id FROM alineo_get_sandbox('ci', 'd')")" d
expect "the others, from the table" "$(sql alineo_lost "SELECT count(payload) FROM alineo_events
    WHERE sandbox_id = 'a' AND id <> 3")" 2
expect "deleting it" "$(sql alineo_lost "SELECT alineo_delete_sandbox('ci', 'a')")" 4
echo "lost payloads are named"
