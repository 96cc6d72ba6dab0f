-- alineo_append: arguments, defaults, errors, overloads.
CREATE EXTENSION alineo_ledger;
\set SHOW_CONTEXT never
SELECT alineo_append(NULL, 's', 'e');
\echo :LAST_ERROR_SQLSTATE
SELECT alineo_append('n', NULL, 'e');
SELECT alineo_append('n', 's', NULL);
SELECT alineo_append('', 's', 'e');
SELECT alineo_append('n', '', 'e');
SELECT alineo_append('n', 's', '');
SELECT alineo_append(repeat('n', 1001), 's', 'e');
SELECT alineo_append('n', repeat('s', 1001), 'e');
SELECT alineo_append('n', 's', repeat('e', 1001));
SELECT alineo_append('n', 's', 'e', step_idx => -2);
SELECT alineo_append('n', 's', 'e', step_idx => 2147483648);
SELECT alineo_append('n', 's', 'e', branch => -1);
SELECT alineo_append('n', 's', 'e', branch => 2147483648);
SELECT alineo_append('n', 's', 'e', ts => -1);
SELECT alineo_append('n', 's', 'e', '{"a":}');
SELECT alineo_append('n', 's', 'e', '');
SELECT alineo_append('n', 's', 'e', '[1] x');
SELECT alineo_append('n', 's', 'e', '1e200000');
SELECT alineo_append('n', 's', 'e', repeat('[', 1001) || repeat(']', 1001));
SELECT alineo_append('n', 's', 'e', (repeat('[', 1001) || repeat(']', 1001))::jsonb);
\echo :LAST_ERROR_SQLSTATE
SELECT to_regclass('alineo_events') AS nothing_was_made;

SELECT alineo_append('n', 's', 'limits', repeat('[', 1000) || repeat(']', 1000), ts => 1) AS id;
SELECT alineo_append('n', 's', 'limits', (repeat('[', 1000) || repeat(']', 1000))::jsonb, ts => 1) AS id;
SELECT alineo_append('n', 's', 'limits', '[1e400, 12345678901234567890.10, -0, 9007199254740993]', ts => 1) AS id;
SELECT alineo_append(repeat('n', 1000), repeat('s', 1000), repeat('e', 1000), ts => 9223372036854775807) AS id;
SELECT id, step_idx, pg_column_size(payload) > 100 AS big, payload -> 1 AS number FROM alineo_replay('n', 's');

-- step_idx: from an exec event's integer seq.
SELECT alineo_append('n', 'steps', e, p, ts => 1) FROM (VALUES
  ('exec.started', '{"seq":3}'), ('exec.output', '{"seq":4.0}'), ('exec.completed', '{"seq":5e0}'),
  ('exec.started', '{"seq":1.5}'), ('exec.started', '{"seq":"6"}'), ('exec.started', '{"seq":-1}'),
  ('exec.started', '{"seq":4294967296}'), ('exec.started', '[]'), ('exec.started', NULL),
  ('exec_start', '{"seq":7}'), ('exec.mine', '{"seq":8}'), ('step.started', '{"seq":9}'),
  ('exec.started', '"{\"seq\":10}"')) v(e, p);
SELECT alineo_append('n', 'steps-json', e, p::json, ts => 1), alineo_append('n', 'steps-jsonb', e, p::jsonb, ts => 1)
  FROM (VALUES
  ('exec.started', '{"seq":3}'), ('exec.output', '{"seq":4.0}'), ('exec.completed', '{"seq":5e0}'),
  ('exec.started', '{"seq":1.5}'), ('exec.started', '{"seq":"6"}'), ('exec.started', '{"seq":-1}'),
  ('exec.started', '{"seq":4294967296}'), ('exec.started', '[]'), ('exec.started', NULL),
  ('exec_start', '{"seq":7}'), ('exec.mine', '{"seq":8}'), ('step.started', '{"seq":9}'),
  ('exec.started', '"{\"seq\":10}"')) v(e, p);
SELECT string_agg(step_idx::text, ' ' ORDER BY id) FROM alineo_replay('n', 'steps');
SELECT string_agg(step_idx::text, ' ' ORDER BY id) FROM alineo_replay('n', 'steps-json');
SELECT string_agg(step_idx::text, ' ' ORDER BY id) FROM alineo_replay('n', 'steps-jsonb');
SELECT alineo_append('n', 'steps2', 'exec.started', '{"seq":3}', -1, 0, 'err', 5) IS NOT NULL AS ok;
SELECT step_idx, branch, event, payload, error, ts FROM alineo_replay('n', 'steps2');

-- A payload is stored as the jsonb that the server makes of the same text.
SELECT count(alineo_append('n', 'same', doc, doc, ts => 1)) FROM unnest(ARRAY[
  'null', ' true', '"a\u0062\n\/\"\\\ud83d\ude00é"', '-0', '1e2', '-12.50e-1', '0', '-1', '9999', '10000', '99999999', '100000000',
  '999999999999999999', '-999999999999999999', '9223372036854775807', '-9223372036854775809', '0.0', '12345678901234567890.10',
  '[]', '{}', '[[], {}, [[]]]', '{"b":1,"a":{"b":[1,"x",null,false]},"b":2,"aa":"","\u0061":3}',
  E'[1,\n\t{"k" : ["\\t", "\\u00e9", "long ' || repeat('x', 300) || '"]} , "" ]']) doc;
SELECT count(*) AS docs, count(*) FILTER (WHERE jsonb_send(payload) = jsonb_send(event::jsonb) AND payload = event::jsonb) AS same
  FROM alineo_events WHERE sandbox_id = 'same';

-- Legacy names are stored under the current one.
SELECT alineo_append('n', 'legacy', e, ts => 1) FROM unnest(ARRAY['sandbox_created', 'snapshot', 'checkpoint', 'run_started', 'mine', 'my_own']) e;
SELECT event FROM alineo_events WHERE sandbox_id = 'legacy' ORDER BY id;

-- ts: now, but never below the latest of the session.
SELECT alineo_append('n', 'clock', 'a') IS NOT NULL AS ok;
SELECT abs(ts - extract(epoch FROM clock_timestamp()) * 1000) < 60000 AS is_now FROM alineo_replay('n', 'clock');
SELECT alineo_append('n', 'clock', 'b', ts => 99999999999999) IS NOT NULL AS ok;
SELECT alineo_append('n', 'clock', 'c') IS NOT NULL AS ok;
SELECT alineo_append('n', 'clock', 'd', ts => 7) IS NOT NULL AS ok;
SELECT event, CASE WHEN event <> 'a' THEN ts END AS ts FROM alineo_replay('n', 'clock');
-- Each append of one statement sees those before it.
SELECT alineo_append('n', 'many', 'e' || i, ts => CASE i WHEN 2 THEN 99999999999999 END) IS NOT NULL AS ok FROM generate_series(1, 4) i;
SELECT event, ts = 99999999999999 AS late FROM alineo_replay('n', 'many') ORDER BY id;

-- So it is whatever index the table has, and where rows are in its children.
DROP INDEX alineo_events_name_sandbox_ts;
SELECT alineo_append('n', 'clock', 'no index') IS NOT NULL AS ok;
CREATE INDEX alineo_events_name_sandbox_ts ON alineo_events (name, sandbox_id, id, ts);
SELECT alineo_append('n', 'clock', 'another index') IS NOT NULL AS ok;
DROP INDEX alineo_events_name_sandbox_ts;
CREATE INDEX alineo_events_name_sandbox_ts ON alineo_events (name, sandbox_id, ts, id) WHERE ts < 0;
SELECT alineo_append('n', 'clock', 'partial index') IS NOT NULL AS ok;
DROP INDEX alineo_events_name_sandbox_ts;
CREATE INDEX alineo_events_name_sandbox_ts ON alineo_events (name, sandbox_id, ts DESC);
SELECT alineo_append('n', 'clock', 'descending index') IS NOT NULL AS ok;
CREATE TABLE child () INHERITS (alineo_events);
INSERT INTO child (name, sandbox_id, event, step_idx, ts) VALUES ('n', 'clock', 'child', -1, 99999999999998), ('n', 'parent', 'child', -1, 99999999999999);
SELECT alineo_append('n', 'parent', 'with a child') IS NOT NULL AS ok;
DROP INDEX alineo_events_name_sandbox_ts;
SELECT alineo_init();
SELECT sandbox_id, event, ts FROM alineo_events WHERE sandbox_id IN ('clock', 'parent') AND event LIKE '%i%' ORDER BY id;
DROP TABLE child;
-- Rows that were deleted or rolled back do not count.
BEGIN;
SELECT alineo_append('n', 'gone', 'a', ts => 99999999999999) IS NOT NULL AS ok;
ROLLBACK;
SELECT alineo_append('n', 'gone', 'b') IS NOT NULL AS ok;
SELECT alineo_append('n', 'gone', 'c', ts => 99999999999999) IS NOT NULL AS ok;
DELETE FROM alineo_events WHERE sandbox_id = 'gone' AND event = 'c';
SELECT alineo_append('n', 'gone', 'd') IS NOT NULL AS ok;
SELECT event, ts < 99999999999999 AS now FROM alineo_replay('n', 'gone');

-- Named arguments, parameters, transactions.
SELECT alineo_append('ci', 'sb-1', 'exec.started', error => 'x') IS NOT NULL AS ok;
BEGIN;
SELECT alineo_append('n', 'tx', 'e') IS NOT NULL AS ok;
SAVEPOINT s;
SELECT alineo_append('n', 'tx', 'f') IS NOT NULL AS ok;
ROLLBACK TO s;
SELECT alineo_append('n', 'tx', 'g') IS NOT NULL AS ok;
COMMIT;
SELECT event FROM alineo_replay('n', 'tx');
BEGIN;
SELECT alineo_append('n', 'tx', 'h') IS NOT NULL AS ok;
ROLLBACK;
SELECT count(*) FROM alineo_replay('n', 'tx');
-- Ids only grow.
SELECT alineo_append('n', 'ids', 'a') AS before \gset
SELECT alineo_delete_sandbox('n', 'ids');
SELECT alineo_append('n', 'ids', 'a') > :before AS grew;
-- The payload as NULL of each type.
SELECT alineo_append('n', 'nulls', 'a', NULL::text) IS NOT NULL AND alineo_append('n', 'nulls', 'a', NULL::json) IS NOT NULL
   AND alineo_append('n', 'nulls', 'a', NULL::jsonb) IS NOT NULL AS ok;
SELECT count(*) FILTER (WHERE payload IS NULL) FROM alineo_replay('n', 'nulls');
SELECT alineo_append('n', 'nulls', 'a', 'null') IS NOT NULL AS ok;
SELECT count(*) FILTER (WHERE payload = 'null') FROM alineo_replay('n', 'nulls');
-- Characters whose bytes begin as those of the storage escape are no escape.
SELECT alineo_append('n', 'wide', 'a', jsonb_build_object('text', E'\uFF01 \uFDCF \uFDD1 \uFDD00000')) IS NOT NULL AS ok;
SELECT payload ->> 'text' = E'\uFF01 \uFDCF \uFDD1 \uFDD0fdd00000' AS kept FROM alineo_replay('n', 'wide');
SELECT alineo_append('n', 'wide', 'a', jsonb_build_object('text', E'\uFF01 \uFDCF \uFDD1')) IS NOT NULL AS ok;
SELECT payload ->> 'text' = E'\uFF01 \uFDCF \uFDD1' AS kept FROM alineo_replay('n', 'wide') ORDER BY id DESC LIMIT 1;
-- A JSONB string has a limit of its own.
SELECT alineo_append('n', 's', 'e', to_json(repeat('x', 268435456))::text);
\echo :LAST_ERROR_SQLSTATE

-- delete: arguments.
SELECT alineo_delete_sandbox(NULL, 's');
SELECT alineo_delete_sandbox('n', '');
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
