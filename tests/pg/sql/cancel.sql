-- Long calls end at statement_timeout; results spill instead of growing.
CREATE EXTENSION alineo_ledger;
SELECT alineo_init();
INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
  SELECT 'big', 'n', 1, CASE i WHEN 1 THEN 'exec.started' ELSE 'exec.output' END,
         jsonb_build_object('seq', i / 10, 'type', 'stdout', 'text', 'line ' || i || E'\n'), i FROM generate_series(1, 300000) i;
INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts) VALUES ('big', 'n', -1, 'sandbox.checkpoint_created', '{"snapshotId":"s"}', 9999999);
ANALYZE alineo_events;
SET statement_timeout = '20ms';
SELECT count(*) FROM alineo_replay('n', 'big');
SELECT count(*) FROM alineo_execs('n', 'big');
SELECT count(*) FROM alineo_replay_cache('n', 'big');
SELECT alineo_output('n', 'big', 1);
SELECT alineo_append_batch((SELECT json_agg(json_build_object('name', 'n', 'sandboxId', 'x', 'event', 'e')) FROM generate_series(1, 100000)));
RESET statement_timeout;
SELECT count(*) FROM alineo_replay('n', 'x');
SET work_mem = '64kB';
SELECT count(*), sum(length(stdout)) FROM alineo_execs('n', 'big');
SELECT count(*) FROM alineo_replay('n', 'big');
RESET work_mem;
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
