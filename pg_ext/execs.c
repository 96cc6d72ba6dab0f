/*
 * execs.c - alineo_replay_cache and alineo_execs: what the fold makes of the
 * events, a row for each exec. docs/reference.md.
 */
#include "rows.h"
#include "store.h"

ALINEO_SQL_FUNCTION(alineo_sql_replay_cache);
ALINEO_SQL_FUNCTION(alineo_sql_execs);

enum { SEQ, COMMAND, OUT, ERR, EXIT_CODE, STARTED_AT, COMPLETED_AT, COLUMNS };

/* What is used again for each row. */
typedef struct writer {
    alineo_call *call;
    alineo_rows rows;
    alineo_buffer texts[COLUMNS];
} writer;

static void writer_init(writer *w, alineo_call *call)
{
    w->call = call;
    for (int i = 0; i < COLUMNS; i++)
        alineo_buffer_init(&w->texts[i], &call->memory);
}

static Datum shown(writer *w, const alineo_exec *exec, int column, const alineo_buffer *text)
{
    static const char *const names[] = {[COMMAND] = "command", [OUT] = "stdout", [ERR] = "stderr"};
    char what[64] = "";

    alineo_varlena_begin(&w->texts[column]);
    alineo_text_display(&w->texts[column], alineo_buffer_span(text));
    if (!AllocSizeIsValid(w->texts[column].len))
        snprintf(what, sizeof what, "%s of exec %lld", names[column], (long long)exec->seq);
    return alineo_varlena_end(w->call, &w->texts[column], what);
}

/* Takes the texts out of the attempt: once one is shown, its memory is room for
 * the row (alineo_rows_keep), which would else hold a third copy. */
static void put(writer *w, const alineo_exec *exec, alineo_attempt *attempt)
{
    alineo_buffer *const texts[] = {
        [COMMAND] = &attempt->command, [OUT] = &attempt->out, [ERR] = &attempt->err};
    Datum values[COLUMNS] = {
        [SEQ] = Int64GetDatum(exec->seq),
        [EXIT_CODE] = Int64GetDatum(attempt->exit_code),
        [STARTED_AT] = Int64GetDatum(attempt->started_at),
        [COMPLETED_AT] = Int64GetDatum(attempt->completed_at),
    };
    bool nulls[COLUMNS] = {
        [COMMAND] = !attempt->has_command,
        [EXIT_CODE] = !attempt->completed || !attempt->has_exit_code,
        [STARTED_AT] = !attempt->started,
        [COMPLETED_AT] = !attempt->completed,
    };

    for (int i = COMMAND; i <= ERR; i++) {
        if (!nulls[i])
            values[i] = shown(w, exec, i, texts[i]);
        alineo_buffer_free(texts[i]);
    }
    alineo_rows_put(&w->rows, values, nulls);
}

static alineo_attempt *attempt_of(const alineo_fold *fold, size_t i, bool cached)
{
    const alineo_exec *exec = alineo_fold_exec(fold, i);

    return cached ? exec->completed : exec->current;
}

/* About how much memory the rows take, rather more than less. */
static size_t size_of_all(const alineo_fold *fold, bool cached)
{
    size_t size = 0;

    for (size_t i = 0; i < alineo_fold_count(fold); i++) {
        const alineo_attempt *attempt = attempt_of(fold, i, cached);
        if (attempt != NULL)
            size += attempt->command.len + attempt->out.len + attempt->err.len + 512;
    }
    return size + size / 8;
}

static void put_all(writer *w, const alineo_fold *fold, bool cached)
{
    alineo_rows_keep(&w->rows, size_of_all(fold, cached));
    for (size_t i = 0; i < alineo_fold_count(fold); i++) {
        const alineo_exec *exec = alineo_fold_exec(fold, i);
        alineo_attempt *attempt = attempt_of(fold, i, cached);
        if (attempt != NULL)
            put(w, exec, attempt);
    }
}

Datum alineo_sql_replay_cache(PG_FUNCTION_ARGS)
{
    writer w;
    alineo_call call;
    alineo_pg_store store;
    alineo_resume resume;

    alineo_rows_begin(&w.rows, fcinfo);
    if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
        return (Datum)0;
    alineo_call_begin(&call, fcinfo, "alineo_replay_cache");
    writer_init(&w, &call);
    alineo_store_init(&store, &call);
    alineo_resume_init(&resume, &call.memory, &store.store);
    alineo_code code =
        alineo_resume_cache(&resume, alineo_arg_text(fcinfo, 0), alineo_arg_text(fcinfo, 1),
                            alineo_arg_text(fcinfo, 2), &call.error);
    /* No such checkpoint: no rows. */
    if (code != ALINEO_NOT_FOUND) {
        alineo_require(&call.error, code);
        put_all(&w, &resume.fold, true);
    }
    alineo_call_end(&call);
    return (Datum)0;
}

Datum alineo_sql_execs(PG_FUNCTION_ARGS)
{
    writer w;
    alineo_call call;
    alineo_pg_store store;
    alineo_resume resume;

    alineo_rows_begin(&w.rows, fcinfo);
    alineo_call_begin(&call, fcinfo, "alineo_execs");
    writer_init(&w, &call);
    alineo_store_init(&store, &call);
    alineo_resume_init(&resume, &call.memory, &store.store);
    alineo_require(&call.error, alineo_resume_history(&resume, alineo_arg_text(fcinfo, 0),
                                                      alineo_arg_text(fcinfo, 1), &call.error));
    put_all(&w, &resume.fold, false);
    alineo_call_end(&call);
    return (Datum)0;
}
