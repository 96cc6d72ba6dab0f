/*
 * fuzz_storage.cpp - the storage escape: what is encoded can be stored and comes
 * back, what was stored by others stays what it is, and in a JSON text nothing
 * but the strings in question changes. docs/reference.md, "Storage escape".
 */
#include "harness.hpp"
#include "units.hpp"

static std::string encoded(alineo_span text)
{
    return written_by([&](alineo_buffer *out) { alineo_storage_encode(out, text); });
}

static std::string decoded(alineo_span text)
{
    return written_by([&](alineo_buffer *out) { alineo_storage_decode(out, text); }, false);
}

static void round_trip(choices &in)
{
    const units text = in.units(255);
    exact plain(wtf8(text));
    exact kept(encoded(plain));

    CHECK_TEXT(view(kept), stored(text));
    CHECK(is_utf8(view(kept)) && view(kept).find('\0') == std::string::npos);
    CHECK(alineo_storage_needed(plain) == (view(kept) != view(plain)));
    CHECK_TEXT(decoded(kept), view(plain));
}

/* A text that was stored by other means: marks may stand for nothing. */
static void foreign(const std::string &bytes)
{
    exact kept(bytes);
    std::string text = decoded(kept);

    if (is_utf8(bytes))
        CHECK_TEXT(text, wtf8(of_stored(bytes)));
    (void)encoded(kept);
    (void)alineo_storage_needed(kept);
}

/* A JSON text of strings, with what stands between them. */
static void in_json(choices &in)
{
    static const char *const between[] = {",", " ,", ",\n\t", ",1.50,", ",{},", ",[ ],null , "};
    std::string json = "[", want = "[";

    for (unsigned count = in.below(12); count > 0; count--) {
        const units text = in.units(30);
        std::string as_it_is = json_string(text);
        std::string kept = stored(text);
        std::string stays = kept == wtf8(text) ? as_it_is : json_string(of_utf8(kept));
        if (in.below(3) == 0) {
            as_it_is = "{ " + as_it_is + " :0}";
            stays = "{ " + stays + " :0}";
        }
        const char *next = in.one_of(between);
        json += as_it_is + next;
        want += stays + next;
    }
    json += "0 ]\r\n";
    want += "0 ]\r\n";
    exact text(json);
    std::string got =
        written_by([&](alineo_buffer *out) { alineo_storage_encode_json(out, text); }, false);
    CHECK_TEXT(got, want);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices in(data, size);

    if (!in.more()) { /* an empty text may be nowhere */
        CHECK(!alineo_storage_needed(nowhere));
        CHECK_TEXT(encoded(nowhere) + decoded(nowhere), "");
    }
    switch (in.below(4)) {
    case 0: foreign(in.rest()); break;
    case 1: in_json(in); break;
    default: round_trip(in); break;
    }
    check_blocks();
    return 0;
}
