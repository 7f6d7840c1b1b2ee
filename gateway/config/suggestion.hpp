// "Did you mean …", and the quotes around what messages name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway::config {

/// The text between quotation marks.
std::string quoted(std::string_view text);

/// Insertions, deletions, replacements and swaps of neighbours that lead from one word to the
/// other, without regard to case (optimal string alignment). Texts over 64 bytes count as far
/// apart: their length is returned.
std::size_t edit_distance(std::string_view left, std::string_view right);

/// The nearest of the candidates when it is near enough to be a slip of the pen, else empty.
std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates);

/// `did you mean "x"?`, or, when nothing is near, `one of a, b, c` (at most ten), or nothing when
/// there are no candidates.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace tagferry::gateway::config
