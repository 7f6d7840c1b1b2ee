// Walks a short text that people wrote, keeping the column for the error.
#pragma once

#include "protocols/s7/types/address.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tagferry::s7 {

/// ASCII only: names and numbers of addresses and types have nothing else.
class text_cursor {
  public:
    explicit text_cursor(std::string_view text) noexcept : text_(text) {}

    bool at_end() const noexcept { return position_ == text_.size(); }
    /// The next character in upper case; 0 at the end.
    char peek() const noexcept { return at_end() ? '\0' : upper(text_[position_]); }
    void advance() noexcept { ++position_; }

    bool take(char wanted) noexcept {
        if (peek() != wanted || at_end()) {
            return false;
        }
        ++position_;
        return true;
    }

    /// Takes `word`, given in upper case, in any case.
    bool take(std::string_view word) noexcept {
        if (text_.size() - position_ < word.size()) {
            return false;
        }
        for (std::size_t i = 0; i < word.size(); ++i) {
            if (upper(text_[position_ + i]) != word[i]) {
                return false;
            }
        }
        position_ += word.size();
        return true;
    }

    void skip_blanks() noexcept {
        while (!at_end() && (text_[position_] == ' ' || text_[position_] == '\t')) {
            ++position_;
        }
    }

    /// A run of digits as a number; nothing, and not moved, when there is no digit or the number is
    /// not from `minimum` to `maximum`.
    std::optional<std::uint32_t> number(std::uint32_t minimum, std::uint32_t maximum) noexcept {
        std::uint64_t value = 0;
        std::size_t at = position_;
        while (at < text_.size() && text_[at] >= '0' && text_[at] <= '9') {
            value = value * 10 + static_cast<std::uint64_t>(text_[at] - '0');
            if (value > maximum) {
                return std::nullopt;
            }
            ++at;
        }
        if (at == position_ || value < minimum) {
            return std::nullopt;
        }
        position_ = at;
        return static_cast<std::uint32_t>(value);
    }

    parse_error expected(std::string_view what, std::string_view hint) const noexcept {
        return {position_ + 1, what, hint};
    }

  private:
    static char upper(char c) noexcept {
        return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }

    std::string_view text_;
    std::size_t position_ = 0;
};

}  // namespace tagferry::s7
