-- Text that JSONB cannot hold, through every path. docs/reference.md, "Text".
CREATE EXTENSION alineo_ledger;
SELECT alineo_append('n', 's', 'sandbox.created', '{"runId":"r\u0000","k\u0000\ud800":"\ufdd0"}', ts => 1) AS id;
SELECT alineo_append('n', 's', 'exec.started', '{"seq":1,"cmd":"a\u0000\udc00","env":{"z":1,"a\u0000":"\ud83d\ude00\ud83d","bb":"\ufdd00000"}}', ts => 2) AS id;
SELECT alineo_append('n', 's', 'exec.output', '{"seq":1,"type":"stdout","text":"A\u0000\ud83d"}'::json, ts => 3) AS id;
SELECT alineo_append('n', 's', 'exec.output', '{"seq":1,"type":"stdout","text":"\ude00\ud83d|"}', ts => 4) AS id;
SELECT alineo_append('n', 's', 'exec.output', '{"seq":1,"type":"stdout","text":"\ufdd0d83d"}'::jsonb, ts => 5) AS id;
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"exec.output","ts":6,"payload":{"seq":1,"type":"stderr","text":"\udfff\u0000"}},
  {"name":"n","sandboxId":"s","event":"exec.completed","ts":7,"payload":{"seq":1,"exitCode":0},"error":"e\u0000\ud800"}]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"sandbox.checkpoint_created","ts":8,"payload":{"snapshotId":"\ufdd0","tag":"t"}}]'::jsonb);
-- As stored.
SELECT id, payload::text COLLATE "C" AS payload, error FROM alineo_replay('n', 's');
-- As shown.
SELECT seq, command, stdout, stderr, exit_code FROM alineo_replay_cache('n', 's');
SELECT run_id FROM alineo_list_sandboxes();
SELECT * FROM alineo_list_checkpoints('n', 's');
-- As it was.
SELECT alineo_resume('s');
SELECT alineo_output('n', 's', 1), alineo_output('n', 's', 1, 'stderr'), alineo_output('n', 's', 1, 'stdin');
-- A stored U+FDD0 that is no escape stays.
SELECT alineo_append('n', 'raw', 'exec.output', '{"seq":1,"type":"stdout","text":"x"}', ts => 1) AS id;
UPDATE alineo_events SET payload = jsonb_build_object('seq', 1, 'type', 'stdout', 'text', U&'\FDD0zzzz\FDD0fdd0\FDD0') WHERE sandbox_id = 'raw';
SELECT alineo_output('n', 'raw', 1);
-- Every code unit there is.
SELECT alineo_append_batch((SELECT string_agg(format('{"name":"n","sandboxId":"units","event":"exec.output","ts":1,"payload":{"seq":1,"type":"stdout","text":"\u%s|"}}',
  lpad(to_hex(u), 4, '0')), E'\n' ORDER BY u) FROM generate_series(0, 65535) u));
SELECT length(o), md5(o) = md5((SELECT string_agg(CASE WHEN u = 0 THEN '\x00' WHEN u BETWEEN 55296 AND 57343 THEN '\xefbfbd'
  ELSE convert_to(chr(u), 'UTF8') END || '\x7c', '' ORDER BY u) FROM generate_series(0, 65535) u)) AS exact
  FROM alineo_output('n', 'units', 1) o;
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
