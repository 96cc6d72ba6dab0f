-- Replay, cache, execs, resume, output, checkpoints.
CREATE EXTENSION alineo_ledger;
\set SHOW_CONTEXT never
SELECT alineo_append_batch($$
{"ts":10,"name":"n","sandboxId":"p","event":"sandbox.created","payload":{"runId":"r1","teamId":"t1","resources":{"mem":"1G","cpu":2},"networkPolicy":{"b":[1.50,1e2],"a":null}}}
{"ts":11,"name":"n","sandboxId":"p","event":"exec.started","payload":{"seq":1,"cmd":"make"}}
{"ts":12,"name":"n","sandboxId":"p","event":"exec.output","payload":{"seq":1,"type":"stdout","text":"one "}}
{"ts":12,"name":"n","sandboxId":"p","event":"exec.output","payload":{"seq":1,"type":"stderr","text":"err"}}
{"ts":12,"name":"n","sandboxId":"p","event":"exec.output","payload":{"seq":1,"type":"init","text":"no output"}}
{"ts":13,"name":"n","sandboxId":"p","event":"exec.completed","payload":{"seq":1,"exitCode":3}}
{"ts":14,"name":"n","sandboxId":"p","event":"exec.output","payload":{"seq":1,"type":"stdout","text":"late"}}
{"ts":15,"name":"n","sandboxId":"p","event":"exec.started","payload":{"seq":2,"command":"python","interactive":true,"cwd":"/w","env":{"B":"2","A":"1"}}}
{"ts":16,"name":"n","sandboxId":"p","event":"exec.output","payload":{"seq":2,"type":"stdin","text":"1+1\n"}}
{"ts":17,"name":"n","sandboxId":"p","event":"exec.output","payload":{"seq":2,"type":"stdout","text":"2\n"}}
{"ts":18,"name":"n","sandboxId":"p","event":"egress.rule_added","payload":{"rules":[{"target":"a.com","action":"allow"},{"target":"b.com","action":"deny"}]}}
{"ts":19,"name":"n","sandboxId":"p","event":"egress.rule_removed","payload":{"targets":["a.com"]}}
{"ts":20,"name":"n","sandboxId":"p","event":"credential.bound","payload":{"name":"gh","binding":{"host":"github.com"},"source":"env"}}
{"ts":21,"name":"n","sandboxId":"p","event":"credential.bound","payload":{"name":"old","binding":1}}
{"ts":22,"name":"n","sandboxId":"p","event":"credential.revoked","payload":{"name":"old"}}
{"ts":23,"name":"n","sandboxId":"p","event":"sandbox.checkpoint_created","payload":{"snapshotId":"snap-1","tag":"first"}}
{"ts":24,"name":"n","sandboxId":"p","event":"exec.started","payload":{"seq":3,"code":"print(1)"}}
{"ts":25,"name":"n","sandboxId":"p","event":"exec.completed","payload":{"seq":3,"exitCode":0,"stdout":"whole"}}
{"ts":26,"name":"n","sandboxId":"p","event":"sandbox.checkpoint_created","payload":{"snapshotId":"snap-2"}}
{"ts":27,"name":"n","sandboxId":"p","event":"exec.started","payload":{"seq":4,"cmd":"sleep"}}
{"ts":30,"name":"n","sandboxId":"c","event":"sandbox.created","payload":{"runId":"r2","resumedFrom":"p","snapshotId":"snap-1"}}
{"ts":31,"name":"n","sandboxId":"c","event":"exec.started","payload":{"seq":5,"cmd":"own"}}
{"ts":32,"name":"n","sandboxId":"c","event":"exec.completed","payload":{"seq":5,"exitCode":0}}
$$);
SELECT * FROM alineo_replay_cache('n', 'p');
SELECT * FROM alineo_replay_cache('n', 'p', 'first');
SELECT * FROM alineo_replay_cache('n', 'p', tag => 'none');
SELECT * FROM alineo_replay_cache('n', 'c');
SELECT * FROM alineo_execs('n', 'p');
SELECT * FROM alineo_execs('n', 'nobody');
SELECT alineo_resume('p');
SELECT alineo_resume('p', 'first');
SELECT alineo_resume('c');
SELECT alineo_resume('c', 'first');
SELECT alineo_resume('nobody');
SELECT alineo_resume(NULL);
SELECT alineo_resume('');
SELECT alineo_resume('p', tag => 'none');
\echo :LAST_ERROR_SQLSTATE
SELECT convert_from(alineo_output('n', 'p', 1), 'UTF8'), convert_from(alineo_output('n', 'p', 2, 'stdin'), 'UTF8'),
       alineo_output('n', 'p', 4) AS nothing_yet, alineo_output('n', 'p', 99) AS unknown;
SELECT alineo_output(NULL, 'p', 1), alineo_output('n', 'p', NULL), convert_from(alineo_output('n', 'p', 1, NULL), 'UTF8');
SELECT alineo_output('n', 'p', 1, 'other');
SELECT * FROM alineo_list_checkpoints('n', 'p');
SELECT * FROM alineo_last_checkpoint('n', 'p');
SELECT * FROM alineo_last_checkpoint('n', 'c');
-- NULL: no rows.
SELECT * FROM alineo_replay(NULL, 'p');
SELECT * FROM alineo_replay_cache('n', NULL);
SELECT * FROM alineo_execs(NULL, NULL);
SELECT * FROM alineo_list_checkpoints('n', NULL);
-- Recorded out of order: chunks are joined as recorded, replay goes by ts.
SELECT alineo_append_batch($$
{"ts":50,"name":"n","sandboxId":"o","event":"sandbox.created"}
{"ts":53,"name":"n","sandboxId":"o","event":"exec.output","payload":{"seq":1,"type":"stdout","text":"a"}}
{"ts":51,"name":"n","sandboxId":"o","event":"exec.output","payload":{"seq":1,"type":"stdout","text":"b"}}
{"ts":52,"name":"n","sandboxId":"o","event":"exec.started","payload":{"seq":1,"cmd":"x"}}
{"ts":40,"name":"n","sandboxId":"o","event":"exec.completed","payload":{"seq":1,"exitCode":0}}
{"ts":45,"name":"n","sandboxId":"o","event":"sandbox.checkpoint_created","payload":{"snapshotId":"s"}}
$$);
SELECT ts, event FROM alineo_replay('n', 'o');
SELECT * FROM alineo_replay_cache('n', 'o');
-- A row function where rows are expected and where they are not.
SELECT alineo_replay_cache('n', 'o');
SELECT x.sandbox_id, c.seq FROM alineo_list_sandboxes() x, LATERAL alineo_execs(x.name, x.sandbox_id) c ORDER BY 1, 2;
SELECT count(*) FROM alineo_replay('n', 'p') LIMIT 1;
BEGIN;
DECLARE c SCROLL CURSOR FOR SELECT seq FROM alineo_execs('n', 'p');
FETCH 2 FROM c;
FETCH BACKWARD 1 FROM c;
COMMIT;
-- Large and compressed payloads.
SELECT alineo_append('n', 'big', 'exec.output', json_build_object('seq', 1, 'type', 'stdout', 'text', repeat('abcdefghij', 100000)), ts => i) IS NOT NULL AS ok
  FROM generate_series(1, 3) i;
SELECT alineo_append('n', 'big', 'exec.output', json_build_object('seq', 1, 'type', 'stdout', 'text',
  (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 5000) i)), ts => 4) IS NOT NULL AS ok;
SELECT length(alineo_output('n', 'big', 1)), md5(alineo_output('n', 'big', 1)) =
  md5(repeat('abcdefghij', 300000) || (SELECT string_agg(md5(i::text), '') FROM generate_series(1, 5000) i)) AS exact;
SET work_mem = '64kB';
SELECT sum(length(stdout)) FROM alineo_execs('n', 'big');
SELECT count(*), sum(length(payload::text)) > 3000000 AS all FROM alineo_replay('n', 'big');
RESET work_mem;
-- A payload that no append lets in, nested too deep, is an error and not a value
-- that is left out.
INSERT INTO alineo_events (id, sandbox_id, name, step_idx, event, payload, ts)
VALUES (1000001, 'deep', 'n', -1, 'sandbox.created',
        ('{"resources":' || repeat('[', 1001) || repeat(']', 1001) || '}')::jsonb, 1),
       (1000002, 'deep', 'n', -1, 'sandbox.checkpoint_created', '{"snapshotId":"x"}', 2);
SELECT alineo_resume('deep');
SELECT run_id FROM alineo_get_sandbox('n', 'deep');
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
