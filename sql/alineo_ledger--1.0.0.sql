/* alineo_ledger 1.0.0 */

\echo Use "CREATE EXTENSION alineo_ledger" to load this file. \quit

-- The functions only. The tables are made by the first write, in the schema
-- these functions are in, and belong to whoever wrote: DROP EXTENSION leaves
-- them alone.
--
-- Everything here runs with the rights of its caller. Functions that write are
-- VOLATILE, PARALLEL UNSAFE and called on NULL, to refuse it in words. Those
-- that read are STABLE; PARALLEL RESTRICTED, since what they run may be a
-- policy or a view of whoever owns the tables.

-- Writing

CREATE FUNCTION alineo_append(
    name text, sandbox_id text, event text, payload text DEFAULT NULL, step_idx bigint DEFAULT NULL,
    branch bigint DEFAULT NULL, error text DEFAULT NULL, ts bigint DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_append'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION alineo_append(text, text, text, text, bigint, bigint, text, bigint)
IS 'records an event, its payload given as JSON text, and returns its id';

CREATE FUNCTION alineo_append(
    name text, sandbox_id text, event text, payload json, step_idx bigint DEFAULT NULL,
    branch bigint DEFAULT NULL, error text DEFAULT NULL, ts bigint DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_append'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION alineo_append(text, text, text, json, bigint, bigint, text, bigint)
IS 'records an event, its payload given as json, and returns its id';

CREATE FUNCTION alineo_append(
    name text, sandbox_id text, event text, payload jsonb, step_idx bigint DEFAULT NULL,
    branch bigint DEFAULT NULL, error text DEFAULT NULL, ts bigint DEFAULT NULL)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_append_jsonb'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION alineo_append(text, text, text, jsonb, bigint, bigint, text, bigint)
IS 'records an event, its payload given as jsonb, and returns its id';

CREATE FUNCTION alineo_append_batch(entries text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_append_batch'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION alineo_append_batch(text)
IS 'records events given as a JSON array, one JSON object or JSON Lines, all or none';

CREATE FUNCTION alineo_append_batch(entries json)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_append_batch'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION alineo_append_batch(json)
IS 'records events given as a json array or object, all or none';

CREATE FUNCTION alineo_append_batch(entries jsonb)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_append_batch_jsonb'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION alineo_append_batch(jsonb)
IS 'records events given as a jsonb array or object, all or none';

CREATE FUNCTION alineo_delete_sandbox(name text, sandbox_id text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_delete_sandbox'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION alineo_delete_sandbox(text, text)
IS 'deletes the events of a session and returns how many there were';

-- Replay and resume

CREATE FUNCTION alineo_replay(
    name text, sandbox_id text,
    OUT id bigint, OUT sandbox_id text, OUT name text, OUT step_idx integer, OUT branch integer,
    OUT event text, OUT payload jsonb, OUT error text, OUT ts bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_replay'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 10000 ROWS 1000;
COMMENT ON FUNCTION alineo_replay(text, text)
IS 'the events of a session in replay order: by ts, then by id';

CREATE FUNCTION alineo_replay_cache(
    name text, sandbox_id text, tag text DEFAULT NULL,
    OUT seq bigint, OUT command text, OUT stdout text, OUT stderr text, OUT exit_code bigint,
    OUT started_at bigint, OUT completed_at bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_replay_cache'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED COST 100000 ROWS 100;
COMMENT ON FUNCTION alineo_replay_cache(text, text, text)
IS 'the completed execs a session resumes with, as of its latest checkpoint or the latest with a tag';

CREATE FUNCTION alineo_execs(
    name text, sandbox_id text,
    OUT seq bigint, OUT command text, OUT stdout text, OUT stderr text, OUT exit_code bigint,
    OUT started_at bigint, OUT completed_at bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_execs'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 100000 ROWS 100;
COMMENT ON FUNCTION alineo_execs(text, text)
IS 'every exec of a session, running ones included, each in its latest attempt';

CREATE FUNCTION alineo_resume(sandbox_id text, tag text DEFAULT NULL)
RETURNS json
AS 'MODULE_PATHNAME', 'alineo_sql_resume'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION alineo_resume(text, text)
IS 'all a run needs to go on from the latest checkpoint, or the latest with a tag, as one document';

CREATE FUNCTION alineo_output(name text, sandbox_id text, seq bigint, stream text DEFAULT 'stdout')
RETURNS bytea
AS 'MODULE_PATHNAME', 'alineo_sql_output'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED COST 100000;
COMMENT ON FUNCTION alineo_output(text, text, bigint, text)
IS 'the recorded bytes of stdout, stderr or stdin of an exec';

-- Checkpoints

CREATE FUNCTION alineo_last_checkpoint(
    name text, sandbox_id text,
    OUT id bigint, OUT sandbox_id text, OUT name text, OUT step_idx integer, OUT branch integer,
    OUT event text, OUT payload jsonb, OUT error text, OUT ts bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_last_checkpoint'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 1;
COMMENT ON FUNCTION alineo_last_checkpoint(text, text)
IS 'the event of the checkpoint that was recorded last';

CREATE FUNCTION alineo_list_checkpoints(
    name text, sandbox_id text, OUT snapshot_id text, OUT tag text, OUT created_at bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_list_checkpoints'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 10;
COMMENT ON FUNCTION alineo_list_checkpoints(text, text)
IS 'the checkpoints of a session in the order they were made';

-- Sessions

CREATE FUNCTION alineo_list_sandboxes(
    name text DEFAULT NULL, status text DEFAULT NULL, run_id text DEFAULT NULL,
    before bigint DEFAULT NULL, max_rows bigint DEFAULT NULL,
    OUT name text, OUT sandbox_id text, OUT status text, OUT started_at bigint,
    OUT completed_at bigint, OUT exec_count bigint, OUT run_id text, OUT resource_id text,
    OUT team_id text, OUT parent_sandbox_id text, OUT resumed_from text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_list_sandboxes'
LANGUAGE C STABLE CALLED ON NULL INPUT PARALLEL RESTRICTED COST 10000 ROWS 100;
COMMENT ON FUNCTION alineo_list_sandboxes(text, text, text, bigint, bigint)
IS 'the sessions there are, newest first';

CREATE FUNCTION alineo_get_sandbox(
    name text, sandbox_id text,
    OUT name text, OUT sandbox_id text, OUT status text, OUT started_at bigint,
    OUT completed_at bigint, OUT exec_count bigint, OUT run_id text, OUT resource_id text,
    OUT team_id text, OUT parent_sandbox_id text, OUT resumed_from text)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_get_sandbox'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 1;
COMMENT ON FUNCTION alineo_get_sandbox(text, text)
IS 'one session, as alineo_list_sandboxes shows it';

-- Environments

CREATE FUNCTION alineo_save_environment(
    name text, snapshot_id text, image text, built_at bigint DEFAULT NULL)
RETURNS text
AS 'MODULE_PATHNAME', 'alineo_sql_save_environment'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION alineo_save_environment(text, text, text, bigint)
IS 'stores an environment, or replaces the one of that name, and returns the name';

CREATE FUNCTION alineo_get_environment(
    name text, OUT name text, OUT snapshot_id text, OUT image text, OUT built_at bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_get_environment'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 1;
COMMENT ON FUNCTION alineo_get_environment(text)
IS 'one environment';

CREATE FUNCTION alineo_delete_environment(name text)
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_delete_environment'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 1000;
COMMENT ON FUNCTION alineo_delete_environment(text)
IS 'deletes an environment and returns how many there were';

CREATE FUNCTION alineo_list_environments(
    OUT name text, OUT snapshot_id text, OUT image text, OUT built_at bigint)
RETURNS SETOF record
AS 'MODULE_PATHNAME', 'alineo_sql_list_environments'
LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 1000 ROWS 100;
COMMENT ON FUNCTION alineo_list_environments()
IS 'the environments, newest first';

-- The ledger itself

CREATE FUNCTION alineo_init()
RETURNS bigint
AS 'MODULE_PATHNAME', 'alineo_sql_init'
LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE COST 100000;
COMMENT ON FUNCTION alineo_init()
IS 'makes the tables and indexes, brings what version 0.2 wrote up to date and returns how many rows that changed';

CREATE FUNCTION alineo_outdated(event text, payload jsonb)
RETURNS boolean
AS 'MODULE_PATHNAME', 'alineo_sql_outdated'
LANGUAGE C IMMUTABLE CALLED ON NULL INPUT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION alineo_outdated(text, jsonb)
IS 'whether a stored event has a name of version 0.2, or a payload encoded twice; part of alineo_init()';

CREATE FUNCTION alineo_current_event(event text)
RETURNS text
AS 'MODULE_PATHNAME', 'alineo_sql_current_event'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION alineo_current_event(text)
IS 'the current name of an event; part of alineo_init()';

CREATE FUNCTION alineo_current_payload(payload jsonb)
RETURNS jsonb
AS 'MODULE_PATHNAME', 'alineo_sql_current_payload'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION alineo_current_payload(jsonb)
IS 'the payload that one encoded twice holds, any other as it is; part of alineo_init()';

CREATE FUNCTION alineo_guard("on" boolean)
RETURNS boolean
AS 'MODULE_PATHNAME', 'alineo_sql_guard'
LANGUAGE C VOLATILE CALLED ON NULL INPUT PARALLEL UNSAFE COST 10000;
COMMENT ON FUNCTION alineo_guard(boolean)
IS 'puts up or takes down the guard that refuses to change or delete events, and returns whether it is up';

CREATE FUNCTION alineo_guard_trigger()
RETURNS trigger
AS 'MODULE_PATHNAME', 'alineo_sql_guard_trigger'
LANGUAGE C VOLATILE PARALLEL UNSAFE;
COMMENT ON FUNCTION alineo_guard_trigger()
IS 'internal: what the triggers call that alineo_guard(true) makes';

CREATE FUNCTION alineo_version()
RETURNS text
AS 'MODULE_PATHNAME', 'alineo_sql_version'
LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION alineo_version()
IS 'the version of the extension''s library';
