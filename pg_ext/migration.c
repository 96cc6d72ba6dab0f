/*
 * migration.c - see migration.h.
 *
 * The migration is one UPDATE, which asks of each row it passes whether it is
 * out of date (alineo_outdated), and for what it becomes (alineo_current_*).
 * These are functions of SQL, so that the statement runs wherever the table is.
 * The first counts the rows on the way, and tells the client.
 */
#include "migration.h"
#include "guard.h"
#include "jsonb_fields.h"
#include "schema.h"

#include "access/relation.h"
#include "catalog/pg_type.h"
#include "storage/lockdefs.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "../shared/vocabulary.h"

ALINEO_SQL_FUNCTION(alineo_sql_outdated);
ALINEO_SQL_FUNCTION(alineo_sql_current_event);
ALINEO_SQL_FUNCTION(alineo_sql_current_payload);

/* A notice comes with each tenth of a table of so many rows, and in any after
 * so long. */
enum { LARGE_TABLE = 100000, NOTICE_MS = 5000 };

/* The migration that this session is in. */
static struct {
    bool running;
    double rows;  /* of the table, as last estimated; 0: unknown */
    uint64 seen;  /* rows passed */
    uint64 found; /* of these, out of date */
    uint64 next;  /* rows passed at the next notice */
    TimestampTz last_notice;
} progress;

static void tell(void)
{
    if (progress.rows > 0)
        ereport(NOTICE, (errmsg("alineo_init: " UINT64_FORMAT
                                " of about %.0f events read, " UINT64_FORMAT " rewritten",
                                progress.seen, progress.rows, progress.found)));
    else
        ereport(NOTICE,
                (errmsg("alineo_init: " UINT64_FORMAT " events read, " UINT64_FORMAT " rewritten",
                        progress.seen, progress.found)));
    progress.last_notice = GetCurrentTimestamp();
}

static void count(bool outdated)
{
    enum { LOOK_AT_CLOCK = 1024 }; /* rows */

    if (!progress.running)
        return;
    progress.seen++;
    progress.found += outdated;
    if (progress.seen >= progress.next) {
        progress.next += (uint64)(progress.rows / 10);
        tell();
    } else if (progress.seen % LOOK_AT_CLOCK == 0 &&
               TimestampDifferenceExceeds(progress.last_notice, GetCurrentTimestamp(), NOTICE_MS)) {
        tell();
    }
}

/* What ANALYZE or VACUUM counted last; where neither has, 0. */
static double rows_of(Oid table)
{
    Relation relation = relation_open(table, AccessShareLock);
    double rows = relation->rd_rel->reltuples;

    relation_close(relation, AccessShareLock);
    return Max(rows, 0);
}

/* Who may not write may still hear that there is nothing to do. */
static bool nothing_to_do(alineo_ledger *ledger, Oid table, alineo_statement find)
{
    int64 id;

    return pg_class_aclcheck(table, GetUserId(), ACL_UPDATE) != ACLCHECK_OK &&
           !alineo_ledger_ask(ledger, find, NULL, NULL, false, &id);
}

static bool has_jsonb(Oid table)
{
    return getBaseType(get_atttype(table, get_attnum(table, "payload"))) == JSONBOID;
}

uint64 alineo_migrate(alineo_call *call)
{
    Oid table = alineo_ledger_relation(call->ledger, ALINEO_EVENTS_TABLE);
    bool whole = has_jsonb(table);
    uint64 rewritten = 0;

    if (nothing_to_do(call->ledger, table,
                      whole ? ALINEO_FIND_OUTDATED : ALINEO_FIND_OUTDATED_NAME))
        return 0;
    memset(&progress, 0, sizeof progress);
    progress.rows = rows_of(table);
    progress.next = progress.rows < LARGE_TABLE ? PG_UINT64_MAX : (uint64)(progress.rows / 10);
    progress.last_notice = GetCurrentTimestamp();
    progress.running = true;
    PG_TRY();
    {
        rewritten = alineo_guard_write(call->ledger, whole ? ALINEO_MIGRATE : ALINEO_MIGRATE_NAMES,
                                       NULL, NULL);
    }
    PG_FINALLY();
    {
        progress.running = false;
    }
    PG_END_TRY();
    return rewritten;
}

/* What unwrapping needs, kept from row to row. */
typedef struct unwrapper {
    alineo_memory memory;
    alineo_jsonb_reader reader;
} unwrapper;

static alineo_jsonb_reader *reader_of(FunctionCallInfo fcinfo)
{
    unwrapper *kept = fcinfo->flinfo->fn_extra;

    if (kept == NULL) {
        kept = MemoryContextAlloc(fcinfo->flinfo->fn_mcxt, sizeof *kept);
        kept->memory = alineo_memory_in(fcinfo->flinfo->fn_mcxt);
        alineo_jsonb_reader_init(&kept->reader, &kept->memory, fcinfo->flinfo->fn_mcxt);
        fcinfo->flinfo->fn_extra = kept;
    }
    return &kept->reader;
}

static bool is_legacy(Datum event)
{
    alineo_span stored = alineo_text_span(event);

    return alineo_event_current(stored).at != stored.at;
}

Datum alineo_sql_outdated(PG_FUNCTION_ARGS)
{
    bool outdated = !PG_ARGISNULL(0) && is_legacy(PG_GETARG_DATUM(0));

    if (!outdated && !PG_ARGISNULL(1) && alineo_jsonb_is_string(PG_GETARG_DATUM(1)))
        outdated = alineo_jsonb_wraps(reader_of(fcinfo), PG_GETARG_JSONB_P(1));
    count(outdated);
    PG_RETURN_BOOL(outdated);
}

Datum alineo_sql_current_event(PG_FUNCTION_ARGS)
{
    alineo_span stored = alineo_text_span(PG_GETARG_DATUM(0));
    alineo_span current = alineo_event_current(stored);

    if (current.at == stored.at)
        return PG_GETARG_DATUM(0);
    return alineo_text_datum(current);
}

Datum alineo_sql_current_payload(PG_FUNCTION_ARGS)
{
    Jsonb *inner = NULL;

    if (alineo_jsonb_is_string(PG_GETARG_DATUM(0)))
        inner = alineo_jsonb_unwrap(reader_of(fcinfo), PG_GETARG_JSONB_P(0));
    if (inner == NULL)
        return PG_GETARG_DATUM(0);
    PG_RETURN_JSONB_P(inner);
}
