/*
 * guard.c - alineo_guard: triggers that refuse to change recorded events.
 * docs/reference.md, "alineo_guard".
 *
 * The trigger function lets pass the rows of the one statement that we run
 * ourselves at the time. What fires for that statement's own rows is nested one
 * level deeper than whoever runs it; what a trigger of somebody else's does in
 * between is nested deeper still, and is refused.
 *
 * A partition has its parent's triggers for each row, but not those for a
 * TRUNCATE, and a table that inherits in the old way has neither. They get
 * triggers of their own.
 */
#include "guard.h"

#include "access/relation.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "catalog/pg_trigger.h"
#include "commands/trigger.h"
#include "parser/parse_func.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"

#include "schema.h"
#include "../shared/guard_text.h"

ALINEO_SQL_FUNCTION(alineo_sql_guard);
ALINEO_SQL_FUNCTION(alineo_sql_guard_trigger);

/* A statement whose rows pass: of which ledger, and how deep its triggers are
 * nested. Without a ledger none passes. */
typedef struct guard_pass {
    const alineo_ledger *ledger;
    int depth;
} guard_pass;

static guard_pass passing;

static int trigger_depth(void)
{
    return DatumGetInt32(DirectFunctionCall1(pg_trigger_depth, (Datum)0));
}

uint64 alineo_guard_write(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                          const char *nulls)
{
    const guard_pass outer = passing;
    volatile uint64 written = 0;

    passing = (guard_pass){ledger, trigger_depth() + 1};
    PG_TRY();
    {
        written = alineo_ledger_write(ledger, statement, values, nulls);
    }
    PG_FINALLY();
    {
        passing = outer;
    }
    PG_END_TRY();
    return written;
}

static const char *refusal_of(TriggerEvent event)
{
    if (TRIGGER_FIRED_BY_UPDATE(event))
        return ALINEO_GUARD_UPDATED;
    return TRIGGER_FIRED_BY_DELETE(event) ? ALINEO_GUARD_DELETED : ALINEO_GUARD_TRUNCATED;
}

Datum alineo_sql_guard_trigger(PG_FUNCTION_ARGS)
{
    TriggerData *data = (TriggerData *)fcinfo->context;

    if (!CALLED_AS_TRIGGER(fcinfo) || TRIGGER_FIRED_BY_INSERT(data->tg_event))
        ereport(ERROR, (errcode(ERRCODE_E_R_I_E_TRIGGER_PROTOCOL_VIOLATED),
                        errmsg("alineo_guard_trigger: serves the triggers of alineo_guard alone")));
    if (!TRIGGER_FIRED_FOR_ROW(data->tg_event) || passing.ledger == NULL ||
        passing.ledger != alineo_ledger_of(fcinfo) || passing.depth != trigger_depth())
        ereport(ERROR,
                (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE), errmsg("%s", refusal_of(data->tg_event)),
                 errhint("alineo_delete_sandbox(name, sandbox_id) deletes a session. The "
                         "table's owner takes the guard off with alineo_guard(false).")));
    return PointerGetDatum(TRIGGER_FIRED_BY_UPDATE(data->tg_event) ? data->tg_newtuple
                                                                   : data->tg_trigtuple);
}

static const struct {
    const char *name, *event, *each;
    int16 type;
} triggers[] = {
    {"alineo_guard_delete", "DELETE", "ROW",
     TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_ROW | TRIGGER_TYPE_DELETE},
    {"alineo_guard_update", "UPDATE", "ROW",
     TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_ROW | TRIGGER_TYPE_UPDATE},
    {"alineo_guard_truncate", "TRUNCATE", "STATEMENT", TRIGGER_TYPE_BEFORE | TRIGGER_TYPE_TRUNCATE},
};

static bool for_rows(size_t i)
{
    return (triggers[i].type & TRIGGER_TYPE_ROW) != 0;
}

/* How a table stands to one of the triggers. */
typedef enum guard_state { GUARD_NONE, GUARD_OTHER, GUARD_RIGHT } guard_state;

/* GUARD_OTHER: there is one of that name which is disabled or does something
 * else. */
static guard_state state_of(Oid table, size_t i, Oid function)
{
    Relation relation = relation_open(table, AccessShareLock);
    guard_state state = GUARD_NONE;

    for (int n = 0; relation->trigdesc != NULL && n < relation->trigdesc->numtriggers; n++) {
        const Trigger *t = &relation->trigdesc->triggers[n];
        if (strcmp(t->tgname, triggers[i].name) != 0)
            continue;
        bool right =
            t->tgfoid == function && t->tgtype == triggers[i].type && t->tgnattr == 0 &&
            t->tgqual == NULL &&
            (t->tgenabled == TRIGGER_FIRES_ON_ORIGIN || t->tgenabled == TRIGGER_FIRES_ALWAYS);
        state = right ? GUARD_RIGHT : GUARD_OTHER;
    }
    relation_close(relation, AccessShareLock);
    return state;
}

/* Whether the table takes such a trigger: foreign ones know no TRUNCATE. */
static bool takes(Oid table, size_t i)
{
    return for_rows(i) || get_rel_relkind(table) != RELKIND_FOREIGN_TABLE;
}

/* Whether all triggers are as they should be, or none is there. */
static bool is_settled(const List *tables, Oid function, bool on)
{
    ListCell *cell;

    foreach (cell, tables)
        for (size_t i = 0; i < lengthof(triggers); i++)
            if (takes(lfirst_oid(cell), i) &&
                state_of(lfirst_oid(cell), i, function) != (on ? GUARD_RIGHT : GUARD_NONE))
                return false;
    return true;
}

static void execute(char *sql)
{
    int result = SPI_execute(sql, false, 0);

    if (result < 0)
        elog(ERROR, "\"%s\" failed: %s", sql, SPI_result_code_string(result));
    pfree(sql);
}

/* Drops a table's trigger, and makes it anew where the guard is to be on. */
static void remake(const alineo_ledger *ledger, Oid table, size_t i, Oid function, bool on)
{
    char *name = quote_qualified_identifier(get_namespace_name(get_rel_namespace(table)),
                                            get_rel_name(table));

    if (state_of(table, i, function) != GUARD_NONE)
        execute(psprintf("DROP TRIGGER %s ON %s", triggers[i].name, name));
    if (on)
        execute(psprintf("CREATE TRIGGER %s BEFORE %s ON %s FOR EACH %s"
                         " EXECUTE FUNCTION %s.alineo_guard_trigger()",
                         triggers[i].name, triggers[i].event, name, triggers[i].each,
                         ledger->quoted));
    pfree(name);
}

static void turn(alineo_call *call, Oid events, bool on)
{
    Oid function = LookupFuncName(list_make2(makeString(pstrdup(call->ledger->schema_name)),
                                             makeString("alineo_guard_trigger")),
                                  0, NULL, false);
    LOCKMODE mode = on ? ShareRowExclusiveLock : AccessExclusiveLock;
    ListCell *cell;

    if (is_settled(find_all_inheritors(events, NoLock, NULL), function, on))
        return;
    /* As strong a lock as the commands take, so that two callers take turns,
     * and the second sees what the first one did. */
    LockRelationOid(events, mode);
    List *tables = find_all_inheritors(events, mode, NULL);
    if (is_settled(tables, function, on))
        return;
    foreach (cell, tables) {
        Oid table = lfirst_oid(cell);
        bool inherits_rows = table != events && get_rel_relispartition(table);
        for (size_t i = 0; i < lengthof(triggers); i++)
            if (takes(table, i) && !(for_rows(i) && inherits_rows))
                remake(call->ledger, table, i, function, on);
    }
}

/* Only the owner may, and not everything called a table takes triggers. */
static void require_table(const alineo_call *call, Oid events)
{
    char kind = get_rel_relkind(events);

    if (!alineo_schema_owns(events))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("%s: role %s does not own table %s.%s", call->error.function,
                               GetUserNameFromId(GetUserId(), false), call->ledger->quoted,
                               ALINEO_EVENTS_TABLE)));
    if (kind != RELKIND_RELATION && kind != RELKIND_PARTITIONED_TABLE)
        ereport(ERROR, (errcode(ERRCODE_WRONG_OBJECT_TYPE),
                        errmsg("%s: %s.%s is neither a plain nor a partitioned table",
                               call->error.function, call->ledger->quoted, ALINEO_EVENTS_TABLE)));
}

Datum alineo_sql_guard(PG_FUNCTION_ARGS)
{
    alineo_integer given = {!PG_ARGISNULL(0), true, 0};
    alineo_call call;
    bool on = false;

    alineo_call_begin(&call, fcinfo, "alineo_guard");
    if (given.given)
        given.value = PG_GETARG_BOOL(0);
    alineo_require(&call.error, alineo_check_switch(&call.error, "on", given, &on));
    PreventCommandIfReadOnly("alineo_guard()");
    if (on)
        alineo_schema_need(&call, ALINEO_EVENTS_TABLE);
    Oid events = alineo_ledger_relation(call.ledger, ALINEO_EVENTS_TABLE);
    if (OidIsValid(events)) {
        require_table(&call, events);
        turn(&call, events, on);
    }
    alineo_call_end(&call);
    PG_RETURN_BOOL(on);
}
