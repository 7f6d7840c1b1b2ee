#include "gateway/config/tag_file.hpp"

#include "gateway/config/binder.hpp"
#include "gateway/config/fields.hpp"
#include "gateway/config/located_tree.hpp"
#include "gateway/config/source_text.hpp"
#include "gateway/config/suggestion.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway::config {

namespace {

constexpr std::size_t largest_file = 64U << 20U;

void read_json(std::string text, std::uint32_t source, connection& owner, diagnostics& found) {
    const located_tree tree = located_tree::read(std::move(text), source, found);
    const node* list = tree.root();
    if (list != nullptr && list->kind == node_kind::object) {
        const node* only = tree.child(*list);
        const bool tags_only =
            only != nullptr && only->key == "tags" && tree.next(*only) == nullptr;
        if (!tags_only) {
            found.error(tree.at(*list), "the object must hold \"tags\" and nothing else");
            return;
        }
        list = only;
    }
    if (list == nullptr || list->kind == node_kind::unusable) {
        return;
    }
    if (list->kind != node_kind::array) {
        found.error(tree.at(*list), "a list of tags is expected", "write [{…}]");
        return;
    }
    for (const node* element = tree.child(*list); element != nullptr;
         element = tree.next(*element)) {
        if (element->kind == node_kind::object) {
            bind_object(tree, *element, tag_description(), &owner.tags.emplace_back(), found);
        } else if (element->kind != node_kind::unusable) {
            found.error(tree.at(*element), "a tag is an object: {…}");
        }
    }
}

// One cell: its text without quotes and the offset of its first character.
struct cell {
    std::string text;
    std::size_t offset = 0;
};

class csv_reader {
  public:
    csv_reader(std::string text, std::uint32_t source, connection& owner, diagnostics& found)
        : text_(std::move(text), source), owner_(owner), found_(found) {}

    void read() {
        separator_ = find_separator();
        bool header = true;
        while (place_ < text_.size()) {
            const std::size_t begin = place_;
            if (!next_line()) {
                continue;
            }
            if (header) {
                take_header(begin);
                header = false;
            } else {
                take_row(begin);
            }
        }
        if (header) {
            found_.error(text_.location_of(0), "the file is empty",
                         "the first line names the columns: path,address,type");
        }
    }

  private:
    char find_separator() const {
        const std::string_view all = text_.text();
        const std::size_t begin = std::min(all.find_first_not_of(" \t\r\n"), all.size());
        const std::string_view line = all.substr(begin, all.find_first_of("\r\n", begin) - begin);
        for (const char candidate : {';', '\t', ','}) {
            if (line.find(candidate) != std::string_view::npos) {
                return candidate;
            }
        }
        return ',';
    }

    bool at_line_end() const {
        return place_ >= text_.size() || text_.at(place_) == '\n' || text_.at(place_) == '\r';
    }

    // Reads the cells of the line at `place_` and goes past it. False for an empty line.
    bool next_line() {
        cells_.clear();
        damaged_ = false;
        bool content = false;
        while (true) {
            cells_.push_back(next_cell());
            content = content || !cells_.back().text.empty();
            if (at_line_end()) {
                break;
            }
            ++place_;
        }
        if (text_.at(place_) == '\r' && text_.at(place_ + 1) == '\n') {
            ++place_;
        }
        ++place_;
        return content;
    }

    cell next_cell() {
        while (!at_line_end() && text_.at(place_) != separator_ && is_blank(text_.at(place_))) {
            ++place_;
        }
        if (text_.at(place_) == '"') {
            return quoted_cell();
        }
        cell made{{}, place_};
        while (!at_line_end() && text_.at(place_) != separator_) {
            made.text += text_.at(place_++);
        }
        while (!made.text.empty() && is_blank(made.text.back())) {
            made.text.pop_back();
        }
        check_utf8(made);
        return made;
    }

    cell quoted_cell() {
        cell made{{}, place_ + 1};
        ++place_;
        while (true) {
            if (at_line_end()) {
                found_.error(text_.location_of(made.offset - 1), "the cell has no closing quote",
                             "close it with \" in the same line");
                damaged_ = true;
                return made;
            }
            const char now = text_.at(place_++);
            if (now == '"' && text_.at(place_) != '"') {
                break;
            }
            place_ += now == '"' ? 1U : 0U;
            made.text += now;
        }
        const std::size_t behind = place_;
        bool stray = false;
        for (; !at_line_end() && text_.at(place_) != separator_; ++place_) {
            stray = stray || !is_blank(text_.at(place_));
        }
        if (stray) {
            found_.error(text_.location_of(behind), "unexpected text after the closing quote",
                         "a quote inside a cell is written twice");
        }
        check_utf8(made);
        return made;
    }

    void check_utf8(cell& read) {
        for (std::size_t offset = 0; offset < read.text.size();) {
            const std::size_t length = utf8_character_length(read.text, offset);
            if (length == 0) {
                found_.error(text_.location_of(read.offset + offset), "not UTF-8 text",
                             "save the file as CSV UTF-8");
                read.text.clear();
                return;
            }
            offset += length;
        }
    }

    void take_header(std::size_t begin) {
        const object_description& tag = tag_description();
        for (const cell& name : cells_) {
            const field* described = find_field(tag, name.text);
            if (described == nullptr && !name.text.empty()) {
                found_.error(text_.location_of(name.offset), "unknown column \"" + name.text + "\"",
                             suggestion(name.text, field_names(tag)));
            }
            if (described != nullptr &&
                std::find(columns_.begin(), columns_.end(), described) != columns_.end()) {
                found_.error(text_.location_of(name.offset),
                             "the column \"" + name.text + "\" is given twice");
                described = nullptr;
            }
            columns_.push_back(described);
        }
        for (const field& described : tag.fields) {
            if (described.required &&
                std::find(columns_.begin(), columns_.end(), &described) == columns_.end()) {
                found_.error(text_.location_of(begin),
                             "the column \"" + std::string{described.name} + "\" is missing",
                             "the first line names the columns: path,address,type");
                complete_ = false;
            }
        }
    }

    void take_row(std::size_t begin) {
        tag& made = owner_.tags.emplace_back();
        made.at = text_.location_of(begin);
        for (std::size_t index = 0; index < cells_.size(); ++index) {
            cell& now = cells_[index];
            if (index >= columns_.size()) {
                found_.error(text_.location_of(now.offset), "more cells than columns",
                             "a text with the separator in it needs quotes");
                break;
            }
            const field* described = columns_[index];
            if (described == nullptr || now.text.empty()) {
                continue;
            }
            if (described->kind == field_kind::boolean) {
                std::transform(
                    now.text.begin(), now.text.end(), now.text.begin(),
                    [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
            }
            assign_text(*described, &made, now.text, text_.location_of(now.offset), found_);
        }
        if (!damaged_) {
            check_required(begin);
        }
    }

    void check_required(std::size_t begin) {
        for (std::size_t index = 0; complete_ && index < columns_.size(); ++index) {
            const field* described = columns_[index];
            const bool given = index < cells_.size() && !cells_[index].text.empty();
            if (described != nullptr && described->required && !given) {
                const std::size_t place = index < cells_.size() ? cells_[index].offset : begin;
                found_.error(text_.location_of(place),
                             "\"" + std::string{described->name} + "\" is missing",
                             "e.g. " + std::string{described->example});
            }
        }
    }

    static bool is_blank(char character) { return character == ' ' || character == '\t'; }

    source_text text_;
    connection& owner_;
    diagnostics& found_;
    char separator_ = ',';
    std::size_t place_ = 0;
    bool complete_ = true;  // the header has every required column
    bool damaged_ = false;  // the row's cells cannot be told apart
    std::vector<cell> cells_;
    std::vector<const field*> columns_;
};

}  // namespace

void read_tag_file(std::string text, std::uint32_t source, connection& owner, diagnostics& found) {
    if (text.size() > largest_file) {
        found.error({source, 1, 1},
                    "the file is larger than " + std::to_string(largest_file) + " bytes");
        return;
    }
    const std::string_view view = text;
    const std::size_t mark = view.starts_with("\xEF\xBB\xBF") ? 3 : 0;
    const std::size_t first = view.find_first_not_of(" \t\r\n", mark);
    const bool bracket =
        first != std::string_view::npos && (view[first] == '[' || view[first] == '{');
    const bool comment = first != std::string_view::npos && view.substr(first, 2) == "//";
    if (bracket || comment) {
        read_json(std::move(text), source, owner, found);
    } else {
        csv_reader{std::move(text), source, owner, found}.read();
    }
}

}  // namespace tagferry::gateway::config
