// The body of a write, taken from its JSON step by step: first its form as a whole, then each
// value when it is known what the tag takes.
#pragma once

#include "web/http/json_reader.hpp"
#include "web/http/response.hpp"

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tagferry::web {

/// What a body says, as views into it, strings still with their escapes.
struct write_body {
    std::string_view reason;  ///< for the audit log; empty: none
    std::string_view value;   ///< of a single write: the text of its value
    std::string_view items;   ///< of several: the text of the array
    std::size_t count = 0;    ///< of several: how many
};

/// Reads `{"value":…,"reason":"…"}`. A problem says what is wrong with it.
std::optional<problem> read_write(std::string_view text, write_body& body) noexcept;

/// Reads `{"items":[{"path":"…","value":…},…],"reason":"…"}` and checks every item's form.
/// @param most items there may be.
std::optional<problem> read_writes(std::string_view text, std::size_t most,
                                   write_body& body) noexcept;

/// Walks the items of a body that `read_writes` has found whole.
class write_items {
  public:
    /// @param items `write_body::items`.
    explicit write_items(std::string_view items) noexcept : text_(items), reader_(items) {
        reader_.next();
    }

    struct item {
        std::string_view path;   ///< with its escapes
        std::string_view value;  ///< the text of its value
    };
    /// The next one, or nothing at the end.
    std::optional<item> next() noexcept;

  private:
    std::string_view text_;
    json_reader reader_;
};

}  // namespace tagferry::web
