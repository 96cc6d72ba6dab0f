-- Sessions and environments.
CREATE EXTENSION alineo_ledger;
\set SHOW_CONTEXT never
SELECT alineo_append_batch($$
{"ts":100,"name":"a","sandboxId":"s1","event":"sandbox.created","payload":{"runId":"r1","resourceId":"res","teamId":"team","parentSandboxId":"par","resumedFrom":"from"}}
{"ts":101,"name":"a","sandboxId":"s1","event":"exec.completed","payload":{"seq":1}}
{"ts":102,"name":"a","sandboxId":"s1","event":"exec_complete","payload":{"seq":2}}
{"ts":103,"name":"a","sandboxId":"s1","event":"sandbox.closed"}
{"ts":109,"name":"a","sandboxId":"s1","event":"sandbox_closed"}
{"ts":105,"name":"a","sandboxId":"s1","event":"sandbox.closed"}
{"ts":200,"name":"b","sandboxId":"s2","event":"sandbox.created"}
{"ts":200,"name":"a","sandboxId":"s3","event":"sandbox_created","payload":{"runId":"r1"}}
{"ts":90,"name":"a","sandboxId":"s3","event":"sandbox.created","payload":{"runId":"second"}}
{"ts":300,"name":"a","sandboxId":"uncreated","event":"exec.completed"}
{"ts":100,"name":"b","sandboxId":"s1","event":"sandbox.created","payload":{"runId":7,"resourceId":{"b":1,"a":[2]},"teamId":null}}
$$);
SELECT * FROM alineo_list_sandboxes();
SELECT * FROM alineo_list_sandboxes('a');
SELECT name, sandbox_id FROM alineo_list_sandboxes(status => 'completed');
SELECT name, sandbox_id FROM alineo_list_sandboxes(NULL, 'running');
SELECT name, sandbox_id FROM alineo_list_sandboxes(run_id => 'r1');
SELECT name, sandbox_id FROM alineo_list_sandboxes(run_id => 's2');
SELECT name, sandbox_id FROM alineo_list_sandboxes(before => 100);
SELECT name, sandbox_id FROM alineo_list_sandboxes(max_rows => 2);
SELECT name, sandbox_id FROM alineo_list_sandboxes(max_rows => 0);
SELECT name, sandbox_id FROM alineo_list_sandboxes(status => 'running', max_rows => 1);
SELECT alineo_list_sandboxes(status => 'open');
SELECT alineo_list_sandboxes(max_rows => -1);
SELECT * FROM alineo_get_sandbox('a', 's3');
SELECT * FROM alineo_get_sandbox('a', 'uncreated');
SELECT * FROM alineo_get_sandbox('a', NULL);
SELECT alineo_delete_sandbox('a', 's1'), alineo_delete_sandbox('a', 's1');
SELECT name, sandbox_id FROM alineo_list_sandboxes();

-- A name is listed the same whether few or many sessions have it.
SELECT max(alineo_append('many ' || n, 'sb ' || s, e, '{}', ts => 1000 * (s * 7919 % 100) + d)) > 0 AS ok
  FROM unnest(ARRAY[1, 62, 63, 64, 65, 100]) n, generate_series(1, 100) s, (VALUES ('sandbox.created', 5), ('sandbox_created', 3), ('exec.output', 6), ('sandbox.closed', 9)) v(e, d)
  WHERE s <= n AND (e <> 'sandbox.closed' OR s % 3 = 0);
SELECT n, count(*), min(a::text) FILTER (WHERE a IS DISTINCT FROM b) AS differs FROM unnest(ARRAY[1, 62, 63, 64, 65, 100]) n,
  LATERAL (SELECT row_number() OVER () AS i, x.* FROM alineo_list_sandboxes('many ' || n, before => 95000) x) a
  FULL JOIN LATERAL (SELECT row_number() OVER () AS i, y.* FROM alineo_list_sandboxes(before => 95000) y WHERE y.name = 'many ' || n) b USING (i)
  GROUP BY n ORDER BY n;
SELECT n, count(*) FROM unnest(ARRAY[1, 62, 63, 64, 65, 100]) n, alineo_list_sandboxes('many ' || n, 'running') GROUP BY n ORDER BY n;
DELETE FROM alineo_events WHERE name LIKE 'many %';

SELECT alineo_save_environment('py', 'snap', 'python:3', 5);
SELECT alineo_save_environment('py', 'snap2', 'python:4', 6);
SELECT alineo_save_environment('node', 'snap3', 'node:22', 6);
SELECT alineo_save_environment('now', 'snap4', 'x') AS name;
SELECT name, snapshot_id, image, CASE WHEN name <> 'now' THEN built_at END FROM alineo_list_environments();
SELECT built_at > 1700000000000 AS is_now FROM alineo_get_environment('now');
SELECT * FROM alineo_get_environment('py');
SELECT * FROM alineo_get_environment('none');
SELECT * FROM alineo_get_environment(NULL);
SELECT alineo_delete_environment('py'), alineo_delete_environment('py');
SELECT alineo_save_environment(NULL, 's', 'i');
SELECT alineo_save_environment('n', '', 'i');
SELECT alineo_save_environment('n', 's', NULL);
SELECT alineo_save_environment('n', 's', 'i', -1);
SELECT alineo_delete_environment(NULL);
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
