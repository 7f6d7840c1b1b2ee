// The JSON Schema of the configuration, made from the description.
#include "gateway/config/configuration.hpp"
#include "gateway/config/fields.hpp"
#include "gateway/config/load.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace tagferry::gateway::config {

namespace {

using json = nlohmann::ordered_json;

class schema_maker {
  public:
    json make(const object_description& root, void* defaults) {
        json schema;
        schema["$schema"] = "https://json-schema.org/draft/2020-12/schema";
        schema["title"] = "Tagferry configuration";
        const json object = describe(root, defaults);
        schema.update(object);
        schema["$defs"] = definitions_;
        return schema;
    }

  private:
    // `defaults` is a default-made object of the described kind, or null where a list has none.
    json describe(const object_description& object, void* defaults) {
        json made;
        made["description"] = std::string{object.help};
        made["type"] = "object";
        made["properties"] = json::object();
        json required = json::array();
        for (const field& described : object.fields) {
            made["properties"][std::string{described.name}] = property(described, defaults);
            if (described.required) {
                required.push_back(std::string{described.name});
            }
        }
        if (!required.empty()) {
            made["required"] = required;
        }
        made["additionalProperties"] = false;
        return made;
    }

    json property(const field& described, void* defaults) {
        json made;
        std::string words{described.help};
        if (!described.unit.empty()) {
            words += " Unit: " + std::string{described.unit} + ".";
        }
        if (!described.default_text.empty()) {
            words += " Default: " + std::string{described.default_text} + ".";
        }
        made["description"] = words;
        switch (described.kind) {
            case field_kind::text:
                text(made, described);
                if (!described.required && described.default_text.empty()) {
                    made["default"] = described.text(defaults);
                }
                break;
            case field_kind::integer:
                made["type"] = "integer";
                made["minimum"] = described.minimum;
                made["maximum"] = described.maximum;
                if (described.default_text.empty()) {
                    made["default"] = described.get_integer(defaults);
                }
                break;
            case field_kind::boolean:
                made["type"] = "boolean";
                made["default"] = described.boolean(defaults);
                break;
            case field_kind::choice:
                made["enum"] = json::array();
                for (const std::string_view word : described.choices) {
                    made["enum"].push_back(std::string{word});
                }
                made["default"] =
                    made["enum"][static_cast<std::size_t>(described.get_integer(defaults))];
                break;
            case field_kind::text_list:
                made["type"] = "array";
                made["items"] = json::object();
                text(made["items"], described);
                break;
            case field_kind::object:
                made["$ref"] = define(*described.object, described.member(defaults));
                break;
            case field_kind::object_list:
                made["type"] = "array";
                made["items"] = {{"$ref", define(*described.object, described.append(defaults))}};
                break;
        }
        return made;
    }

    static void text(json& made, const field& described) {
        made["type"] = "string";
        if (described.minimum > 0) {
            made["minLength"] = described.minimum;
        }
        made["maxLength"] = described.maximum;
        if (!described.example.empty()) {
            made["examples"] = json::array({std::string{described.example}});
        }
    }

    std::string define(const object_description& object, void* defaults) {
        const std::string name{object.name};
        if (!definitions_.contains(name)) {
            json made = describe(object, defaults);
            definitions_[name] = std::move(made);
        }
        return "#/$defs/" + name;
    }

    json definitions_ = json::object();
};

}  // namespace

std::string json_schema() {
    configuration defaults;
    return schema_maker{}.make(configuration_description(), &defaults).dump(2) + "\n";
}

}  // namespace tagferry::gateway::config
