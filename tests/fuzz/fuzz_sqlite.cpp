/*
 * fuzz_sqlite.cpp - every function of the extension on SQLite, with values of
 * every type for every argument, over a ledger whose rows hold anything at all.
 *
 *   - an error is the function's own, or of that name;
 *   - what reads, and a write that failed, changes nothing, and a write that did
 *     not has done what it says;
 *   - the same question twice has the same answer;
 *   - a comparison or an order that a row function takes over gives the rows that
 *     SQLite itself would keep, in the order it would give;
 *   - a resume document is JSON;
 *   - nothing is left behind (database.hpp).
 */
#include "database.hpp"
#include "oracle.hpp"

#include <cstdlib>

/* A small ledger to begin with: execs, a checkpoint, a session resumed from it. */
static const char RECORDED[] = R"sql(SELECT alineo_append_batch('
{"name":"ci","sandboxId":"a","ts":1,"event":"sandbox.created","payload":{"runId":"r1"}}
{"name":"ci","sandboxId":"a","ts":2,"event":"exec.started","payload":{"seq":1,"cmd":"make"}}
{"name":"ci","sandboxId":"a","ts":4,"event":"exec.output","payload":{"seq":1,"type":"stdout","text":"\ud83d"}}
{"name":"ci","sandboxId":"a","ts":3,"event":"exec.output","payload":{"seq":1,"type":"stdout","text":"\ude00"}}
{"name":"ci","sandboxId":"a","ts":5,"event":"exec.completed","payload":{"seq":1,"exitCode":3}}
{"name":"ci","sandboxId":"a","ts":5,"event":"exec.completed","payload":{"seq":3,"exitCode":1}}
{"name":"ci","sandboxId":"a","ts":6,"event":"exec.started","payload":{"seq":2,"cmd":"sh","interactive":true}}
{"name":"ci","sandboxId":"a","ts":7,"event":"snapshot","payload":{"snapshotId":"s1","tag":"t1"}}
{"name":"ci","sandboxId":"b","ts":7,"event":"sandbox.created","payload":{"resumedFrom":"a","snapshotId":"s1"}}
'))sql";

struct function {
    std::string name;
    std::vector<const char *> arguments;
    size_t least;
    enum { VALUE, ROWS, WRITES } is;
    /* Columns of numbers, which a comparison may narrow. */
    std::vector<const char *> columns;
    const char *order; /* that rows come in, and that no two rows share */
};

static std::vector<function> functions = {
    {"alineo_append",
     {"name", "sandbox_id", "event", "payload", "step_idx", "branch", "error", "ts"},
     3,
     function::WRITES,
     {},
     ""},
    {"alineo_append_batch", {"entries"}, 1, function::WRITES, {}, ""},
    {"alineo_delete_sandbox", {"name", "sandbox_id"}, 2, function::WRITES, {}, ""},
    {"alineo_save_environment",
     {"name", "snapshot_id", "image", "built_at"},
     3,
     function::WRITES,
     {},
     ""},
    {"alineo_delete_environment", {"name"}, 1, function::WRITES, {}, ""},
    {"alineo_init", {}, 0, function::WRITES, {}, ""},
    {"alineo_resume", {"sandbox_id", "tag"}, 1, function::VALUE, {}, ""},
    {"alineo_output", {"name", "sandbox_id", "seq", "stream"}, 3, function::VALUE, {}, ""},
    {"alineo_version", {}, 0, function::VALUE, {}, ""},
    {"alineo_visit",
     {"name", "id", "ts", "step_idx", "event", "payload"},
     6,
     function::VALUE,
     {},
     ""},
    {"alineo_replay",
     {"name", "sandbox_id"},
     2,
     function::ROWS,
     {"ts", "id", "step_idx", "branch"},
     "ts, id"},
    {"alineo_replay_cache",
     {"name", "sandbox_id", "tag"},
     2,
     function::ROWS,
     {"seq", "exit_code", "started_at"},
     "seq"},
    {"alineo_execs",
     {"name", "sandbox_id"},
     2,
     function::ROWS,
     {"seq", "exit_code", "completed_at"},
     "seq"},
    {"alineo_last_checkpoint", {"name", "sandbox_id"}, 2, function::ROWS, {"id", "ts"}, "id"},
    {"alineo_list_checkpoints", {"name", "sandbox_id"}, 2, function::ROWS, {"created_at"}, ""},
    {"alineo_list_sandboxes",
     {"name", "status", "run_id", "before", "max_rows"},
     0,
     function::ROWS,
     {"started_at", "exec_count", "completed_at"},
     ""},
    {"alineo_get_sandbox", {"name", "sandbox_id"}, 2, function::ROWS, {"started_at"}, ""},
    {"alineo_get_environment", {"name"}, 1, function::ROWS, {"built_at"}, ""},
    {"alineo_list_environments", {}, 0, function::ROWS, {"built_at"}, ""},
    {"alineo_migrated", {"event", "payload"}, 1, function::ROWS, {}, ""},
    {"alineo_entries", {"entries"}, 0, function::ROWS, {}, ""},
    {"alineo_statements", {}, 0, function::ROWS, {}, ""},
};

enum { REPLAY = 10 }; /* its index; the next two are ordered too */

/* The arguments as parameters, and their values; often one of them is anything. */
static std::string arguments(choices &in, const function &f, std::vector<sql_value> &values)
{
    size_t count = f.least + in.below(unsigned(f.arguments.size() - f.least) + 1);
    size_t wrong = count > 0 && in.below(3) == 0 ? in.below(unsigned(count)) : count;
    std::string list;

    for (size_t i = 0; i < count; i++) {
        list += i == 0 ? "?" : ",?";
        values.push_back(i == wrong ? value_of(in) : value_for(in, f.arguments[i]));
    }
    return f.name + "(" + list + ")";
}

static void check_error(const answer &a, const std::string &name)
{
    const std::string front = name + ": ";

    if (!a.failed())
        return;
    CHECK_TEXT(a.error.substr(0, front.size()), front);
    CHECK(a.error.size() > front.size());
    CHECK(a.code == SQLITE_ERROR || a.code == SQLITE_FULL || a.code == SQLITE_MISMATCH ||
          (a.code & 0xFF) == SQLITE_CONSTRAINT);
}

/* WHERE and ORDER BY around a row function; around a LIMIT of its own, and with a
 * plus in front of what is sorted by, the function does not see them. */
static void check_rows(choices &in, database &db, const function &f, const std::string &call,
                       std::vector<sql_value> values, const answer &all)
{
    static const char *const operators[] = {"=", "<", "<=", ">", ">=", "IN", "BETWEEN"};
    std::string seen, unseen, tail;

    if (all.failed() || f.columns.empty())
        return;
    for (unsigned count = in.below(3); count > 0; count--) {
        const std::string column = f.columns[in.below(unsigned(f.columns.size()))];
        const std::string op = in.one_of(operators);
        const std::string test = op == "IN"        ? " IN (?, ?)"
                                 : op == "BETWEEN" ? " BETWEEN ? AND ?"
                                                   : " " + op + " ?";
        for (char c : test)
            if (c == '?')
                values.push_back(value_for(in, column));
        const char *word = seen.empty() ? " WHERE " : " AND ";
        seen += word + column + test;
        unseen += word + column + test;
    }
    if (f.order[0] != '\0' && in.below(2) == 0) {
        const char *way = in.below(2) == 0 ? "" : " DESC";
        std::string order = f.order, plus = "+" + order;
        if (order == "ts, id") {
            order = std::string("ts") + way + ", id" + way;
            plus = std::string("+ts") + way + ", +id" + way;
        } else {
            order += way;
            plus += way;
        }
        seen += " ORDER BY " + order;
        unseen += " ORDER BY " + plus;
    }
    if (in.below(2) == 0)
        tail = " LIMIT " + std::to_string(in.below(4)) + " OFFSET " + std::to_string(in.below(3));
    answer narrowed = db.ask("SELECT * FROM " + call + seen + tail, values);
    answer plain =
        db.ask("SELECT * FROM (SELECT * FROM " + call + " LIMIT -1)" + unseen + tail, values);
    if (!(narrowed == plain))
        finding(__FILE__, __LINE__, (call + seen + tail).c_str(),
                narrowed.error + std::to_string(narrowed.rows.size()),
                plain.error + std::to_string(plain.rows.size()));
}

/* Calls a function for each event, its arguments out of the row. */
static void check_join(choices &in, database &db, const function &f)
{
    if (f.is != function::ROWS || f.least != 2 || in.below(4) != 0)
        return;
    answer a =
        db.ask("SELECT count(*) FROM main.alineo_events AS e LEFT JOIN " + f.name +
               "(e.name, e.sandbox_id) AS f" + (in.below(2) == 0 ? "" : " ON f.rowid = e.id"));
    if (a.failed() && a.error.find("no such table: main.alineo_events") != 0)
        check_error(a, f.name);
}

/* A function, most often one of those that read rows in an order. */
static size_t drawn(choices &in)
{
    size_t pick = in.below(2 * unsigned(functions.size()));

    return pick < functions.size() ? pick : REPLAY + pick % 3;
}

static long long events_in(database &db)
{
    answer a = db.ask("SELECT count(*) FROM main.alineo_events");

    return a.failed() ? 0 : atoll(a.rows[0][0].c_str() + 1);
}

/* What a write says that it did it has done. */
static void check_write(database &db, const std::string &name, const answer &a, long long before)
{
    const std::string result = a.rows[0][0];
    long long number = atoll(result.c_str() + 1), grown = events_in(db) - before;

    if (name == "alineo_append") {
        CHECK(grown == 1);
        sql_value id;
        id.type = sql_value::INTEGER;
        id.integer = number;
        CHECK(db.ask("SELECT 1 FROM main.alineo_events WHERE id = ?", {id}).rows.size() == 1);
    } else if (name == "alineo_append_batch") {
        CHECK(grown == number);
    } else if (name == "alineo_delete_sandbox") {
        CHECK(grown == -number);
    } else {
        CHECK(grown == 0);
    }
}

/* Calls a function; `contents` is what the ledger holds, empty where that is not
 * known. */
static void call(choices &in, database &db, std::string &contents)
{
    const function &f = functions[drawn(in)];
    std::vector<sql_value> values;
    const std::string call = arguments(in, f, values);
    const std::string sql = (f.is == function::ROWS ? "SELECT * FROM " : "SELECT ") + call;
    const long long count = f.is == function::WRITES ? events_in(db) : 0;

    if (contents.empty())
        contents = db.contents();
    answer a = db.ask(sql, values);
    check_error(a, f.name);
    if (f.is == function::WRITES && !a.failed()) {
        check_write(db, f.name, a, count);
        contents.clear();
        return;
    }
    if (f.is != function::WRITES)
        CHECK(db.ask(sql, values) == a);
    if (f.name == "alineo_resume" && !a.failed()) {
        oracle::value document;
        if (!oracle::parse(std::string_view(a.rows[0][0]).substr(1), document))
            finding(__FILE__, __LINE__, "a document is JSON", a.rows[0][0]);
    }
    if (f.is == function::ROWS)
        check_rows(in, db, f, call, values, a);
    check_join(in, db, f);
    CHECK_TEXT(db.contents(), contents);
}

/* A row that some other writer left. */
static void leave_row(choices &in, database &db)
{
    static const char *const columns[] = {"id",    "sandbox_id", "name",  "step_idx", "branch",
                                          "event", "payload",    "error", "ts"};
    std::vector<sql_value> values;

    for (const char *column : columns)
        values.push_back(value_for(in, column));
    if (in.below(4) != 0)
        values[0] = sql_value(); /* the next id */
    (void)db.ask("INSERT OR REPLACE INTO main.alineo_events(id, sandbox_id, name, step_idx,"
                 " branch, event, payload, error, ts) VALUES (?,?,?,?,?,?,?,?,?)",
                 values);
}

static void other_statement(choices &in, database &db)
{
    static const char *const statements[] = {
        "BEGIN",
        "BEGIN IMMEDIATE",
        "COMMIT",
        "ROLLBACK",
        "SAVEPOINT s",
        "ROLLBACK TO s",
        "RELEASE s",
        "DELETE FROM main.alineo_events WHERE id > 2",
        "DELETE FROM main.alineo_events WHERE id = (SELECT max(id) FROM main.alineo_events)",
        "DELETE FROM alineo_statements",
        "DROP TABLE IF EXISTS main.alineo_events",
        "UPDATE main.alineo_events SET id = id + 1 WHERE id = 1",
        "SELECT alineo_append(name, sandbox_id, event) FROM main.alineo_events LIMIT 3",
        "VACUUM",
    };
    (void)db.ask(in.one_of(statements));
}

/* What is registered and not in the list is called too, with values of any type. */
static void add_others()
{
    database db(database::FRESH);
    answer a = db.ask("SELECT name, max(narg), max(flags & 0x80000) FROM pragma_function_list"
                      " WHERE name GLOB 'alineo_*' GROUP BY name UNION ALL"
                      " SELECT name, 0, -1 FROM pragma_module_list WHERE name GLOB 'alineo_*'");

    CHECK(!a.failed() && a.rows.size() >= functions.size());
    for (const auto &row : a.rows) {
        function f = {row[0].substr(1), {}, 0, function::VALUE, {}, ""};
        bool known = false;
        for (const function &other : functions)
            known = known || other.name == f.name;
        f.arguments.assign(size_t(atoi(row[1].c_str() + 1)), "?");
        f.least = f.arguments.size();
        f.is = row[2] == "i-1"  ? function::ROWS
               : row[2] == "i0" ? function::VALUE
                                : function::WRITES;
        if (!known)
            functions.push_back(f);
    }
}

extern "C" int LLVMFuzzerInitialize(int *, char ***)
{
    add_others();
    return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);
    {
        database db(in.below(4));
        if (in.below(2) == 0)
            (void)db.ask(RECORDED);
        std::string contents;
        for (int steps = 0; in.more() && steps < 24; steps++) {
            unsigned kind = in.below(16);
            if (kind < 9) {
                call(in, db, contents);
                continue;
            }
            contents.clear();
            if (kind < 15)
                leave_row(in, db);
            else
                other_statement(in, db);
        }
    }
    check_blocks();
    return 0;
}
