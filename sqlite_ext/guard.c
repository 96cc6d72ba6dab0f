/*
 * guard.c - alineo_guard: triggers that refuse to change recorded events.
 * docs/reference.md, "alineo_guard".
 *
 * The triggers ask two functions what this connection is doing just now, and
 * let pass what belongs to it. A connection without the extension does not have
 * the functions, so its DELETE and UPDATE fail as well, and name them. INSERT
 * must go on working there: its trigger asks nothing. It is needed since INSERT
 * OR REPLACE, as a rule, fires no trigger for the row that it takes away.
 */
#include "guard.h"
#include "fields.h"
#include "guard_text.h"
#include "schema.h"
#include "vocabulary.h"

#define POINTER_TYPE "alineo_guard"

/* As sqlite_schema keeps them, behind CREATE TRIGGER. Where a session is
 * deleted SQL compares it, as the DELETE does, by the column's collation. An id
 * that is left to SQLite is -1 before it is chosen. */
/* clang-format off */
#define REFUSE(text) " BEGIN SELECT RAISE(ABORT, '" text "'); END"

#define GUARD_DELETE                                                                               \
    "alineo_guard_delete BEFORE DELETE ON alineo_events"                                           \
    " WHEN (OLD.name = alineo_guard_deleting('name')"                                              \
    " AND OLD.sandbox_id = alineo_guard_deleting('sandbox_id')) IS NOT TRUE\n"                     \
    REFUSE(ALINEO_GUARD_DELETED)

#define GUARD_UPDATE                                                                               \
    "alineo_guard_update BEFORE UPDATE ON alineo_events"                                           \
    " WHEN NOT alineo_guard_updating(OLD.id, NEW.id, OLD.event, NEW.event,"                        \
    " OLD.payload, NEW.payload IS OLD.payload)"                                                    \
    " OR (NEW.sandbox_id, NEW.name, NEW.step_idx, NEW.branch, NEW.error, NEW.ts)"                  \
    " IS NOT (OLD.sandbox_id, OLD.name, OLD.step_idx, OLD.branch, OLD.error, OLD.ts)\n"            \
    REFUSE(ALINEO_GUARD_UPDATED)

#define GUARD_INSERT                                                                               \
    "alineo_guard_insert BEFORE INSERT ON alineo_events"                                           \
    " WHEN NEW.id <> -1 AND EXISTS (SELECT 1 FROM alineo_events WHERE id = NEW.id)\n"              \
    REFUSE(ALINEO_GUARD_REPLACED)

#define TRIGGER(name, text) \
    {text, "DROP TRIGGER IF EXISTS main." name, "CREATE TRIGGER main." text}
/* clang-format on */

static const struct {
    const char *text, *drop, *create;
} triggers[] = {
    TRIGGER("alineo_guard_delete", GUARD_DELETE),
    TRIGGER("alineo_guard_update", GUARD_UPDATE),
    TRIGGER("alineo_guard_insert", GUARD_INSERT),
};

alineo_code guard_run(call *c, sqlite3_stmt *statement, const guard_pass *pass)
{
    c->ledger->pass = pass;
    alineo_code code = call_run(c, statement);
    c->ledger->pass = NULL;
    return code;
}

/* alineo_guard_deleting('name' | 'sandbox_id'): that of the session which is
 * being deleted, NULL where none is. */
void guard_deleting_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const guard_pass *pass = ((ledger *)sqlite3_user_data(context))->pass;
    alineo_span column = value_text(argv[0]);

    (void)argc;
    if (pass != NULL) /* no session is named where another thing is done */
        result_text(context, column.len == strlen("name") ? pass->name : pass->sandbox_id);
}

/* Whether the migration changes such a row, whose payload stays or not. */
static bool migrates(sqlite3_context *context, sqlite3_value **argv)
{
    alineo_span stored = value_text(argv[2]), event = value_text(argv[3]);
    alineo_span payload = value_text(argv[4]), inner;
    alineo_fields_reader reader;

    if (sqlite3_value_int64(argv[0]) != sqlite3_value_int64(argv[1]) ||
        !alineo_span_equal(event, alineo_event_current(stored)))
        return false;
    if (sqlite3_value_int(argv[5]) || payload.at == NULL)
        return sqlite3_value_int(argv[5]);
    alineo_fields_reader_init(&reader, &ledger_memory);
    bool unwraps = alineo_fields_unwrap(&reader, payload, &inner);
    if (reader.scratch.failed)
        sqlite3_result_error_nomem(context);
    alineo_fields_reader_free(&reader);
    return unwraps;
}

/* alineo_guard_updating(old id, new id, old event, new event, old payload,
 * whether the payload stays): whether that is a change of ours. */
void guard_updating_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const guard_pass *pass = ((ledger *)sqlite3_user_data(context))->pass;

    (void)argc;
    sqlite3_result_int(context,
                       pass != NULL && pass->doing == GUARD_MIGRATING && migrates(context, argv));
}

static alineo_code execute(call *c, const char *sql)
{
    int rc = sqlite3_exec(c->ledger->db, sql, NULL, NULL, NULL);

    return rc == SQLITE_OK ? ALINEO_OK : call_failed(c, rc);
}

/* Whether a trigger is there, on its table and to the letter. */
static alineo_code has(call *c, const char *text, bool *there)
{
    sqlite3_stmt *statement = NULL;
    alineo_code code = call_take(c, SQL_GUARD_HAS, &statement);

    *there = false;
    if (code == ALINEO_OK) {
        call_bind(c, statement, 1, (alineo_span){text, strlen(text)});
        code = call_step(c, statement, there);
    }
    ledger_give(c->ledger, SQL_GUARD_HAS, statement);
    return code;
}

static alineo_code put_up(call *c)
{
    alineo_code code = ALINEO_OK;

    for (size_t i = 0; i < sizeof triggers / sizeof triggers[0] && code == ALINEO_OK; i++) {
        bool there;
        code = has(c, triggers[i].text, &there);
        if (code == ALINEO_OK && !there)
            code = execute(c, triggers[i].drop);
        if (code == ALINEO_OK && !there)
            code = execute(c, triggers[i].create);
    }
    return code;
}

static alineo_code take_down(call *c)
{
    alineo_code code = ALINEO_OK;

    for (size_t i = 0; i < sizeof triggers / sizeof triggers[0] && code == ALINEO_OK; i++)
        code = execute(c, triggers[i].drop);
    return code;
}

/* One call, known to the statement that it runs by a pointer. */
typedef struct guard_switch {
    call *call;
    bool on;
} guard_switch;

static alineo_code turn(call *c, sqlite3_stmt *statement, void *detail)
{
    (void)sqlite3_bind_pointer(statement, 1, detail, POINTER_TYPE, NULL);
    return call_run(c, statement);
}

/* Several triggers cannot be made by one statement, and a function can open no
 * transaction. So they are made from inside a statement that writes, and are
 * committed or undone with it. */
static void turn_inside(sqlite3_context *context, const guard_switch *s)
{
    alineo_code code = s->on ? put_up(s->call) : take_down(s->call);

    if (code == ALINEO_OK)
        sqlite3_result_int(context, s->on);
    else
        sqlite3_result_error(context, "stopped", -1); /* the call knows why */
}

void guard_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    const guard_switch *outer = sqlite3_value_pointer(argv[0], POINTER_TYPE);
    call c;
    guard_switch s = {.call = &c};

    (void)argc;
    if (outer != NULL) {
        turn_inside(context, outer);
        return;
    }
    call_init(&c, sqlite3_user_data(context), "alineo_guard");
    alineo_code code = alineo_check_switch(&c.error, "on", integer_of(argv[0]), &s.on);
    if (code == ALINEO_OK)
        code = schema_run(&c, SQL_GUARD, turn, &s);
    if (code == ALINEO_OK)
        sqlite3_result_int(context, s.on);
    else
        call_report(&c, context);
}
