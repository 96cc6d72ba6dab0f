/*
 * harness.cpp - see harness.hpp.
 */
#include "harness.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

static void show(const char *what, std::string_view text)
{
    fprintf(stderr, "%s (%zu bytes): ", what, text.size());
    for (unsigned char c : text.substr(0, 3000))
        fprintf(stderr, c < 0x20 || c > 0x7E ? "\\x%02x" : "%c", c);
    fputc('\n', stderr);
}

void finding(const char *file, int line, const char *what, std::string_view got,
             std::string_view want)
{
    fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
    if (!got.empty() || !want.empty()) {
        show("got ", got);
        show("want", want);
    }
    abort();
}

uint64_t choices::eight()
{
    uint64_t value = 0;

    for (int i = 0; i < 8; i++)
        value = value << 8 | byte();
    return value;
}

std::string choices::bytes(size_t most)
{
    size_t count = most < size_t(end - at) ? most : size_t(end - at);
    std::string text(reinterpret_cast<const char *>(at), count);

    at += count;
    return text;
}

std::u16string choices::units(size_t most)
{
    static const char16_t special[] = {
        0,      0xD83D, 0xDE00, 0xD800, 0xDBFF, 0xDC00, 0xDFFF, 0xFDD0, 0xFDD1, 0xFFFF, 0xFFFD,
        0x2400, 0x7F,   0x80,   0x7FF,  0x800,  '"',    '\\',   '/',    '\b',   '\f',   '\n',
        '\r',   '\t',   0x1F,   0xD7FF, 0xE000, '0',    'f',    'd',    '8',    'u',
    };
    std::u16string text;

    for (size_t count = below(unsigned(most) + 1); count > 0; count--) {
        uint8_t kind = byte();
        if (kind < 0x80)
            text += kind < 0x20 ? special[kind] : char16_t(kind);
        else if (kind < 0xC0)
            text += special[kind % 32];
        else if (kind < 0xE0) /* a mark of the storage escape, whole or not */
            text += std::u16string(u"\uFDD0d83d\uFDD0fdd0").substr(kind % 4, 5);
        else
            text += char16_t(word());
    }
    return text;
}

static size_t live;

/* In front of each block, for its size; keeps the block aligned. */
enum { HEADER = 16 };

static void release(void *, void *block)
{
    if (block == nullptr)
        return;
    live--;
    free(static_cast<char *>(block) - HEADER);
}

static void *resize(void *context, void *block, size_t size)
{
    CHECK(size > 0);
    char *fresh = static_cast<char *>(malloc(HEADER + size));
    CHECK(fresh != nullptr);
    memcpy(fresh, &size, sizeof size);
    if (block != nullptr) {
        size_t old;
        memcpy(&old, static_cast<char *>(block) - HEADER, sizeof old);
        memcpy(fresh + HEADER, block, old < size ? old : size);
        release(context, block);
    }
    live++;
    return fresh + HEADER;
}

const alineo_memory fuzz_memory = {nullptr, resize, release};

void check_blocks()
{
    CHECK(live == 0);
}

exact::exact(std::string_view text) : block(new char[text.size()])
{
    if (!text.empty())
        memcpy(block, text.data(), text.size());
    span = alineo_span{block, text.size()};
}
