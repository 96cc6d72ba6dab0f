/*
 * execs.c - alineo_replay_cache and alineo_execs: what the fold gives.
 * docs/reference.md, "alineo_replay_cache".
 */
#include "store.h"
#include "tables.h"

enum { SEQ, COMMAND, STDOUT, STDERR, EXIT_CODE, STARTED_AT, COMPLETED_AT, COLUMN_COUNT };

enum { SEQ_BOUND };

#define EXEC_COLUMNS                                                                               \
    "seq INTEGER, command TEXT, stdout TEXT, stderr TEXT, exit_code INTEGER, started_at INTEGER,"  \
    " completed_at INTEGER"

typedef struct execs_cursor {
    table_cursor base;
    store store;
    alineo_resume resume;
    bool open;   /* store and resume have been made */
    bool cache;  /* completed attempts, else the latest */
    size_t next; /* index of the exec to look at next */
    const alineo_attempt *attempt;
    int64_t seq;
    alineo_buffer scratch;
} execs_cursor;

static void prepare(execs_cursor *cursor)
{
    table_bound bound = cursor->base.bounds[SEQ_BOUND];

    store_init(&cursor->store, &cursor->base.call);
    alineo_resume_init(&cursor->resume, &ledger_memory, &cursor->store.core);
    alineo_buffer_init(&cursor->scratch, &ledger_memory);
    cursor->open = true;
    cursor->next = 0;
    if (bound.least == bound.most)
        alineo_fold_only(&cursor->resume.fold, bound.least);
}

static alineo_code replay_cache_start(table_cursor *base)
{
    execs_cursor *cursor = (execs_cursor *)base;
    alineo_span name, sandbox_id, tag;
    alineo_code code = table_session(base, &name, &sandbox_id);

    if (code == ALINEO_OK)
        code = table_text(base, 2, &tag);
    if (code != ALINEO_OK)
        return code;
    prepare(cursor);
    cursor->cache = true;
    code = alineo_resume_cache(&cursor->resume, name, sandbox_id, tag, &base->call.error);
    if (code != ALINEO_NOT_FOUND)
        return code;
    base->done = true; /* a row function shows what is there */
    return ALINEO_OK;
}

static alineo_code execs_start(table_cursor *base)
{
    execs_cursor *cursor = (execs_cursor *)base;
    alineo_span name, sandbox_id;
    alineo_code code = table_session(base, &name, &sandbox_id);

    if (code != ALINEO_OK)
        return code;
    prepare(cursor);
    cursor->cache = false;
    return alineo_resume_history(&cursor->resume, name, sandbox_id, &base->call.error);
}

static alineo_code next(table_cursor *base)
{
    execs_cursor *cursor = (execs_cursor *)base;
    const alineo_fold *fold = &cursor->resume.fold;

    cursor->attempt = NULL;
    while (cursor->attempt == NULL && cursor->next < alineo_fold_count(fold)) {
        const alineo_exec *exec = alineo_fold_exec(fold, cursor->next++);
        cursor->attempt = cursor->cache ? exec->completed : exec->current;
        cursor->seq = exec->seq;
    }
    base->done = cursor->attempt == NULL;
    return ALINEO_OK;
}

static void result_integer(sqlite3_context *context, bool given, int64_t value)
{
    if (given)
        sqlite3_result_int64(context, value);
}

static void column(table_cursor *base, sqlite3_context *context, int column)
{
    execs_cursor *cursor = (execs_cursor *)base;
    const alineo_attempt *attempt = cursor->attempt;

    switch (column) {
    case SEQ: sqlite3_result_int64(context, cursor->seq); break;
    case COMMAND:
        if (attempt->has_command)
            result_shown(context, alineo_buffer_span(&attempt->command), &cursor->scratch);
        break;
    case STDOUT: result_shown(context, alineo_buffer_span(&attempt->out), &cursor->scratch); break;
    case STDERR: result_shown(context, alineo_buffer_span(&attempt->err), &cursor->scratch); break;
    case EXIT_CODE: result_integer(context, attempt->has_exit_code, attempt->exit_code); break;
    case STARTED_AT: result_integer(context, attempt->started, attempt->started_at); break;
    case COMPLETED_AT: result_integer(context, attempt->completed, attempt->completed_at); break;
    default: break;
    }
}

static sqlite3_int64 rowid(table_cursor *base)
{
    return table_hash(base, ((execs_cursor *)base)->seq);
}

static void stop(table_cursor *base)
{
    execs_cursor *cursor = (execs_cursor *)base;

    if (!cursor->open)
        return;
    alineo_resume_free(&cursor->resume);
    store_free(&cursor->store);
    alineo_buffer_free(&cursor->scratch);
    cursor->open = false;
}

const table_function replay_cache_table = {
    .name = "alineo_replay_cache",
    .columns = EXEC_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id", "tag"},
    .required = 2,
    .bounds = {[SEQ_BOUND] = SEQ + 1},
    .order = {SEQ + 1},
    .cursor_size = sizeof(execs_cursor),
    .start = replay_cache_start,
    .next = next,
    .column = column,
    .rowid = rowid,
    .stop = stop,
};

const table_function execs_table = {
    .name = "alineo_execs",
    .columns = EXEC_COLUMNS,
    .column_count = COLUMN_COUNT,
    .arguments = {"name", "sandbox_id"},
    .required = 2,
    .bounds = {[SEQ_BOUND] = SEQ + 1},
    .order = {SEQ + 1},
    .cursor_size = sizeof(execs_cursor),
    .start = execs_start,
    .next = next,
    .column = column,
    .rowid = rowid,
    .stop = stop,
};
