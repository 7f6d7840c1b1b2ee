// The path of a tag, `connection/…groups…/name`, and every form it is shown in.
//
// Inside a name, `/`, `%` and control characters (U+0000 to U+001F, U+007F) are written as `%`
// and two upper-case hexadecimal digits, so that a path splits at `/` alone. Everything else is
// UTF-8 as it stands. The path is the identity of a tag: it is the CLI form, the text of its
// NodeId, and, percent-encoded once more as a URL demands, its REST form.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

/// Bytes of a whole path. A NodeId's text, a URL and a log line all have room for it.
inline constexpr std::size_t max_path_size = 1024;
/// Names in a path, the connection's and the tag's own among them.
inline constexpr std::size_t max_path_names = 32;

/// The path of these names, which are as people write them (not escaped). Nothing when there is
/// no name, a name is empty, "." or "..", or not UTF-8, or a limit above is passed.
std::optional<std::string> make_path(std::span<const std::string_view> names);

/// The path of a child into memory of the caller, without allocating: `parent` as `make_path`
/// gives it, empty for none, and a name that is not escaped. 0: it does not fit into `into`.
std::size_t child_path(std::string_view parent, std::string_view name,
                       std::span<char> into) noexcept;

/// The names of a path, unescaped, in order. Nothing when the path could not have come from
/// `make_path`: an escape of another character, a lower-case escape, an empty name.
std::optional<std::vector<std::string>> parse_path(std::string_view path);

/// A path in the form `make_path` gives, from one that people typed: names separated by `/`, in
/// which escapes may be lower-case or of characters that need none. Nothing when it is no path.
std::optional<std::string> canonical_path(std::string_view typed);

/// The text after `ns=3;s=` is the path itself; this is the whole of it.
std::string node_id_text(std::string_view path);

/// The path as it stands in a URL after `/api/v1/values/`: everything but unreserved characters
/// (RFC 3986, 2.3) and `/` percent-encoded, the `%` of an escape too.
std::string url_path(std::string_view path);

/// Whether the text is well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms).
bool is_utf8(std::string_view text) noexcept;

}  // namespace tagferry::gateway
