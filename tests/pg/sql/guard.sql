-- alineo_guard: what it refuses, to whom, and whom it lets pass.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
DROP ROLE IF EXISTS alineo_owner, alineo_writer, alineo_auditor;
RESET client_min_messages;
CREATE ROLE alineo_owner;
CREATE ROLE alineo_writer;
CREATE ROLE alineo_auditor;
DO $$BEGIN EXECUTE format('GRANT CREATE ON DATABASE %I TO alineo_owner', current_database()); END$$;
SET ROLE alineo_owner;
CREATE SCHEMA ledger;
GRANT USAGE ON SCHEMA ledger TO PUBLIC;
CREATE EXTENSION alineo_ledger SCHEMA ledger;
SET search_path = ledger;
-- Off where there is no ledger yet, and on a new one.
SELECT alineo_guard(false), to_regclass('alineo_events') AS events;
SELECT alineo_guard(true), to_regclass('alineo_events') AS events;
SELECT pg_get_triggerdef(oid) FROM pg_trigger WHERE tgrelid = 'alineo_events'::regclass ORDER BY tgname;
GRANT SELECT, INSERT, UPDATE, DELETE, TRUNCATE, TRIGGER ON alineo_events TO alineo_writer;
GRANT USAGE ON SEQUENCE alineo_events_id_seq TO alineo_writer;
GRANT SELECT ON alineo_events TO alineo_auditor;
SELECT count(alineo_append('n', 's' || i, 'e', ts => i)) FROM generate_series(1, 6) i;
-- Whatever changes, deletes or empties, whoever does it.
SET ROLE alineo_writer;
UPDATE alineo_events SET ts = 0;
\echo :SQLSTATE
DELETE FROM alineo_events WHERE sandbox_id = 's1';
\echo :SQLSTATE
TRUNCATE alineo_events;
\echo :SQLSTATE
INSERT INTO alineo_events SELECT * FROM alineo_events ON CONFLICT (id) DO UPDATE SET ts = 0;
WITH gone AS (DELETE FROM alineo_events RETURNING *) SELECT count(*) FROM gone;
MERGE INTO alineo_events e USING (VALUES (1)) v(i) ON e.id = v.i WHEN MATCHED THEN UPDATE SET ts = 0;
MERGE INTO alineo_events e USING (VALUES (1)) v(i) ON e.id = v.i WHEN MATCHED THEN DELETE;
SET ROLE alineo_owner;
UPDATE alineo_events SET ts = 0;
DELETE FROM alineo_events;
TRUNCATE alineo_events;
RESET ROLE;
UPDATE alineo_events SET ts = 0;
DELETE FROM alineo_events;
TRUNCATE alineo_events, alineo_environments;
-- Privileges count before it.
SET ROLE alineo_auditor;
UPDATE alineo_events SET ts = 0;
DELETE FROM alineo_events;
TRUNCATE alineo_events;
SELECT alineo_delete_sandbox('n', 's1');
-- Reading, locking, appending and alineo_delete_sandbox go on.
SET ROLE alineo_writer;
SELECT id, sandbox_id, ts FROM alineo_events ORDER BY id;
SELECT count(*) FROM (SELECT * FROM alineo_events FOR UPDATE) locked;
INSERT INTO alineo_events SELECT * FROM alineo_events ON CONFLICT (id) DO NOTHING;
SELECT alineo_append('n', 's1', 'e') IS NOT NULL AS ok;
SELECT alineo_append_batch('{"name":"n","sandboxId":"s1","event":"e"}');
SELECT alineo_delete_sandbox('n', 's1');
DELETE FROM alineo_events;
-- Only the table's owner switches it, and not where nothing may be written.
SELECT alineo_guard(false);
\echo :SQLSTATE
SELECT alineo_guard(true);
SET ROLE alineo_auditor;
SELECT alineo_guard(false);
SET ROLE alineo_owner;
BEGIN READ ONLY;
SELECT alineo_guard(false);
ROLLBACK;
SELECT alineo_guard(NULL);
SELECT alineo_guard("on" => false), alineo_guard(false);
BEGIN; DELETE FROM alineo_events; ROLLBACK;
SELECT alineo_guard('on'), alineo_guard(true);
BEGIN; SAVEPOINT a; SELECT alineo_guard(false); ROLLBACK TO a; DELETE FROM alineo_events; ROLLBACK;

-- The migration passes, and so does a deletion inside a deletion; what somebody's trigger does besides does not.
INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts) VALUES ('old', 'n', 1, 'exec_start', '"{\"seq\":1}"', 9);
SELECT alineo_init();
UPDATE alineo_events SET ts = 0;
SELECT event, payload FROM alineo_replay('n', 'old');
CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.sandbox_id = 's2' THEN DELETE FROM ledger.alineo_events WHERE sandbox_id = 's4'; END IF;
  IF OLD.sandbox_id = 's3' THEN PERFORM ledger.alineo_delete_sandbox('n', 's4'); END IF;
  IF OLD.sandbox_id = 's5' THEN
    BEGIN
      PERFORM ledger.alineo_delete_sandbox('n', 's2');
    EXCEPTION WHEN insufficient_privilege THEN
      RAISE NOTICE '%', SQLERRM;
    END;
    UPDATE ledger.alineo_events SET ts = 0 WHERE sandbox_id = 's6';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER meddle AFTER DELETE ON alineo_events FOR EACH ROW EXECUTE FUNCTION meddle();
SELECT alineo_delete_sandbox('n', 's2');
DELETE FROM alineo_events;
SELECT alineo_delete_sandbox('n', 's5');
DELETE FROM alineo_events;
SELECT alineo_delete_sandbox('n', 's3');
DELETE FROM alineo_events;
SELECT sandbox_id FROM alineo_events ORDER BY 1;
DROP TRIGGER meddle ON alineo_events;
-- A call that fails leaves no way past it.
CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'not this one'; END $$;
CREATE TRIGGER refuse BEFORE DELETE ON alineo_events FOR EACH ROW EXECUTE FUNCTION refuse();
DO $$ BEGIN PERFORM ledger.alineo_delete_sandbox('n', 's2'); EXCEPTION WHEN raise_exception THEN
  DELETE FROM ledger.alineo_events WHERE sandbox_id = 's6'; END $$;
DROP TRIGGER refuse ON alineo_events;
DO $$ BEGIN PERFORM ledger.alineo_delete_sandbox('n', 's2'), 1 / 0; EXCEPTION WHEN division_by_zero THEN
  DELETE FROM ledger.alineo_events WHERE sandbox_id = 's6'; END $$;

-- What was dropped, disabled or made to do nothing is put right.
DROP TRIGGER alineo_guard_update ON alineo_events;
SELECT alineo_guard(true);
UPDATE alineo_events SET ts = 0;
ALTER TABLE alineo_events DISABLE TRIGGER alineo_guard_delete;
SELECT alineo_guard(true);
DELETE FROM alineo_events;
DROP TRIGGER alineo_guard_truncate ON alineo_events;
CREATE TRIGGER alineo_guard_truncate BEFORE INSERT ON alineo_events FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION alineo_guard_trigger();
SELECT alineo_guard(true);
TRUNCATE alineo_events;
DROP TRIGGER alineo_guard_update ON alineo_events;
CREATE TRIGGER alineo_guard_update BEFORE UPDATE OF error ON alineo_events FOR EACH ROW EXECUTE FUNCTION alineo_guard_trigger();
SELECT alineo_guard(true);
UPDATE alineo_events SET ts = 0;
-- One that is always on, for a replica too, is right.
ALTER TABLE alineo_events ENABLE ALWAYS TRIGGER alineo_guard_delete;
SELECT alineo_guard(true);
SELECT tgname, tgenabled FROM pg_trigger WHERE tgrelid = 'alineo_events'::regclass ORDER BY tgname;
-- Its function is good for these triggers only.
SELECT alineo_guard_trigger() IS NULL;
CREATE TRIGGER other BEFORE INSERT ON alineo_events FOR EACH ROW EXECUTE FUNCTION alineo_guard_trigger();
SELECT alineo_append('n', 's1', 'e');
DROP TRIGGER other ON alineo_events;

-- The extension stays as long as the guard does; without either the events are there.
DROP EXTENSION alineo_ledger;
RESET ROLE;
SET client_min_messages = warning;
DROP EXTENSION alineo_ledger CASCADE;
RESET client_min_messages;
SELECT count(*) FROM alineo_events;
SELECT tgname FROM pg_trigger WHERE tgrelid = 'alineo_events'::regclass;
CREATE EXTENSION alineo_ledger SCHEMA ledger;
SELECT alineo_guard(true);
DELETE FROM alineo_events;
SELECT alineo_guard(false);
DROP EXTENSION alineo_ledger;
RESET search_path;
DROP SCHEMA ledger CASCADE;
DO $$BEGIN EXECUTE format('REVOKE CREATE ON DATABASE %I FROM alineo_owner', current_database()); END$$;
DROP ROLE alineo_owner, alineo_writer, alineo_auditor;
