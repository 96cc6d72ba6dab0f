#!/bin/sh
# The version is the same wherever it stands, and every older one updates to it.
. "$(dirname "$0")/lib.sh"
version=$(sed -n 's/^#define ALINEO_VERSION "\(.*\)"/\1/p' "$root/shared/version.h")

expect "control file" "$(sed -n "s/^default_version = '\(.*\)'/\1/p" "$root/alineo_ledger.control")" "$version"
expect "META.json" "$(sed -n 's/^   "version": "\(.*\)",/\1/p' "$root/META.json")" "$version"
expect "META.json, provides" "$(sed -n 's/^         "version": "\(.*\)"/\1/p' "$root/META.json")" "$version"
expect "META.json, file" "$(sed -n 's/^         "file": "\(.*\)",/\1/p' "$root/META.json")" "sql/alineo_ledger--$version.sql"
expect "script" "$(ls "$root/sql/alineo_ledger--$version.sql")" "$root/sql/alineo_ledger--$version.sql"

new_database alineo_versions
surface="SELECT md5(string_agg(p.oid::regprocedure || p.prosrc || pg_get_function_arguments(p.oid) || pg_get_function_result(p.oid)
        || p.provolatile::text || p.proisstrict || p.proparallel::text || p.procost || p.prorows || obj_description(p.oid, 'pg_proc'),
        '|' ORDER BY p.oid::regprocedure::text COLLATE \"C\"))
    FROM pg_proc p JOIN pg_depend d ON d.objid = p.oid AND d.deptype = 'e'"
sql alineo_versions "CREATE EXTENSION alineo_ledger"
want=$(sql alineo_versions "$surface")
sql alineo_versions "SELECT alineo_append('n', 's', 'kept')" >/dev/null
for old in $(sql alineo_versions "SELECT version FROM pg_available_extension_versions WHERE name = 'alineo_ledger'"); do
    sql alineo_versions "DROP EXTENSION alineo_ledger; CREATE EXTENSION alineo_ledger VERSION '$old'; ALTER EXTENSION alineo_ledger UPDATE"
    expect "update from $old" "$(sql alineo_versions "SELECT alineo_version()")" "$version"
    expect "functions after the update from $old" "$(sql alineo_versions "$surface")" "$want"
    expect "history after the update from $old" "$(sql alineo_versions "SELECT event FROM alineo_replay('n', 's')")" kept
done

# A database of another encoding is refused.
psql -Xqd postgres -c "DROP DATABASE IF EXISTS alineo_latin1" -c "CREATE DATABASE alineo_latin1 ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0" 2>/dev/null
databases="$databases alineo_latin1"
expect "encoding" "$(sql alineo_latin1 "CREATE EXTENSION alineo_ledger" 2>&1 | grep -c 'needs a database with encoding UTF8')" 1
