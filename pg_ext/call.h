/*
 * call.h - one call of an SQL function: its ledger, memory and error, and its
 * arguments as the core takes them.
 */
#ifndef ALINEO_CALL_H
#define ALINEO_CALL_H

#include "pg.h"

#include "ledger.h"
#include "../shared/arguments.h"

typedef struct alineo_call {
    alineo_error error;
    alineo_ledger *ledger;
    alineo_memory memory;  /* of this call; dropped as a whole */
    MemoryContext context; /* behind `memory` */
    MemoryContext caller;  /* where a result has to be made */
} alineo_call;

/* Starts a call of the SQL function `name` and connects to SPI. */
void alineo_call_begin(alineo_call *call, FunctionCallInfo fcinfo, const char *name);
/* Disconnects and drops the call's memory; after an error the server does. */
void alineo_call_end(alineo_call *call);

/* An allocator over a memory context; blocks may be larger than 1 GB. */
alineo_memory alineo_memory_in(MemoryContext context);

/* Raises an error of the core as one of the server, with its SQLSTATE. */
void alineo_report(const alineo_error *error) pg_attribute_noreturn();
/* The same, unless the code is ALINEO_OK. */
static inline void alineo_require(const alineo_error *error, alineo_code code)
{
    if (code != ALINEO_OK)
        alineo_report(error);
}

/* Raises an error where a buffer could not grow. */
void alineo_require_memory(const alineo_buffer *buffer);
/* Raises an error in a database whose encoding is not UTF8. */
void alineo_require_utf8(void);

/* Arguments; `at` NULL is NULL. The text lives as long as the argument. */
alineo_span alineo_arg_text(FunctionCallInfo fcinfo, int argument);
alineo_integer alineo_arg_integer(FunctionCallInfo fcinfo, int argument);
alineo_span alineo_text_span(Datum text);

/* A text datum, made in the current context. */
Datum alineo_text_datum(alineo_span text);
/* A varlena made of a buffer that was started by alineo_varlena_begin, or an
 * error that names `what` where it is larger than the server can hold. */
void alineo_varlena_begin(alineo_buffer *buffer);
Datum alineo_varlena_end(alineo_call *call, alineo_buffer *buffer, const char *what);

/* Unix time in milliseconds. */
int64 alineo_now(void);

#endif
