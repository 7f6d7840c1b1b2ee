// Comma-separated lists in header fields (RFC 9110, 5.6.1).
#pragma once

#include <string_view>

namespace tagferry::web {

/// Takes the first element off `list`, without the white space around it. Empty elements are given
/// as they are; done when `list` is empty.
std::string_view take_element(std::string_view& list) noexcept;

/// `text` without white space at its ends.
std::string_view trimmed(std::string_view text) noexcept;

/// Both as ASCII letters, whatever their case.
bool equals_ignoring_case(std::string_view one, std::string_view other) noexcept;

/// Whether one element is exactly `wanted`.
bool list_has(std::string_view list, std::string_view wanted) noexcept;
/// The same for a token, whatever its case.
bool list_names(std::string_view list, std::string_view wanted) noexcept;

}  // namespace tagferry::web
