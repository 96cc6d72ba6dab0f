-- Tables that are not plainly ours: partitioned, with triggers, with other types, foreign.
\set SHOW_CONTEXT never
-- Partitioned by hash of sandbox_id.
CREATE TABLE alineo_events (
  id bigserial, sandbox_id text NOT NULL, name text NOT NULL, step_idx integer NOT NULL, branch integer,
  event text NOT NULL, payload jsonb, error text, ts bigint NOT NULL, PRIMARY KEY (sandbox_id, id)) PARTITION BY HASH (sandbox_id);
CREATE TABLE alineo_events_p0 PARTITION OF alineo_events FOR VALUES WITH (MODULUS 3, REMAINDER 0);
CREATE TABLE alineo_events_p1 PARTITION OF alineo_events FOR VALUES WITH (MODULUS 3, REMAINDER 1);
CREATE TABLE alineo_events_p2 PARTITION OF alineo_events FOR VALUES WITH (MODULUS 3, REMAINDER 2);
CREATE EXTENSION alineo_ledger;
SELECT alineo_init();
SELECT relname, relkind FROM pg_class WHERE relname IN ('alineo_events', 'alineo_events_created', 'alineo_events_milestones', 'alineo_events_name_sandbox_ts') ORDER BY 1;
SELECT alineo_append('n', 'sb' || i, 'sandbox_created', json_build_object('runId', 'r' || i), ts => i) IS NOT NULL AS ok FROM generate_series(1, 4) i;
SELECT alineo_append_batch((SELECT json_agg(json_build_object('name', 'n', 'sandboxId', 'sb' || i % 4 + 1, 'event', 'exec.output', 'ts', 10 + i,
  'payload', json_build_object('seq', 1, 'type', 'stdout', 'text', i || ' ')) ORDER BY i) FROM generate_series(1, 40) i));
SELECT alineo_append('n', 'sb1', 'exec.completed', '{"seq":1,"exitCode":0}') IS NOT NULL AS ok;
SELECT alineo_append('n', 'sb1', 'snapshot', '{"snapshotId":"x","name":"t"}') IS NOT NULL AS ok;
SELECT count(DISTINCT tableoid) > 1 AS spread FROM alineo_events;
SELECT convert_from(alineo_output('n', 'sb1', 1), 'UTF8'), convert_from(alineo_output('n', 'sb2', 1), 'UTF8');
SELECT seq, stdout, exit_code FROM alineo_replay_cache('n', 'sb1');
SELECT alineo_resume('sb1') ->> 'runId' AS run_id;
SELECT sandbox_id, run_id, exec_count FROM alineo_list_sandboxes();
UPDATE alineo_events SET event = 'sandbox_created' WHERE event = 'sandbox.created';
SELECT alineo_init();
SELECT alineo_delete_sandbox('n', 'sb1');
SELECT count(*) FROM alineo_list_sandboxes();
DROP TABLE alineo_events;

-- Row triggers see and change what is appended, and may append themselves.
SELECT alineo_init();
CREATE FUNCTION stamp() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.event = 'skipped' THEN RETURN NULL; END IF;
  IF NEW.event = 'refused' THEN RAISE EXCEPTION 'not this one'; END IF;
  IF NEW.event = 'doubled' THEN PERFORM alineo_append(NEW.name, NEW.sandbox_id, 'double', NEW.payload, ts => NEW.ts); END IF;
  NEW.error := 'stamped';
  RETURN NEW;
END $$;
CREATE TRIGGER stamp BEFORE INSERT ON alineo_events FOR EACH ROW EXECUTE FUNCTION stamp();
SELECT alineo_append('n', 's', 'plain', ts => 1) IS NOT NULL AS stored;
SELECT alineo_append('n', 's', 'skipped', ts => 2) IS NOT NULL AS stored;
SELECT alineo_append('n', 's', 'refused', ts => 3) IS NOT NULL AS stored;
SELECT alineo_append('n', 's', 'doubled', '{"a":1}', ts => 4) IS NOT NULL AS stored;
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"plain","ts":5},{"name":"n","sandboxId":"s","event":"skipped","ts":6},{"name":"n","sandboxId":"s","event":"doubled","ts":7}]');
SELECT event, payload, error, ts FROM alineo_replay('n', 's');
ALTER TABLE alineo_events ADD CHECK (event <> 'checked');
SELECT alineo_append('n', 's', 'checked', ts => 9);
DROP TABLE alineo_events;
DROP FUNCTION stamp;

-- Columns of other types and in another order are cast, never misread.
CREATE TABLE alineo_events (ts numeric, payload text, error varchar(20), event varchar(40), branch smallint, step_idx bigint, name varchar(40), sandbox_id char(8), id integer GENERATED ALWAYS AS IDENTITY);
SELECT alineo_append('n', 'sandbox1', 'exec.output', '{"seq":1,"type":"stdout","text":"hi"}', ts => 5);
SELECT * FROM alineo_replay('n', 'sandbox1');
SELECT convert_from(alineo_output('n', 'sandbox1', 1), 'UTF8');
SELECT alineo_append('n', 'sandbox1', 'sandbox.created', ts => 5);
SELECT * FROM alineo_list_sandboxes();
DROP TABLE alineo_events;

-- A view over another table.
CREATE TABLE kept (id bigserial PRIMARY KEY, sandbox_id text, name text, step_idx integer, branch integer, event text, payload jsonb, error text, ts bigint);
CREATE VIEW alineo_events AS SELECT * FROM kept;
ALTER VIEW alineo_events ALTER id SET DEFAULT nextval('kept_id_seq');
SELECT alineo_init();
SELECT alineo_append('n', 's', 'sandbox.created');
SELECT alineo_append_batch('{"name":"n","sandboxId":"s","event":"e"}');
SELECT event FROM alineo_replay('n', 's');
DROP VIEW alineo_events;
DROP TABLE kept, alineo_environments;
DROP EXTENSION alineo_ledger;
