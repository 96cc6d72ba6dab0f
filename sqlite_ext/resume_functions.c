/*
 * resume_functions.c - alineo_resume and alineo_output. docs/reference.md.
 */
#include "resume_functions.h"
#include "store.h"

static alineo_code check_size(call *c, const char *what, size_t size)
{
    return alineo_check_size(&c->error, what, size,
                             (size_t)sqlite3_limit(c->ledger->db, SQLITE_LIMIT_LENGTH, -1));
}

/* Measures the document, then writes it into a block of just that size, which
 * goes to SQLite without another copy. */
static alineo_code write_document(call *c, alineo_resume *resume, sqlite3_context *context)
{
    alineo_buffer measure, document;

    alineo_buffer_init(&measure, NULL);
    alineo_resume_write(resume, &measure);
    if (check_size(c, "the document", measure.len) != ALINEO_OK)
        return c->error.code;
    alineo_buffer_init(&document, &ledger_memory);
    if (alineo_buffer_exact(&document, measure.len))
        alineo_resume_write(resume, &document);
    if (document.failed) {
        alineo_buffer_free(&document);
        return alineo_fail_memory(&c->error);
    }
    sqlite3_result_text64(context, document.at, document.len, sqlite3_free, SQLITE_UTF8);
    sqlite3_result_subtype(context, JSON_SUBTYPE);
    return ALINEO_OK;
}

void resume_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    alineo_span sandbox_id, tag;
    alineo_resume resume;
    store s;
    call c;

    call_init(&c, sqlite3_user_data(context), "alineo_resume");
    store_init(&s, &c);
    alineo_resume_init(&resume, &ledger_memory, &s.core);
    alineo_code code = call_text(&c, "sandbox_id", argv[0], &sandbox_id);
    if (code == ALINEO_OK)
        code = call_text(&c, "tag", argument(argc, argv, 1), &tag);
    if (code == ALINEO_OK)
        code = alineo_check_text(&c.error, "sandbox_id", sandbox_id, 0);
    if (code == ALINEO_OK)
        code = alineo_resume_load(&resume, sandbox_id, tag, &c.error);
    if (code == ALINEO_OK)
        code = write_document(&c, &resume, context);
    if (code != ALINEO_OK)
        call_report(&c, context);
    alineo_resume_free(&resume);
    store_free(&s);
}

/* Hands out a stream's bytes; NULL where there is no such exec. */
static alineo_code write_stream(call *c, const alineo_fold *fold, alineo_stream stream,
                                sqlite3_context *context)
{
    alineo_buffer text, bytes;

    if (alineo_fold_count(fold) == 0)
        return ALINEO_OK;
    alineo_buffer_init(&text, &ledger_memory);
    alineo_buffer_init(&bytes, &ledger_memory);
    alineo_attempt_stream(&text, alineo_fold_exec(fold, 0)->current, stream);
    if (alineo_text_has_surrogate(alineo_buffer_span(&text))) {
        alineo_text_bytes(&bytes, alineo_buffer_span(&text));
        alineo_buffer_free(&text);
        text = bytes;
    }
    alineo_code code =
        text.failed ? alineo_fail_memory(&c->error) : check_size(c, "the stream", text.len);
    if (code != ALINEO_OK) {
        alineo_buffer_free(&text);
        return code;
    }
    if (text.at == NULL)
        sqlite3_result_zeroblob(context, 0);
    else
        sqlite3_result_blob64(context, text.at, text.len, sqlite3_free);
    return ALINEO_OK;
}

void output_function(sqlite3_context *context, int argc, sqlite3_value **argv)
{
    alineo_integer seq = integer_of(argv[2]);
    alineo_span name, sandbox_id, stream_text;
    alineo_stream stream;
    alineo_resume resume;
    store s;
    call c;

    call_init(&c, sqlite3_user_data(context), "alineo_output");
    store_init(&s, &c);
    alineo_resume_init(&resume, &ledger_memory, &s.core);
    alineo_code code = call_text(&c, "name", argv[0], &name);
    if (code == ALINEO_OK)
        code = call_text(&c, "sandbox_id", argv[1], &sandbox_id);
    if (code == ALINEO_OK)
        code = alineo_check_integer(&c.error, "seq", seq, INT64_MIN, INT64_MAX);
    if (code == ALINEO_OK)
        code = call_text(&c, "stream", argument(argc, argv, 3), &stream_text);
    if (code == ALINEO_OK)
        code = alineo_check_stream(&c.error, stream_text, &stream);
    if (code == ALINEO_OK && name.at != NULL && sandbox_id.at != NULL && seq.given) {
        alineo_fold_only(&resume.fold, seq.value);
        code = alineo_resume_history(&resume, name, sandbox_id, &c.error);
        if (code == ALINEO_OK)
            code = write_stream(&c, &resume.fold, stream, context);
    }
    if (code != ALINEO_OK)
        call_report(&c, context);
    alineo_resume_free(&resume);
    store_free(&s);
}
