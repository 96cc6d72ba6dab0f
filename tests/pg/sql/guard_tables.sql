-- The guard on tables that are not plainly ours: partitioned, inherited, foreign, a view.
\set SHOW_CONTEXT never
CREATE EXTENSION alineo_ledger;
CREATE TABLE alineo_events (
  id bigserial, sandbox_id text NOT NULL, name text NOT NULL, step_idx integer NOT NULL, branch integer,
  event text NOT NULL, payload jsonb, error text, ts bigint NOT NULL) PARTITION BY LIST (event);
CREATE TABLE old PARTITION OF alineo_events FOR VALUES IN ('run_started');
CREATE TABLE new PARTITION OF alineo_events FOR VALUES IN ('workflow.started');
CREATE TABLE rest PARTITION OF alineo_events DEFAULT PARTITION BY LIST (sandbox_id);
CREATE TABLE rest_s1 PARTITION OF rest FOR VALUES IN ('s1');
SELECT alineo_guard(true);
INSERT INTO alineo_events (sandbox_id, name, step_idx, event, ts) VALUES ('s1', 'n', -1, 'e', 1), ('s1', 'n', -1, 'run_started', 2);
-- By way of the parent or not.
UPDATE alineo_events SET ts = 0;
UPDATE rest_s1 SET ts = 0;
DELETE FROM alineo_events;
DELETE FROM old;
TRUNCATE alineo_events;
TRUNCATE rest;
TRUNCATE rest_s1;
-- The migration moves a row from one partition to another.
SELECT alineo_init();
SELECT tableoid::regclass, event FROM alineo_events ORDER BY 1;
DELETE FROM new;
-- A partition that comes later is guarded but for a TRUNCATE of itself, and then for that too.
CREATE TABLE rest_s2 PARTITION OF rest FOR VALUES IN ('s2');
SELECT alineo_append('n', 's2', 'e') IS NOT NULL AS ok;
UPDATE rest_s2 SET ts = 0;
DELETE FROM rest_s2;
BEGIN; TRUNCATE rest_s2; ROLLBACK;
SELECT alineo_guard(true);
TRUNCATE rest_s2;
-- One that was disabled on a partition alone.
ALTER TABLE rest_s1 DISABLE TRIGGER alineo_guard_delete;
SELECT alineo_guard(true);
DELETE FROM rest_s1;
SELECT alineo_delete_sandbox('n', 's1');
SELECT alineo_guard(false);
SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'alineo_guard%';
TRUNCATE rest;
-- A foreign partition; here are no TRUNCATE triggers to have on it.
CREATE FOREIGN DATA WRAPPER nothing;
CREATE SERVER nowhere FOREIGN DATA WRAPPER nothing;
CREATE FOREIGN TABLE rest_s3 PARTITION OF rest FOR VALUES IN ('s3') SERVER nowhere;
SELECT alineo_guard(true), alineo_guard(true);
SELECT tgname FROM pg_trigger WHERE tgrelid = 'rest_s3'::regclass ORDER BY 1;
SELECT alineo_guard(false);
SELECT count(*) FROM pg_trigger WHERE tgname LIKE 'alineo_guard%';
DROP TABLE alineo_events;

-- A table that inherits in the old way.
SELECT alineo_init();
CREATE TABLE more () INHERITS (alineo_events);
INSERT INTO more (sandbox_id, name, step_idx, event, ts) VALUES ('s1', 'n', -1, 'e', 1);
SELECT alineo_guard(true);
UPDATE alineo_events SET ts = 0;
DELETE FROM more;
TRUNCATE more;
SELECT alineo_delete_sandbox('n', 's1');
-- One that is added is guarded from the next call on.
CREATE TABLE later () INHERITS (alineo_events);
INSERT INTO later (sandbox_id, name, step_idx, event, ts) VALUES ('s1', 'n', -1, 'e', 1);
UPDATE later SET ts = 2;
SELECT alineo_guard(true);
UPDATE later SET ts = 3;
TRUNCATE later;
SELECT alineo_guard(false);
SET client_min_messages = warning;
DROP TABLE alineo_events CASCADE;
RESET client_min_messages;

-- What takes no such triggers.
CREATE FOREIGN TABLE alineo_events (id bigint, sandbox_id text, name text) SERVER nowhere;
SELECT alineo_guard(true);
\echo :SQLSTATE
DROP FOREIGN DATA WRAPPER nothing CASCADE;
CREATE VIEW alineo_events AS SELECT 1 AS id;
SELECT alineo_guard(true);
SELECT alineo_guard(false);
DROP VIEW alineo_events;

-- A table that is renamed keeps its guard; a new one gets its own.
SELECT alineo_append('n', 's1', 'e', ts => 1) IS NOT NULL AS ok, alineo_guard(true);
ALTER TABLE alineo_events RENAME TO kept;
SELECT alineo_append('n', 's1', 'e', ts => 2) IS NOT NULL AS ok;
DELETE FROM kept;
SELECT alineo_delete_sandbox('n', 's1');
SELECT alineo_append('n', 's1', 'e', ts => 2) IS NOT NULL AS ok, alineo_guard(true);
DELETE FROM alineo_events;
SELECT ts FROM kept;
DROP TABLE kept, alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
