/*
 * database.cpp - see database.hpp.
 */
#include "database.hpp"

#include <cmath>
#include <cstring>

extern "C" int sqlite3_alineo_init(sqlite3 *db, char **message, const sqlite3_api_routines *api);

static sql_value text(std::string_view bytes)
{
    sql_value v;

    v.type = sql_value::TEXT;
    v.bytes = bytes;
    return v;
}

static sql_value integer(int64_t number)
{
    sql_value v;

    v.type = sql_value::INTEGER;
    v.integer = number;
    return v;
}

static sql_value real(double number)
{
    sql_value v;

    v.type = sql_value::REAL;
    v.real = number;
    return v;
}

sql_value value_of(choices &in)
{
    static const int64_t integers[] = {0,
                                       1,
                                       2,
                                       -1,
                                       -2,
                                       1000,
                                       INT32_MAX,
                                       int64_t(INT32_MAX) + 1,
                                       INT64_MAX,
                                       INT64_MIN,
                                       INT64_MAX - 1,
                                       3};
    static const double reals[] = {0.0,   -0.0, 1.0,   2.0,       1.5,      -1.0,
                                   1e300, 1e15, 1e-10, -INFINITY, INFINITY, 9223372036854775808.0};
    static const char *const texts[] = {
        "",  "ci", "a",  "1",    "1.0",     "1e0",       " 2",    "now",        "stdout",
        "x", "{}", "[]", "null", "running", "completed", "stdin", "{\"seq\":1", "t1",
    };
    sql_value v;

    switch (in.below(8)) {
    case 0: return v;
    case 1: return integer(integers[in.below(12)]);
    case 2: return real(reals[in.below(12)]);
    case 3: return text(in.one_of(texts));
    case 4: return text(in.bytes(in.below(12)));
    case 5: return text(std::string(999 + in.below(3), 'n'));
    case 6:
        v.type = in.below(2) == 0 ? sql_value::BLOB : sql_value::ZEROS;
        v.bytes = in.bytes(in.below(12));
        return v;
    default:
        v.type = sql_value::UTF16;
        v.bytes = in.bytes(2 * in.below(6));
        return v;
    }
}

static std::string payload(choices &in)
{
    static const char *const payloads[] = {
        "{\"seq\":1,\"cmd\":\"make\",\"interactive\":true}",
        "{\"seq\":1,\"type\":\"stdout\",\"text\":\"a\\u0000\\ud83d\"}",
        "{\"seq\":1,\"type\":\"stdin\",\"text\":\"\\ude00\"}",
        "{\"seq\":1,\"exitCode\":0}",
        "{\"seq\":2,\"exitCode\":7,\"stdout\":\"whole\"}",
        "{\"seq\":2,\"command\":\"ls\",\"cwd\":\"/\",\"env\":{\"A\":\"1\"}}",
        "{\"snapshotId\":\"s1\",\"tag\":\"t1\"}",
        "{\"snapshotId\":\"s2\",\"name\":\"t2\"}",
        "{\"resumedFrom\":\"a\",\"snapshotId\":\"s1\",\"runId\":7}",
        "{\"resumedFrom\":\"b\",\"snapshotId\":\"s2\",\"resources\":{\"cpu\":2}}",
        "{\"runId\":\"r1\",\"teamId\":\"t\",\"resourceId\":[1.50]}",
        "{\"rules\":[{\"target\":\"h\",\"action\":\"allow\"}],\"targets\":[\"h\",\"i\"]}",
        "{\"name\":\"key\",\"binding\":{},\"source\":\"env\"}",
        "\"{\\\"seq\\\":1,\\\"exitCode\\\":3}\"",
        "{\"seq\":1.0,\"type\":\"stderr\",\"text\":\"e\"}",
        "{\"seq\":9223372036854775807,\"exitCode\":-9223372036854775808}",
        "null",
        "{broken",
    };
    return in.one_of(payloads);
}

static sql_value entries(choices &in)
{
    std::string lines;
    unsigned form = in.below(3);

    for (unsigned count = in.below(4); count > 0; count--) {
        static const char *const events[] = {"exec.output", "exec_start", "sandbox.created",
                                             "snapshot", ""};
        static const char *const more[] = {"",
                                           ",\"ts\":5",
                                           ",\"ts\":-1",
                                           ",\"branch\":1",
                                           ",\"error\":\"\\u0000\"",
                                           ",\"stepIndex\":1e1"};
        lines += std::string(lines.empty() ? ""
                             : form == 0   ? ","
                                           : "\n") +
                 "{\"name\":\"ci\",\"sandboxId\":\"" + "ab"[in.below(2)] + "\",\"event\":\"" +
                 in.one_of(events) + "\",\"payload\":" + payload(in) + in.one_of(more) + "}";
    }
    sql_value v = text(form == 0 ? "[" + lines + "]" : lines);
    if (in.below(4) == 0)
        v.type = sql_value::BLOB;
    return v;
}

sql_value value_for(choices &in, std::string_view what)
{
    static const char *const names[] = {"ci", "ci", "ci", "ci", "ci", "x"};
    static const char *const sandboxes[] = {"a", "a", "a", "b", "a", "c"};
    static const char *const events[] = {
        "exec.output",        "exec.started",       "exec.completed",
        "sandbox.created",    "sandbox.closed",     "snapshot",
        "exec_event",         "exec_start",         "sandbox_created",
        "checkpoint_created", "egress_rule_added",  "egress.rule_removed",
        "credential.bound",   "credential_revoked", "mine",
    };
    static const char *const tags[] = {"t1", "t2", "no"};
    static const char *const streams[] = {"stdout", "stderr", "stdin", "other"};
    static const char *const statuses[] = {"running", "completed", "gone"};

    if (what == "?" || in.below(12) == 0)
        return value_of(in);
    if (what == "name")
        return text(in.one_of(names));
    if (what == "sandbox_id")
        return text(in.one_of(sandboxes));
    if (what == "event")
        return text(in.one_of(events));
    if (what == "payload")
        return text(payload(in));
    if (what == "tag")
        return text(in.one_of(tags));
    if (what == "stream")
        return text(in.one_of(streams));
    if (what == "status")
        return text(in.one_of(statuses));
    if (what == "entries")
        return entries(in);
    if (what == "error" || what == "run_id" || what == "snapshot_id" || what == "image")
        return in.below(8) != 0 ? text("r1") : sql_value();
    unsigned number = in.below(24); /* seq, ts, step_idx, id, max_rows ... */
    return integer(number < 22 ? number % 8 : 21 - int(number));
}

static int bind(sqlite3_stmt *statement, int i, const sql_value &v)
{
    switch (v.type) {
    case sql_value::INTEGER: return sqlite3_bind_int64(statement, i, v.integer);
    case sql_value::REAL: return sqlite3_bind_double(statement, i, v.real);
    case sql_value::TEXT:
        return sqlite3_bind_text64(statement, i, v.bytes.data(), v.bytes.size(), SQLITE_TRANSIENT,
                                   SQLITE_UTF8);
    case sql_value::UTF16:
        return sqlite3_bind_text64(statement, i, v.bytes.data(), v.bytes.size() & ~size_t(1),
                                   SQLITE_TRANSIENT, SQLITE_UTF16LE);
    case sql_value::BLOB:
        return sqlite3_bind_blob64(statement, i, v.bytes.data(), v.bytes.size(), SQLITE_TRANSIENT);
    case sql_value::ZEROS: return sqlite3_bind_zeroblob(statement, i, int(v.bytes.size()));
    default: return sqlite3_bind_null(statement, i);
    }
}

static std::string shown(sqlite3_stmt *statement, int column)
{
    int type = sqlite3_column_type(statement, column);
    const void *at = type == SQLITE_BLOB ? sqlite3_column_blob(statement, column)
                                         : sqlite3_column_text(statement, column);
    int len = sqlite3_column_bytes(statement, column);

    return "?irtb-"[type] +
           (at == nullptr ? "" : std::string(static_cast<const char *>(at), size_t(len)));
}

answer database::ask(const std::string &sql, const std::vector<sql_value> &values)
{
    sqlite3_stmt *statement = nullptr;
    answer a;

    int rc = sqlite3_prepare_v2(db, sql.c_str(), -1, &statement, nullptr);
    for (size_t i = 0; i < values.size() && rc == SQLITE_OK; i++)
        rc = bind(statement, int(i) + 1, values[i]);
    while (rc == SQLITE_OK && (rc = sqlite3_step(statement)) == SQLITE_ROW) {
        a.rows.emplace_back();
        for (int i = 0; i < sqlite3_column_count(statement); i++)
            a.rows.back().push_back(shown(statement, i));
        CHECK(a.rows.size() < 100000);
        rc = SQLITE_OK;
    }
    a.code = rc == SQLITE_DONE ? SQLITE_OK : rc;
    if (a.failed())
        a.error = sqlite3_errmsg(db);
    (void)sqlite3_finalize(statement);
    return a;
}

std::string database::contents()
{
    std::string all;

    for (const char *table : {"alineo_events", "alineo_environments", "alineo_deleted"}) {
        answer a = ask(std::string("SELECT rowid, * FROM main.") + table + " ORDER BY rowid");
        CHECK(!a.failed() || a.error.find("no such table") == 0);
        all += table;
        for (const auto &row : a.rows)
            for (const std::string &column : row)
                all += "|" + std::to_string(column.size()) + column;
    }
    return all;
}

database::database(unsigned kind)
{
    char *message = nullptr;

    CHECK(sqlite3_open_v2(":memory:", &db,
                          SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                          nullptr) == SQLITE_OK);
    CHECK(sqlite3_alineo_init(db, &message, nullptr) == SQLITE_OK);
    if (kind == UTF16_FRESH)
        CHECK(!ask("PRAGMA encoding = 'UTF-16'").failed());
    if (kind == MADE || kind == UTF16_FRESH)
        CHECK(!ask("SELECT alineo_init()").failed());
    if (kind == LOOSE) {
        CHECK(!ask("CREATE TABLE alineo_events (id INTEGER PRIMARY KEY, sandbox_id, name, "
                   "step_idx, branch, event, payload, error, ts)")
                   .failed());
        CHECK(!ask("CREATE TABLE alineo_environments (name PRIMARY KEY, snapshot_id, image, "
                   "built_at)")
                   .failed());
    }
}

database::~database()
{
    if (in_transaction())
        (void)ask("COMMIT");
    answer a = ask("PRAGMA integrity_check");
    CHECK(!a.failed() && a.rows.size() == 1);
    CHECK_TEXT(a.rows[0][0], "tok");
    CHECK(sqlite3_close(db) == SQLITE_OK);
    CHECK(sqlite3_memory_used() == 0);
}
