/*
 * harness.hpp - what the harnesses share: the check that ends a run, the bytes
 * of an input read as choices, the core's headers, and memory for the core in
 * blocks of their exact size, so that the sanitizers see each byte beyond.
 */
#ifndef ALINEO_FUZZ_HARNESS_HPP
#define ALINEO_FUZZ_HARNESS_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

extern "C" {
#include "batch.h"
#include "canonical.h"
#include "json_number.h"
#include "json_write.h"
#include "resume.h"
#include "storage_escape.h"
}

/* libFuzzer calls this with each input. */
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the run with a finding. `got` and `want` are shown, where given. */
[[noreturn]] void finding(const char *file, int line, const char *what, std::string_view got = {},
                          std::string_view want = {});

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition))                                                                          \
            finding(__FILE__, __LINE__, #condition);                                               \
    } while (0)
#define CHECK_TEXT(got, want)                                                                      \
    do {                                                                                           \
        const std::string got_ = std::string(got), want_ = std::string(want);                      \
        if (got_ != want_)                                                                         \
            finding(__FILE__, __LINE__, #got " is " #want, got_, want_);                           \
    } while (0)

/* The input as a sequence of choices; a used up one gives zeros. */
class choices
{
  public:
    choices(const uint8_t *data, size_t size) : at(data), end(data + size)
    {
    }
    bool more() const
    {
        return at < end;
    }
    uint8_t byte()
    {
        return at < end ? *at++ : 0;
    }
    uint16_t word()
    {
        return uint16_t(byte() << 8 | byte());
    }
    uint64_t eight();
    /* A number below `limit`, which is at most 256. */
    unsigned below(unsigned limit)
    {
        return byte() % limit;
    }
    /* One of a list of literals. */
    template <size_t N> const char *one_of(const char *const (&list)[N])
    {
        return list[below(N)];
    }
    std::string bytes(size_t most);
    std::string rest()
    {
        return bytes(size_t(end - at));
    }
    /* Code units of UTF-16, with those that need care among them often. */
    std::u16string units(size_t most);

  private:
    const uint8_t *at, *end;
};

/* The core's allocator: a growth always moves the block. */
extern const alineo_memory fuzz_memory;
/* Checks that the core gave every block back. */
void check_blocks();

/* An empty text that is nowhere, which the core's texts may be. */
const alineo_span nowhere = {nullptr, 0};

/* A text in a block of exactly its size, for as long as the object lives. */
class exact
{
  public:
    explicit exact(std::string_view text);
    exact(const exact &) = delete;
    exact &operator=(const exact &) = delete;
    ~exact()
    {
        delete[] block;
    }
    operator alineo_span() const
    {
        return span;
    }
    alineo_span span;

  private:
    char *block;
};

inline std::string_view view(alineo_span span)
{
    return std::string_view(span.at == nullptr ? "" : span.at, span.len);
}

/* What `write` appends to a buffer; a counting one must count the same. */
template <typename F> std::string written_by(F write, bool counts = true)
{
    alineo_buffer out, count;

    alineo_buffer_init(&out, &fuzz_memory);
    alineo_buffer_init(&count, nullptr);
    write(&out);
    CHECK(!out.failed);
    if (counts) {
        write(&count);
        CHECK(count.len == out.len);
    }
    std::string text(view(alineo_buffer_span(&out)));
    alineo_buffer_free(&out);
    return text;
}

#endif
