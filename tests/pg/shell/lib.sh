# lib.sh - for the tests in this folder. They use the server that libpq's
# environment names (PGHOST, PGPORT, PGUSER), each in databases of its own.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
databases=
export PGOPTIONS="-c client_min_messages=warning"

# Runs SQL in a database and prints the rows alone.
sql() { # database, SQL
    psql -XqAt -v ON_ERROR_STOP=1 -d "$1" -c "$2"
}

new_database() {
    psql -Xqd postgres -c "DROP DATABASE IF EXISTS $1" \
        -c "CREATE DATABASE $1 ENCODING 'UTF8' TEMPLATE template0"
    databases="$databases $1"
}

finish() {
    status=$?
    for database in $databases; do
        psql -Xqd postgres -c "DROP DATABASE IF EXISTS $database" || true
    done
    exit "$status"
}
trap finish EXIT

expect() { # what, got, want
    if [ "$2" != "$3" ]; then
        printf '%s: %s\n  got  %s\n  want %s\n' "$(basename "$0")" "$1" "$2" "$3" >&2
        exit 1
    fi
}
