/*
 * schema.c - creates tables and indexes. See schema.h.
 *
 * The tables belong to whoever makes them and not to the extension: DROP
 * EXTENSION leaves the history, and pg_dump dumps it as any table. Two sessions
 * that write first at the same time meet at a lock on the schema; the second
 * then finds the tables made. docs/design.md, "Schema".
 */
#include "schema.h"

#include "access/genam.h"
#include "access/xact.h"
#include "catalog/namespace.h"
#include "catalog/pg_class.h"
#include "catalog/pg_namespace.h"
#include "commands/extension.h"
#include "storage/lmgr.h"
#include "tcop/utility.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"

#include "../shared/vocabulary.h"

typedef struct part {
    const char *name;  /* of the table or index */
    const char *table; /* the table an index is on, or NULL */
    const char *sql;
} part;

/* bigserial is no type but a word of CREATE TABLE, so it stands unqualified. */
static const part parts[] = {
    {ALINEO_EVENTS_TABLE, NULL,
     "CREATE TABLE %1$s.alineo_events ("
     "id bigserial PRIMARY KEY, sandbox_id pg_catalog.text NOT NULL,"
     " name pg_catalog.text NOT NULL, step_idx integer NOT NULL, branch integer,"
     " event pg_catalog.text NOT NULL, payload pg_catalog.jsonb, error pg_catalog.text,"
     " ts bigint NOT NULL)"},

    {ALINEO_SESSION_INDEX, ALINEO_EVENTS_TABLE,
     "CREATE INDEX " ALINEO_SESSION_INDEX " ON %1$s.alineo_events (name, sandbox_id, ts, id)"},

    {"alineo_events_milestones", ALINEO_EVENTS_TABLE,
     "CREATE INDEX alineo_events_milestones ON %1$s.alineo_events (sandbox_id, event, name, id, ts)"
     " WHERE event OPERATOR(pg_catalog.<>) ALL (ARRAY[" ALINEO_SQL_OUTPUT "])"},

    {"alineo_events_created", ALINEO_EVENTS_TABLE,
     "CREATE INDEX alineo_events_created ON %1$s.alineo_events (ts, id, name, sandbox_id)"
     " WHERE event OPERATOR(pg_catalog.=) ANY (ARRAY[" ALINEO_SQL_CREATED "])"},

    {ALINEO_ENVIRONMENTS_TABLE, NULL,
     "CREATE TABLE %1$s.alineo_environments ("
     "name pg_catalog.text PRIMARY KEY, snapshot_id pg_catalog.text NOT NULL,"
     " image pg_catalog.text NOT NULL, built_at bigint NOT NULL)"},
};

bool alineo_schema_owns(Oid relation)
{
#if PG_VERSION_NUM >= 160000
    return object_ownercheck(RelationRelationId, relation, GetUserId());
#else
    return pg_class_ownercheck(relation, GetUserId());
#endif
}

static bool may_create(Oid schema)
{
#if PG_VERSION_NUM >= 160000
    return object_aclcheck(NamespaceRelationId, schema, GetUserId(), ACL_CREATE) == ACLCHECK_OK;
#else
    return pg_namespace_aclcheck(schema, GetUserId(), ACL_CREATE) == ACLCHECK_OK;
#endif
}

/* An index only makes reading faster: where the table is of a kind that takes
 * none, or belongs to another role, the ledger works without. */
static bool wanted(const alineo_ledger *ledger, const part *p)
{
    if (OidIsValid(alineo_ledger_relation(ledger, p->name)))
        return false;
    if (p->table == NULL)
        return true;
    Oid table = alineo_ledger_relation(ledger, p->table);
    char kind = get_rel_relkind(table);
    return (kind == RELKIND_RELATION || kind == RELKIND_PARTITIONED_TABLE) && alineo_schema_owns(table);
}

static void make(alineo_call *call, const part *p)
{
    const alineo_ledger *ledger = call->ledger;

    if (p->table == NULL && !may_create(ledger->schema))
        ereport(ERROR, (errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
                        errmsg("%s: table %s.%s does not exist and role %s may not create it",
                               call->error.function, ledger->quoted, p->name,
                               GetUserNameFromId(GetUserId(), false)),
                        errhint("Let a role with CREATE on schema %s call %s.alineo_init() once.",
                                ledger->quoted, ledger->quoted)));
    char *sql = psprintf(p->sql, ledger->quoted);
    int result = SPI_execute(sql, false, 0);
    if (result < 0)
        elog(ERROR, "\"%s\" failed: %s", sql, SPI_result_code_string(result));
    pfree(sql);
    CommandCounterIncrement();
}

void alineo_schema_ensure(alineo_call *call)
{
    bool extension_script = creating_extension;

    PreventCommandIfReadOnly(psprintf("%s()", call->error.function));
    /* Tables first: who drops one may be about to make it again, and then
     * wants the lock below. */
    (void)alineo_schema_has(call, ALINEO_EVENTS_TABLE);
    (void)alineo_schema_has(call, ALINEO_ENVIRONMENTS_TABLE);
    /* Held to the end of the transaction; other locks on a schema pass it,
     * but for DROP SCHEMA's. */
    LockDatabaseObject(NamespaceRelationId, call->ledger->schema, 0, ShareUpdateExclusiveLock);
    /* Called from the script of another extension, the tables must not become
     * that one's. */
    creating_extension = false;
    PG_TRY();
    {
        for (size_t i = 0; i < lengthof(parts); i++)
            if (wanted(call->ledger, &parts[i]))
                make(call, &parts[i]);
    }
    PG_FINALLY();
    {
        creating_extension = extension_script;
    }
    PG_END_TRY();
}

void alineo_schema_need(alineo_call *call, const char *table)
{
    /* More than once only where somebody else made it, and dropped it again. */
    while (!alineo_schema_has(call, table))
        alineo_schema_ensure(call);
}
