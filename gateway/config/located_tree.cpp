#include "gateway/config/located_tree.hpp"

#include "gateway/config/syntax_repair.hpp"

#include <nlohmann/json.hpp>

#include <limits>
#include <memory>
#include <utility>

namespace tagferry::gateway::config {

// Receives nlohmann_json's events. It reports no positions, so the start of every token is found
// here: the parser has accepted what lies between two tokens, hence between the end of the last
// one and the start of the next there is only white space, comments and separators.
class tree_builder {
  public:
    tree_builder(located_tree& tree, const tree_limits& limits) : tree_(tree), limits_(limits) {}

    void start_over() {
        tree_.nodes_.clear();
        tree_.unescaped_.clear();
        open_.clear();
        position_ = {};
        duplicates_.clear();
    }

    bool null() { return leaf(node_kind::null) != nullptr; }
    bool boolean(bool value) {
        node* made = leaf(node_kind::boolean);
        return made != nullptr && (made->boolean = value, true);
    }
    bool number_integer(std::int64_t value) {
        node* made = leaf(node_kind::integer);
        return made != nullptr && (made->integer = value, true);
    }
    bool number_unsigned(std::uint64_t value) {
        if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
            return leaf(node_kind::real) != nullptr;
        }
        return number_integer(static_cast<std::int64_t>(value));
    }
    bool number_float(double, const std::string&) { return leaf(node_kind::real) != nullptr; }
    bool string(std::string& value) {
        node* made = leaf(node_kind::text);
        return made != nullptr && (made->text = keep(value, made->offset), true);
    }
    bool binary(std::vector<std::uint8_t>&) { return false; }
    bool start_object(std::size_t) { return enter(node_kind::object); }
    bool start_array(std::size_t) { return enter(node_kind::array); }
    bool end_object() { return leave(); }
    bool end_array() { return leave(); }
    bool key(std::string& name);
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) {
        syntax_error_ = true;
        return false;
    }

    bool syntax_error() const noexcept { return syntax_error_; }
    void clear_syntax_error() noexcept { syntax_error_ = false; }
    const parse_position& position() const noexcept { return position_; }
    /// Marks what is still open, and reports what is only known after the last reading.
    void finish(diagnostics& found);

  private:
    struct open_node {
        std::uint32_t index;
        std::uint32_t last_child = node::none;
        std::size_t children = 0;
    };
    struct duplicate {
        std::uint32_t first;
        std::size_t offset;
        std::string name;
    };

    node* leaf(node_kind kind);
    bool enter(node_kind kind);
    bool leave();
    node* add(node_kind kind);
    void link(std::uint32_t index);
    std::string_view keep(const std::string& value, std::size_t offset);
    bool stop(std::size_t offset, std::string text);

    located_tree& tree_;
    const tree_limits& limits_;
    std::vector<open_node> open_;
    parse_position position_;
    std::vector<duplicate> duplicates_;
    std::string_view pending_key_;
    std::size_t pending_key_offset_ = 0;
    bool syntax_error_ = false;
    std::size_t stopped_at_ = 0;
    std::string stopped_by_;
};

bool tree_builder::stop(std::size_t offset, std::string text) {
    stopped_at_ = offset;
    stopped_by_ = std::move(text);
    return false;
}

std::string_view tree_builder::keep(const std::string& value, std::size_t offset) {
    const std::string_view written = tree_.text_->text().substr(offset + 1, value.size());
    if (written == value) {
        return written;
    }
    return tree_.unescaped_.emplace_back(value);
}

node* tree_builder::add(node_kind kind) {
    const std::size_t begin = skip_filler(*tree_.text_, position_.token_end, true);
    if (tree_.nodes_.size() >= limits_.nodes) {
        stop(begin, "the text holds more than " + std::to_string(limits_.nodes) + " values");
        return nullptr;
    }
    const auto index = static_cast<std::uint32_t>(tree_.nodes_.size());
    node& made = tree_.nodes_.emplace_back();
    made.kind = tree_.text_->poisoned(begin) ? node_kind::unusable : kind;
    made.offset = static_cast<std::uint32_t>(begin);
    link(index);
    position_.last = last_understood::value;
    position_.token_begin = begin;
    position_.token_end = token_end(*tree_.text_, begin);
    return &made;
}

void tree_builder::link(std::uint32_t index) {
    if (open_.empty()) {
        return;
    }
    open_node& parent = open_.back();
    node& child = tree_.nodes_[index];
    if (tree_.nodes_[parent.index].kind == node_kind::object) {
        child.key = pending_key_;
        child.key_offset = static_cast<std::uint32_t>(pending_key_offset_);
        child.key_unusable = tree_.text_->poisoned(pending_key_offset_);
    }
    if (parent.last_child == node::none) {
        tree_.nodes_[parent.index].first_child = index;
    } else {
        tree_.nodes_[parent.last_child].next = index;
    }
    parent.last_child = index;
    ++parent.children;
}

node* tree_builder::leaf(node_kind kind) {
    node* made = add(kind);
    if (made != nullptr) {
        made->text = tree_.text_->text().substr(made->offset, position_.token_end - made->offset);
    }
    return made;
}

bool tree_builder::enter(node_kind kind) {
    node* made = add(kind);
    if (made == nullptr) {
        return false;
    }
    if (open_.size() >= limits_.depth) {
        return stop(made->offset,
                    "nested deeper than " + std::to_string(limits_.depth) + " levels");
    }
    open_.push_back({static_cast<std::uint32_t>(tree_.nodes_.size() - 1)});
    position_.open.push_back({kind == node_kind::object, made->offset});
    position_.last = last_understood::opening;
    return true;
}

bool tree_builder::leave() {
    const std::size_t begin = skip_filler(*tree_.text_, position_.token_end, true);
    open_.pop_back();
    position_.open.pop_back();
    position_.last = last_understood::value;
    position_.token_begin = begin;
    position_.token_end = begin + 1;
    return true;
}

bool tree_builder::key(std::string& name) {
    const std::size_t begin = skip_filler(*tree_.text_, position_.token_end, true);
    position_.last = last_understood::key;
    position_.token_begin = begin;
    position_.token_end = token_end(*tree_.text_, begin);
    pending_key_ = keep(name, begin);
    pending_key_offset_ = begin;
    const open_node& parent = open_.back();
    if (parent.children >= limits_.keys_per_object) {
        return stop(begin,
                    "an object of more than " + std::to_string(limits_.keys_per_object) + " keys");
    }
    for (const node* sibling = tree_.child(tree_.nodes_[parent.index]); sibling != nullptr;
         sibling = tree_.next(*sibling)) {
        if (sibling->key == pending_key_ && !sibling->key_unusable &&
            !tree_.text_->poisoned(begin)) {
            duplicates_.push_back({sibling->key_offset, begin, name});
            break;
        }
    }
    return true;
}

void tree_builder::finish(diagnostics& found) {
    for (const open_node& still_open : open_) {
        tree_.nodes_[still_open.index].incomplete = true;
    }
    for (const duplicate& twice : duplicates_) {
        const location first = tree_.text_->location_of(twice.first);
        found.error(tree_.text_->location_of(twice.offset), "\"" + twice.name + "\" is given twice",
                    "the first is in line " + std::to_string(first.line));
    }
    if (!stopped_by_.empty()) {
        found.error(tree_.text_->location_of(stopped_at_), stopped_by_);
    }
}

located_tree located_tree::read(std::string text, std::uint32_t source, diagnostics& found,
                                const tree_limits& limits) {
    if (text.size() > limits.bytes) {
        found.error({source, 1, 1},
                    "the file is larger than " + std::to_string(limits.bytes) + " bytes",
                    "move tags into side files: tag_files");
        return {std::string{}, source};
    }
    located_tree tree{std::move(text), source};
    if (const std::size_t place = tree.text_->text().find('\0'); place != std::string::npos) {
        found.error(tree.text_->location_of(place), "a NUL byte: this is no UTF-8 text",
                    "save the file as UTF-8");
        return {std::string{}, source};
    }
    tree_builder builder{tree, limits};
    for (std::size_t round = 0;; ++round) {
        builder.start_over();
        builder.clear_syntax_error();
        const std::string_view now = tree.text_->text();
        nlohmann::json::sax_parse(now.begin(), now.end(), &builder,
                                  nlohmann::json::input_format_t::json, true, true);
        if (!builder.syntax_error()) {
            break;
        }
        if (round >= limits.syntax_errors) {
            found.error(tree.text_->location_of(builder.position().token_end),
                        "too many syntax errors, reading stopped here");
            break;
        }
        if (!repair(*tree.text_, builder.position(), found)) {
            break;
        }
    }
    builder.finish(found);
    return tree;
}

}  // namespace tagferry::gateway::config
