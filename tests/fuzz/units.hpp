/*
 * units.hpp - text as JavaScript has it, a sequence of UTF-16 code units, and
 * the forms docs/reference.md gives it. Written from there, with no code of the
 * core: in UTF-16 a half is a unit like others, and halves that meet are joined
 * by standing side by side.
 */
#ifndef ALINEO_FUZZ_UNITS_HPP
#define ALINEO_FUZZ_UNITS_HPP

#include <string>
#include <string_view>

using units = std::u16string;

/* The bytes of the UTF-8 character that these bytes begin with, 0 where they begin
 * with none. */
size_t character_length(std::string_view bytes);
/* Whether bytes are UTF-8. */
bool is_utf8(std::string_view bytes);
/* Valid UTF-8 as units. */
units of_utf8(std::string_view bytes);
/* Valid UTF-8 with the storage escape as units. */
units of_stored(std::string_view bytes);

/* UTF-8, where each half by itself is `half` (or as three bytes, where empty)
 * and U+0000 is `nul`. */
std::string spelled(const units &text, std::string_view half, std::string_view nul);

inline std::string wtf8(const units &text)
{
    return spelled(text, "", std::string_view("\0", 1));
}

/* As a text column shows it, as alineo_output returns it, as JSONB stores it,
 * as a string of canonical JSON. */
std::string displayed(const units &text);
std::string as_bytes(const units &text);
std::string stored(const units &text);
std::string json_string(const units &text);

#endif
