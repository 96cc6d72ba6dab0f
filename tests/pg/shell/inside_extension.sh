#!/bin/sh
# A first write from the script of another extension makes tables that are not
# that extension's: it can be dropped, and the ledger stays.
. "$(dirname "$0")/lib.sh"
folder=$(sql postgres "SELECT setting || '/extension' FROM pg_config() WHERE name = 'SHAREDIR'")
if [ ! -w "$folder" ]; then
    echo "skipped: cannot write to $folder"
    exit 0
fi
clean() {
    rm -f "$folder/alineo_caller.control" "$folder/alineo_caller--1.0.sql"
    finish
}
trap clean EXIT

echo "default_version = '1.0'" >"$folder/alineo_caller.control"
echo "CREATE TABLE own (); SELECT @extschema@.alineo_append('n', 's', 'kept'), @extschema@.alineo_save_environment('py', 'snap', 'python');" \
    >"$folder/alineo_caller--1.0.sql"
new_database alineo_inside
sql alineo_inside "CREATE EXTENSION alineo_ledger; CREATE EXTENSION alineo_caller"
expect "members" "$(sql alineo_inside "SELECT pg_describe_object(classid, objid, 0) FROM pg_depend d JOIN pg_extension e
    ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass WHERE extname = 'alineo_caller' AND deptype = 'e'")" "table own"
expect "other members" "$(sql alineo_inside "SELECT count(*) FROM pg_depend WHERE deptype = 'e' AND classid = 'pg_class'::regclass
    AND objid IN (SELECT oid FROM pg_class WHERE relname LIKE 'alineo%')")" 0
sql alineo_inside "DROP EXTENSION alineo_caller"
expect "history" "$(sql alineo_inside "SELECT event FROM alineo_replay('n', 's')")" kept
expect "environments" "$(sql alineo_inside "SELECT name FROM alineo_list_environments()")" py
