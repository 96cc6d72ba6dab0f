/*
 * later.c - see later.h.
 *
 * An append without a ts must not come before the latest event of its session,
 * and hardly ever would. A query that finds so costs a quarter of an append,
 * most of it to start and end the executor. Where the table is plainly ours,
 * its index alone can tell: without an entry there is no row, whatever the
 * snapshot. Where there is an entry, of a dead or uncommitted row perhaps, or
 * anything about the table is special, the query decides as everywhere else.
 */
#include "later.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/relscan.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_class.h"
#include "catalog/pg_opfamily.h"
#include "executor/executor.h"
#include "optimizer/planner.h"
#include "utils/acl.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "schema.h"

enum { NAME, SANDBOX_ID, TS, KEYS };

/* A table whose rows are all in its own heap, and policies hide none of them.
 * Who plans or checks in the server's stead (a sharding layer, say) may know
 * more about it than its entry in the catalog. */
static bool is_plain(Relation table)
{
    return planner_hook == NULL && ExecutorCheckPerms_hook == NULL &&
           table->rd_rel->relkind == RELKIND_RELATION && !table->rd_rel->relhassubclass &&
           !table->rd_rel->relrowsecurity;
}

/* Whether the caller may read what the query would: these three columns. */
static bool may_read(Relation table, const Form_pg_index entry)
{
    Oid relation = RelationGetRelid(table);

    if (pg_class_aclcheck(relation, GetUserId(), ACL_SELECT) == ACLCHECK_OK)
        return true;
    for (int i = 0; i < KEYS; i++)
        if (pg_attribute_aclcheck(relation, entry->indkey.values[i], GetUserId(), ACL_SELECT) !=
            ACLCHECK_OK)
            return false;
    return true;
}

/* Whether the index has every row of the table under (name, sandbox_id, ts). */
static bool is_by_session(Relation table, Relation index)
{
    static const char *const columns[KEYS] = {"name", "sandbox_id", "ts"};
    static const Oid families[KEYS] = {TEXT_BTREE_FAM_OID, TEXT_BTREE_FAM_OID,
                                       INTEGER_BTREE_FAM_OID};
    Form_pg_index entry = index->rd_index;

    if (entry->indrelid != RelationGetRelid(table) || index->rd_rel->relam != BTREE_AM_OID ||
        !entry->indisvalid || entry->indcheckxmin || entry->indnkeyatts < KEYS ||
        RelationGetIndexPredicate(index) != NIL)
        return false;
    for (int i = 0; i < KEYS; i++) {
        AttrNumber number = entry->indkey.values[i];
        if (number <= 0 || index->rd_opfamily[i] != families[i] ||
            strcmp(NameStr(TupleDescAttr(table->rd_att, number - 1)->attname), columns[i]) != 0 ||
            index->rd_indcollation[i] != TupleDescAttr(table->rd_att, number - 1)->attcollation)
            return false;
    }
    return index->rd_opcintype[TS] == INT8OID;
}

/* Whether the index holds an entry of the session above `ts`. */
static bool has_later(Relation table, Relation index, Datum name, Datum sandbox_id, int64 ts)
{
    ScanKeyData keys[KEYS];

    ScanKeyEntryInitialize(&keys[NAME], 0, NAME + 1, BTEqualStrategyNumber, InvalidOid,
                           index->rd_indcollation[NAME], F_TEXTEQ, name);
    ScanKeyEntryInitialize(&keys[SANDBOX_ID], 0, SANDBOX_ID + 1, BTEqualStrategyNumber, InvalidOid,
                           index->rd_indcollation[SANDBOX_ID], F_TEXTEQ, sandbox_id);
    ScanKeyEntryInitialize(&keys[TS], 0, TS + 1, BTGreaterStrategyNumber, InvalidOid, InvalidOid,
                           F_INT8GT, Int64GetDatum(ts));
#if PG_VERSION_NUM >= 180000
    IndexScanDesc scan = index_beginscan(table, index, GetActiveSnapshot(), NULL, KEYS, 0);
#else
    IndexScanDesc scan = index_beginscan(table, index, GetActiveSnapshot(), KEYS, 0);
#endif
    index_rescan(scan, keys, KEYS, NULL, 0);
    bool found = index_getnext_tid(scan, ForwardScanDirection) != NULL;
    index_endscan(scan);
    return found;
}

bool alineo_later_possible(alineo_call *call, Datum name, Datum sandbox_id, int64 ts)
{
    Relation table = try_relation_open(alineo_ledger_relation(call->ledger, ALINEO_EVENTS_TABLE),
                                       AccessShareLock);
    bool possible = true;

    if (table == NULL)
        return true;
    if (is_plain(table)) {
        Oid named = alineo_ledger_relation(call->ledger, ALINEO_SESSION_INDEX);
        List *indexes = RelationGetIndexList(table);
        if (list_member_oid(indexes, named)) {
            Relation index = index_open(named, AccessShareLock);
            if (is_by_session(table, index) && may_read(table, index->rd_index))
                possible = has_later(table, index, name, sandbox_id, ts);
            index_close(index, NoLock);
        }
        list_free(indexes);
    }
    relation_close(table, NoLock);
    return possible;
}
