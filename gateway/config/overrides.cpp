#include "gateway/config/overrides.hpp"

#include "gateway/config/binder.hpp"
#include "gateway/config/fields.hpp"
#include "gateway/config/suggestion.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

extern char** environ;

namespace tagferry::gateway::config {

namespace {

constexpr std::string_view prefix = "TAGFERRY_";
/// The command line's own, not fields.
constexpr std::array<std::string_view, 4> command_variables = {
    "TAGFERRY_CONFIG", "TAGFERRY_URL", "TAGFERRY_TOKEN", "TAGFERRY_TOKEN_FILE"};

// `section.key` of a variable's name.
std::string key_of(std::string_view variable) {
    std::string key;
    const std::string_view name = variable.substr(prefix.size());
    for (std::size_t index = 0; index < name.size(); ++index) {
        if (name.substr(index, 2) == "__") {
            key += '.';
            ++index;
        } else {
            key += static_cast<char>(std::tolower(static_cast<unsigned char>(name[index])));
        }
    }
    return key;
}

// Walks to the field of a key. On failure `misfit` and `hint` say why.
struct found_field {
    const field* described = nullptr;
    void* target = nullptr;
    std::string misfit;
    std::string hint;
};

found_field walk(std::string_view key, configuration& value) {
    const object_description* object = &configuration_description();
    void* target = &value;
    while (true) {
        const std::size_t dot = std::min(key.find('.'), key.size());
        const std::string_view name = key.substr(0, dot);
        const field* described = find_field(*object, name);
        if (described == nullptr) {
            return {nullptr, nullptr, "no field \"" + std::string{name} + "\"",
                    suggestion(name, field_names(*object))};
        }
        if (dot == key.size()) {
            return {described, target, {}, {}};
        }
        if (described->kind != field_kind::object) {
            return {nullptr,
                    nullptr,
                    "\"" + std::string{name} + "\" has no fields that can be set here",
                    {}};
        }
        target = described->member(target);
        object = described->object;
        key.remove_prefix(dot + 1);
    }
}

}  // namespace

void apply_environment(const std::vector<assignment>& variables, configuration& value,
                       diagnostics& found) {
    for (const auto& [name, text] : variables) {
        const bool is_command = std::find(command_variables.begin(), command_variables.end(),
                                          name) != command_variables.end();
        if (is_command || !name.starts_with(prefix)) {
            continue;
        }
        const location at{found.add_source("environment " + name), 0, 0};
        const found_field place = walk(key_of(name), value);
        if (place.described == nullptr) {
            found.warning(at, "ignored: " + place.misfit, place.hint);
        } else {
            assign_text(*place.described, place.target, text, at, found);
        }
    }
}

void apply_flags(const std::vector<assignment>& flags, configuration& value, diagnostics& found) {
    for (const auto& [key, text] : flags) {
        const location at{found.add_source("flag " + key), 0, 0};
        const found_field place = walk(key, value);
        if (place.described == nullptr) {
            found.error(at, place.misfit, place.hint);
        } else {
            assign_text(*place.described, place.target, text, at, found);
        }
    }
}

std::vector<assignment> environment_of_process() {
    std::vector<assignment> variables;
    for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
        const std::string_view text = *entry;
        const std::size_t equals = text.find('=');
        if (text.starts_with(prefix) && equals != std::string_view::npos) {
            variables.emplace_back(text.substr(0, equals), text.substr(equals + 1));
        }
    }
    std::sort(variables.begin(), variables.end());
    return variables;
}

}  // namespace tagferry::gateway::config
