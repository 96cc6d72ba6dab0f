/*
 * error.c - composes error texts. See error.h.
 */
#include "error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void alineo_error_init(alineo_error *error, const char *function)
{
    error->function = function;
    error->entry = -1;
    error->code = ALINEO_OK;
    error->text[0] = '\0';
}

/* Drops a character that the end of the buffer cut in two. */
static void cut_at_character(char *text)
{
    size_t len = strlen(text);
    size_t lead = len;

    while (lead > 0 && ((unsigned char)text[lead - 1] & 0xC0) == 0x80)
        lead--;
    if (lead == 0)
        return;
    unsigned char first = (unsigned char)text[lead - 1];
    size_t need = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 1;
    if (need > 1 && len - (lead - 1) < need)
        text[lead - 1] = '\0';
}

alineo_code alineo_fail(alineo_error *error, alineo_code code, const char *format, ...)
{
    int used;
    va_list args;

    if (error->entry >= 0)
        used = snprintf(error->text, sizeof error->text, "%s: entry %lld: ", error->function,
                        error->entry);
    else
        used = snprintf(error->text, sizeof error->text, "%s: ", error->function);
    if (used >= 0 && (size_t)used < sizeof error->text) {
        va_start(args, format);
        (void)vsnprintf(error->text + used, sizeof error->text - (size_t)used, format, args);
        va_end(args);
    }
    cut_at_character(error->text);
    error->code = code;
    return code;
}

alineo_code alineo_fail_memory(alineo_error *error)
{
    return alineo_fail(error, ALINEO_NO_MEMORY, "out of memory");
}
