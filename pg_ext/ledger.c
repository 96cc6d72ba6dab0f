/*
 * ledger.c - see ledger.h.
 *
 * A session mostly knows one ledger. Its record lives as long as the session,
 * and so do its plans; the server's plan cache makes them anew when a table,
 * an index or a policy changes. A schema that was renamed gets a new record.
 */
#include "ledger.h"

#include "storage/lmgr.h"
#include "utils/builtins.h"
#include "utils/inval.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "call.h"

static alineo_ledger *ledgers;

/* The ledger of the function called last: known until a function or a schema
 * changes. */
static Oid last_function;
static alineo_ledger *last_ledger;
static uint64 changes; /* of functions and schemas, that were heard of */

static void forget_last(Datum argument, int cache, uint32 hash)
{
    (void)argument, (void)cache, (void)hash;
    last_ledger = NULL;
    changes++;
}

static void watch_catalog(void)
{
    static bool watching;

    if (watching)
        return;
    CacheRegisterSyscacheCallback(PROCOID, forget_last, (Datum)0);
    CacheRegisterSyscacheCallback(NAMESPACEOID, forget_last, (Datum)0);
    watching = true;
}

static alineo_ledger *make_ledger(Oid schema, const char *name)
{
    MemoryContext before = MemoryContextSwitchTo(TopMemoryContext);
    alineo_ledger *ledger = palloc0(sizeof *ledger);

    ledger->schema = schema;
    ledger->schema_name = pstrdup(name);
    ledger->quoted = pstrdup(quote_identifier(name));
    ledger->next = ledgers;
    ledgers = ledger;
    MemoryContextSwitchTo(before);
    return ledger;
}

/* Looks in the catalog. */
static alineo_ledger *find_ledger(Oid function)
{
    Oid schema = get_func_namespace(function);
    char *name = get_namespace_name(schema);
    alineo_ledger *ledger = ledgers;

    if (name == NULL)
        elog(ERROR, "cache lookup failed for schema %u", schema);
    while (ledger != NULL && (ledger->schema != schema || strcmp(ledger->schema_name, name) != 0))
        ledger = ledger->next;
    if (ledger == NULL) {
        alineo_require_utf8();
        ledger = make_ledger(schema, name);
    }
    pfree(name);
    return ledger;
}

alineo_ledger *alineo_ledger_of(FunctionCallInfo fcinfo)
{
    Oid function = fcinfo->flinfo->fn_oid;

    if (last_ledger != NULL && last_function == function)
        return last_ledger;
    watch_catalog();
    uint64 before = changes;
    alineo_ledger *ledger = find_ledger(function);
    /* Looking may bring news of a change, which this may be older than. */
    last_ledger = before == changes ? ledger : NULL;
    last_function = function;
    return ledger;
}

Oid alineo_ledger_relation(const alineo_ledger *ledger, const char *name)
{
    return get_relname_relid(name, ledger->schema);
}

bool alineo_ledger_has(const alineo_ledger *ledger, const char *table)
{
    Oid relation;

    while (OidIsValid(relation = alineo_ledger_relation(ledger, table))) {
        LockRelationOid(relation, AccessShareLock);
        if (alineo_ledger_relation(ledger, table) == relation)
            return true;
        UnlockRelationOid(relation, AccessShareLock);
    }
    return false;
}

SPIPlanPtr alineo_ledger_plan(alineo_ledger *ledger, alineo_statement statement)
{
    SPIPlanPtr plan = ledger->plans[statement];

    if (plan == NULL) {
        const alineo_statement_text *text = &alineo_statements[statement];
        char *sql = psprintf(text->sql, ledger->quoted);
        Oid types[ALINEO_STATEMENT_PARAMETERS];

        memcpy(types, text->types, sizeof types);
        plan = SPI_prepare_cursor(sql, text->parameters, types, text->options);
        if (plan == NULL || SPI_keepplan(plan) != 0)
            elog(ERROR, "could not prepare \"%s\": %s", sql, SPI_result_code_string(SPI_result));
        pfree(sql);
        ledger->plans[statement] = plan;
    }
    return plan;
}

/* SPI leaves another memory context current than it found. */
static void execute(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                    const char *nulls, bool read_only, long limit)
{
    MemoryContext before = CurrentMemoryContext;
    int result =
        SPI_execute_plan(alineo_ledger_plan(ledger, statement), values, nulls, read_only, limit);

    if (result < 0)
        elog(ERROR, "statement failed: %s", SPI_result_code_string(result));
    MemoryContextSwitchTo(before);
}

uint64 alineo_ledger_write(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                           const char *nulls)
{
    execute(ledger, statement, values, nulls, false, 0);
    return SPI_processed;
}

bool alineo_ledger_ask(alineo_ledger *ledger, alineo_statement statement, Datum *values,
                       const char *nulls, bool read_only, int64 *answer)
{
    bool null = true;

    execute(ledger, statement, values, nulls, read_only, 1);
    /* A rule or trigger may leave nothing to return. */
    if (SPI_tuptable != NULL && SPI_processed > 0)
        *answer =
            DatumGetInt64(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &null));
    SPI_freetuptable(SPI_tuptable);
    return !null;
}
