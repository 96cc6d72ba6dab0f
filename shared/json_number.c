/*
 * json_number.c - the decimal value of a JSON number. See json_number.h.
 */
#include "json_number.h"

#include <string.h>

enum {
    MAX_WHOLE = 131072,   /* digits numeric holds before the point */
    MAX_FRACTION = 16383, /* and behind it */
    /* The bound numeric sets an exponent, whatever the digits before it. */
    MAX_EXPONENT = INT32_MAX / 2
};

/* A number taken apart. Digit i counts 10^(point - 1 - i). */
typedef struct decimal {
    const char *whole, *fraction; /* digits before and behind the point */
    size_t whole_len, fraction_len;
    int64_t exponent;
    bool negative;
    bool exponent_fits;
} decimal;

static decimal take_apart(alineo_span number)
{
    const char *at = number.at;
    const char *end = at + number.len;
    decimal d = {.exponent_fits = true};

    d.negative = at < end && *at == '-';
    at += d.negative;
    d.whole = at;
    while (at < end && *at >= '0' && *at <= '9')
        at++;
    d.whole_len = (size_t)(at - d.whole);
    d.fraction = at;
    if (at < end && *at == '.') {
        d.fraction = ++at;
        while (at < end && *at >= '0' && *at <= '9')
            at++;
        d.fraction_len = (size_t)(at - d.fraction);
    }
    if (at < end) {
        bool minus = *++at == '-';
        if (*at == '+' || *at == '-')
            at++;
        for (; at < end; at++)
            if (d.exponent < MAX_EXPONENT)
                d.exponent = d.exponent * 10 + (*at - '0');
        d.exponent_fits = d.exponent < MAX_EXPONENT;
        if (minus)
            d.exponent = -d.exponent;
    }
    return d;
}

static size_t digit_count(const decimal *d)
{
    return d->whole_len + d->fraction_len;
}

static char digit(const decimal *d, size_t i)
{
    return i < d->whole_len ? d->whole[i] : d->fraction[i - d->whole_len];
}

/* Digits before the point once the exponent is applied; may be negative. */
static int64_t point(const decimal *d)
{
    return (int64_t)d->whole_len + d->exponent;
}

/* Digits behind the point that numeric keeps and prints. */
static int64_t scale(const decimal *d)
{
    int64_t digits = (int64_t)d->fraction_len - d->exponent;

    return digits > 0 ? digits : 0;
}

static size_t leading_zeros(const decimal *d)
{
    size_t zeros = 0;

    while (zeros < digit_count(d) && digit(d, zeros) == '0')
        zeros++;
    return zeros;
}

bool alineo_number_fits(alineo_span number)
{
    decimal d = take_apart(number);

    if (!d.exponent_fits || scale(&d) > MAX_FRACTION)
        return false;
    size_t zeros = leading_zeros(&d);
    return zeros == digit_count(&d) || point(&d) - (int64_t)zeros <= MAX_WHOLE;
}

/* The common case: no more than 18 digits, and nothing else. */
static bool short_integer(alineo_span number, int64_t *value)
{
    int64_t sum = 0;

    if (number.len > 18)
        return false;
    for (size_t i = 0; i < number.len; i++) {
        if (number.at[i] < '0' || number.at[i] > '9')
            return false;
        sum = sum * 10 + (number.at[i] - '0');
    }
    *value = sum;
    return true;
}

bool alineo_number_integer(alineo_span number, int64_t *value)
{
    if (short_integer(number, value))
        return true;
    decimal d = take_apart(number);
    size_t first = leading_zeros(&d);
    uint64_t limit = (uint64_t)INT64_MAX + d.negative;
    uint64_t sum = 0;

    *value = 0;
    if (first == digit_count(&d))
        return d.exponent_fits;
    if (!d.exponent_fits || point(&d) - (int64_t)first > 19)
        return false;
    int64_t places = point(&d);
    for (size_t i = first; i < digit_count(&d) || (int64_t)i < places; i++) {
        unsigned next = i < digit_count(&d) ? (unsigned)(digit(&d, i) - '0') : 0;
        if ((int64_t)i >= places) {
            if (next != 0)
                return false; /* a fraction is left */
            continue;
        }
        if (sum > (limit - next) / 10)
            return false;
        sum = sum * 10 + next;
    }
    *value = d.negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

static void put_zeros(alineo_buffer *out, int64_t count)
{
    static const char zeros[] = "00000000000000000000000000000000";

    while (count > 0) {
        size_t some = count < 32 ? (size_t)count : 32;
        alineo_buffer_put(out, zeros, some);
        count -= (int64_t)some;
    }
}

/* Appends the digits [from, to), zeros where the number has none. */
static void put_digits(alineo_buffer *out, const decimal *d, int64_t from, int64_t to)
{
    int64_t count = (int64_t)digit_count(d);

    if (from < 0) {
        put_zeros(out, (to < 0 ? to : 0) - from);
        from = 0;
    }
    for (; from < to && from < count; from++)
        alineo_buffer_byte(out, digit(d, (size_t)from));
    if (from < to)
        put_zeros(out, to - from);
}

void alineo_number_canonical(alineo_buffer *out, alineo_span number)
{
    decimal d = take_apart(number);
    size_t first = leading_zeros(&d);
    bool zero = first == digit_count(&d);
    int64_t whole = point(&d);

    if (d.negative && !zero)
        alineo_buffer_byte(out, '-');
    if (zero || (int64_t)first >= whole)
        alineo_buffer_byte(out, '0');
    else
        put_digits(out, &d, (int64_t)first, whole);
    if (scale(&d) > 0) {
        alineo_buffer_byte(out, '.');
        if (zero)
            put_zeros(out, scale(&d));
        else
            put_digits(out, &d, whole, whole + scale(&d));
    }
}
