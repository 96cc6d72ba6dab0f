/*
 * error.h - what went wrong, in the words both engines show.
 *
 * A call of the surface makes one alineo_error, naming its function. Whoever
 * finds the fault fills it once; the engine maps the code to its own (SQLite
 * result code, SQLSTATE) and shows the text unchanged.
 */
#ifndef ALINEO_ERROR_H
#define ALINEO_ERROR_H

#include <stdbool.h>
#include <stddef.h>

typedef enum alineo_code {
    ALINEO_OK = 0,
    ALINEO_BAD_ARGUMENT, /* an argument or entry that is refused */
    ALINEO_BAD_JSON,     /* text that is not the JSON it must be */
    ALINEO_NOT_FOUND,    /* a session, checkpoint or tag that does not exist */
    ALINEO_TOO_LARGE,    /* more than a value of the engine can hold */
    ALINEO_DAMAGED,      /* a stored row that cannot be read */
    ALINEO_NO_MEMORY,    /* the allocator returned NULL */
    ALINEO_ENGINE        /* the engine failed and keeps the reason itself */
} alineo_code;

enum { ALINEO_ERROR_SIZE = 2560 };

typedef struct alineo_error {
    const char *function; /* the SQL function called, first word of the text */
    long long entry;      /* the entry of a batch at fault, -1 outside a batch */
    alineo_code code;
    char text[ALINEO_ERROR_SIZE]; /* UTF-8, ends in NUL */
} alineo_error;

/* Makes an error that holds nothing yet. `function` must outlive it. */
void alineo_error_init(alineo_error *error, const char *function);

/* Fills the error with "function: [entry N: ]" and the formatted text, cut at
 * a character boundary where it is too long. Returns the code. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
alineo_code
alineo_fail(alineo_error *error, alineo_code code, const char *format, ...);

/* The error of an allocator that returned NULL. */
alineo_code alineo_fail_memory(alineo_error *error);

#endif
