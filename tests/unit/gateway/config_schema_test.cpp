#include "gateway/config/configuration.hpp"
#include "gateway/config/fields.hpp"
#include "gateway/config/load.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <new>
#include <string>
#include <vector>

namespace tagferry::gateway::config {
namespace {

using json = nlohmann::json;

std::string read(const std::string& file) {
    std::ifstream stream{file, std::ios::binary};
    EXPECT_TRUE(stream) << file << " (tests run in the repository's root)";
    return {std::istreambuf_iterator<char>{stream}, {}};
}

// As much of JSON Schema 2020-12 as the schema uses. Any keyword it does not know fails.
class judge {
  public:
    explicit judge(const json& root) : root_(root) {}

    // The place of the first mismatch, empty when the value fits.
    std::string mismatch(const json& schema, const json& value, const std::string& at) {
        for (const auto& [keyword, rule] : schema.items()) {
            if (!known(keyword)) {
                return at + ": unknown keyword " + keyword;
            }
            if (keyword == "$ref") {
                const std::string name = rule.get<std::string>().substr(8);
                if (auto inner = mismatch(root_.at("$defs").at(name), value, at); !inner.empty()) {
                    return inner;
                }
            } else if (!fits(keyword, rule, value)) {
                return at + ": " + keyword;
            }
        }
        return below(schema, value, at);
    }

  private:
    static bool known(const std::string& keyword) {
        static const std::vector<std::string> all = {
            "$schema",   "$defs",      "$ref",     "title",   "description",         "type",
            "default",   "examples",   "minimum",  "maximum", "minLength",           "enum",
            "maxLength", "properties", "required", "items",   "additionalProperties"};
        return std::find(all.begin(), all.end(), keyword) != all.end();
    }

    static bool fits(const std::string& keyword, const json& rule, const json& value) {
        if (keyword == "type") {
            return (rule == "object" && value.is_object()) ||
                   (rule == "array" && value.is_array()) ||
                   (rule == "string" && value.is_string()) ||
                   (rule == "integer" && value.is_number_integer()) ||
                   (rule == "boolean" && value.is_boolean());
        }
        if (keyword == "enum") {
            return std::find(rule.begin(), rule.end(), value) != rule.end();
        }
        if (keyword == "minimum" && value.is_number()) {
            return value >= rule;
        }
        if (keyword == "maximum" && value.is_number()) {
            return value <= rule;
        }
        if (keyword == "minLength" && value.is_string()) {
            return value.get<std::string>().size() >= rule.get<std::size_t>();
        }
        if (keyword == "maxLength" && value.is_string()) {
            return value.get<std::string>().size() <= rule.get<std::size_t>();
        }
        if (keyword == "required" && value.is_object()) {
            return std::all_of(rule.begin(), rule.end(), [&](const json& name) {
                return value.contains(name.get<std::string>());
            });
        }
        return true;
    }

    std::string below(const json& schema, const json& value, const std::string& at) {
        if (value.is_array() && schema.contains("items")) {
            for (const json& element : value) {
                if (auto inner = mismatch(schema["items"], element, at + "[]"); !inner.empty()) {
                    return inner;
                }
            }
        }
        if (!value.is_object() || !schema.contains("properties")) {
            return {};
        }
        for (const auto& [key, member] : value.items()) {
            if (!schema["properties"].contains(key)) {
                return at + "." + key + ": additionalProperties";
            }
            auto inner = mismatch(schema["properties"][key], member, at + "." + key);
            if (!inner.empty()) {
                return inner;
            }
        }
        return {};
    }

    const json& root_;
};

const char* const example = R"({
  "state_directory": "/var/lib/tagferry",
  "opcua": { "listen": ["127.0.0.1:4840"], "allow_none_policy": true,
             "limits": { "max_sessions": 5 } },
  "web":   { "listen": ["127.0.0.1:8080"] },
  "connections": [{
    "name": "press", "protocol": "s7", "host": "192.0.2.10", "port": 102, "family": "s7-1500",
    "rack": 0, "slot": 1, "connection_type": "op", "pdu_size": 960, "max_jobs": 8,
    "back_off_ms": { "min": 500, "max": 5000 }, "on_link_loss": "uncertain",
    "scan_classes": [{ "name": "fast", "interval_ms": 100 }],
    "tags": [{ "path": "tank/level", "address": "DB1.DBD0", "type": "REAL", "unit": "mm" }],
    "tag_files": ["press.csv"]
  }]
})";

TEST(config_schema, accepts_what_the_parser_accepts) {
    const json schema = json::parse(json_schema());
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    judge judged{schema};
    EXPECT_EQ(judged.mismatch(schema, json::parse(example), "$"), "");
    const json shipped = json::parse(read("deploy/tagferry.json"), nullptr, true, true);
    EXPECT_EQ(judged.mismatch(schema, shipped, "$"), "");
}

TEST(config_schema, refuses_what_the_parser_refuses) {
    const json schema = json::parse(json_schema());
    judge judged{schema};
    const auto refuse = [&](const char* pointer, const json& value, const std::string& why) {
        json changed = json::parse(example);
        changed[json::json_pointer{pointer}] = value;
        EXPECT_EQ(judged.mismatch(schema, changed, "$"), why);
        EXPECT_FALSE(load_text(changed.dump(), "t", "").found.ok());
    };
    refuse("/conections", json::array(), "$.conections: additionalProperties");
    refuse("/connections/0/port", 0, "$.connections[].port: minimum");
    refuse("/connections/0/port", "102", "$.connections[].port: type");
    refuse("/connections/0/family", "s5", "$.connections[].family: enum");
    refuse("/connections/0/name", "", "$.connections[].name: minLength");
    refuse("/connections/0/tags/0", json::object({{"path", "x"}}),
           "$.connections[].tags[]: required");
    refuse("/opcua/limits/max_sessions", 0, "$.opcua.limits.max_sessions: minimum");
}

// Sizes of the members the description reaches; integers only, as limits are.
template <class Limits>
void expect_all_described(const object_description& object) {
    // Built in zeroed room, so that padding is 0 too.
    alignas(Limits) std::array<unsigned char, sizeof(Limits)> bytes{};
    auto& probe = *new (bytes.data()) Limits;
    const Limits untouched;
    for (const field& described : object.fields) {
        const std::int64_t value = described.get_integer(&untouched);
        EXPECT_GE(value, described.minimum) << described.name;
        EXPECT_LE(value, described.maximum) << described.name;
        described.set_integer(&probe, 0);
        EXPECT_EQ(described.get_integer(&probe), 0) << described.name;
        described.set_integer(&probe, described.maximum);
        EXPECT_EQ(described.get_integer(&probe), described.maximum) << described.name;
        described.set_integer(&probe, 0);
    }
    // No default is 0: a member the description does not reach still holds one.
    for (std::size_t offset = 0; offset < sizeof(Limits); ++offset) {
        EXPECT_EQ(bytes[offset], 0) << "a limit at offset " << offset
                                    << " is not described: add it to "
                                       "gateway/config/limit_fields.cpp and regenerate";
    }
}

TEST(config_limits, every_limit_is_described_and_its_default_is_in_its_range) {
    expect_all_described<tagferry::opcua::limits>(opcua_limits_description());
    expect_all_described<tagferry::web::http_limits>(web_limits_description());
    expect_all_described<process_limits>(process_limits_description());
}

// Run with TAGFERRY_REGENERATE=1 after a change of the description.
TEST(config_reference, the_committed_page_is_the_descriptions) {
    const char* const file = "gateway/config/REFERENCE.md";
    if (std::getenv("TAGFERRY_REGENERATE") != nullptr) {
        std::ofstream{file, std::ios::binary} << reference_page();
    }
    EXPECT_EQ(read(file), reference_page());
}

}  // namespace
}  // namespace tagferry::gateway::config
