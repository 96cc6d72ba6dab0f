/*
 * fold.c - attempts and execs. See fold.h.
 */
#include "fold.h"

#include <stdlib.h>
#include <string.h>

void alineo_fold_init(alineo_fold *fold, const alineo_memory *memory)
{
    memset(fold, 0, sizeof *fold);
    fold->memory = memory;
    alineo_map_init(&fold->by_seq, memory);
    alineo_buffer_init(&fold->execs, memory);
    alineo_buffer_init(&fold->opened, memory);
    alineo_buffer_init(&fold->scratch, memory);
}

static void attempt_free(const alineo_fold *fold, alineo_attempt *attempt)
{
    if (attempt == NULL)
        return;
    alineo_buffer_free(&attempt->command);
    alineo_buffer_free(&attempt->out);
    alineo_buffer_free(&attempt->err);
    alineo_buffer_free(&attempt->in);
    alineo_buffer_free(&attempt->in_ends);
    alineo_buffer_free(&attempt->cwd);
    alineo_buffer_free(&attempt->env);
    alineo_release(fold->memory, attempt);
}

static void exec_free(const alineo_fold *fold, alineo_exec *exec)
{
    if (exec->current != exec->completed)
        attempt_free(fold, exec->current);
    attempt_free(fold, exec->completed);
    attempt_free(fold, exec->pending);
}

void alineo_fold_free(alineo_fold *fold)
{
    for (size_t i = 0; i < alineo_fold_count(fold); i++)
        exec_free(fold, alineo_fold_exec(fold, i));
    alineo_buffer_free(&fold->execs);
    alineo_buffer_free(&fold->opened);
    alineo_buffer_free(&fold->scratch);
    alineo_map_free(&fold->by_seq);
    alineo_fold_init(fold, fold->memory);
}

void alineo_fold_only(alineo_fold *fold, int64_t seq)
{
    fold->only = true;
    fold->only_seq = seq;
}

size_t alineo_fold_count(const alineo_fold *fold)
{
    return fold->execs.len / sizeof(alineo_exec);
}

alineo_exec *alineo_fold_exec(const alineo_fold *fold, size_t index)
{
    return (alineo_exec *)(void *)fold->execs.at + index;
}

/* The exec of a seq, made where there is none; NULL where memory ran out. */
static alineo_exec *exec_of(alineo_fold *fold, int64_t seq)
{
    size_t count = alineo_fold_count(fold);

    /* Output comes in runs of one exec. */
    if (fold->last < count && alineo_fold_exec(fold, fold->last)->seq == seq)
        return alineo_fold_exec(fold, fold->last);
    size_t *index = alineo_map_at(&fold->by_seq, (alineo_span){(const char *)&seq, sizeof seq});
    if (index == NULL)
        return NULL;
    if (*index == 0) {
        alineo_exec fresh = {.seq = seq};
        alineo_buffer_put(&fold->execs, (const char *)&fresh, sizeof fresh);
        if (fold->execs.failed)
            return NULL;
        *index = count + 1;
    }
    fold->last = *index - 1;
    return alineo_fold_exec(fold, fold->last);
}

/* Opens an attempt; one that was still running is given up. */
static alineo_attempt *open_attempt(alineo_fold *fold, alineo_exec *exec)
{
    alineo_attempt *fresh = alineo_allocate(fold->memory, sizeof *fresh);

    if (fresh == NULL)
        return NULL;
    memset(fresh, 0, sizeof *fresh);
    alineo_buffer_init(&fresh->command, fold->memory);
    alineo_buffer_init(&fresh->out, fold->memory);
    alineo_buffer_init(&fresh->err, fold->memory);
    alineo_buffer_init(&fresh->in, fold->memory);
    alineo_buffer_init(&fresh->in_ends, fold->memory);
    alineo_buffer_init(&fresh->cwd, fold->memory);
    alineo_buffer_init(&fresh->env, fold->memory);
    if (exec->current == NULL) {
        size_t index = (size_t)(exec - alineo_fold_exec(fold, 0));
        alineo_buffer_put(&fold->opened, (const char *)&index, sizeof index);
    }
    if (exec->current != exec->completed)
        attempt_free(fold, exec->current);
    exec->current = fresh;
    return fold->opened.failed ? NULL : fresh;
}

static alineo_attempt *current_attempt(alineo_fold *fold, alineo_exec *exec)
{
    return exec->current != NULL ? exec->current : open_attempt(fold, exec);
}

static bool put_json(alineo_buffer *out, const alineo_value *value)
{
    if (value != NULL)
        alineo_value_json(out, value);
    return !out->failed;
}

static bool put_text(alineo_buffer *out, const alineo_value *value)
{
    if (value != NULL)
        alineo_text_append(out, value->text, value->form);
    return !out->failed;
}

static bool on_started(alineo_fold *fold, alineo_exec *exec, const alineo_row *row)
{
    const alineo_value *command = alineo_row_command(&row->fields);
    alineo_attempt *attempt = exec->current;

    /* One that output opened before its start was recorded is joined, while it
     * runs: a completed one keeps what it is known by. */
    if (attempt == NULL || attempt->started || attempt->completed)
        attempt = open_attempt(fold, exec);
    if (attempt == NULL)
        return false;
    attempt->started = true;
    attempt->started_at = row->ts;
    attempt->interactive = alineo_fields_true(&row->fields, ALINEO_FIELD_INTERACTIVE);
    attempt->has_command = command != NULL;
    return put_text(&attempt->command, command) &&
           put_json(&attempt->cwd, alineo_fields_any(&row->fields, ALINEO_FIELD_CWD)) &&
           put_json(&attempt->env, alineo_fields_any(&row->fields, ALINEO_FIELD_ENV));
}

/* The standard input of a program: each text apart, as it was sent. */
static bool put_stdin(alineo_fold *fold, alineo_attempt *attempt, const alineo_value *text)
{
    fold->scratch.len = 0;
    if (!put_text(&fold->scratch, text))
        return false;
    alineo_buffer_put(&attempt->in, fold->scratch.at, fold->scratch.len);
    alineo_buffer_put(&attempt->in_ends, (const char *)&attempt->in.len, sizeof attempt->in.len);
    return !attempt->in.failed && !attempt->in_ends.failed;
}

static bool on_output(alineo_fold *fold, alineo_exec *exec, alineo_stream stream,
                      const alineo_value *text)
{
    alineo_attempt *attempt = current_attempt(fold, exec);

    if (attempt == NULL)
        return false;
    if (text->text.len == 0)
        return true;
    if (stream == ALINEO_STDIN)
        return put_stdin(fold, attempt, text);
    return put_text(stream == ALINEO_STDOUT ? &attempt->out : &attempt->err, text);
}

/* Replaces what the chunks of a stream gave, where the payload has it whole. */
static bool put_whole(alineo_buffer *out, const alineo_value *text)
{
    if (text != NULL)
        out->len = 0;
    return put_text(out, text);
}

static bool on_completed(alineo_fold *fold, alineo_exec *exec, const alineo_row *row)
{
    alineo_attempt *attempt = current_attempt(fold, exec);

    if (attempt == NULL)
        return false;
    if (exec->completed != attempt)
        attempt_free(fold, exec->completed);
    exec->completed = attempt;
    attempt->completed = true;
    attempt->completed_at = row->ts;
    attempt->has_exit_code =
        alineo_fields_integer(&row->fields, ALINEO_FIELD_EXIT_CODE, &attempt->exit_code);
    return put_whole(&attempt->out, alineo_fields_string(&row->fields, ALINEO_FIELD_STDOUT)) &&
           put_whole(&attempt->err, alineo_fields_string(&row->fields, ALINEO_FIELD_STDERR));
}

/* The stream of an exec.output; false for a type that carries no output. */
static bool stream_of(const alineo_fields *fields, alineo_stream *stream)
{
    static const char *const types[] = {"stdout", "stderr", "stdin"};
    const alineo_value *type = alineo_fields_string(fields, ALINEO_FIELD_TYPE);
    char plain[ALINEO_WORD_BYTES];
    alineo_span text;

    if (type == NULL)
        return false;
    if (!alineo_scan_word(type->text, type->form == ALINEO_ESCAPED, plain, &text))
        return false;
    for (int i = 0; i < 3; i++) {
        if (alineo_span_equal(text, (alineo_span){types[i], strlen(types[i])})) {
            *stream = (alineo_stream)i;
            return true;
        }
    }
    return false;
}

static bool apply(alineo_fold *fold, const alineo_row *row, int64_t seq)
{
    const alineo_value *text = NULL;
    alineo_stream stream = ALINEO_STDOUT;

    if (row->event == ALINEO_EXEC_OUTPUT) {
        text = alineo_fields_string(&row->fields, ALINEO_FIELD_TEXT);
        if (text == NULL || !stream_of(&row->fields, &stream))
            return true;
    }
    alineo_exec *exec = exec_of(fold, seq);
    if (exec == NULL)
        return false;
    if (row->event == ALINEO_EXEC_STARTED)
        return on_started(fold, exec, row);
    if (row->event == ALINEO_EXEC_OUTPUT)
        return on_output(fold, exec, stream, text);
    return on_completed(fold, exec, row);
}

alineo_fold_result alineo_fold_event(alineo_fold *fold, const alineo_row *row)
{
    int64_t seq;

    if (row->damaged & (ALINEO_COLUMN_BIT_ID | ALINEO_COLUMN_BIT_EVENT))
        return ALINEO_FOLD_DAMAGED;
    if (fold->fed && row->id <= fold->last_id)
        return ALINEO_FOLD_DISORDER;
    fold->fed = true;
    fold->last_id = row->id;
    if (row->event != ALINEO_EXEC_STARTED && row->event != ALINEO_EXEC_OUTPUT &&
        row->event != ALINEO_EXEC_COMPLETED)
        return ALINEO_FOLD_OK;
    if (!alineo_fields_integer(&row->fields, ALINEO_FIELD_SEQ, &seq)) {
        if (row->damaged & ALINEO_COLUMN_BIT_STEP_IDX)
            return ALINEO_FOLD_DAMAGED;
        if (row->step_idx < 0)
            return ALINEO_FOLD_OK;
        seq = row->step_idx;
    }
    if (fold->only && seq != fold->only_seq)
        return ALINEO_FOLD_OK;
    if (row->event != ALINEO_EXEC_OUTPUT && (row->damaged & ALINEO_COLUMN_BIT_TS))
        return ALINEO_FOLD_DAMAGED;
    return apply(fold, row, seq) ? ALINEO_FOLD_OK : ALINEO_FOLD_NO_MEMORY;
}

/* Puts the stdin texts of `before` in front of those of `attempt`. */
static bool prepend_stdin(alineo_attempt *attempt, alineo_attempt *before)
{
    const size_t *ends = (const size_t *)(const void *)attempt->in_ends.at;
    size_t count = attempt->in_ends.len / sizeof *ends;
    size_t shift = before->in.len;
    alineo_buffer swap;

    for (size_t i = 0; i < count; i++) {
        size_t end = shift + ends[i];
        alineo_buffer_put(&before->in_ends, (const char *)&end, sizeof end);
    }
    alineo_buffer_put(&before->in, attempt->in.at, attempt->in.len);
    if (before->in.failed || before->in_ends.failed)
        return false;
    swap = attempt->in;
    attempt->in = before->in;
    before->in = swap;
    swap = attempt->in_ends;
    attempt->in_ends = before->in_ends;
    before->in_ends = swap;
    return true;
}

bool alineo_fold_settle(alineo_fold *fold)
{
    const size_t *opened = (const size_t *)(const void *)fold->opened.at;

    /* The others were settled before: a long lineage is not walked again for
     * each of its sessions. */
    for (size_t i = 0; i < fold->opened.len / sizeof *opened; i++) {
        alineo_exec *exec = alineo_fold_exec(fold, opened[i]);
        alineo_attempt *own = exec->current;
        /* An attempt of its own, once started, takes the inherited one's place. */
        bool replaced = exec->completed != NULL || (own != NULL && own->started);
        bool waits = exec->completed == NULL && own != NULL && own->interactive;

        if (waits && exec->pending != NULL && !prepend_stdin(own, exec->pending))
            return false;
        if (replaced) {
            attempt_free(fold, exec->pending);
            exec->pending = waits ? own : NULL;
        }
        if (own != exec->pending && own != exec->completed)
            attempt_free(fold, own);
        exec->current = NULL;
    }
    fold->opened.len = 0;
    fold->fed = false;
    return true;
}

static int compare_seq(const void *a, const void *b)
{
    int64_t x = ((const alineo_exec *)a)->seq;
    int64_t y = ((const alineo_exec *)b)->seq;

    return x < y ? -1 : x > y;
}

void alineo_fold_sort(alineo_fold *fold)
{
    if (fold->execs.len > 0)
        qsort(fold->execs.at, alineo_fold_count(fold), sizeof(alineo_exec), compare_seq);
}

void alineo_attempt_stream(alineo_buffer *out, const alineo_attempt *attempt, alineo_stream stream)
{
    const alineo_buffer *from = stream == ALINEO_STDOUT ? &attempt->out : &attempt->err;
    size_t begin = 0;

    if (stream != ALINEO_STDIN) {
        alineo_text_append(out, alineo_buffer_span(from), ALINEO_PLAIN);
        return;
    }
    const size_t *ends = (const size_t *)(const void *)attempt->in_ends.at;
    for (size_t i = 0; i < attempt->in_ends.len / sizeof *ends; i++) {
        alineo_text_append(out, (alineo_span){attempt->in.at + begin, ends[i] - begin},
                           ALINEO_PLAIN);
        begin = ends[i];
    }
}
