#include "gateway/config/binder.hpp"

#include "gateway/config/suggestion.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>

namespace tagferry::gateway::config {

namespace {

std::string with_unit(std::int64_t number, std::string_view unit) {
    std::string made = std::to_string(number);
    if (!unit.empty()) {
        made += ' ';
        made += unit;
    }
    return made;
}

std::string_view expected_words(field_kind kind) {
    switch (kind) {
        case field_kind::text:
            return "a text in double quotes";
        case field_kind::integer:
            return "a whole number";
        case field_kind::boolean:
            return "true or false";
        case field_kind::choice:
            return "a text in double quotes";
        case field_kind::text_list:
            return "a list of texts: [\"…\"]";
        case field_kind::object:
            return "an object: {…}";
        case field_kind::object_list:
            return "a list of objects: [{…}]";
    }
    return {};
}

std::string_view kind_words(node_kind kind) {
    switch (kind) {
        case node_kind::null:
            return "null";
        case node_kind::boolean:
            return "true or false";
        case node_kind::integer:
            return "a number";
        case node_kind::real:
            return "a number that is not whole or too large";
        case node_kind::text:
            return "a text";
        case node_kind::object:
            return "an object";
        case node_kind::array:
            return "a list";
        case node_kind::unusable:
            break;
    }
    return "unusable";
}

// Sets single values; shared by tree and text.
class setter {
  public:
    setter(const field& described, void* target, diagnostics& found)
        : described_(described), target_(target), found_(found) {}

    void integer(std::int64_t value, location at) {
        if (value < described_.minimum || value > described_.maximum) {
            found_.error(
                at,
                quoted(described_.name) + " is out of range: " + with_unit(value, described_.unit),
                std::to_string(described_.minimum) + " to " +
                    with_unit(described_.maximum, described_.unit));
            return;
        }
        described_.set_integer(target_, value);
    }

    void text(std::string_view value, location at) {
        if (text_fits(value, at)) {
            described_.text(target_) = value;
        }
    }

    void choice(std::string_view value, location at) {
        const auto found = std::find(described_.choices.begin(), described_.choices.end(), value);
        if (found == described_.choices.end()) {
            found_.error(at, quoted(value) + " is no " + quoted(described_.name),
                         suggestion(value, described_.choices));
            return;
        }
        described_.set_integer(target_, found - described_.choices.begin());
    }

    /// @param inside gives the place of a byte of the text.
    template <class Inside>
    void element(std::string_view value, location at, Inside inside) {
        if (!text_fits(value, at)) {
            return;
        }
        if (const auto fault = described_.append_text(target_, value, at)) {
            found_.error(inside(fault->column), fault->text, fault->hint);
        }
    }

  private:
    bool text_fits(std::string_view value, location at) {
        const auto size = static_cast<std::int64_t>(value.size());
        const bool control = std::any_of(value.begin(), value.end(), [](char letter) {
            return static_cast<unsigned char>(letter) < 0x20 || letter == '\x7F';
        });
        if (control) {
            found_.error(at, quoted(described_.name) + " holds a control character");
        } else if (size < described_.minimum) {
            found_.error(at, quoted(described_.name) + " is empty");
        } else if (size > described_.maximum) {
            found_.error(
                at, quoted(described_.name) + " is too long: " + std::to_string(size) + " bytes",
                "at most " + std::to_string(described_.maximum) + " bytes");
        } else {
            return true;
        }
        return false;
    }

    const field& described_;
    void* target_;
    diagnostics& found_;
};

// Fills one object and, through fields of object kinds, those below it. The depth is bounded by
// the tree's.
class object_binder {
  public:
    object_binder(const located_tree& tree, diagnostics& found) : tree_(tree), found_(found) {}

    void bind(const node& value, const object_description& object, void* target) {
        if (object.at != nullptr) {
            object.at(target) = tree_.at(value);
        }
        for (const node* member = tree_.child(value); member != nullptr;
             member = tree_.next(*member)) {
            if (member->key_unusable) {
                continue;
            }
            if (const field* described = find_field(object, member->key)) {
                bind_member(*member, *described, target);
            } else {
                found_.error(tree_.key_at(*member), "unknown key " + quoted(member->key),
                             suggestion(member->key, field_names(object)));
            }
        }
        if (!value.incomplete) {
            check_required(value, object);
        }
    }

  private:
    void check_required(const node& value, const object_description& object) {
        for (const field& described : object.fields) {
            if (!described.required || has_key(value, described.name)) {
                continue;
            }
            std::string hint;
            if (!described.example.empty()) {
                hint = "e.g. " + quoted(described.name) + ": " + quoted(described.example);
            }
            found_.error(tree_.at(value), quoted(described.name) + " is missing", hint);
        }
    }

    // A key that was not readable may have been any.
    bool has_key(const node& value, std::string_view name) const {
        for (const node* member = tree_.child(value); member != nullptr;
             member = tree_.next(*member)) {
            if (member->key == name || member->key_unusable) {
                return true;
            }
        }
        return false;
    }

    void wrong_kind(const node& value, const field& described) {
        found_.error(tree_.at(value),
                     quoted(described.name) + " is " + std::string{kind_words(value.kind)},
                     "write " + std::string{expected_words(described.kind)});
    }

    void bind_member(const node& value, const field& described, void* target) {
        if (described.at != nullptr) {
            const bool is_text = value.kind == node_kind::text;
            described.at(target) = is_text ? tree_.inside(value, 0) : tree_.at(value);
        }
        if (value.kind == node_kind::unusable) {
            return;
        }
        if (value.kind != expected_kind(described.kind)) {
            wrong_kind(value, described);
            return;
        }
        setter set{described, target, found_};
        switch (described.kind) {
            case field_kind::text:
                set.text(value.text, tree_.at(value));
                break;
            case field_kind::integer:
                set.integer(value.integer, tree_.at(value));
                break;
            case field_kind::boolean:
                described.boolean(target) = value.boolean;
                break;
            case field_kind::choice:
                set.choice(value.text, tree_.at(value));
                break;
            case field_kind::object:
                bind(value, *described.object, described.member(target));
                break;
            case field_kind::text_list:
            case field_kind::object_list:
                bind_list(value, described, target);
                break;
        }
    }

    static node_kind expected_kind(field_kind kind) {
        switch (kind) {
            case field_kind::text:
            case field_kind::choice:
                return node_kind::text;
            case field_kind::integer:
                return node_kind::integer;
            case field_kind::boolean:
                return node_kind::boolean;
            case field_kind::object:
                return node_kind::object;
            case field_kind::text_list:
            case field_kind::object_list:
                break;
        }
        return node_kind::array;
    }

    void bind_list(const node& value, const field& described, void* target) {
        const bool objects = described.kind == field_kind::object_list;
        setter set{described, target, found_};
        for (const node* element = tree_.child(value); element != nullptr;
             element = tree_.next(*element)) {
            if (element->kind == node_kind::unusable) {
                continue;
            }
            if (element->kind != (objects ? node_kind::object : node_kind::text)) {
                wrong_element(*element, described);
            } else if (objects) {
                bind(*element, *described.object, described.append(target));
            } else {
                set.element(element->text, tree_.at(*element),
                            [&](std::size_t column) { return tree_.inside(*element, column); });
            }
        }
    }

    void wrong_element(const node& element, const field& described) {
        found_.error(tree_.at(element),
                     "an element of " + quoted(described.name) + " is " +
                         std::string{kind_words(element.kind)},
                     "write " + std::string{expected_words(described.kind)});
    }

    const located_tree& tree_;
    diagnostics& found_;
};

void assign_list(const field& described, void* target, std::string_view text, location at,
                 diagnostics& found) {
    described.clear(target);
    setter set{described, target, found};
    while (!text.empty()) {
        const std::size_t comma = std::min(text.find(','), text.size());
        set.element(text.substr(0, comma), at, [&](std::size_t) { return at; });
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
}

}  // namespace

void bind_object(const located_tree& tree, const node& value, const object_description& object,
                 void* target, diagnostics& found) {
    object_binder{tree, found}.bind(value, object, target);
}

void assign_text(const field& described, void* target, std::string_view text, location at,
                 diagnostics& found) {
    if (described.at != nullptr) {
        described.at(target) = at;
    }
    setter set{described, target, found};
    std::int64_t number = 0;
    const char* end = text.data() + text.size();
    switch (described.kind) {
        case field_kind::text:
            set.text(text, at);
            return;
        case field_kind::choice:
            set.choice(text, at);
            return;
        case field_kind::text_list:
            assign_list(described, target, text, at, found);
            return;
        case field_kind::integer:
            if (const auto read = std::from_chars(text.data(), end, number);
                read.ec == std::errc{} && read.ptr == end) {
                set.integer(number, at);
                return;
            }
            break;
        case field_kind::boolean:
            if (text == "true" || text == "false") {
                described.boolean(target) = text == "true";
                return;
            }
            break;
        case field_kind::object:
        case field_kind::object_list:
            found.error(at, quoted(described.name) + " cannot be set here",
                        "it holds further fields");
            return;
    }
    found.error(at, quoted(text) + " is no value for " + quoted(described.name),
                "write " + std::string{expected_words(described.kind)});
}

std::vector<std::string_view> field_names(const object_description& object) {
    std::vector<std::string_view> names;
    for (const field& described : object.fields) {
        names.push_back(described.name);
    }
    return names;
}

}  // namespace tagferry::gateway::config
