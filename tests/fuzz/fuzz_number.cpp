/*
 * fuzz_number.cpp - the canonical form of a number has exactly its value, and
 * the digits behind the point that it came with; computed with GMP.
 * docs/reference.md, "Canonical form" and "Payloads".
 */
#include "harness.hpp"

#include <gmpxx.h>

/* A number as JSON spells it, in parts. */
struct spelling {
    bool negative = false;
    std::string whole, fraction, exponent; /* digits; the exponent with its sign */
    std::string text;
};

/* A run of digits: a few of the input, or many of one kind. */
static std::string digits(choices &in, unsigned long_run)
{
    static const char kinds[] = "0123456789009919";
    std::string run;

    for (unsigned count = 1 + in.below(24); count > 0; count--)
        run += kinds[in.below(16)];
    if (long_run > 0 && in.below(16) == 0)
        run.insert(in.below(unsigned(run.size())), in.word() % long_run + 1, kinds[in.below(16)]);
    return run;
}

static spelling spell(choices &in)
{
    static const char *const edges[] = {"131071",
                                        "131072",
                                        "131073",
                                        "16382",
                                        "16383",
                                        "16384",
                                        "19",
                                        "18",
                                        "17",
                                        "1073741822",
                                        "1073741823",
                                        "1073741824",
                                        "9223372036854775808",
                                        "0"};
    spelling s;

    s.negative = in.below(4) == 0;
    s.whole = digits(in, 1500);
    s.whole.erase(0, s.whole.find_first_not_of('0'));
    if (s.whole.empty())
        s.whole = "0";
    if (in.below(8) == 0) /* at the ends of 64 bits */
        s.whole = mpz_class("9223372036854775800" + std::string(in.below(3), '0'))
                      .get_str()
                      .replace(18, 1, std::to_string(in.below(10)));
    s.text = (s.negative ? "-" : "") + s.whole;
    if (in.below(2) == 0) {
        s.fraction = digits(in, 17000);
        s.text += "." + s.fraction;
    }
    if (in.below(2) == 0) {
        s.text += in.below(2) == 0 ? "e" : "E";
        unsigned sign = in.below(3);
        std::string value = in.below(4) == 0   ? std::string(in.one_of(edges))
                            : in.below(4) == 0 ? digits(in, 0)
                                               : std::to_string(in.below(40));
        s.exponent = (sign == 2 ? "-" : "") + value;
        s.text += (sign == 1 ? "+" : "") + s.exponent;
    }
    return s;
}

static mpz_class power_of_ten(const mpz_class &exponent)
{
    mpz_class power;

    mpz_ui_pow_ui(power.get_mpz_t(), 10, exponent.get_ui());
    return power;
}

/* The value is `coefficient` * 10^`exponent`. */
struct exact_value {
    mpz_class coefficient, exponent, written;
};

static exact_value value_of(const spelling &s)
{
    exact_value v;

    v.coefficient = mpz_class(s.whole + s.fraction, 10);
    if (s.negative)
        v.coefficient = -v.coefficient;
    v.written = s.exponent.empty() ? mpz_class(0) : mpz_class(s.exponent, 10);
    v.exponent = v.written - mpz_class(s.fraction.size());
    return v;
}

static mpz_class scale_of(const exact_value &v)
{
    return v.exponent < 0 ? mpz_class(-v.exponent) : mpz_class(0);
}

/* numeric holds 131,072 digits before the point and 16,383 behind it, written
 * out, and reads no exponent of 2^30 - 1 or beyond, not even of a zero. */
static bool fits(const exact_value &v)
{
    mpz_class bound = mpz_class(1) << 30;

    if (abs(v.written) >= bound - 1 || scale_of(v) > 16383)
        return false;
    mpz_class magnitude = abs(v.coefficient);
    return v.coefficient == 0 || mpz_class(magnitude.get_str().size()) + v.exponent <= 131072;
}

static void check_canonical(const exact_value &v, const std::string &text)
{
    size_t point = text.find('.');
    size_t scale = point == std::string::npos ? 0 : text.size() - point - 1;
    std::string all = text;

    CHECK(mpz_class(scale) == scale_of(v));
    CHECK(point == std::string::npos || scale > 0);
    if (point != std::string::npos)
        all.erase(point, 1);
    size_t first = all[0] == '-';
    CHECK(all.find_first_not_of("0123456789", first) == std::string::npos);
    size_t whole = (point == std::string::npos ? text.size() : point) - first;
    CHECK(whole == 1 || (whole > 1 && all[first] != '0'));
    mpz_class got(all, 10);
    CHECK(first == 0 || got != 0);              /* no -0 */
    mpz_class shift = scale_of(v) + v.exponent; /* never below 0 */
    CHECK(got == v.coefficient * power_of_ten(v.coefficient == 0 ? mpz_class(0) : shift));
}

static void check_integer(const exact_value &v, alineo_span number)
{
    mpz_class least("-9223372036854775808"), most("9223372036854775807");
    mpz_class value;
    bool is = true;
    int64_t got = 0;

    if (v.exponent >= 0) {
        value = v.coefficient == 0 ? mpz_class(0) : v.coefficient * power_of_ten(v.exponent);
    } else {
        mpz_class divisor = power_of_ten(-v.exponent);
        is = v.coefficient % divisor == 0;
        value = v.coefficient / divisor;
    }
    is = is && value >= least && value <= most;
    CHECK(alineo_number_integer(number, &got) == is);
    CHECK(!is || mpz_class(std::to_string(got)) == value);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);
    const spelling s = spell(in);
    const exact_value v = value_of(s);
    exact number(s.text);
    alineo_scan scan;

    CHECK(alineo_number_fits(number) == fits(v));
    alineo_scan_init(&scan, number);
    CHECK(alineo_scan_document(&scan) == fits(v));
    if (fits(v)) {
        auto write = [&](alineo_buffer *out) { alineo_number_canonical(out, number); };
        const std::string text = written_by(write);
        check_canonical(v, text);
        exact again(text);
        CHECK(alineo_number_fits(again));
        CHECK_TEXT(written_by([&](alineo_buffer *out) { alineo_number_canonical(out, again); }),
                   text);
        check_integer(v, number);
    }
    check_blocks();
    return 0;
}
