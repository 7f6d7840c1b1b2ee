// A configuration text that may be repaired while it is read: positions always refer to what the
// user wrote.
#pragma once

#include "gateway/config/location.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway::config {

/// Holds the text, its line starts, and the insertions made since. Offsets count bytes of the
/// text as it is now; location_of() leads back to the original.
class source_text {
  public:
    /// @param source the number diagnostics gave this source. A byte order mark is blanked.
    source_text(std::string text, std::uint32_t source);

    std::string_view text() const noexcept { return text_; }
    std::size_t size() const noexcept { return text_.size(); }
    /// The byte at `offset`, or NUL past the end.
    char at(std::size_t offset) const noexcept {
        return offset < text_.size() ? text_[offset] : '\0';
    }

    /// Line and column (in characters) of what the user wrote at this place. Offsets past the end
    /// give the end.
    location location_of(std::size_t offset) const;

    /// Overwrites [from, to) with spaces, keeping line ends.
    void blank(std::size_t from, std::size_t to);
    void overwrite(std::size_t offset, char character);
    void insert(std::size_t offset, char character);
    void truncate(std::size_t size);

    /// Marks the value or key that begins at `offset` as repaired: it must not be judged.
    void poison(std::size_t offset);
    bool poisoned(std::size_t offset) const;

  private:
    void keep_original();
    /// The text as the user wrote it.
    const std::string& written() const noexcept { return changed_ ? original_ : text_; }

    std::string text_;
    std::string original_;  // filled before the first change
    bool changed_ = false;
    std::uint32_t source_;
    std::vector<std::uint32_t> line_starts_;  // offsets in the original text
    std::vector<std::size_t> insertions_;     // offsets of inserted bytes, in the text as it is
    std::vector<std::size_t> poisoned_;
    bool byte_order_mark_ = false;
    // Where the last column was counted to: questions mostly come in order, and a text of one
    // long line must not be walked from its start for each.
    mutable std::size_t counted_to_ = 0;
    mutable std::uint32_t counted_line_ = 1;
    mutable std::uint32_t counted_column_ = 1;
};

/// Length in bytes of the valid UTF-8 character at `text[offset]`, 0 when it is not valid
/// (RFC 3629: no overlong forms, no surrogates, at most U+10FFFF).
std::size_t utf8_character_length(std::string_view text, std::size_t offset) noexcept;

}  // namespace tagferry::gateway::config
