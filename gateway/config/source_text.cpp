#include "gateway/config/source_text.hpp"

#include <algorithm>

namespace tagferry::gateway::config {

namespace {

bool continuation(std::string_view text, std::size_t offset) noexcept {
    return offset < text.size() && (static_cast<unsigned char>(text[offset]) & 0xC0U) == 0x80U;
}

}  // namespace

std::size_t utf8_character_length(std::string_view text, std::size_t offset) noexcept {
    const auto lead = static_cast<unsigned char>(text[offset]);
    if (lead < 0x80) {
        return 1;
    }
    if (lead < 0xC2 || lead > 0xF4) {
        return 0;
    }
    const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    for (std::size_t index = 1; index < length; ++index) {
        if (!continuation(text, offset + index)) {
            return 0;
        }
    }
    const auto second = static_cast<unsigned char>(text[offset + 1]);
    const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
    const bool surrogate = lead == 0xED && second > 0x9F;
    const bool too_large = lead == 0xF4 && second > 0x8F;
    return overlong || surrogate || too_large ? 0 : length;
}

source_text::source_text(std::string text, std::uint32_t source)
    : text_(std::move(text)), source_(source) {
    if (text_.starts_with("\xEF\xBB\xBF")) {
        byte_order_mark_ = true;
        text_.replace(0, 3, "   ");
    }
    line_starts_.push_back(0);
    for (std::size_t offset = 0; offset < text_.size(); ++offset) {
        const bool lone_return =
            text_[offset] == '\r' && (offset + 1 == text_.size() || text_[offset + 1] != '\n');
        if (text_[offset] == '\n' || lone_return) {
            line_starts_.push_back(static_cast<std::uint32_t>(offset + 1));
        }
    }
}

location source_text::location_of(std::size_t offset) const {
    offset = std::min(offset, text_.size());
    const auto inserted_before =
        std::lower_bound(insertions_.begin(), insertions_.end(), offset) - insertions_.begin();
    const std::string& original = written();
    const std::size_t place =
        std::min(offset - static_cast<std::size_t>(inserted_before), original.size());
    const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), place);
    const auto line = static_cast<std::uint32_t>(next - line_starts_.begin());
    const std::size_t line_start = line_starts_[line - 1];
    // A step back, from a member to its object, is counted back.
    const bool far_back = place < counted_to_ && place - line_start < counted_to_ - place;
    if (line != counted_line_ || far_back) {
        counted_line_ = line;
        counted_to_ = line_start;
        counted_column_ = 1;
    }
    for (; counted_to_ > place; --counted_to_) {
        counted_column_ -= continuation(original, counted_to_ - 1) ? 0U : 1U;
    }
    for (; counted_to_ < place; ++counted_to_) {
        counted_column_ += continuation(original, counted_to_) ? 0U : 1U;
    }
    std::uint32_t column = counted_column_;
    if (byte_order_mark_ && line == 1) {
        column = column > 3 ? column - 3 : 1;
    }
    return {source_, line, column};
}

void source_text::keep_original() {
    if (!changed_) {
        original_ = text_;
        changed_ = true;
    }
}

void source_text::blank(std::size_t from, std::size_t to) {
    keep_original();
    for (std::size_t offset = from; offset < std::min(to, text_.size()); ++offset) {
        if (text_[offset] != '\n' && text_[offset] != '\r') {
            text_[offset] = ' ';
        }
    }
}

void source_text::overwrite(std::size_t offset, char character) {
    keep_original();
    text_[offset] = character;
}

void source_text::insert(std::size_t offset, char character) {
    keep_original();
    text_.insert(offset, 1, character);
    for (auto& place : insertions_) {
        place += place >= offset ? 1U : 0U;
    }
    insertions_.insert(std::lower_bound(insertions_.begin(), insertions_.end(), offset), offset);
    for (auto& place : poisoned_) {
        place += place >= offset ? 1U : 0U;
    }
}

void source_text::truncate(std::size_t size) {
    keep_original();
    text_.resize(std::min(size, text_.size()));
}

void source_text::poison(std::size_t offset) {
    poisoned_.push_back(offset);
}

bool source_text::poisoned(std::size_t offset) const {
    return std::find(poisoned_.begin(), poisoned_.end(), offset) != poisoned_.end();
}

}  // namespace tagferry::gateway::config
