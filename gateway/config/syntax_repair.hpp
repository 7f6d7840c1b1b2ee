// What to say about a syntax error, and what to make of the text so that reading can go on.
#pragma once

#include "gateway/config/location.hpp"
#include "gateway/config/source_text.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tagferry::gateway::config {

/// The last thing the parser understood before it gave up.
enum class last_understood : std::uint8_t { nothing, opening, key, value };

/// An object or array that was open there.
struct open_container {
    bool object = false;
    std::size_t offset = 0;
};

/// Where the parser stood when it gave up.
struct parse_position {
    last_understood last = last_understood::nothing;
    std::size_t token_begin = 0;       ///< offset of that last thing
    std::size_t token_end = 0;         ///< offset past it
    std::vector<open_container> open;  ///< outermost first
};

/// First offset at or after `offset` that is neither white space nor inside a comment; an
/// unfinished comment is not skipped. With `separators` also past `,` and `:`.
std::size_t skip_filler(const source_text& text, std::size_t offset, bool separators) noexcept;

/// First offset past the token (string, number, constant or bracket) that begins at `offset` and
/// that the parser has accepted.
std::size_t token_end(const source_text& text, std::size_t offset) noexcept;

/// Reports the syntax error behind `position` and repairs the text.
/// @return false when no sensible repair exists: reading ends here.
bool repair(source_text& text, const parse_position& position, diagnostics& found);

}  // namespace tagferry::gateway::config
