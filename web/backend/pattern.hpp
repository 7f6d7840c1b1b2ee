// Patterns over tag paths.
#pragma once

#include <string_view>

namespace tagferry::web {

/// Whether `path` matches `pattern` as a whole, byte for byte: `*` stands for any run of bytes
/// other than `/`, `**` for any run at all, `?` for one UTF-8 character other than `/`; all else
/// for itself. An empty pattern matches everything. Time is at most proportional to the product
/// of the lengths; no allocation.
bool matches(std::string_view pattern, std::string_view path) noexcept;

/// The part of `pattern` before its first wildcard: every match starts with it, so a walk can
/// skip what does not.
std::string_view literal_prefix(std::string_view pattern) noexcept;

}  // namespace tagferry::web
