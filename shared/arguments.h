/*
 * arguments.h - what an argument may be, and the words that refuse it.
 * docs/reference.md, "Errors".
 */
#ifndef ALINEO_ARGUMENTS_H
#define ALINEO_ARGUMENTS_H

#include <stdint.h>

#include "error.h"
#include "memory.h"

enum { ALINEO_NAME_BYTES = 1000 }; /* the longest name, sandbox_id or event */

/* An integer argument as the engine got it. */
typedef struct alineo_integer {
    bool given; /* not left off, not NULL */
    bool exact; /* an integer of 64 bits, or a number equal to one */
    int64_t value;
} alineo_integer;

/* A real argument as an integer; not exact where it is none (JavaScript
 * clients bind each number as a double). */
alineo_integer alineo_integer_of_double(double value);

/* Refuses NULL (`at` NULL), an empty text, NUL, and what is not UTF-8; and
 * more than `most` bytes unless `most` is 0. */
alineo_code alineo_check_text(alineo_error *error, const char *argument, alineo_span text,
                              size_t most);
/* Refuses what is given and not an integer in [least, most]. */
alineo_code alineo_check_integer(alineo_error *error, const char *argument, alineo_integer value,
                                 int64_t least, int64_t most);
/* Refuses what is not given and what is neither 0 nor 1. */
alineo_code alineo_check_switch(alineo_error *error, const char *argument, alineo_integer value,
                                bool *on);

/* Refuses a result ("the document") of more bytes than the engine can hand out,
 * with ALINEO_TOO_LARGE. */
alineo_code alineo_check_size(alineo_error *error, const char *what, size_t size, size_t most);

/* The stream argument of alineo_output. */
typedef enum alineo_stream { ALINEO_STDOUT, ALINEO_STDERR, ALINEO_STDIN } alineo_stream;
/* NULL (`at` NULL) means stdout. */
alineo_code alineo_check_stream(alineo_error *error, alineo_span text, alineo_stream *stream);

/* The status argument of alineo_list_sandboxes; NULL means any. */
typedef enum alineo_status { ALINEO_ANY, ALINEO_RUNNING, ALINEO_COMPLETED } alineo_status;
alineo_code alineo_check_status(alineo_error *error, alineo_span text, alineo_status *status);
/* A status as its column shows it. */
const char *alineo_status_text(alineo_status status);

#endif
