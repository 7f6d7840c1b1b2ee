// The nodes of the Server object and the properties of tags and devices.
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

const limits bounds;

struct serving : ::testing::Test {
    plant site{};
    raw_client client{site.connect()};
    bytes memory{};

    serving() {
        site.gateway.tag_at("press/tank/level").unit = "mm";
        client.open_session();
    }

    using writer = std::function<void(encoder&)>;
    static writer number(std::uint32_t number) {
        return [number](encoder& out) { out.numeric_id(0, number); };
    }
    static writer property_of(const std::string& text) {
        return [text](encoder& out) { out.node_id({1, node_id_kind::string, 0, text}); };
    }
    data_value_view read(const writer& node, std::uint32_t attribute_id = 13) {
        const reply answer = client.call(client.request(id::read_request_binary, [&](encoder& out) {
            out.float64(1'000);
            out.u32(3);
            out.i32(1);
            node(out);
            out.u32(attribute_id);
            out.string({});
            out.qualified_name(0, {});
        }));
        EXPECT_EQ(raw_client::result_of(answer, nullptr, &memory), status::good);
        decoder in{memory, bounds};
        EXPECT_EQ(in.array_length(1), 1U);
        return in.data_value();
    }
    std::uint32_t count(std::uint32_t which) {
        const data_value_view value = read(number(which));
        EXPECT_EQ(value.status, status::good);
        EXPECT_EQ(value.value.type, builtin_type::uint32) << which;
        decoder in{value.value.elements, bounds};
        return in.u32();
    }
    struct reference {
        std::uint32_t type = 0;
        bool is_forward = false;
        std::string target{};
        std::uint32_t type_definition = 0;
    };
    std::map<std::string, reference> browse(const writer& node) {
        const reply answer =
            client.call(client.request(id::browse_request_binary, [&](encoder& out) {
                out.numeric_id(0, 0);
                out.i64(0);
                out.u32(0);
                out.u32(0);
                out.i32(1);
                node(out);
                out.u32(2);
                out.numeric_id(0, 0);
                out.boolean(true);
                out.u32(0);
                out.u32(63);
            }));
        EXPECT_EQ(raw_client::result_of(answer, nullptr, &memory), status::good);
        decoder in{memory, bounds};
        in.array_length(1);
        EXPECT_EQ(in.u32(), status::good);
        in.byte_string();
        std::map<std::string, reference> out;
        for (std::uint32_t left = in.array_length(1); left != 0; --left) {
            reference each;
            each.type = in.node_id().number;
            each.is_forward = in.boolean();
            each.target = in.expanded_node_id().id.bytes;
            const std::string name{in.qualified_name().name};
            in.localized_text();
            in.u32();
            each.type_definition = in.expanded_node_id().id.number;
            out.emplace(name, each);
        }
        EXPECT_TRUE(in.ok());
        return out;
    }
};

TEST_F(serving, the_diagnostics_summary_counts) {
    EXPECT_EQ(count(id::server_server_diagnostics_server_diagnostics_summary_current_session_count),
              1U);
    {
        raw_client other{site.connect()};
        other.open_session();
        other.open_session();
    }
    for (std::uint32_t left = bounds.max_sessions; left != 0; --left) {
        raw_client other{site.connect()};
        other.open();
        other.create_session();
    }
    EXPECT_EQ(count(id::server_server_diagnostics_server_diagnostics_summary_current_session_count),
              bounds.max_sessions);
    EXPECT_GT(
        count(id::server_server_diagnostics_server_diagnostics_summary_rejected_session_count), 0U);
    EXPECT_EQ(
        count(id::server_server_diagnostics_server_diagnostics_summary_cumulated_session_count),
        bounds.max_sessions);
    const std::uint32_t rejected =
        count(id::server_server_diagnostics_server_diagnostics_summary_rejected_requests_count);
    client.call(client.request(9'999, [](encoder&) {}));
    EXPECT_EQ(
        count(id::server_server_diagnostics_server_diagnostics_summary_rejected_requests_count),
        rejected + 1);
    site.time.advance(31s);
    client.call(client.read_request({"press/tank/level"}));
    site.host->expire(site.time.now());
    EXPECT_GT(count(id::server_server_diagnostics_server_diagnostics_summary_session_timeout_count),
              0U);
}

TEST_F(serving, the_summary_as_a_structure_has_the_values_of_its_members) {
    const std::uint32_t rejected =
        count(id::server_server_diagnostics_server_diagnostics_summary_rejected_requests_count);
    const data_value_view value =
        read(number(id::server_server_diagnostics_server_diagnostics_summary));
    decoder in{value.value.elements, bounds};
    const extension_object_view object = in.extension_object();
    EXPECT_EQ(object.type.number, id::server_diagnostics_summary_data_type_binary);
    ASSERT_EQ(object.body.size(), 48U);
    decoder fields{object.body, bounds};
    fields.u32();
    EXPECT_EQ(fields.u32(), 1U);
    fields.bytes(36);
    EXPECT_EQ(fields.u32(), rejected);
}

TEST_F(serving, what_is_not_kept_says_so_and_declarations_are_null) {
    for (const std::uint32_t absent : {2289U, 3707U, 12885U, 17634U, 16192U, 14157U}) {
        const data_value_view value = read(number(absent));
        EXPECT_EQ(value.status, status::bad_not_supported) << absent;
        EXPECT_FALSE(value.has_value);
    }
    for (const std::uint32_t declaration : {2139U, 2005U, 3068U}) {
        const data_value_view value = read(number(declaration));
        EXPECT_EQ(value.status, status::good) << declaration;
        EXPECT_EQ(value.value.type, builtin_type::null) << declaration;
    }
}

TEST_F(serving, capabilities_are_typed_and_no_history_is_promised) {
    for (const std::uint32_t limit : {11'705U, 11'707U, 11'709U, 11'710U, 11'712U, 24'095U}) {
        if (limit == 11'709U) {
            EXPECT_EQ(read(number(limit)).status, status::bad_not_supported);
        } else {
            EXPECT_GT(count(limit), 0U);
        }
    }
    for (const std::uint32_t history : {11'193U, 11'242U, 11'196U, 19'091U}) {
        const data_value_view value = read(number(history));
        EXPECT_EQ(value.value.type, builtin_type::boolean) << history;
        EXPECT_EQ(value.value.elements[0], std::byte{0});
    }
    EXPECT_EQ(read(number(24'101U)).value.array_length, 0);
}

TEST_F(serving, every_status_member_lives) {
    for (std::uint32_t member = 2'256; member <= 2'266; ++member) {
        const data_value_view value = read(number(member));
        EXPECT_EQ(value.status, status::good) << member;
        EXPECT_NE(value.value.type, builtin_type::null) << member;
    }
}

TEST_F(serving, a_tag_with_a_unit_has_it_as_a_property) {
    const auto references =
        browse([](encoder& out) { raw_client::write_id(out, "press/tank/level"); });
    ASSERT_TRUE(references.contains("EngineeringUnits"));
    const reference& unit = references.at("EngineeringUnits");
    EXPECT_EQ(unit.type, id::has_property);
    EXPECT_TRUE(unit.is_forward);
    EXPECT_EQ(unit.target, "press/tank/level/EngineeringUnits");
    EXPECT_EQ(unit.type_definition, id::property_type);
    EXPECT_TRUE(references.contains("AnalogUnitType"));

    const data_value_view value = read(property_of(unit.target));
    EXPECT_EQ(value.status, status::good);
    decoder in{value.value.elements, bounds};
    const extension_object_view object = in.extension_object();
    EXPECT_EQ(object.type.number, id::euinformation_binary);
    decoder fields{object.body, bounds};
    EXPECT_EQ(fields.string(), "http://www.opcfoundation.org/UA/units/un/cefact");
    EXPECT_EQ(fields.i32(), 5'066'068);
    EXPECT_EQ(fields.localized_text().text, "mm");
    EXPECT_EQ(fields.localized_text().text, "millimetre");
    EXPECT_TRUE(fields.ok());

    const auto back = browse(property_of(unit.target));
    ASSERT_TRUE(back.contains("level"));
    EXPECT_FALSE(back.at("level").is_forward);
}

TEST_F(serving, a_tag_without_a_unit_has_no_such_property) {
    EXPECT_FALSE(browse([](encoder& out) {
                     raw_client::write_id(out, "press/array");
                 }).contains("EngineeringUnits"));
    EXPECT_EQ(read(property_of("press/array/EngineeringUnits")).status,
              status::bad_node_id_unknown);
    for (const char* wrong : {"press/tank/level/EngineeringUnit", "press/tank/level/",
                              "nobody/EngineeringUnits", "EngineeringUnits", "/"}) {
        EXPECT_EQ(read(property_of(wrong)).status, status::bad_node_id_unknown) << wrong;
    }
}

TEST_F(serving, the_property_goes_when_its_tag_goes) {
    site.gateway.remove_tag("press/tank/level");
    EXPECT_EQ(read(property_of("press/tank/level/EngineeringUnits")).status,
              status::bad_node_id_unknown);
}

TEST_F(serving, every_attribute_of_a_property_is_readable_and_none_writable) {
    const auto node = property_of("press/tank/level/EngineeringUnits");
    for (const std::uint32_t each :
         {1U, 2U, 3U, 4U, 5U, 6U, 7U, 13U, 14U, 15U, 16U, 17U, 18U, 20U}) {
        EXPECT_EQ(read(node, each).status, status::good) << each;
    }
    EXPECT_EQ(read(node, 12).status, status::bad_attribute_id_invalid);
    decoder in{read(node, 1).value.elements, bounds};
    const node_id_view itself = in.node_id();
    EXPECT_EQ(itself.namespace_index, 1);
    EXPECT_EQ(itself.bytes, "press/tank/level/EngineeringUnits");
}

TEST_F(serving, a_connection_is_a_device_with_its_nameplate) {
    const auto references = browse([](encoder& out) { raw_client::write_id(out, "press"); });
    EXPECT_TRUE(references.contains("DeviceType"));
    EXPECT_FALSE(references.at("DeviceSet").is_forward);
    EXPECT_FALSE(references.at("Objects").is_forward);
    for (const char* name : {"Manufacturer", "Model", "HardwareRevision", "SoftwareRevision",
                             "DeviceRevision", "DeviceManual", "SerialNumber", "RevisionCounter"}) {
        ASSERT_TRUE(references.contains(name)) << name;
        EXPECT_EQ(read(property_of(std::string{"press/"} + name)).status, status::good);
    }
    {
        decoder in{read(property_of("press/Model")).value.elements, bounds};
        EXPECT_EQ(in.localized_text().text, "Press 9");
    }
    decoder in{read(property_of("press/RevisionCounter")).value.elements, bounds};
    EXPECT_EQ(in.i32(), -1);
}

}  // namespace
}  // namespace tagferry::opcua::test
