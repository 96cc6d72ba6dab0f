/*
 * store.hpp - the events of an input as the store of a resume. A row lives, in
 * blocks of its own, until the next call.
 */
#ifndef ALINEO_FUZZ_STORE_HPP
#define ALINEO_FUZZ_STORE_HPP

#include "events.hpp"

#include <memory>

class memory_store
{
  public:
    /* With `scans` it has a way to run a whole query, alineo_store.each. */
    memory_store(const std::vector<event> &events, bool scans);
    ~memory_store();
    alineo_store core;

  private:
    static alineo_code open(void *, alineo_query, alineo_span, alineo_span, int64_t,
                            alineo_error *);
    static alineo_code next(void *, alineo_row *, bool *, alineo_error *);
    static void close(void *);
    static alineo_code each(void *, alineo_query, alineo_span, alineo_span, int64_t, alineo_visit,
                            void *, alineo_error *);

    const std::vector<event> &all;
    std::vector<const event *> matches;
    size_t at = 0;
    bool is_open = false;
    alineo_fields_reader reader;
    std::unique_ptr<exact> payload, name, sandbox_id;
};

#endif
