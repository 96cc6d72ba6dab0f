-- Each function reads by an index: of a large ledger, no call scans the whole table.
CREATE EXTENSION alineo_ledger;
SELECT alineo_init();
INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
  SELECT 'sb' || s, 'n', -1, CASE e WHEN 1 THEN 'sandbox.created' WHEN 2 THEN 'exec.started' WHEN 99 THEN 'exec.completed'
         WHEN 100 THEN 'sandbox.checkpoint_created' ELSE 'exec.output' END,
         jsonb_build_object('seq', 1, 'type', 'stdout', 'text', 'x', 'snapshotId', 'snap'), s * 1000 + e
    FROM generate_series(1, 500) s, generate_series(1, 100) e ORDER BY e, s;
ANALYZE alineo_events;
\c -
BEGIN;
SELECT count(*) FROM alineo_replay('n', 'sb7');
SELECT count(*) FROM alineo_replay_cache('n', 'sb7');
SELECT count(*) FROM alineo_execs('n', 'sb7');
SELECT length(alineo_output('n', 'sb7', 1));
SELECT alineo_resume('sb7') ->> 'sandboxId' AS sandbox_id;
SELECT count(*) FROM alineo_list_checkpoints('n', 'sb7');
SELECT count(*) FROM alineo_last_checkpoint('n', 'sb7');
SELECT sandbox_id FROM alineo_get_sandbox('n', 'sb7');
SELECT sandbox_id FROM alineo_list_sandboxes(max_rows => 3);
SELECT alineo_append('n', 'sb7', 'exec.output', '{"seq":1}') IS NOT NULL AS ok;
SELECT alineo_append_batch('{"name":"n","sandboxId":"sb7","event":"exec.output","payload":{"seq":1}}');
SELECT alineo_delete_sandbox('n', 'sb7');
SELECT seq_scan, seq_tup_read, idx_tup_fetch < 3000 AS few_rows FROM pg_stat_xact_user_tables WHERE relname = 'alineo_events';
COMMIT;
-- A session that grows from nothing is appended to by index from its first event on.
TRUNCATE alineo_events;
\c -
BEGIN;
SELECT count(alineo_append('n', 's', 'exec.output', '{"seq":1}')) FROM generate_series(1, 3000);
SELECT seq_tup_read, idx_tup_fetch < 30000 AS few_rows FROM pg_stat_xact_user_tables WHERE relname = 'alineo_events';
COMMIT;
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
