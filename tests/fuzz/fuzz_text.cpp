/*
 * fuzz_text.cpp - text in chunks: halves split over chunks are joined whatever
 * form each chunk comes in, and every form that is handed out is what units.hpp
 * says. docs/reference.md, "Text".
 */
#include "harness.hpp"
#include "units.hpp"

#include <cstdio>

/* The units as the inside of a JSON string, each spelled in one of its ways. */
static std::string escaped(choices &in, const units &text)
{
    std::string out;
    char hex[8];

    for (size_t i = 0; i < text.size(); i++) {
        char16_t unit = text[i];
        bool pair = unit >= 0xD800 && unit <= 0xDBFF && i + 1 < text.size() &&
                    text[i + 1] >= 0xDC00 && text[i + 1] <= 0xDFFF;
        bool half = unit >= 0xD800 && unit <= 0xDFFF;
        unsigned way = in.below(4);
        if (way == 0 && pair) {
            out += wtf8(text.substr(i++, 2));
        } else if (way <= 1 && !half) {
            std::string quoted = json_string(text.substr(i, 1));
            out += quoted.substr(1, quoted.size() - 2);
        } else if (unit == '/' && way == 2) {
            out += "\\/";
        } else {
            snprintf(hex, sizeof hex, way == 2 ? "\\u%04X" : "\\u%04x", unsigned(unit));
            out += hex;
        }
    }
    return out;
}

static void chunks(choices &in)
{
    alineo_buffer text;
    units whole;

    alineo_buffer_init(&text, &fuzz_memory);
    while (in.more()) {
        alineo_form form = alineo_form(in.below(3));
        units chunk = in.units(20);
        exact spelling(form == ALINEO_PLAIN     ? wtf8(chunk)
                       : form == ALINEO_ESCAPED ? escaped(in, chunk)
                                                : stored(chunk));
        alineo_text_append(&text, spelling, form);
        whole += chunk;
    }
    CHECK_TEXT(view(alineo_buffer_span(&text)), wtf8(whole));
    exact copy(view(alineo_buffer_span(&text)));
    alineo_buffer_free(&text);
    std::string shown = written_by([&](alineo_buffer *out) { alineo_text_display(out, copy); });
    std::string bytes = written_by([&](alineo_buffer *out) { alineo_text_bytes(out, copy); });
    std::string json = written_by([&](alineo_buffer *out) { alineo_json_string(out, copy); });
    CHECK_TEXT(shown, displayed(whole));
    CHECK_TEXT(bytes, as_bytes(whole));
    CHECK_TEXT(json, json_string(whole));
    CHECK(is_utf8(shown) && shown.find('\0') == std::string::npos);
    CHECK(is_utf8(bytes) && is_utf8(json));
    CHECK(alineo_text_has_nul(copy) == (whole.find(u'\0') != units::npos));
    CHECK(alineo_text_has_surrogate(copy) == !is_utf8(view(copy)));
}

/* Bytes that may be no text at all. */
static void any_bytes(const std::string &bytes)
{
    exact copy(bytes);
    bool valid = is_utf8(bytes);

    CHECK(alineo_utf8_valid(copy) == valid);
    for (size_t i = 0; i < bytes.size(); i++) {
        const unsigned char *at = reinterpret_cast<const unsigned char *>(copy.span.at);
        CHECK(alineo_utf8_length(at + i, at + bytes.size()) ==
              character_length(view(copy).substr(i)));
    }
    std::string shown = written_by([&](alineo_buffer *out) { alineo_text_display(out, copy); });
    CHECK(shown.find('\0') == std::string::npos);
    CHECK(!valid || is_utf8(shown));
    CHECK(!alineo_text_has_surrogate(exact(shown)));
    written_by([&](alineo_buffer *out) { alineo_json_string(out, copy); });
}

/* An empty text may be nowhere. */
static void no_bytes()
{
    CHECK(alineo_utf8_valid(nowhere));
    CHECK(!alineo_text_has_nul(nowhere) && !alineo_text_has_surrogate(nowhere));
    CHECK_TEXT(written_by([](alineo_buffer *out) { alineo_text_display(out, nowhere); }), "");
    CHECK_TEXT(written_by([](alineo_buffer *out) { alineo_text_bytes(out, nowhere); }), "");
    CHECK_TEXT(written_by([](alineo_buffer *out) { alineo_json_string(out, nowhere); }), "\"\"");
    for (alineo_form form : {ALINEO_PLAIN, ALINEO_ESCAPED, ALINEO_STORED})
        CHECK_TEXT(written_by([&](alineo_buffer *out) { alineo_text_append(out, nowhere, form); }),
                   "");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);

    if (!in.more())
        no_bytes();
    else if (in.below(4) == 0)
        any_bytes(in.rest());
    else
        chunks(in);
    check_blocks();
    return 0;
}
