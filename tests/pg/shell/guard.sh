#!/bin/sh
# A guard goes along in a dump, and costs appending nothing.
. "$(dirname "$0")/lib.sh"

guards="SELECT string_agg(tgname, ' ' ORDER BY tgname) FROM pg_trigger WHERE tgrelid = 'alineo_events'::regclass"
all="alineo_guard_delete alineo_guard_truncate alineo_guard_update"
# What a statement that is refused says.
refusal() { # database, SQL
    psql -XqAt -d "$1" -c "$2" 2>&1 | sed -n 's/^ERROR:  //p'
}

new_database alineo_guard_from
sql alineo_guard_from "CREATE EXTENSION alineo_ledger;
    SELECT alineo_append('n', 's' || i, 'sandbox.created', ts => i) FROM generate_series(1, 3) i;
    SELECT alineo_guard(true)" >/dev/null
dump=$(mktemp)
for form in plain custom data; do
    new_database alineo_guard_to
    case $form in
    plain) pg_dump alineo_guard_from | psql -Xq -v ON_ERROR_STOP=1 -d alineo_guard_to >/dev/null ;;
    custom)
        pg_dump -Fc -f "$dump" alineo_guard_from
        pg_restore --exit-on-error -d alineo_guard_to "$dump"
        ;;
    data) # into tables that are guarded already
        sql alineo_guard_to "CREATE EXTENSION alineo_ledger; SELECT alineo_guard(true)" >/dev/null
        pg_restore --exit-on-error --data-only -d alineo_guard_to "$dump"
        ;;
    esac
    expect "guard in a $form dump" "$(sql alineo_guard_to "$guards")" "$all"
    expect "events in a $form dump" "$(sql alineo_guard_to "SELECT count(*) FROM alineo_events")" 3
    expect "a deletion" "$(refusal alineo_guard_to "DELETE FROM alineo_events")" "alineo_guard: events must not be deleted"
    expect "a deletion of ours" "$(sql alineo_guard_to "SELECT alineo_delete_sandbox('n', 's1')")" 1
done
rm -f "$dump"

# Who may set session_replication_role may do without triggers, and so without it.
expect "as a replica" "$(sql alineo_guard_from "SET session_replication_role = replica; BEGIN;
    DELETE FROM alineo_events; SELECT count(*) FROM alineo_events; ROLLBACK")" 0
expect "still there" "$(sql alineo_guard_from "SELECT count(*) FROM alineo_events")" 3

# An append without a ts looks into the index alone, and asks for the session's
# latest ts only where there is a later one: with a guard as without.
if [ -e "$(pg_config --pkglibdir 2>/dev/null)/auto_explain.so" ] || sql postgres "LOAD 'auto_explain'" 2>/dev/null; then
    asked() { # SQL: how often it asked
        psql -XqAt -d alineo_guard_from -c "LOAD 'auto_explain'" -c "SET auto_explain.log_min_duration = 0" \
            -c "SET auto_explain.log_nested_statements = on" -c "SET client_min_messages = log" -c "$1" 2>&1 |
            grep -c 'GREATEST('
    }
    for on in true false; do
        sql alineo_guard_from "SELECT alineo_guard($on)" >/dev/null
        expect "guard $on, none later" "$(asked "SELECT alineo_append('n', 's2', 'e')")" 0
        expect "guard $on, one later" "$(asked "SELECT alineo_append('n', 's$on', 'e', ts => 4102444800000); SELECT alineo_append('n', 's$on', 'e')")" 1
    done
else
    echo "skipped: the server has no auto_explain"
fi
