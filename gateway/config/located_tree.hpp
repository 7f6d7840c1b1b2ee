// A configuration text as a tree of values that know where they were written.
#pragma once

#include "gateway/config/location.hpp"
#include "gateway/config/source_text.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway::config {

enum class node_kind : std::uint8_t {
    null,
    boolean,
    integer,  ///< fits std::int64_t
    real,     ///< any other number
    text,
    object,
    array,
    unusable,  ///< stood in a place with a syntax error, which has been reported
};

/// One value. Children of objects carry their key.
struct node {
    static constexpr std::uint32_t none = 0xFFFF'FFFF;

    node_kind kind = node_kind::null;
    bool boolean = false;
    /// An object or array the text ends in: what is missing from it says nothing.
    bool incomplete = false;
    /// The key stood in a place with a syntax error, which has been reported.
    bool key_unusable = false;
    std::uint32_t offset = 0;
    std::uint32_t key_offset = 0;
    std::uint32_t first_child = none;
    std::uint32_t next = none;  ///< following sibling
    std::string_view key;
    std::string_view text;  ///< unescaped text, or a number as written
    std::int64_t integer = 0;
};

/// What a text may be at most. Larger ones are one error.
struct tree_limits {
    std::size_t bytes = 64U << 20U;
    std::size_t nodes = 4U << 20U;
    std::size_t depth = 16;
    std::size_t keys_per_object = 256;
    std::size_t syntax_errors = 20;  ///< reading stops at this one
};

/// JSON with comments, read by nlohmann_json's SAX interface, which does the judging of syntax.
/// After a syntax error the text is repaired where a sensible repair exists and read again, so
/// that the errors behind it are found too (syntax_repair.hpp).
class located_tree {
  public:
    /// Reads `text`; everything wrong with it goes to `found`.
    static located_tree read(std::string text, std::uint32_t source, diagnostics& found,
                             const tree_limits& limits = {});

    /// The outermost value, nullptr when there is none.
    const node* root() const noexcept { return nodes_.empty() ? nullptr : nodes_.data(); }
    const node* child(const node& parent) const noexcept { return by_index(parent.first_child); }
    const node* next(const node& sibling) const noexcept { return by_index(sibling.next); }

    location at(const node& value) const { return text_->location_of(value.offset); }
    location key_at(const node& value) const { return text_->location_of(value.key_offset); }
    /// The place `column` bytes into a text value, exact as long as it holds no escapes.
    location inside(const node& value, std::size_t column) const {
        return text_->location_of(value.offset + 1 + column);
    }

  private:
    friend class tree_builder;
    located_tree(std::string text, std::uint32_t source)
        : text_(std::make_unique<source_text>(std::move(text), source)) {}
    const node* by_index(std::uint32_t index) const noexcept {
        return index == node::none ? nullptr : &nodes_[index];
    }

    std::unique_ptr<source_text> text_;  // views of the nodes lead into it, so it must not move
    std::vector<node> nodes_;
    std::deque<std::string> unescaped_;  // texts that are not found literally in the source
};

}  // namespace tagferry::gateway::config
