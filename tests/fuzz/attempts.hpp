/*
 * attempts.hpp - all that is known of an attempt in one line of text, from the
 * model and from the core, to compare.
 */
#ifndef ALINEO_FUZZ_ATTEMPTS_HPP
#define ALINEO_FUZZ_ATTEMPTS_HPP

#include "model.hpp"

std::string shown(int64_t seq, const attempt &a);
std::string shown(int64_t seq, const alineo_attempt &a);
std::string text_of(const alineo_buffer &buffer);

#endif
