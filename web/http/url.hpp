// Request targets: percent-decoding and query parameters.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tagferry::web {

/// Whether a `+` in the text stands for a space: in query parameters, not in paths.
enum class plus_sign : bool { literal, space };

/// Decodes `%xx` escapes of `text` once into `buffer` (RFC 3986, 2.1), which may begin where
/// `text` begins. Nothing when an escape is malformed, the result is not UTF-8 or holds a control
/// character, or `buffer` is too small; `text.size()` bytes are always enough.
std::optional<std::string_view> percent_decode(std::string_view text, plus_sign plus,
                                               std::span<char> buffer) noexcept;

/// Whether the bytes are well-formed UTF-8 (RFC 3629): no overlong forms, no surrogates.
bool is_utf8(std::string_view text) noexcept;

/// Bytes of the well-formed UTF-8 character at the front of `text`, 1 to 4; 0 when there is none.
std::size_t utf8_character_size(std::string_view text) noexcept;

/// One `name=value` of a query, both still encoded.
struct query_parameter {
    std::string_view name;
    std::string_view value;
};

/// Walks the parameters of a query in order. Empty ones (`&&`) are passed over. Does not own the
/// text.
class query_reader {
  public:
    explicit query_reader(std::string_view query, std::size_t position = 0) noexcept
        : query_(query), position_(position) {}

    /// The next parameter, or nothing at the end.
    std::optional<query_parameter> next() noexcept;

    /// Where the next parameter starts, to go on from later.
    std::size_t position() const noexcept { return position_; }

  private:
    std::string_view query_;
    std::size_t position_;
};

/// Path and query of a request target.
struct target_parts {
    std::string_view path;   ///< still encoded; begins with `/`, or is `*`
    std::string_view query;  ///< without the `?`
};

/// Takes origin form, absolute form (`http://host/…`) and `*` (RFC 9112, 3.2). Nothing for
/// anything else, and for a target with a fragment.
std::optional<target_parts> split_target(std::string_view target) noexcept;

}  // namespace tagferry::web
