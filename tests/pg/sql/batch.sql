-- alineo_append_batch.
CREATE EXTENSION alineo_ledger;
\set SHOW_CONTEXT never
SELECT alineo_append_batch(NULL::text);
SELECT alineo_append_batch(NULL::jsonb);
SELECT alineo_append_batch('');
SELECT alineo_append_batch('[]'), alineo_append_batch('[]'::json), alineo_append_batch('[]'::jsonb);
SELECT to_regclass('alineo_events') AS nothing_was_made;
-- An array, one object, JSON Lines; the SDK's keys and the column names.
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"a","ts":3},
  {"name":"n","sandbox_id":"s","event":"exec_start","payload":{"seq":4},"ts":1,"branch":2,"error":"e"}]');
SELECT alineo_append_batch('{"name":"n","sandboxId":"s","event":"b","ts":3,"stepIndex":5,"other":[1]}');
SELECT alineo_append_batch(E'{"name":"n","sandboxId":"s","event":"c","ts":3,"step_idx":6}\n{"name":"n","sandboxId":"s","event":"d","ts":3}\n');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"e","ts":4}]'::json);
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"f","ts":4,"payload":"text"}]'::jsonb);
SELECT * FROM alineo_replay('n', 's');
-- All or none, and the entry at fault is named.
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"},{"name":"n","sandboxId":"s","event":""}]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"},{"name":"n","event":"x"}]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"},{"name":"n","sandboxId":"s","event":"x","ts":1.5}]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"},{"name":7,"sandboxId":"s","event":"x"}]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"},{"name":"n","sandboxId":"s","event":"x","stepIndex":-2}]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"},7]');
SELECT alineo_append_batch('[{"name":"n","sandboxId":"s","event":"x"}');
SELECT alineo_append_batch('{"name":"n","sandboxId":"s","event":"x"} {"name":"n"}');
SELECT alineo_append_batch('7');
SELECT count(*) FROM alineo_replay('n', 's');
-- Many, in several chunks, in order; then an error far in.
SELECT alineo_append_batch((SELECT json_agg(json_build_object('name', 'n', 'sandboxId', 'many', 'event', 'exec.output', 'ts', 5,
  'payload', json_build_object('seq', 1, 'type', 'stdout', 'text', i || E'\n')) ORDER BY i) FROM generate_series(1, 25000) i));
SELECT count(*), bool_and(o = n) AS in_order FROM
  (SELECT (payload ->> 'text')::int AS n, row_number() OVER (ORDER BY id) AS o FROM alineo_events WHERE sandbox_id = 'many') x;
SELECT alineo_append_batch((SELECT json_agg(json_build_object('name', 'n', 'sandboxId', 'many', 'event', CASE i WHEN 24000 THEN '' ELSE 'e' END) ORDER BY i)
  FROM generate_series(0, 25000) i));
SELECT count(*) FROM alineo_events WHERE sandbox_id = 'many';
-- ts left off: now, not below the session's latest, entries of the batch included.
SELECT alineo_append_batch('[{"name":"n","sandboxId":"clock","event":"a","ts":99999999999999},{"name":"n","sandboxId":"clock","event":"b"},
  {"name":"n","sandboxId":"clock2","event":"c"},{"name":"n","sandboxId":"clock2","event":"d","ts":99999999999999},
  {"name":"n","sandboxId":"clock2","event":"e"},{"name":"n","sandboxId":"clock","event":"f","ts":1},{"name":"n","sandboxId":"clock","event":"g"}]');
SELECT alineo_append_batch('{"name":"n","sandboxId":"clock","event":"h"}');
SELECT event, ts = 99999999999999 AS late, ts = 1 AS early FROM alineo_events WHERE sandbox_id LIKE 'clock%' ORDER BY id;
-- jsonb is read element by element, and answers as its text does.
CREATE FUNCTION answer(entries text, kind text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE appended bigint;
BEGIN
  EXECUTE format('SELECT alineo_append_batch($1::%s)', kind) INTO appended USING entries;
  RETURN appended;
EXCEPTION WHEN OTHERS THEN
  RETURN SQLSTATE || ' ' || SQLERRM;
END $$;
SELECT left(entries, 40) AS entries, answer(entries, 'jsonb') AS jsonb, answer(entries, 'jsonb') = answer(entries, 'text') AS same
FROM (VALUES ('[]'), ('{}'), ('1'), ('"[]"'), ('null'), ('[1]'), ('[[]]'), ('[[{"name":"n","sandboxId":"j","event":"e"}]]'),
  ('{"name":"n","sandboxId":"j","event":"e","payload":{"x":[1,{"y":2}]}}'),
  ('[{"name":"n","sandboxId":"j","event":"e"},{"name":"n","sandboxId":"j","event":"f","payload":[[],{}]}]'),
  ('[{"name":"n","sandboxId":"j","event":"e"},null]'), ('[{"name":"n","sandboxId":"j","event":"e"},[{"name":"n"}]]'),
  ('[{"name":"n","sandboxId":"j","event":"e"},{"name":"n","sandboxId":"j","event":""}]')) AS v(entries);
SELECT event, count(*), min(payload::text) AS payload FROM alineo_events WHERE sandbox_id = 'j' GROUP BY event ORDER BY event;
SELECT alineo_append_batch((SELECT jsonb_agg(jsonb_build_object('name', 'n', 'sandboxId', 'manyj', 'event', 'e', 'ts', 5,
  'payload', jsonb_build_object('i', i, 'text', repeat('x', CASE WHEN i % 1000 = 0 THEN 20000 ELSE 10 END))) ORDER BY i) FROM generate_series(1, 25000) i));
SELECT count(*), bool_and(o = i) AS in_order, sum(length) AS length FROM
  (SELECT (payload ->> 'i')::int AS i, length(payload ->> 'text') AS length, row_number() OVER (ORDER BY id) AS o FROM alineo_events WHERE sandbox_id = 'manyj') x;
DROP FUNCTION answer;
DROP TABLE alineo_events, alineo_environments;
DROP EXTENSION alineo_ledger;
