#!/bin/sh
# A dumped ledger comes back with its functions, and appending goes on.
. "$(dirname "$0")/lib.sh"
dump=$(mktemp)

everything="SELECT md5(string_agg(x::text, '|')) FROM (
    SELECT to_jsonb(r) AS x FROM alineo_list_sandboxes() s, alineo_replay(s.name, s.sandbox_id) r
    UNION ALL SELECT to_jsonb(c) FROM alineo_list_sandboxes() s, alineo_execs(s.name, s.sandbox_id) c
    UNION ALL SELECT to_jsonb(e) FROM alineo_list_environments() e) y"

new_database alineo_dump_from
sql alineo_dump_from "CREATE EXTENSION alineo_ledger"
(printf 'SELECT alineo_append_batch($x$'; cat "$root/tests/data/sessions.jsonl"; printf '$x$)') |
    psql -XqAt -v ON_ERROR_STOP=1 -d alineo_dump_from >/dev/null
sql alineo_dump_from "SELECT alineo_save_environment('py', 'snap', 'python', 1)" >/dev/null
sql alineo_dump_from "SELECT alineo_append('n', 's', 'sandbox.created', '{\"a\":\"\\u0000\\ud800\"}')" >/dev/null
sql alineo_dump_from "REVOKE EXECUTE ON FUNCTION alineo_delete_sandbox FROM PUBLIC"
before=$(sql alineo_dump_from "$everything")
last=$(sql alineo_dump_from "SELECT max(id) FROM alineo_events")

new_database alineo_dump_plain
pg_dump alineo_dump_from | psql -Xq -v ON_ERROR_STOP=1 -d alineo_dump_plain >/dev/null
expect "plain dump" "$(sql alineo_dump_plain "$everything")" "$before"

new_database alineo_dump_custom
pg_dump -Fc -f "$dump" alineo_dump_from
pg_restore --exit-on-error -d alineo_dump_custom "$dump"
rm -f "$dump"
expect "custom dump" "$(sql alineo_dump_custom "$everything")" "$before"

for database in alineo_dump_plain alineo_dump_custom; do
    id=$(sql $database "SELECT alineo_append('n', 's', 'more')")
    expect "an id beyond those restored" "$((id > last))" 1
    expect "a right revoked" "$(sql $database "SELECT count(*) FROM pg_proc WHERE proname = 'alineo_delete_sandbox' AND proacl::text NOT LIKE '%{=X%'")" 1
    expect "indexes" "$(sql $database "SELECT count(*) FROM pg_index WHERE indrelid = 'alineo_events'::regclass")" 4
done

# Without the extension the tables alone can be dumped and read.
sql alineo_dump_from "DROP EXTENSION alineo_ledger"
expect "history after DROP EXTENSION" "$(sql alineo_dump_from "SELECT max(id) FROM alineo_events")" "$last"
