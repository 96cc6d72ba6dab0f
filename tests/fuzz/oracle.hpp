/*
 * oracle.hpp - JSON as an independent parser reads it (nlohmann-json, Debian's
 * nlohmann-json3-dev), and the canonical form written from docs/reference.md
 * over what it read. No code of the core.
 *
 * It was chosen because it is strict, keeps what it reads of numbers, and does
 * not recurse. Where it differs from RFC 8259 or from our contract:
 *
 *   half a pair     it refuses "\ud800". Before it parses, halves by themselves,
 *                   U+0000 and U+FDD0 are put into the storage escape, which is
 *                   one to one and never makes JSON of what is none (a backslash
 *                   outside of a string stays an error); its strings are decoded
 *                   from that again.
 *   number range    it refuses what no double can hold. Such a number is kept
 *                   aside, and 0 with as many blanks parsed in its place.
 *   whole numbers   those of 64 bits it hands out as integers, others as texts;
 *                   both are kept as digits.
 *   NUL             outside of strings it takes it for the end of the text. A
 *                   raw NUL byte is JSON nowhere, so it is refused before.
 *   byte order mark it skips one in front. RFC 8259 lets a parser do that; ours
 *                   refuses, so it is refused before.
 *   equal keys      it hands out all of them; the last one counts here too.
 *   depth           it has no limit. What it reads is measured, and refused
 *                   beyond the limit asked for.
 *   numeric's range it knows none. fits() applies the documented bounds.
 */
#ifndef ALINEO_FUZZ_ORACLE_HPP
#define ALINEO_FUZZ_ORACLE_HPP

#include "units.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace oracle
{
enum class kind { none, null, no, yes, number, string, array, object };

struct value {
    kind is = kind::none;
    std::string number;
    units text;
    std::vector<value> items;                     /* of an array */
    std::vector<std::pair<units, value>> members; /* as they came */

    bool of(kind wanted) const
    {
        return is == wanted;
    }
    /* The last member of that key that is not null, or one of kind none. */
    const value &at(std::string_view key) const;
};

/* Reads a JSON text; false where it is none, or is deeper, or has a number that
 * does not fit. */
bool parse(std::string_view json, value &out, size_t depth_limit = 1000);

/* The canonical form. */
std::string canonical(const value &v);

/* Of numbers, spelled as JSON does: whether numeric holds it, what numeric
 * prints, and its value where that is an integer of 64 bits. */
bool fits(const std::string &number);
std::string written_out(const std::string &number);
bool integer(const value &v, int64_t &result);

/* A payload: as it is, or what a string of it holds, if that is a JSON object
 * or array. False where it is no JSON. */
bool payload(std::string_view json, value &out);
} // namespace oracle

#endif
