-- A ledger that the 0.2 adapter made, read as it stands and then brought up to date.
\getenv src PG_ABS_SRCDIR
\set file :src '/../data/alineo-0.2-postgres.sql'
\set ECHO none
SET client_min_messages = warning;
\o /dev/null
\i :file
\o
RESET ALL;
\set ECHO all
CREATE EXTENSION alineo_ledger;
SELECT jsonb_typeof(payload) AS stored, count(*) FROM alineo_events GROUP BY 1 ORDER BY 1;
CREATE TABLE before AS
  SELECT 'sandboxes' AS what, x::text AS answer FROM alineo_list_sandboxes() x
  UNION ALL SELECT 'replay', x::text FROM alineo_list_sandboxes() s, alineo_replay(s.name, s.sandbox_id) x
  UNION ALL SELECT 'execs', x::text FROM alineo_list_sandboxes() s, alineo_execs(s.name, s.sandbox_id) x
  UNION ALL SELECT 'cache', x::text FROM alineo_list_sandboxes() s, alineo_replay_cache(s.name, s.sandbox_id) x
  UNION ALL SELECT 'checkpoints', x::text FROM alineo_list_sandboxes() s, alineo_list_checkpoints(s.name, s.sandbox_id) x
  UNION ALL SELECT 'last', x::text FROM alineo_list_sandboxes() s, alineo_last_checkpoint(s.name, s.sandbox_id) x
  UNION ALL SELECT 'resume', alineo_resume(sandbox_id)::text FROM alineo_list_sandboxes() s
    WHERE EXISTS (SELECT 1 FROM alineo_last_checkpoint(s.name, s.sandbox_id));
SELECT what, count(*) FROM before GROUP BY 1 ORDER BY 1;
SELECT * FROM alineo_list_sandboxes();
SELECT DISTINCT event FROM alineo_replay('ci-build', 'sb-11459-1') ORDER BY 1;
SELECT seq, command, length(stdout), stderr, exit_code FROM alineo_replay_cache('ci-build', 'sb-11459-1');
SELECT * FROM alineo_list_environments();
-- Appending goes on beside the old rows.
SELECT alineo_append('ci-build', 'sb-11459-1', 'mine', '{"a":1}') > 122 AS later;
SELECT alineo_save_environment('py', 'snap-new', 'python:3.13', 1795950002000);
DELETE FROM alineo_events WHERE event = 'mine';

-- Strings that are no payload encoded twice stay; what JSONB cannot hold inside one is escaped.
INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts) VALUES
  ('odd', 'odd', -1, 'mine', '"plain"', 1), ('odd', 'odd', -1, 'mine', '"{broken"', 2), ('odd', 'odd', -1, 'mine', '"7"', 3),
  ('odd', 'odd', -1, 'mine', '"[1, 2]"', 4), ('odd', 'odd', -1, 'mine', to_jsonb('{"t":"\u0000\ud83d"}'::text), 5),
  ('odd', 'odd', -1, 'run_started', '{"x":"\"{}\""}', 6), ('odd', 'odd', -1, 'mine', to_jsonb('"{}"'::text), 7);
SELECT event, payload FROM alineo_replay('odd', 'odd');
SELECT alineo_init();
SELECT event, payload FROM alineo_events WHERE name = 'odd' ORDER BY id;
SELECT alineo_init();
SELECT jsonb_typeof(payload) AS stored, count(*) FROM alineo_events GROUP BY 1 ORDER BY 1;
SELECT DISTINCT event FROM alineo_events WHERE event NOT LIKE '%.%';
CREATE TABLE after AS
  SELECT 'sandboxes' AS what, x::text AS answer FROM alineo_list_sandboxes() x
  UNION ALL SELECT 'replay', x::text FROM alineo_list_sandboxes() s, alineo_replay(s.name, s.sandbox_id) x
  UNION ALL SELECT 'execs', x::text FROM alineo_list_sandboxes() s, alineo_execs(s.name, s.sandbox_id) x
  UNION ALL SELECT 'cache', x::text FROM alineo_list_sandboxes() s, alineo_replay_cache(s.name, s.sandbox_id) x
  UNION ALL SELECT 'checkpoints', x::text FROM alineo_list_sandboxes() s, alineo_list_checkpoints(s.name, s.sandbox_id) x
  UNION ALL SELECT 'last', x::text FROM alineo_list_sandboxes() s, alineo_last_checkpoint(s.name, s.sandbox_id) x
  UNION ALL SELECT 'resume', alineo_resume(sandbox_id)::text FROM alineo_list_sandboxes() s
    WHERE EXISTS (SELECT 1 FROM alineo_last_checkpoint(s.name, s.sandbox_id));
-- The answers did not change.
(TABLE before EXCEPT ALL TABLE after) UNION ALL (TABLE after EXCEPT ALL TABLE before);
SELECT relname FROM pg_class WHERE relname LIKE 'alineo%' AND relkind = 'i' ORDER BY 1;
DROP TABLE before, after, alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
