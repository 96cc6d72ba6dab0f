/*
 * resume.c - alineo_resume and alineo_output: what the fold makes of the
 * events, as one document or one stream. docs/reference.md.
 */
#include "store.h"

ALINEO_SQL_FUNCTION(alineo_sql_resume);
ALINEO_SQL_FUNCTION(alineo_sql_output);

/* Ends the call with what it made. That may be large, so it is not copied: it
 * stays in the call's memory, which goes when the caller's context is reset. */
static Datum hand_over(alineo_call *call, alineo_buffer *made, const char *what)
{
    Datum result = alineo_varlena_end(call, made, what);

    (void)SPI_finish();
    return result;
}

Datum alineo_sql_resume(PG_FUNCTION_ARGS)
{
    alineo_call call;
    alineo_pg_store store;
    alineo_resume resume;
    alineo_buffer document;

    alineo_call_begin(&call, fcinfo, "alineo_resume");
    alineo_span sandbox_id = alineo_arg_text(fcinfo, 0);
    alineo_require(&call.error, alineo_check_text(&call.error, "sandbox_id", sandbox_id, 0));
    alineo_store_init(&store, &call);
    alineo_resume_init(&resume, &call.memory, &store.store);
    alineo_require(&call.error, alineo_resume_load(&resume, sandbox_id, alineo_arg_text(fcinfo, 1),
                                                   &call.error));
    alineo_buffer_init(&document, &call.memory);
    alineo_varlena_begin(&document);
    alineo_resume_write(&resume, &document);
    alineo_resume_free(&resume);
    return hand_over(&call, &document, "the document");
}

Datum alineo_sql_output(PG_FUNCTION_ARGS)
{
    alineo_call call;
    alineo_pg_store store;
    alineo_resume resume;
    alineo_buffer text, bytes;
    alineo_stream stream;

    if (PG_ARGISNULL(0) || PG_ARGISNULL(1) || PG_ARGISNULL(2))
        PG_RETURN_NULL();
    alineo_call_begin(&call, fcinfo, "alineo_output");
    alineo_require(&call.error,
                   alineo_check_stream(&call.error, alineo_arg_text(fcinfo, 3), &stream));
    alineo_store_init(&store, &call);
    alineo_resume_init(&resume, &call.memory, &store.store);
    alineo_fold_only(&resume.fold, PG_GETARG_INT64(2));
    alineo_require(&call.error, alineo_resume_history(&resume, alineo_arg_text(fcinfo, 0),
                                                      alineo_arg_text(fcinfo, 1), &call.error));
    if (alineo_fold_count(&resume.fold) == 0) {
        alineo_call_end(&call);
        PG_RETURN_NULL();
    }
    alineo_buffer_init(&text, &call.memory);
    alineo_attempt_stream(&text, alineo_fold_exec(&resume.fold, 0)->current, stream);
    alineo_resume_free(&resume);
    alineo_buffer_init(&bytes, &call.memory);
    alineo_varlena_begin(&bytes);
    (void)alineo_buffer_reserve(&bytes, text.len);
    alineo_text_bytes(&bytes, alineo_buffer_span(&text));
    bytes.failed |= text.failed;
    alineo_buffer_free(&text);
    return hand_over(&call, &bytes, "the stream");
}
