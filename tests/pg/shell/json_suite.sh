#!/bin/sh
# JSONTestSuite through alineo_append: what is JSON is stored, what is not is
# refused, and what RFC 8259 leaves open is as tests/core/test_json_suite.c
# decides it. The folder is $ALINEO_JSON_SUITE, or the one beside the repository.
. "$(dirname "$0")/lib.sh"
suite=${ALINEO_JSON_SUITE:-$root/../shared/json-test-suite/test_parsing}
if [ ! -d "$suite" ]; then
    echo "skipped: no JSONTestSuite in $suite (set ALINEO_JSON_SUITE)"
    exit 0
fi

new_database alineo_json_suite
sql alineo_json_suite "CREATE EXTENSION alineo_ledger"
# Bytes that are no text of a database with UTF8 are refused by the server itself.
sql alineo_json_suite "CREATE FUNCTION decision(hex text) RETURNS text LANGUAGE plpgsql AS \$\$
BEGIN
    PERFORM alineo_append('n', 's', 'e', convert_from(decode(hex, 'hex'), 'UTF8'));
    RETURN 'accepted';
EXCEPTION WHEN invalid_json_text OR character_not_in_repertoire THEN
    RETURN 'refused';
END \$\$"
decided=$(for file in "$suite"/*.json; do
    printf "SELECT '%s', decision('%s');\n" "$(basename "$file")" "$(od -An -v -tx1 "$file" | tr -d ' \n')"
done | psql -XqAt -F ' ' -v ON_ERROR_STOP=1 -d alineo_json_suite)

wanted=$(sed -n 's/^ *{"\(i_[^"]*\)", true,.*/\1 accepted/p; s/^ *{"\(i_[^"]*\)", false,.*/\1 refused/p' \
    "$root/tests/core/test_json_suite.c")
expect "files that must be accepted" "$(echo "$decided" | grep '^y_' | grep -v ' accepted$')" ""
expect "files that must be refused" "$(echo "$decided" | grep '^n_' | grep -v ' refused$')" ""
expect "files the standard leaves open" "$(echo "$decided" | grep '^i_' | LC_ALL=C sort)" "$(echo "$wanted" | LC_ALL=C sort)"
expect "events stored" "$(sql alineo_json_suite "SELECT count(*) FROM alineo_events")" "$(echo "$decided" | grep -c ' accepted$')"
expect "a file of each kind" "$(echo "$decided" | cut -c1-2 | sort -u | tr -d '\n')" "i_n_y_"
echo "$(echo "$decided" | wc -l) files"
