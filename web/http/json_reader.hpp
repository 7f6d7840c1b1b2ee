// Reads a JSON text (RFC 8259) token by token: no tree, no allocation, nothing changed in the text.
// Stricter than it must be nowhere, more lenient nowhere: what it accepts is JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tagferry::web {

enum class json_token : std::uint8_t {
    begin_object,
    end_object,
    begin_array,
    end_array,
    name,    ///< of an object's member; `text()` is what stands between its quotes
    string,  ///< likewise
    number,  ///< `text()` is the number as written
    true_,
    false_,
    null,
    end,   ///< the value is complete and nothing follows it
    error  ///< not JSON, or nested deeper than `max_depth`; stays so
};

class json_reader {
  public:
    static constexpr std::size_t max_depth = 16;

    /// @param text stays unchanged while the reader and its views are used.
    explicit json_reader(std::string_view text) noexcept : text_(text) {}

    json_token next() noexcept;

    /// Of the last token; strings and names still with their escapes, see `json_unescape`.
    std::string_view text() const noexcept { return token_text_; }

    /// Where reading stands, in bytes from the front: an error lies here or shortly before.
    std::size_t offset() const noexcept { return at_; }

    /// Reads on past the value that `first`, the token just read, begins. False: not JSON.
    bool skip(json_token first) noexcept;

  private:
    enum class expected : std::uint8_t { value, first_value, name, first_name, after_value };

    json_token fail() noexcept;
    json_token begin(json_token what) noexcept;
    json_token end_container() noexcept;
    json_token value() noexcept;
    json_token member_name() noexcept;
    json_token literal(std::string_view word, json_token what) noexcept;
    json_token number() noexcept;
    bool string() noexcept;
    bool escape() noexcept;
    std::size_t digits() noexcept;
    void skip_space() noexcept;
    bool take(char wanted) noexcept;
    char peek() const noexcept { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool in_object() const noexcept { return (objects_ >> (depth_ - 1) & 1U) != 0; }
    json_token done(json_token what) noexcept;

    std::string_view text_;
    std::string_view token_text_;
    std::size_t at_ = 0;
    std::size_t depth_ = 0;
    std::uint32_t objects_ = 0;  // by depth: whether it is an object
    expected expected_ = expected::value;
    bool failed_ = false;
};

/// What a string or name says: `raw`, as `json_reader::text` gave it, with its escapes resolved,
/// in `buffer`, which may begin where `raw` begins. A half of a surrogate pair becomes U+FFFD.
/// Nothing when the buffer is too small; `raw.size()` bytes are always enough.
std::optional<std::string_view> json_unescape(std::string_view raw,
                                              std::span<char> buffer) noexcept;

/// Whether `raw`, a name as `json_reader::text` gave it, says `plain`, an ASCII word: without
/// resolving escapes, which nobody needs to write one.
inline bool json_is(std::string_view raw, std::string_view plain) noexcept {
    return raw == plain;
}

}  // namespace tagferry::web
