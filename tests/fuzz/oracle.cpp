/*
 * oracle.cpp - see oracle.hpp.
 */
#include "oracle.hpp"

#include <cerrno>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

namespace oracle
{
using parser = nlohmann::json;

static const value absent;

const value &value::at(std::string_view key) const
{
    for (size_t i = members.size(); is == kind::object && i-- > 0;)
        if (members[i].first == of_utf8(key))
            return members[i].second.is == kind::null ? absent : members[i].second;
    return absent;
}

static int hex4(std::string_view json, size_t at)
{
    int unit = 0;

    if (json.size() < at + 4)
        return -1;
    for (size_t i = at; i < at + 4; i++) {
        int c = json[i];
        int digit = c >= '0' && c <= '9'                 ? c - '0'
                    : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                         : -1;
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The unit of an escape \uXXXX at `at`, or -1. */
static int escaped_unit(std::string_view json, size_t at)
{
    return json.substr(at, 2) == "\\u" ? hex4(json, at + 2) : -1;
}

/* Puts what the parser cannot hold into the storage escape. */
static std::string escape(std::string_view json)
{
    const std::string mark = "\xEF\xB7\x90";
    std::string out;

    for (size_t at = 0; at < json.size();) {
        int unit = escaped_unit(json, at);
        if (unit >= 0xD800 && unit <= 0xDBFF && escaped_unit(json, at + 6) >= 0xDC00 &&
            escaped_unit(json, at + 6) <= 0xDFFF) {
            out += json.substr(at, 12);
            at += 12;
        } else if (unit == 0 || unit == 0xFDD0 || (unit >= 0xD800 && unit <= 0xDFFF)) {
            out += mark;
            for (char c : json.substr(at + 2, 4))
                out += char(c >= 'A' && c <= 'F' ? c | 32 : c);
            at += 6;
        } else if (json[at] == '\\' && at + 1 < json.size()) {
            out += json.substr(at, 2);
            at += 2;
        } else if (json.substr(at, 3) == mark) {
            out += mark + "fdd0";
            at += 3;
        } else {
            out += json[at++];
        }
    }
    return out;
}

/* Builds values from the parser's events. */
class builder : public nlohmann::json_sax<parser>
{
  public:
    builder(value &top, const std::map<size_t, std::string> &large) : root(top), huge(large)
    {
    }

    bool null() override
    {
        return put_word(kind::null);
    }
    bool boolean(bool yes) override
    {
        return put_word(yes ? kind::yes : kind::no);
    }
    bool number_integer(number_integer_t number) override
    {
        return put_number(std::to_string(number));
    }
    bool number_unsigned(number_unsigned_t number) override
    {
        return put_number(std::to_string(number));
    }
    bool number_float(number_float_t, const string_t &text) override
    {
        return put_number(text);
    }
    bool binary(binary_t &) override
    {
        return false;
    }
    bool string(string_t &text) override
    {
        put(kind::string).text = of_stored(text);
        return true;
    }
    bool start_object(size_t) override
    {
        return open(kind::object);
    }
    bool start_array(size_t) override
    {
        return open(kind::array);
    }
    bool end_object() override
    {
        return close();
    }
    bool end_array() override
    {
        return close();
    }
    bool key(string_t &text) override
    {
        path.back()->members.emplace_back(of_stored(text), value());
        return true;
    }
    bool parse_error(size_t position, const std::string &token,
                     const nlohmann::detail::exception &error) override
    {
        if (error.id == 406) { /* number overflow */
            overflow = token;
            overflow_end = position;
        }
        return false;
    }

    std::string overflow;
    size_t overflow_end = 0, numbers = 0, deepest = 0;

  private:
    value &put(kind is)
    {
        value *to = &root;
        if (!path.empty() && path.back()->is == kind::array)
            to = &path.back()->items.emplace_back();
        else if (!path.empty())
            to = &path.back()->members.back().second;
        to->is = is;
        return *to;
    }
    bool put_word(kind is)
    {
        put(is);
        return true;
    }
    bool put_number(const std::string &text)
    {
        auto large = huge.find(numbers++);
        put(kind::number).number = large == huge.end() ? text : large->second;
        return true;
    }
    bool open(kind is)
    {
        path.push_back(&put(is));
        deepest = std::max(deepest, path.size());
        return true;
    }
    bool close()
    {
        path.pop_back();
        return true;
    }

    value &root;
    const std::map<size_t, std::string> &huge;
    std::vector<value *> path;
};

static bool all_fit(const value &v)
{
    bool fit = v.is != kind::number || fits(v.number);

    for (const value &item : v.items)
        fit = fit && all_fit(item);
    for (const auto &member : v.members)
        fit = fit && all_fit(member.second);
    return fit;
}

bool parse(std::string_view json, value &out, size_t depth_limit)
{
    std::map<size_t, std::string> huge; /* by which number it is in the text */

    if (json.find('\0') != std::string_view::npos || json.substr(0, 3) == "\xEF\xBB\xBF")
        return false;
    std::string text = escape(json);
    for (;;) {
        out = value();
        builder made(out, huge);
        if (parser::sax_parse(text, &made))
            return made.deepest <= depth_limit && all_fit(out);
        if (made.overflow.empty())
            return false;
        size_t len = made.overflow.size();
        huge[made.numbers] = made.overflow;
        text.replace(made.overflow_end - len, len, "0" + std::string(len - 1, ' '));
    }
}

/* Of a number: its digits without the point and leading zeros, and how many of
 * them stand behind the point once the exponent is applied (less than 0: zeros
 * follow). */
struct taken {
    bool negative;
    std::string digits;
    long long behind;
    bool sane; /* the exponent is one that numeric reads */
};

static taken take(const std::string &number)
{
    taken t = {number[0] == '-', "", 0, true};
    size_t e = number.find_first_of("eE");
    std::string mantissa = number.substr(t.negative, e == std::string::npos ? e : e - t.negative);
    size_t point = mantissa.find('.');

    if (point != std::string::npos) {
        t.behind = (long long)(mantissa.size() - point - 1);
        mantissa.erase(point, 1);
    }
    t.digits = mantissa.erase(0, mantissa.find_first_not_of('0'));
    if (e != std::string::npos) {
        errno = 0;
        long long exponent = strtoll(number.c_str() + e + 1, nullptr, 10);
        t.sane = errno == 0 && std::llabs(exponent) < (1LL << 30) - 1;
        t.behind -= t.sane ? exponent : 0;
    }
    return t;
}

bool fits(const std::string &number)
{
    taken t = take(number);

    return t.sane && t.behind <= 16383 &&
           (t.digits.empty() || (long long)t.digits.size() - t.behind <= 131072);
}

std::string written_out(const std::string &number)
{
    taken t = take(number);
    std::string digits = t.digits;
    size_t behind = t.behind > 0 ? size_t(t.behind) : 0;

    if (t.behind < 0 && !digits.empty())
        digits.append(size_t(-t.behind), '0');
    if (digits.size() <= behind)
        digits.insert(0, behind + 1 - digits.size(), '0');
    if (behind > 0)
        digits.insert(digits.size() - behind, ".");
    return (t.negative && !t.digits.empty() ? "-" : "") + digits;
}

bool integer(const value &v, int64_t &result)
{
    if (v.is != kind::number || !fits(v.number))
        return false;
    std::string out = written_out(v.number);
    size_t point = out.find('.');
    if (point != std::string::npos && out.find_first_not_of('0', point + 1) != std::string::npos)
        return false;
    errno = 0;
    result = strtoll(out.substr(0, point).c_str(), nullptr, 10);
    return errno == 0;
}

/* JSONB's order: by the stored form, the shorter first. */
struct jsonb_order {
    bool operator()(const std::string &a, const std::string &b) const
    {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    }
};

std::string canonical(const value &v)
{
    std::string out;

    switch (v.is) {
    case kind::null: return "null";
    case kind::no: return "false";
    case kind::yes: return "true";
    case kind::number: return written_out(v.number);
    case kind::string: return json_string(v.text);
    case kind::array:
        for (const value &item : v.items)
            out += (out.empty() ? "" : ",") + canonical(item);
        return "[" + out + "]";
    default: break;
    }
    std::map<std::string, std::pair<units, const value *>, jsonb_order> sorted;
    for (const auto &member : v.members)
        sorted[stored(member.first)] = {member.first, &member.second};
    for (const auto &member : sorted)
        out += (out.empty() ? "" : ",") + json_string(member.second.first) + ":" +
               canonical(*member.second.second);
    return "{" + out + "}";
}

/* The content of a string as JSON text; false where half a pair is in it. */
static bool content(const units &text, std::string &json)
{
    json = wtf8(text);
    return is_utf8(json);
}

bool payload(std::string_view json, value &out)
{
    std::string inner;
    value again;

    if (!parse(json, out))
        return false;
    if (out.is == kind::string && content(out.text, inner) && parse(inner, again) &&
        (again.is == kind::object || again.is == kind::array))
        out = again;
    return true;
}
} // namespace oracle
