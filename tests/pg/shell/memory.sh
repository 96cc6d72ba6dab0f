#!/bin/sh
# The memory that a backend takes is at most 2.5 times what alineo_replay_cache and
# alineo_resume return, however the output is divided into execs, at most twice
# the input of alineo_append_batch, itself counted, and for alineo_replay it does
# not grow with the session.
. "$(dirname "$0")/lib.sh"
megabytes=${1:-48}

new_database alineo_memory
sql alineo_memory "CREATE EXTENSION alineo_ledger; SELECT alineo_init()" >/dev/null
session() { # sandbox_id, megabytes of output, execs, bytes of a chunk
    sql alineo_memory "SELECT alineo_append('n', '$1', 'sandbox.created', '{}')" >/dev/null
    sql alineo_memory "INSERT INTO alineo_events (sandbox_id, name, step_idx, event, payload, ts)
        SELECT '$1', 'n', i % $3, CASE WHEN last THEN 'exec.completed' ELSE 'exec.output' END,
               CASE WHEN last THEN '{}' ELSE jsonb_build_object('type', 'stdout', 'text', repeat('0123456789', $4 / 10)) END, i
          FROM generate_series(0, 1000000 / $4 * $2 + $3 - 1) i, LATERAL (SELECT i >= 1000000 / $4 * $2 AS last) l ORDER BY i"
    sql alineo_memory "SELECT alineo_append('n', '$1', 'sandbox.checkpoint_created', '{\"snapshotId\":\"x\"}')" >/dev/null
}
session small 1 1 1000
session one "$megabytes" 1 100000
session many "$megabytes" 8 100000
session rows "$megabytes" 1 1000 # too short to be compressed
sql alineo_memory "VACUUM ANALYZE alineo_events"

sql alineo_memory "CREATE TABLE input AS SELECT kind, CASE WHEN kind LIKE '%array' THEN '[' || string_agg(entry, ',') || ']'
           ELSE string_agg(entry, E'\n') END AS entries
      FROM unnest(ARRAY['small array', 'array', 'small lines', 'lines']) kind,
           LATERAL generate_series(1, CASE WHEN kind LIKE 'small%' THEN 10 ELSE 2000 * $megabytes END) i,
           LATERAL (SELECT json_build_object('name', 'n', 'sandboxId', 'b', 'event', 'exec.output', 'ts', i,
               'payload', json_build_object('seq', 1, 'type', 'stdout', 'text', repeat('0123456789', 40)))::text AS entry) e
     GROUP BY kind;
    CREATE TABLE documents AS SELECT kind, entries::jsonb FROM input WHERE kind LIKE '%array'"

# What a call adds to the memory of a new backend at its peak, in percent of
# so many bytes, after the same call on little. Pages that are shared count
# for nothing. No aggregate: that would copy its first row.
kb() { # a line of /proc/self/status
    echo "substring(pg_read_file('/proc/self/status') FROM '$1:\s+(\d+)')::bigint"
}
percent() { # bytes, of what, of how little, call with OF in it
    psql -XqAt -v ON_ERROR_STOP=1 -d alineo_memory <<SQL
SELECT $(echo "$4" | sed "s/OF/$3/") \g /dev/null
SELECT $(kb RssAnon) AS before \gset
SELECT $(echo "$4" | sed "s/OF/$2/") \g /dev/null
SELECT 100 * 1024 * ($(kb VmHWM) - $(kb RssShmem) - $(kb RssFile) - :before) / ($1);
SQL
}
within() { # what, at most, percent
    echo "$1: $3 % (at most $2 %)"
    expect "$1 takes $3 %, at most $2 %" "$(($3 <= $2))" 1
}
bytes=$((megabytes * 1000000))
for session in one many; do
    within "alineo_replay_cache, $session" 250 \
        "$(percent $bytes $session small "pg_column_size(stdout) FROM alineo_replay_cache('n', 'OF')")"
    within "alineo_resume, $session" 250 "$(percent $bytes $session small "pg_column_size(alineo_resume('OF'))")"
done
within "alineo_replay" 25 "$(percent $bytes rows small "count(payload) FROM alineo_replay('n', 'OF')")"
for shape in array lines; do
    within "alineo_append_batch, $shape" 200 "$(percent \
        "SELECT octet_length(entries) FROM input WHERE kind = '$shape'" "$shape" "small $shape" \
        "alineo_append_batch(entries) FROM input WHERE kind = 'OF'")"
done
within "alineo_append_batch, jsonb" 200 "$(percent \
    "SELECT octet_length(entries::text) FROM documents WHERE kind = 'array'" array "small array" \
    "alineo_append_batch(entries) FROM documents WHERE kind = 'OF'")"
