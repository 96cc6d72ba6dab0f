/*
 * arguments.c - checks of single arguments. See arguments.h.
 */
#include "arguments.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

alineo_integer alineo_integer_of_double(double value)
{
    alineo_integer result = {.given = true};

    /* Both bounds are powers of two, so they are doubles to the last digit. */
    if (value >= -0x1p63 && value < 0x1p63 && value == floor(value)) {
        result.exact = true;
        result.value = (int64_t)value;
    }
    return result;
}

alineo_code alineo_check_text(alineo_error *error, const char *argument, alineo_span text,
                              size_t most)
{
    if (text.at == NULL)
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must not be NULL", argument);
    if (text.len == 0)
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must not be empty", argument);
    if (most > 0 && text.len > most)
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must be at most %zu bytes", argument,
                           most);
    if (alineo_text_has_nul(text))
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must not contain NUL", argument);
    if (!alineo_utf8_valid(text))
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must be valid UTF-8", argument);
    return ALINEO_OK;
}

alineo_code alineo_check_integer(alineo_error *error, const char *argument, alineo_integer value,
                                 int64_t least, int64_t most)
{
    if (!value.given || (value.exact && value.value >= least && value.value <= most))
        return ALINEO_OK;
    if (most == INT64_MAX && least == INT64_MIN)
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must be an integer", argument);
    if (most == INT64_MAX)
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must be an integer of at least %" PRId64,
                           argument, least);
    return alineo_fail(error, ALINEO_BAD_ARGUMENT,
                       "%s must be an integer from %" PRId64 " to %" PRId64, argument, least, most);
}

alineo_code alineo_check_switch(alineo_error *error, const char *argument, alineo_integer value,
                                bool *on)
{
    if (!value.given)
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must not be NULL", argument);
    if (!value.exact || (value.value != 0 && value.value != 1))
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "%s must be true or false", argument);
    *on = value.value == 1;
    return ALINEO_OK;
}

alineo_code alineo_check_size(alineo_error *error, const char *what, size_t size, size_t most)
{
    if (size <= most)
        return ALINEO_OK;
    return alineo_fail(error, ALINEO_TOO_LARGE, "%s is %zu bytes long, the limit is %zu", what,
                       size, most);
}

static bool is(alineo_span text, const char *word)
{
    return alineo_span_equal(text, (alineo_span){word, strlen(word)});
}

alineo_code alineo_check_stream(alineo_error *error, alineo_span text, alineo_stream *stream)
{
    if (text.at == NULL || is(text, "stdout"))
        *stream = ALINEO_STDOUT;
    else if (is(text, "stderr"))
        *stream = ALINEO_STDERR;
    else if (is(text, "stdin"))
        *stream = ALINEO_STDIN;
    else
        return alineo_fail(error, ALINEO_BAD_ARGUMENT,
                           "stream must be 'stdout', 'stderr' or 'stdin'");
    return ALINEO_OK;
}

const char *alineo_status_text(alineo_status status)
{
    return status == ALINEO_COMPLETED ? "completed" : "running";
}

alineo_code alineo_check_status(alineo_error *error, alineo_span text, alineo_status *status)
{
    if (text.at == NULL)
        *status = ALINEO_ANY;
    else if (is(text, "running"))
        *status = ALINEO_RUNNING;
    else if (is(text, "completed"))
        *status = ALINEO_COMPLETED;
    else
        return alineo_fail(error, ALINEO_BAD_ARGUMENT, "status must be 'running' or 'completed'");
    return ALINEO_OK;
}
