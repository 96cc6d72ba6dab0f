/*
 * fuzz_json.cpp - the scanner and the canonical form against an independent
 * parser: both accept the same texts, and what is accepted has the same value
 * before and after. oracle.hpp says where the two differ, and why.
 */
#include "harness.hpp"
#include "oracle.hpp"

static std::string canonical(alineo_span json)
{
    return written_by([&](alineo_buffer *out) { alineo_canonical(out, json); }, false);
}

/* A refusal points into the text, and to the first byte at fault: what stands
 * before it can still become JSON, so that by itself it is refused at its end. */
static void check_refusal(const std::string &json, const alineo_scan &scan)
{
    alineo_scan before;

    CHECK(scan.reason != nullptr && scan.reason[0] != '\0');
    CHECK(scan.offset <= json.size());
    exact front(std::string_view(json).substr(0, scan.offset));
    alineo_scan_init(&before, front);
    CHECK(alineo_scan_document(&before) || before.offset == scan.offset);
}

/* The values of a container read one by one are those the whole holds. */
static void check_walk(alineo_span json, const oracle::value &v)
{
    alineo_scan scan;
    alineo_value value;
    alineo_span key;
    bool escaped;
    size_t i = 0;

    alineo_scan_init(&scan, json);
    alineo_token first = alineo_scan_token(&scan);
    if (first == ALINEO_ARRAY) {
        for (; alineo_scan_value(&scan, &value); i++) {
            CHECK(i < v.items.size());
            std::string text =
                written_by([&](alineo_buffer *out) { alineo_value_json(out, &value); }, false);
            CHECK_TEXT(text, oracle::canonical(v.items[i]));
        }
        CHECK(i == v.items.size());
    } else if (first == ALINEO_OBJECT) {
        for (; alineo_scan_member(&scan, &key, &escaped, &value); i++) {
            CHECK(i < v.members.size());
            CHECK(escaped == (view(key).find('\\') != std::string_view::npos));
            std::string name = written_by(
                [&](alineo_buffer *out) {
                    alineo_text_append(out, key, escaped ? ALINEO_ESCAPED : ALINEO_PLAIN);
                },
                false);
            CHECK_TEXT(name, wtf8(v.members[i].first));
        }
        CHECK(i == v.members.size());
    }
    CHECK(scan.reason == nullptr);
}

static void check(const std::string &text)
{
    exact json(text);
    alineo_scan scan;
    oracle::value value, again;

    alineo_scan_init(&scan, json);
    bool accepted = alineo_scan_document(&scan);
    bool agreed = oracle::parse(text, value) == accepted;
    if (!agreed)
        finding(__FILE__, __LINE__, "both decide alike", accepted ? "accepted" : scan.reason, text);
    if (!accepted) {
        check_refusal(text, scan);
        return;
    }
    CHECK(scan.reason == nullptr && scan.depth == 0);
    const std::string form = canonical(json);
    CHECK_TEXT(form, oracle::canonical(value));
    exact copy(form);
    CHECK_TEXT(canonical(copy), form);
    CHECK(oracle::parse(form, again));
    CHECK_TEXT(oracle::canonical(again), form);
    check_walk(json, value);
}

/* The first byte says around how many arrays the rest is put, so that the limit
 * of depth is reached. Most often around none. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);
    const std::string whole = choices(data, size).rest();
    size_t around = size > 0 && data[0] >= 0xF8 ? 994 + size_t(data[0] - 0xF8) : 0;

    (void)in.byte();
    check(around == 0 ? whole : std::string(around, '[') + in.rest() + std::string(around, ']'));
    check_blocks();
    return 0;
}
