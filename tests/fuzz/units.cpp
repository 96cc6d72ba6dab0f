/*
 * units.cpp - see units.hpp.
 */
#include "units.hpp"

#include <cstdint>
#include <cstdio>

static const char16_t MARK = 0xFDD0;

static bool is_half(char16_t unit)
{
    return unit >= 0xD800 && unit <= 0xDFFF;
}

/* Reads one code point; false where there is no valid one. */
static bool code_point(std::string_view bytes, size_t &at, uint32_t &point)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = static_cast<unsigned char>(bytes[at]);
    size_t len = lead < 0x80       ? 1
                 : lead >> 5 == 6  ? 2
                 : lead >> 4 == 14 ? 3
                 : lead >> 3 == 30 ? 4
                                   : 0;

    if (len == 0 || bytes.size() - at < len)
        return false;
    point = len == 1 ? lead : lead & (0xFFu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        unsigned char c = static_cast<unsigned char>(bytes[at + i]);
        if (c >> 6 != 2)
            return false;
        point = point << 6 | (c & 0x3Fu);
    }
    at += len;
    return point >= least[len] && point <= 0x10FFFF && (point < 0xD800 || point > 0xDFFF);
}

size_t character_length(std::string_view bytes)
{
    uint32_t point;
    size_t at = 0;

    return !bytes.empty() && code_point(bytes, at, point) ? at : 0;
}

bool is_utf8(std::string_view bytes)
{
    uint32_t point;

    for (size_t at = 0; at < bytes.size();)
        if (!code_point(bytes, at, point))
            return false;
    return true;
}

units of_utf8(std::string_view bytes)
{
    units text;
    uint32_t point = 0;

    for (size_t at = 0; at < bytes.size() && code_point(bytes, at, point);) {
        if (point >= 0x10000) {
            text += char16_t(0xD800 + ((point - 0x10000) >> 10));
            text += char16_t(0xDC00 + ((point - 0x10000) & 0x3FF));
        } else {
            text += char16_t(point);
        }
    }
    return text;
}

units of_stored(std::string_view bytes)
{
    const units from = of_utf8(bytes);
    const units digits = u"0123456789abcdef";
    units text;

    for (size_t i = 0; i < from.size(); i++) {
        unsigned value = 0;
        size_t hex = 1;
        while (from[i] == MARK && hex <= 4 && i + hex < from.size() &&
               digits.find(from[i + hex]) != units::npos)
            value = value * 16 + unsigned(digits.find(from[i + hex++]));
        if (hex == 5 && (value == 0 || value == MARK || is_half(char16_t(value)))) {
            text += char16_t(value);
            i += 4;
        } else {
            text += from[i];
        }
    }
    return text;
}

static void put(std::string &out, uint32_t point)
{
    if (point < 0x80) {
        out += char(point);
        return;
    }
    int more = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
    out += char((0xFF00u >> (more + 1) & 0xFF) | point >> (6 * more));
    while (more-- > 0)
        out += char(0x80 | (point >> (6 * more) & 0x3F));
}

/* The code point, or the half, that starts at unit `at`. */
static uint32_t point_at(const units &text, size_t at)
{
    if (text[at] >= 0xD800 && text[at] <= 0xDBFF && at + 1 < text.size() &&
        text[at + 1] >= 0xDC00 && text[at + 1] <= 0xDFFF)
        return 0x10000 + (uint32_t(text[at] - 0xD800) << 10) + (text[at + 1] - 0xDC00u);
    return text[at];
}

static size_t width(uint32_t point)
{
    return point >= 0x10000 ? 2 : 1;
}

std::string spelled(const units &text, std::string_view half, std::string_view nul)
{
    std::string out;
    uint32_t point;

    for (size_t at = 0; at < text.size(); at += width(point)) {
        point = point_at(text, at);
        if (point == 0)
            out += nul;
        else if (point < 0x10000 && is_half(char16_t(point)) && !half.empty())
            out += half;
        else
            put(out, point);
    }
    return out;
}

std::string displayed(const units &text)
{
    return spelled(text, "\xEF\xBF\xBD", "\xE2\x90\x80");
}

std::string as_bytes(const units &text)
{
    return spelled(text, "\xEF\xBF\xBD", std::string_view("\0", 1));
}

static void put_hex(std::string &out, uint32_t unit)
{
    char hex[8];

    snprintf(hex, sizeof hex, "%04x", unsigned(unit));
    out += hex;
}

std::string stored(const units &text)
{
    std::string out;
    uint32_t point;

    for (size_t at = 0; at < text.size(); at += width(point)) {
        point = point_at(text, at);
        bool marked = point == 0 || point == MARK || (point >= 0xD800 && point <= 0xDFFF);
        put(out, marked ? uint32_t(MARK) : point);
        if (marked)
            put_hex(out, point);
    }
    return out;
}

std::string json_string(const units &text)
{
    static const std::string_view named = "\b\f\n\r\t\"\\", letters = "bfnrt\"\\";
    std::string out = "\"";
    uint32_t point;

    for (size_t at = 0; at < text.size(); at += width(point)) {
        point = point_at(text, at);
        size_t name = point < 0x80 ? named.find(char(point)) : std::string_view::npos;
        if (name != std::string_view::npos) {
            out += '\\';
            out += letters[name];
        } else if (point < 0x20 || (point >= 0xD800 && point <= 0xDFFF)) {
            out += "\\u";
            put_hex(out, point);
        } else {
            put(out, point);
        }
    }
    return out + '"';
}
