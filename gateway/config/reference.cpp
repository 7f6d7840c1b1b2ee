// REFERENCE.md, made from the description.
#include "gateway/config/configuration.hpp"
#include "gateway/config/fields.hpp"
#include "gateway/config/load.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace tagferry::gateway::config {

namespace {

std::string code(std::string_view text) {
    std::string made = "`";
    made += text;
    made += '`';
    return made;
}

std::string kind_column(const field& described) {
    switch (described.kind) {
        case field_kind::text:
            return "text";
        case field_kind::integer:
            return std::to_string(described.minimum) + " to " + std::to_string(described.maximum) +
                   (described.unit.empty() ? "" : " " + std::string{described.unit});
        case field_kind::boolean:
            return "`true` or `false`";
        case field_kind::choice: {
            std::string words;
            for (const std::string_view word : described.choices) {
                words += (words.empty() ? "" : ", ") + code(word);
            }
            return words;
        }
        case field_kind::text_list:
            return "list of texts";
        case field_kind::object:
            return "[" + std::string{described.object->name} + "](#" +
                   std::string{described.object->name} + ")";
        case field_kind::object_list:
            return "list of [" + std::string{described.object->name} + "](#" +
                   std::string{described.object->name} + ")";
    }
    return {};
}

std::string default_column(const field& described, void* defaults) {
    if (described.required) {
        return "**required**";
    }
    if (!described.default_text.empty()) {
        return std::string{described.default_text};
    }
    switch (described.kind) {
        case field_kind::text:
            return described.text(defaults).empty() ? "empty" : code(described.text(defaults));
        case field_kind::integer:
            return std::to_string(described.get_integer(defaults));
        case field_kind::boolean:
            return described.boolean(defaults) ? "`true`" : "`false`";
        case field_kind::choice:
            return code(
                described.choices[static_cast<std::size_t>(described.get_integer(defaults))]);
        case field_kind::text_list:
        case field_kind::object:
        case field_kind::object_list:
            break;
    }
    return "";
}

class page_maker {
  public:
    std::string make(const object_description& root, void* defaults) {
        page_ =
            "# Configuration reference\n\n"
            "Made from the description in `fields.cpp` and `limit_fields.cpp`; the test\n"
            "`config_reference` compares it. `tagferry config schema` prints the same as JSON "
            "Schema.\n\n"
            "The file is JSON; `//` comments are allowed. A value is taken from, in this order: a "
            "flag\n(`--set opcua.listen=127.0.0.1:0`), an environment variable\n"
            "(`TAGFERRY_OPCUA__LISTEN=127.0.0.1:0`; sections joined by two underscores, list "
            "elements\nby commas), the file, the default. Unknown keys are errors.\n";
        add(root, defaults);
        return page_;
    }

  private:
    // One table an object, then those of the objects in it that have not had theirs.
    void add(const object_description& object, void* defaults) {
        if (std::find(done_.begin(), done_.end(), &object) != done_.end()) {
            return;
        }
        done_.push_back(&object);
        const bool metrics = std::any_of(object.fields.begin(), object.fields.end(),
                                         [](const field& each) { return !each.metric.empty(); });
        page_ += "\n## " + std::string{object.name} + "\n\n" + std::string{object.help} + "\n\n";
        page_ += metrics ? "| key | value | default | what it is | metric of its use |\n"
                           "|---|---|---|---|---|\n"
                         : "| key | value | default | what it is |\n|---|---|---|---|\n";
        for (const field& described : object.fields) {
            page_ += "| " + code(described.name) + " | " + kind_column(described) + " | " +
                     default_column(described, defaults) + " | " + std::string{described.help} +
                     " |";
            if (metrics) {
                page_ += described.metric.empty() ? " |" : " " + code(described.metric) + " |";
            }
            page_ += '\n';
        }
        for (const field& described : object.fields) {
            if (described.kind == field_kind::object) {
                add(*described.object, described.member(defaults));
            } else if (described.kind == field_kind::object_list) {
                add(*described.object, described.append(defaults));
            }
        }
    }

    std::string page_;
    std::vector<const object_description*> done_;
};

}  // namespace

std::string reference_page() {
    configuration defaults;
    return page_maker{}.make(configuration_description(), &defaults);
}

}  // namespace tagferry::gateway::config
