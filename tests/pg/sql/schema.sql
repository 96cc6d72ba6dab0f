-- The functions there are, and the tables they make.
CREATE EXTENSION alineo_ledger;
SELECT alineo_version() = extversion AS same_version FROM pg_extension WHERE extname = 'alineo_ledger';

-- The exact surface.
SELECT p.oid::regprocedure AS function, pg_get_function_result(p.oid) AS result,
       p.provolatile AS vol, p.proisstrict AS strict, p.proparallel AS par, p.prosecdef AS definer
  FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'alineo_ledger'
 ORDER BY p.proname, p.oid::regprocedure::text COLLATE "C";
-- Each is described.
SELECT p.oid::regprocedure AS undescribed
  FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'
  JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'alineo_ledger'
 WHERE obj_description(p.oid, 'pg_proc') IS NULL;
-- Arguments are named and have their defaults.
SELECT pg_get_function_arguments('alineo_append(text,text,text,text,bigint,bigint,text,bigint)'::regprocedure);
SELECT pg_get_function_identity_arguments('alineo_list_sandboxes(text,text,text,bigint,bigint)'::regprocedure);

-- A read makes nothing and finds nothing.
SELECT * FROM alineo_replay('n', 's');
SELECT * FROM alineo_replay_cache('n', 's');
SELECT * FROM alineo_execs('n', 's');
SELECT * FROM alineo_last_checkpoint('n', 's');
SELECT * FROM alineo_list_checkpoints('n', 's');
SELECT * FROM alineo_list_sandboxes();
SELECT * FROM alineo_get_sandbox('n', 's');
SELECT * FROM alineo_get_environment('e');
SELECT * FROM alineo_list_environments();
SELECT alineo_output('n', 's', 1);
SELECT alineo_resume('s');
SELECT alineo_delete_sandbox('n', 's'), alineo_delete_environment('e');
SELECT to_regclass('alineo_events') AS events, to_regclass('alineo_environments') AS environments;

-- A refused write makes nothing either.
SELECT alineo_append('', 's', 'e');
SELECT to_regclass('alineo_events') AS events;

-- The first write makes the tables, in the extension's schema, not its members.
SELECT alineo_append('n', 's', 'e');
\d alineo_events
\d alineo_environments
SELECT count(*) AS members FROM pg_depend
 WHERE objid IN ('alineo_events'::regclass, 'alineo_environments'::regclass) AND deptype = 'e';
SELECT alineo_init();

-- A dropped extension leaves the history, and a new one finds it.
DROP EXTENSION alineo_ledger;
SELECT count(*) FROM alineo_events;
CREATE EXTENSION alineo_ledger;
SELECT id, name, sandbox_id, event FROM alineo_replay('n', 's');
-- Dropped tables are made again.
DROP TABLE alineo_events, alineo_environments;
SELECT count(*) FROM alineo_replay('n', 's');
SELECT alineo_append('n', 's', 'e');
SELECT alineo_save_environment('e', 'snap', 'img', 1);
DROP TABLE alineo_environments;
SELECT alineo_save_environment('e', 'snap', 'img', 1);

-- In a schema of its own, with a name that must be quoted.
DROP EXTENSION alineo_ledger;
DROP TABLE alineo_events, alineo_environments;
CREATE SCHEMA "My Ledger";
CREATE EXTENSION alineo_ledger SCHEMA "My Ledger";
SELECT "My Ledger".alineo_append('n', 's', 'e');
SELECT relname, nspname FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
 WHERE relname IN ('alineo_events', 'alineo_environments') ORDER BY 1;
ALTER SCHEMA "My Ledger" RENAME TO "Ours";
SELECT "Ours".alineo_append('n', 's', 'e2');
SELECT id, event FROM "Ours".alineo_replay('n', 's');
DROP EXTENSION alineo_ledger;
DROP SCHEMA "Ours" CASCADE;

-- What a transaction made that failed is not kept; a read-only one makes nothing.
CREATE EXTENSION alineo_ledger;
BEGIN;
SELECT alineo_append('n', 's', 'e');
ROLLBACK;
SELECT to_regclass('alineo_events') AS events;
BEGIN READ ONLY;
SELECT count(*) FROM alineo_replay('n', 's');
SELECT alineo_append('n', 's', 'e');
ROLLBACK;
DROP EXTENSION alineo_ledger;
