/*
 * call.c - see call.h.
 */
#include "call.h"

#include "executor/spi.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/timestamp.h"

static void *resize(void *context, void *block, size_t size)
{
    /* Where the core works long on one text, this is where it can be stopped. */
    CHECK_FOR_INTERRUPTS();
    /* Does not return without memory: the server's own error says more. */
    return block == NULL ? MemoryContextAllocHuge(context, size) : repalloc_huge(block, size);
}

static void release(void *context, void *block)
{
    (void)context;
    if (block != NULL)
        pfree(block);
}

alineo_memory alineo_memory_in(MemoryContext context)
{
    return (alineo_memory){context, resize, release};
}

void alineo_call_begin(alineo_call *call, FunctionCallInfo fcinfo, const char *name)
{
    alineo_error_init(&call->error, name);
    call->ledger = alineo_ledger_of(fcinfo);
    call->caller = CurrentMemoryContext;
    call->context = AllocSetContextCreate(CurrentMemoryContext, "alineo", ALLOCSET_DEFAULT_SIZES);
    call->memory = alineo_memory_in(call->context);
    if (SPI_connect() != SPI_OK_CONNECT)
        elog(ERROR, "%s: SPI_connect failed", name);
}

void alineo_call_end(alineo_call *call)
{
    (void)SPI_finish();
    MemoryContextDelete(call->context);
}

static int sqlstate_of(alineo_code code)
{
    switch (code) {
    case ALINEO_BAD_ARGUMENT: return ERRCODE_INVALID_PARAMETER_VALUE;
    case ALINEO_BAD_JSON: return ERRCODE_INVALID_JSON_TEXT;
    case ALINEO_NOT_FOUND: return ERRCODE_NO_DATA_FOUND;
    case ALINEO_TOO_LARGE: return ERRCODE_PROGRAM_LIMIT_EXCEEDED;
    case ALINEO_DAMAGED: return ERRCODE_DATA_CORRUPTED;
    case ALINEO_NO_MEMORY: return ERRCODE_OUT_OF_MEMORY;
    default: return ERRCODE_INTERNAL_ERROR;
    }
}

static const char *hint_of(alineo_code code)
{
    switch (code) {
    case ALINEO_NOT_FOUND:
        return "alineo_list_sandboxes() lists the sessions, "
               "alineo_list_checkpoints(name, sandbox_id) the checkpoints of one.";
    case ALINEO_TOO_LARGE: return "alineo_replay(name, sandbox_id) gives it in the parts recorded.";
    default: return NULL;
    }
}

void alineo_report(const alineo_error *error)
{
    const char *hint = hint_of(error->code);

    ereport(ERROR, (errcode(sqlstate_of(error->code)), errmsg_internal("%s", error->text),
                    hint != NULL ? errhint("%s", hint) : 0));
    pg_unreachable();
}

void alineo_require_memory(const alineo_buffer *buffer)
{
    if (buffer->failed)
        ereport(ERROR, (errcode(ERRCODE_OUT_OF_MEMORY), errmsg("out of memory")));
}

void alineo_require_utf8(void)
{
    if (GetDatabaseEncoding() != PG_UTF8)
        ereport(ERROR, (errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
                        errmsg("alineo_ledger needs a database with encoding UTF8, this one has %s",
                               GetDatabaseEncodingName()),
                        errhint("Create a database with ENCODING 'UTF8' TEMPLATE template0.")));
}

alineo_span alineo_text_span(Datum text)
{
    struct varlena *packed = PG_DETOAST_DATUM_PACKED(text);

    return (alineo_span){VARDATA_ANY(packed), VARSIZE_ANY_EXHDR(packed)};
}

alineo_span alineo_arg_text(FunctionCallInfo fcinfo, int argument)
{
    if (PG_ARGISNULL(argument))
        return (alineo_span){NULL, 0};
    return alineo_text_span(PG_GETARG_DATUM(argument));
}

alineo_integer alineo_arg_integer(FunctionCallInfo fcinfo, int argument)
{
    if (PG_ARGISNULL(argument))
        return (alineo_integer){false, false, 0};
    return (alineo_integer){true, true, PG_GETARG_INT64(argument)};
}

Datum alineo_text_datum(alineo_span text)
{
    return PointerGetDatum(cstring_to_text_with_len(text.at, (int)text.len));
}

void alineo_varlena_begin(alineo_buffer *buffer)
{
    buffer->len = 0;
    if (alineo_buffer_reserve(buffer, VARHDRSZ) != NULL)
        buffer->len = VARHDRSZ;
}

Datum alineo_varlena_end(alineo_call *call, alineo_buffer *buffer, const char *what)
{
    alineo_require_memory(buffer);
    alineo_require(&call->error, alineo_check_size(&call->error, what, buffer->len - VARHDRSZ,
                                                   MaxAllocSize - VARHDRSZ));
    SET_VARSIZE(buffer->at, buffer->len);
    return PointerGetDatum(buffer->at);
}

int64 alineo_now(void)
{
    int64 microseconds =
        GetCurrentTimestamp() + (int64)(POSTGRES_EPOCH_JDATE - UNIX_EPOCH_JDATE) * USECS_PER_DAY;

    return microseconds / 1000;
}
