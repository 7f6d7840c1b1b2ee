// The Read service, case by case as conformance scripts ask.
#include "protocols/opcua/services/service.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

const limits bounds;

struct answer {
    status_code result = 0;
    std::vector<data_value_view> values{};
    bytes memory{};  // what the views look into
};

answer parse_answer(const reply& message) {
    answer out;
    out.result = raw_client::result_of(message, nullptr, &out.memory);
    if (out.result != status::good) {
        return out;
    }
    decoder in{out.memory, bounds};
    for (std::uint32_t left = in.array_length(1); left != 0; --left) {
        out.values.push_back(in.data_value());
    }
    EXPECT_EQ(in.array_length(1), 0U);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0U);
    return out;
}

answer ask(raw_client& client, const std::string& node, std::uint32_t attribute_id = 13,
           text_view range = {}, std::uint32_t timestamps = 2, double max_age = 1'000) {
    return parse_answer(
        client.call(client.read_request({node}, max_age, attribute_id, timestamps, range)));
}

status_code status_of(const answer& out) {
    return out.values.size() == 1 ? out.values[0].status : out.result;
}

template <typename T>
T number(const data_value_view& value) {
    T out{};
    std::memcpy(&out, value.value.elements.data(), sizeof out);
    return out;
}

// The numbers that RegisterNodes gives for these paths.
std::vector<std::string> registered(raw_client& client, const std::vector<std::string>& paths) {
    const bytes registering = client.request(id::register_nodes_request_binary, [&](encoder& out) {
        out.i32(static_cast<std::int32_t>(paths.size()));
        for (const std::string& path : paths) {
            raw_client::write_id(out, path);
        }
    });
    bytes rest;
    EXPECT_EQ(raw_client::result_of(client.call(registering), nullptr, &rest), status::good);
    decoder in{rest, bounds};
    std::vector<std::string> numbers(in.array_length(1));
    for (std::string& each : numbers) {
        each = "3#" + std::to_string(in.node_id().number);
    }
    return numbers;
}

struct reading : ::testing::Test {
    plant site{};
    raw_client client{site.connect()};
    reading() { client.open_session(); }
};

TEST_F(reading, gives_value_status_and_both_timestamps) {
    const answer out = ask(client, "press/tank/level");
    ASSERT_EQ(out.values.size(), 1U);
    EXPECT_EQ(out.values[0].value.type, builtin_type::float32);
    EXPECT_EQ(number<float>(out.values[0]), 42.5F);
    EXPECT_EQ(out.values[0].status, status::good);
    EXPECT_EQ(out.values[0].source_timestamp, date_time_ticks(1'700'000'001'000'000'000));
    EXPECT_EQ(out.values[0].server_timestamp, date_time_ticks(1'700'000'001'000'000'000));
}

TEST_F(reading, gives_the_timestamps_that_were_asked_for) {
    for (const std::uint32_t which : {0U, 1U, 2U, 3U}) {
        const answer out = ask(client, "press/tank/level", 13, {}, which);
        EXPECT_EQ(out.values[0].has_source_timestamp, which == 0 || which == 2);
        EXPECT_EQ(out.values[0].has_server_timestamp, which == 1 || which == 2);
    }
    EXPECT_EQ(ask(client, "press/tank/level", 13, {}, 4).result,
              status::bad_timestamps_to_return_invalid);
}

TEST_F(reading, refuses_a_negative_max_age_and_takes_a_great_one) {
    EXPECT_EQ(ask(client, "press/tank/level", 13, {}, 2, -1).result, status::bad_max_age_invalid);
    EXPECT_EQ(
        ask(client, "press/tank/level", 13, {}, 2, std::numeric_limits<double>::quiet_NaN()).result,
        status::bad_max_age_invalid);
    EXPECT_EQ(ask(client, "press/tank/level", 13, {}, 2, 1e300).result, status::good);
}

TEST_F(reading, an_empty_list_is_nothing_to_do_and_a_long_one_too_many) {
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request({}))),
              status::bad_nothing_to_do);
    limits few = small_limits();
    few.max_nodes_per_read = 10;
    plant other{few};
    raw_client tight = other.connect();
    tight.open_session();
    EXPECT_EQ(raw_client::result_of(
                  tight.call(tight.read_request(std::vector<std::string>(10, "press/tank/level")))),
              status::good);
    EXPECT_EQ(raw_client::result_of(
                  tight.call(tight.read_request(std::vector<std::string>(11, "press/tank/level")))),
              status::bad_too_many_operations);
}

TEST_F(reading, tells_absent_from_malformed) {
    EXPECT_EQ(status_of(ask(client, "press/tank/none")), status::bad_node_id_unknown);
    EXPECT_EQ(status_of(ask(client, "")), status::bad_node_id_invalid);
    EXPECT_EQ(status_of(ask(client, "#0")), status::bad_node_id_invalid);
    EXPECT_EQ(status_of(ask(client, "#60000")), status::bad_node_id_unknown);
    EXPECT_EQ(status_of(ask(client, "9#5")), status::bad_node_id_unknown);
    EXPECT_EQ(status_of(ask(client, "3#5")), status::bad_node_id_unknown);
}

TEST_F(reading, an_attribute_that_the_class_has_not_is_invalid) {
    EXPECT_EQ(status_of(ask(client, "press/tank/level", 0)), status::bad_attribute_id_invalid);
    EXPECT_EQ(status_of(ask(client, "press/tank/level", 28)), status::bad_attribute_id_invalid);
    EXPECT_EQ(status_of(ask(client, "press/tank/level", 12)), status::bad_attribute_id_invalid);
    EXPECT_EQ(status_of(ask(client, "press/tank", 13)), status::bad_attribute_id_invalid);
    EXPECT_EQ(status_of(ask(client, "#85", 13)), status::bad_attribute_id_invalid);
}

TEST_F(reading, every_node_has_its_mandatory_attributes) {
    ASSERT_GT(standard_node_count, 5'000U);
    for (std::uint32_t at = 0; at < standard_node_count; ++at) {
        const std::string name = std::to_string(standard_nodes[at].namespace_index) + "#" +
                                 std::to_string(standard_nodes[at].number);
        for (const std::uint32_t which : {1U, 2U, 3U, 4U}) {
            const answer out = ask(client, name, which);
            ASSERT_EQ(status_of(out), status::good) << name << " attribute " << which;
            ASSERT_FALSE(out.values[0].has_source_timestamp);
        }
    }
}

TEST_F(reading, every_variable_of_the_standard_has_a_readable_value) {
    for (std::uint32_t at = 0; at < standard_node_count; ++at) {
        if (standard_nodes[at].node_class != 2) {
            continue;
        }
        const std::string name = std::to_string(standard_nodes[at].namespace_index) + "#" +
                                 std::to_string(standard_nodes[at].number);
        for (const std::uint32_t which : {13U, 14U, 15U, 17U, 18U, 20U}) {
            // What this server does not keep it says so of, and does not call it nothing.
            const status_code seen = status_of(ask(client, name, which));
            ASSERT_TRUE(seen == status::good || (which == 13 && seen == status::bad_not_supported))
                << name << " " << which;
        }
    }
}

TEST_F(reading, data_types_say_how_they_are_built) {
    // ServerStatusDataType, a structure, and ServerState, an enumeration.
    for (const char* name : {"#862", "#852"}) {
        const answer out = ask(client, name, 23);
        ASSERT_EQ(status_of(out), status::good) << name;
        decoder in{out.values[0].value.elements, bounds};
        const extension_object_view definition = in.extension_object();
        EXPECT_EQ(definition.type.number, name == std::string_view{"#862"} ? 122U : 123U);
        decoder body{definition.body, bounds};
        if (definition.type.number == 122) {
            EXPECT_EQ(body.node_id().number, 864U);  // its binary encoding
            EXPECT_EQ(body.node_id().number, 22U);   // Structure
            EXPECT_EQ(body.i32(), 0);
            EXPECT_EQ(body.array_length(1), 6U);
            EXPECT_EQ(body.string(), "StartTime");
        } else {
            EXPECT_EQ(body.array_length(1), 8U);
            EXPECT_EQ(body.i64(), 0);
            EXPECT_EQ(body.localized_text().text, "Running");
        }
    }
}

TEST_F(reading, parts_of_an_array_follow_the_rules_of_index_ranges) {
    const auto part = [&](text_view range) { return ask(client, "press/array", 13, range); };
    const answer middle = part("1:3");
    ASSERT_EQ(status_of(middle), status::good);
    EXPECT_EQ(middle.values[0].value.array_length, 3);
    EXPECT_EQ(number<std::int16_t>(middle.values[0]), 10);
    EXPECT_EQ(part("2").values[0].value.array_length, 1);
    EXPECT_EQ(part("3:100").values[0].value.array_length, 2);  // what there is
    EXPECT_EQ(status_of(part("5:7")), status::bad_index_range_no_data);
    EXPECT_EQ(status_of(part("3:2")), status::bad_index_range_invalid);
    EXPECT_EQ(status_of(part("2:2")), status::bad_index_range_invalid);
    EXPECT_EQ(status_of(part("-1:2")), status::bad_index_range_invalid);
    EXPECT_EQ(status_of(part("0:1,0:1")), status::bad_index_range_no_data);
    EXPECT_EQ(status_of(ask(client, "press/tank/level", 13, "0")), status::bad_index_range_no_data);
    EXPECT_EQ(status_of(ask(client, "press/array", 3, "0")), status::bad_index_range_no_data);
}

TEST_F(reading, parts_work_on_text_arrays_and_on_the_standards_own) {
    bytes texts = slot_of_text("one");
    append(texts, slot_of_text("zwei"));
    append(texts, slot_of_text("drei"));
    site.gateway.add_tag("press/texts", builtin_type::string, texts, 3);
    const answer out = ask(client, "press/texts", 13, "1:2");
    ASSERT_EQ(status_of(out), status::good);
    decoder in{out.values[0].value.elements, bounds};
    EXPECT_EQ(in.string(), "zwei");
    EXPECT_EQ(in.string(), "drei");
    const answer uris = ask(client, "#2255", 13, "3");
    ASSERT_EQ(status_of(uris), status::good);
    decoder names{uris.values[0].value.elements, bounds};
    EXPECT_EQ(names.string(), "urn:tagferry:tags");
}

TEST_F(reading, a_large_array_arrives_whole) {
    bytes numbers;
    for (std::int32_t each = 0; each < 40'000; ++each) {
        append(numbers, slot_of(each));
    }
    site.gateway.add_tag("press/large", builtin_type::int32, numbers, 40'000);
    const answer out = ask(client, "press/large");
    ASSERT_EQ(status_of(out), status::good);
    ASSERT_EQ(out.values[0].value.array_length, 40'000);
    EXPECT_TRUE(std::equal(numbers.begin(), numbers.end(), out.values[0].value.elements.begin()));
}

TEST_F(reading, edge_E64_data_encoding) {
    const auto with_encoding = [&](const std::string& node, std::uint32_t attribute_id,
                                   text_view name) {
        return status_of(
            parse_answer(client.call(client.request(id::read_request_binary, [&](encoder& out) {
                out.float64(1'000);
                out.u32(2);
                out.i32(1);
                raw_client::write_id(out, node);
                out.u32(attribute_id);
                out.string({});
                out.qualified_name(0, name);
            }))));
    };
    EXPECT_EQ(with_encoding("press/tank/level", 13, "Default Binary"), status::good);
    EXPECT_EQ(with_encoding("#2256", 13, "Default Binary"), status::good);
    EXPECT_EQ(with_encoding("#2256", 13, "Default XML"), status::bad_data_encoding_unsupported);
    EXPECT_EQ(with_encoding("#2256", 13, "Nonsense"), status::bad_data_encoding_invalid);
    EXPECT_EQ(with_encoding("#2256", 3, "Default Binary"), status::bad_data_encoding_invalid);
}

TEST_F(reading, a_bad_quality_has_a_status_timestamps_and_no_value) {
    fake_backend::tag& level = site.gateway.tag_at("press/tank/level");
    level.status = status::bad_no_communication;
    level.value.clear();
    const answer out = ask(client, "press/tank/level");
    EXPECT_EQ(status_of(out), status::bad_no_communication);
    EXPECT_FALSE(out.values[0].has_value);
    EXPECT_TRUE(out.values[0].has_server_timestamp);
}

TEST_F(reading, a_removed_tag_is_unknown_whatever_named_it) {
    const std::string alias = registered(client, {"press/array"})[0];
    EXPECT_EQ(status_of(ask(client, alias)), status::good);
    site.gateway.remove_tag("press/array");
    EXPECT_EQ(status_of(ask(client, alias)), status::bad_node_id_unknown);
    EXPECT_EQ(status_of(ask(client, "press/array")), status::bad_node_id_unknown);
}

// What items have in common is done for many at once; nobody may see that.
TEST_F(reading, items_of_every_kind_in_one_request_are_answered_as_each_alone) {
    std::vector<std::string> names{"press/tank/level"};
    for (int tag = 0; tag < 70; ++tag) {
        names.push_back("bulk/t" + std::to_string(tag));
        site.gateway.add_tag(names.back(), builtin_type::int32, slot_of(tag));
    }
    site.gateway.tag_at("bulk/t40").status = status::bad_no_communication;
    site.gateway.tag_at("bulk/t40").value.clear();
    site.gateway.tag_at("bulk/t41").status = status::uncertain_last_usable_value;
    const std::vector<std::string> aliases = registered(client, names);
    std::vector<std::string> all = names;
    all.insert(all.end(), aliases.begin(), aliases.end());
    for (const char* const each :
         {"press/array", "bulk/t1", "press/recipe/name", "press", "nothing/here", "3#1", "#2258",
          "bulk/t2", "1#7", "bulk/t3", "#0", "3#0", "press/tank"}) {
        all.emplace_back(each);
    }
    all.insert(all.end(), {aliases[5], names[6], aliases[7], "#2267", aliases[8]});
    const answer together = parse_answer(client.call(client.read_request(all)));
    ASSERT_EQ(together.values.size(), all.size());
    for (std::size_t at = 0; at < all.size(); ++at) {
        const answer alone = ask(client, all[at]);
        ASSERT_EQ(alone.values.size(), 1U);
        const data_value_view& one = alone.values[0];
        const data_value_view& other = together.values[at];
        EXPECT_EQ(other.status, one.status) << all[at];
        EXPECT_EQ(other.has_value, one.has_value) << all[at];
        EXPECT_EQ(other.value.type, one.value.type) << all[at];
        EXPECT_TRUE(std::ranges::equal(other.value.elements, one.value.elements)) << all[at];
        EXPECT_EQ(other.source_timestamp, one.source_timestamp) << all[at];
        EXPECT_EQ(other.has_server_timestamp, one.has_server_timestamp) << all[at];
    }
    EXPECT_EQ(number<std::int32_t>(together.values[70]), 69);
    EXPECT_EQ(number<std::int32_t>(together.values[141]), 69);
    EXPECT_EQ(together.values[41].status, status::bad_no_communication);
    EXPECT_EQ(together.values[42].status, status::uncertain_last_usable_value);
}

TEST_F(reading, a_path_longer_than_its_request_is_malformed) {
    bytes wire = client.read_request({"press/tank/level", "press/tank/level"});
    // The length of the second path, which its 16 bytes and 14 more follow.
    wire[wire.size() - 16 - 14 - 4] = std::byte{60};
    EXPECT_EQ(parse_answer(client.call(wire)).result, status::bad_decoding_error);
}

TEST_F(reading, ten_thousand_nodes_take_several_turns_and_give_the_same) {
    site.bounds.max_nodes_per_read = 10'000;
    // A request of 10,000 short ids fits several chunks of 64 KiB.
    const std::vector<std::string> nodes(10'000, "#2258");
    const bytes whole = client.read_request(nodes);
    client.sequence -= 1;
    const bytes body{whole.begin() + 24, whole.end()};
    client.driver.yields = 0;
    bytes wire;
    const std::size_t piece = 60'000;
    for (std::size_t at = 0; at < body.size(); at += piece) {
        const std::size_t part = std::min(piece, body.size() - at);
        append(wire, client.chunk(at + part == body.size() ? "MSGF" : "MSGC",
                                  std::span{body}.subspan(at, part), 9));
    }
    const answer out = parse_answer(client.call(wire));
    EXPECT_EQ(out.values.size(), 10'000U);
    EXPECT_GE(client.driver.yields, 10'000U / bounds.turn_items);
}

TEST_F(reading, max_age_zero_asks_the_device_and_answers_when_it_has) {
    client.driver.feed(client.read_request({"press/tank/level", "#2258"}, 0));
    EXPECT_EQ(client.next().type, "");
    ASSERT_EQ(site.gateway.pending_reads.size(), 1U);
    EXPECT_EQ(site.gateway.pending_reads.front().count, 1U);
    // Meanwhile the channel answers other requests.
    EXPECT_EQ(status_of(ask(client, "press/recipe/name")), status::good);
    site.gateway.tag_at("press/tank/level").value = slot_of(7.5F);
    site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    client.driver.turn();
    const answer out = parse_answer(client.next());
    ASSERT_EQ(out.values.size(), 2U);
    EXPECT_EQ(number<float>(out.values[0]), 7.5F);
}

TEST_F(reading, max_age_zero_asks_in_batches) {
    const std::vector<std::string> nodes(600, "press/tank/level");
    client.driver.feed(client.read_request(nodes, 0));
    std::size_t asked = 0;
    while (!site.gateway.pending_reads.empty()) {
        asked += site.gateway.pending_reads.front().count;
        site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    }
    client.driver.turn();
    EXPECT_EQ(asked, 600U);
    EXPECT_EQ(parse_answer(client.next()).values.size(), 600U);
}

TEST_F(reading, answers_from_the_table_when_the_gateway_has_enough_to_do) {
    site.gateway.refuse_device_reads = true;
    EXPECT_EQ(status_of(ask(client, "press/tank/level", 13, {}, 2, 0)), status::good);
}

TEST_F(reading, a_device_read_past_its_hint_is_a_timeout_and_frees_everything) {
    client.driver.feed(client.read_request({"press/tank/level"}, 0, 13, 2, {}, 500));
    site.time.advance(501ms);
    EXPECT_LE(site.host->deadline(), site.time.now());
    site.host->expire(site.time.now());
    client.driver.turn();
    EXPECT_EQ(raw_client::result_of(client.next()), status::bad_timeout);
    site.gateway.complete_device_read(device_read_result::timed_out, site.time.now());
    client.driver.turn();
    EXPECT_EQ(client.next().type, "");
    EXPECT_EQ(status_of(ask(client, "press/tank/level")), status::good);
}

// Claroty "function_call_null_deref", CVE-2022-1748: what ends while work is outstanding.
TEST_F(reading, a_session_or_channel_that_ends_meanwhile_drops_the_answer) {
    client.driver.feed(client.read_request({"press/tank/level"}, 0));
    EXPECT_EQ(raw_client::result_of(client.call(client.request(
                  id::close_session_request_binary, [](encoder& out) { out.boolean(true); }))),
              status::good);
    site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    client.driver.turn();
    EXPECT_EQ(client.next().type, "");

    auto second = std::make_unique<raw_client>(*site.host, site.time);
    second->open_session();
    second->driver.feed(second->read_request({"press/tank/level"}, 0));
    second.reset();
    site.gateway.complete_device_read(device_read_result::completed, site.time.now());
}

TEST_F(reading, more_device_reads_than_allowed_are_answered_from_the_table) {
    for (std::uint32_t count = 0; count < site.bounds.max_pending_operations_per_session; ++count) {
        client.driver.feed(client.read_request({"press/tank/level"}, 0));
    }
    EXPECT_EQ(client.next().type, "");
    EXPECT_EQ(status_of(ask(client, "press/tank/level", 13, {}, 2, 0)), status::good);
    while (!site.gateway.pending_reads.empty()) {
        site.gateway.complete_device_read(device_read_result::completed, site.time.now());
    }
    client.driver.turn();
    for (std::uint32_t count = 0; count < site.bounds.max_pending_operations_per_session; ++count) {
        EXPECT_EQ(raw_client::result_of(client.next()), status::good);
    }
}

TEST_F(reading, edge_E38_advertised_limits_are_typed_and_are_those_enforced) {
    const answer points = ask(client, "#2735");
    EXPECT_EQ(points.values[0].value.type, builtin_type::uint16);
    EXPECT_EQ(number<std::uint16_t>(points.values[0]), bounds.max_continuation_points_per_session);
    const answer reads = ask(client, "#11705");
    EXPECT_EQ(reads.values[0].value.type, builtin_type::uint32);
    EXPECT_EQ(number<std::uint32_t>(reads.values[0]), bounds.max_nodes_per_read);
}

TEST(edge_E15, an_answer_over_our_own_limit_of_chunks_is_a_fault_too) {
    limits few;
    few.max_response_chunks = 2;
    plant site{few};
    raw_client client = site.connect();
    client.call(raw_client::hello_frame(8'192, 65'536, 0, 0));
    client.take_open(client.call(client.open_frame()));
    client.create_session();
    client.activate();
    const std::vector<std::string> paths(1'500, "press/recipe/name");
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request(paths))),
              status::bad_response_too_large);
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request({"press/tank/level"}))),
              status::good);
}

}  // namespace
}  // namespace tagferry::opcua::test
