/*
 * attempts.cpp - see attempts.hpp.
 */
#include "attempts.hpp"

static std::string number_or_dash(bool given, int64_t number)
{
    return given ? std::to_string(number) : "-";
}

std::string shown(int64_t seq, const attempt &a)
{
    std::string in;

    for (const units &text : a.in)
        in += "<" + wtf8(text) + ">";
    return std::to_string(seq) + " " + (a.command ? "=" + wtf8(*a.command) : "-") + " " +
           wtf8(a.out) + "|" + wtf8(a.err) + "|" + in + "|" + a.cwd.value_or("-") + "|" +
           a.env.value_or("-") + (a.interactive ? " interactive " : " ") +
           number_or_dash(a.exit_code.has_value(), a.exit_code.value_or(0)) + " " +
           number_or_dash(a.started, a.started_at) + " " +
           number_or_dash(a.completed, a.completed_at) + "\n";
}

std::string text_of(const alineo_buffer &buffer)
{
    return std::string(view(alineo_buffer_span(&buffer)));
}

std::string shown(int64_t seq, const alineo_attempt &a)
{
    const size_t *ends = reinterpret_cast<const size_t *>(a.in_ends.at);
    std::string in;

    for (size_t i = 0, at = 0; i < a.in_ends.len / sizeof *ends; at = ends[i++])
        in += "<" + text_of(a.in).substr(at, ends[i] - at) + ">";
    return std::to_string(seq) + " " + (a.has_command ? "=" + text_of(a.command) : "-") + " " +
           text_of(a.out) + "|" + text_of(a.err) + "|" + in + "|" +
           (a.cwd.len > 0 ? text_of(a.cwd) : "-") + "|" + (a.env.len > 0 ? text_of(a.env) : "-") +
           (a.interactive ? " interactive " : " ") + number_or_dash(a.has_exit_code, a.exit_code) +
           " " + number_or_dash(a.started, a.started_at) + " " +
           number_or_dash(a.completed, a.completed_at) + "\n";
}
