// The Write service and Cancel, case by case as conformance scripts ask.
#include "protocols/opcua/services/service.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

const limits bounds;
using codes = std::vector<status_code>;

struct item {
    std::string node{};
    std::function<void(encoder&)> value{};  // the DataValue
    std::string range{};
    std::uint32_t attribute_id = 13;
};

template <typename T>
std::function<void(encoder&)> number(builtin_type type, T value) {
    return [type, value](encoder& out) {
        out.u8(1);
        out.variant_head(type);
        out.write(value);
    };
}
std::function<void(encoder&)> real(float value) {
    return number(builtin_type::float32, value);
}
std::function<void(encoder&)> text(text_view value) {
    return [value](encoder& out) {
        out.u8(1);
        out.variant_head(builtin_type::string);
        out.string(value);
    };
}
std::function<void(encoder&)> int16_array(const std::vector<std::int16_t>& values) {
    return [values](encoder& out) {
        out.u8(1);
        out.variant_array_head(builtin_type::int16, static_cast<std::uint32_t>(values.size()));
        for (const std::int16_t each : values) {
            out.write(each);
        }
    };
}

struct writing : ::testing::Test {
    plant site{};
    raw_client client{site.connect()};

    writing() {
        site.gateway.rules.allow_anonymous_write = true;
        for (const char* path : {"press/tank/level", "press/recipe/name", "press/array"}) {
            site.gateway.tag_at(path).writable = true;
        }
        site.gateway.add_tag("press/fixed", builtin_type::int16, slot_of(std::int16_t{7}));
        client.open_session();
    }

    bytes request(const std::vector<item>& items, std::uint32_t timeout_ms = 0) {
        return client.request(
            id::write_request_binary,
            [&](encoder& out) {
                out.i32(static_cast<std::int32_t>(items.size()));
                for (const item& each : items) {
                    raw_client::write_id(out, each.node);
                    out.u32(each.attribute_id);
                    out.string(each.range.empty() ? text_view{} : text_view{each.range});
                    each.value(out);
                }
            },
            timeout_ms);
    }
    static codes results(const reply& message) {
        bytes rest;
        std::uint32_t type = 0;
        const status_code fault = raw_client::result_of(message, &type, &rest);
        if (fault != status::good) {
            EXPECT_EQ(type, id::service_fault_binary);
            return {fault};
        }
        EXPECT_EQ(type, id::write_response_binary);
        codes out;
        decoder in{rest, bounds};
        for (std::uint32_t left = in.array_length(4); left != 0; --left) {
            out.push_back(in.u32());
        }
        EXPECT_EQ(in.array_length(1), 0U);
        EXPECT_TRUE(in.ok());
        EXPECT_EQ(in.remaining(), 0U);
        return out;
    }
    /// Writes and lets the devices accept what reached them.
    codes write(const std::vector<item>& items) {
        client.driver.feed(request(items));
        if (!site.gateway.pending_writes.empty()) {
            site.gateway.complete_write(site.time.now());
        }
        client.driver.turn();
        return results(client.next());
    }
    template <typename T>
    T held(const std::string& path) {
        T out{};
        const std::vector<std::byte>& value = site.gateway.tag_at(path).value;
        EXPECT_EQ(value.size(), sizeof out);
        std::memcpy(&out, value.data(), std::min(sizeof out, value.size()));
        return out;
    }
    std::uint64_t pending() const { return site.host->statistics().pending_operations; }
    float level() { return held<float>("press/tank/level"); }
};

TEST_F(writing, a_value_reaches_its_device_and_the_answer_is_what_the_device_said) {
    EXPECT_EQ(write({{"press/tank/level", real(12.5F)}}), codes{status::good});
    EXPECT_EQ(level(), 12.5F);
    EXPECT_EQ(pending(), 0U);
}

TEST_F(writing, an_empty_list_is_nothing_to_do_and_a_long_one_too_many) {
    EXPECT_EQ(write({}), codes{status::bad_nothing_to_do});
    limits few = small_limits();
    few.max_nodes_per_write = 2;
    plant small{few};
    raw_client other{small.connect()};
    other.open_session();
    const auto three = other.request(id::write_request_binary, [](encoder& out) {
        out.i32(3);
        for (int left = 3; left != 0; --left) {
            raw_client::write_id(out, "press/tank/level");
            out.u32(13);
            out.string({});
            real(1)(out);
        }
    });
    EXPECT_EQ(results(other.call(three)), codes{status::bad_too_many_operations});
}

TEST_F(writing, the_wrong_type_or_shape_is_a_type_mismatch) {
    const auto null = [](encoder& out) {
        out.u8(1);
        out.variant_head(builtin_type::null);
    };
    const auto nothing = [](encoder& out) { out.u8(0); };
    const auto null_array = [](encoder& out) {
        out.u8(1);
        out.u8(static_cast<std::uint8_t>(builtin_type::int16) | 0x80U);
        out.i32(-1);
    };
    const auto matrix = [](encoder& out) {
        out.u8(1);
        out.u8(static_cast<std::uint8_t>(builtin_type::int16) | 0xC0U);
        out.i32(5);
        for (std::int16_t each = 0; each < 5; ++each) {
            out.write(each);
        }
        out.i32(2);
        out.i32(1);
        out.i32(5);
    };
    EXPECT_EQ(write({{"press/tank/level", number(builtin_type::float64, 1.0)},
                     {"press/tank/level", number(builtin_type::int16, std::int16_t{1})},
                     {"press/tank/level", text("1")},
                     {"press/tank/level", null},
                     {"press/tank/level", nothing},
                     {"press/tank/level", int16_array({1})},
                     {"press/array", number(builtin_type::int16, std::int16_t{1})},
                     {"press/array", null_array},
                     {"press/array", matrix},
                     {"press/array", int16_array({})},
                     {"press/array", int16_array({1, 2, 3, 4, 5, 6})}}),
              codes(11, status::bad_type_mismatch));
    EXPECT_EQ(site.gateway.writes_started, 0U);
    EXPECT_EQ(level(), 42.5F);
}

TEST_F(writing, not_a_number_and_the_ends_of_every_range_are_values) {
    const auto both_ends = [&]<typename T>(builtin_type type, T) {
        const std::string path = "press/t" + std::to_string(static_cast<int>(type));
        site.gateway.add_tag(path, type, slot_of(T{})).writable = true;
        for (const T value : {std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()}) {
            EXPECT_EQ(write({{path, number(type, value)}}), codes{status::good});
            EXPECT_EQ(held<T>(path), value);
        }
    };
    both_ends(builtin_type::sbyte, std::int8_t{});
    both_ends(builtin_type::byte, std::uint8_t{});
    both_ends(builtin_type::int16, std::int16_t{});
    both_ends(builtin_type::uint16, std::uint16_t{});
    both_ends(builtin_type::int32, std::int32_t{});
    both_ends(builtin_type::uint32, std::uint32_t{});
    both_ends(builtin_type::int64, std::int64_t{});
    both_ends(builtin_type::uint64, std::uint64_t{});
    both_ends(builtin_type::float32, float{});
    both_ends(builtin_type::float64, double{});
    both_ends(builtin_type::date_time, std::int64_t{});
    EXPECT_EQ(write({{"press/tank/level", real(std::numeric_limits<float>::quiet_NaN())}}),
              codes{status::good});
    EXPECT_TRUE(std::isnan(level()));
    EXPECT_EQ(write({{"press/tank/level", real(-std::numeric_limits<float>::infinity())}}),
              codes{status::good});
    EXPECT_TRUE(std::isinf(level()));
}

TEST_F(writing, any_byte_but_zero_is_true) {
    site.gateway.add_tag("press/run", builtin_type::boolean, slot_of(std::uint8_t{0})).writable =
        true;
    EXPECT_EQ(write({{"press/run", number(builtin_type::boolean, std::uint8_t{0x80})}}),
              codes{status::good});
    EXPECT_EQ(held<std::uint8_t>("press/run"), 1);
}

TEST_F(writing, a_byte_string_is_taken_for_an_array_of_byte) {
    site.gateway.add_tag("press/raw", builtin_type::byte, bytes(4), 4).writable = true;
    const auto raw = [](std::size_t count) {
        return [count](encoder& out) {
            const bytes value(count, std::byte{0xAB});
            out.u8(1);
            out.variant_head(builtin_type::byte_string);
            out.byte_string(value);
        };
    };
    const auto null = [](encoder& out) {
        out.u8(1);
        out.variant_head(builtin_type::byte_string);
        out.byte_string({});
    };
    EXPECT_EQ(write({{"press/raw", raw(4)}}), codes{status::good});
    EXPECT_EQ(site.gateway.tag_at("press/raw").value, bytes(4, std::byte{0xAB}));
    EXPECT_EQ(write({{"press/raw", raw(3)}, {"press/raw", raw(5)}, {"press/raw", null}}),
              codes(3, status::bad_type_mismatch));
    EXPECT_EQ(write({{"press/raw", raw(2), "1:2"}}), codes{status::good});
}

TEST_F(writing, texts_arrive_whole_alone_and_in_arrays) {
    bytes three;
    for (int left = 3; left != 0; --left) {
        append(three, slot_of_text(""));
    }
    site.gateway.add_tag("press/names", builtin_type::string, three, 3).writable = true;
    const auto names = [](encoder& out) {
        out.u8(1);
        out.variant_array_head(builtin_type::string, 3);
        out.string("a");
        out.string({});  // a null text is an empty one to a device
        out.string("länger");
    };
    bytes expected = slot_of_text("a");
    append(expected, slot_of_text(""));
    append(expected, slot_of_text("länger"));
    EXPECT_EQ(write({{"press/names", names}, {"press/recipe/name", text("Blau")}}),
              codes(2, status::good));
    EXPECT_EQ(site.gateway.tag_at("press/names").value, expected);
    EXPECT_EQ(site.gateway.tag_at("press/recipe/name").value, slot_of_text("Blau"));
}

TEST_F(writing, of_one_node_twice_in_a_call_the_last_wins) {
    EXPECT_EQ(write({{"press/tank/level", real(1)}, {"press/tank/level", real(2)}}),
              codes(2, status::good));
    EXPECT_EQ(level(), 2);
}

TEST_F(writing, results_stand_where_their_items_stood) {
    EXPECT_EQ(write({{"press/fixed", number(builtin_type::int16, std::int16_t{1})},
                     {"press/tank/level", real(1)},
                     {"nobody", real(1)},
                     {"press/recipe/name", text("x")},
                     {"#0", real(1)}}),
              (codes{status::bad_not_writable, status::good, status::bad_node_id_unknown,
                     status::good, status::bad_node_id_invalid}));
}

TEST_F(writing, what_is_not_the_value_of_a_writable_tag_is_refused) {
    EXPECT_EQ(
        write({{"press/fixed", number(builtin_type::int16, std::int16_t{1})},
               {"press/tank/level", text("x"), "", 4},   // DisplayName
               {"press/tank/level", text("x"), "", 99},  // no such attribute
               {"press/tank/level", text("x"), "", 8},   // IsAbstract: not of a Variable
               {"press/tank", real(1)},                  // a folder has no value
               {"#2255", text("x")},                     // NamespaceArray
               {"#85", text("x"), "", 3}}),
        (codes{status::bad_not_writable, status::bad_not_writable, status::bad_attribute_id_invalid,
               status::bad_attribute_id_invalid, status::bad_attribute_id_invalid,
               status::bad_not_writable, status::bad_not_writable}));
}

TEST_F(writing, without_the_role_it_is_denied_and_the_access_level_says_so) {
    site.gateway.rules.allow_anonymous_write = false;
    raw_client other{site.connect()};
    other.open_session();
    std::swap(client.token, other.token);
    other.driver.feed({});
    std::swap(client.token, other.token);
    EXPECT_EQ(results(other.call(other.request(id::write_request_binary,
                                               [](encoder& out) {
                                                   out.i32(1);
                                                   raw_client::write_id(out, "press/tank/level");
                                                   out.u32(13);
                                                   out.string({});
                                                   real(1)(out);
                                               }))),
              codes{status::bad_user_access_denied});
    EXPECT_EQ(level(), 42.5F);
    const auto level_of = [](raw_client& asking, std::uint32_t attribute_id) {
        bytes rest;
        raw_client::result_of(
            asking.call(asking.read_request({"press/tank/level"}, 1'000, attribute_id, 3)), nullptr,
            &rest);
        decoder in{rest, bounds};
        in.array_length(1);
        return std::to_integer<int>(in.data_value().value.elements[0]);
    };
    EXPECT_EQ(level_of(other, 17), 3);
    EXPECT_EQ(level_of(other, 18), 1);
    EXPECT_EQ(level_of(client, 18), 3);
}

TEST_F(writing, edge_E65_status_and_timestamps_are_not_writable_and_a_good_status_is_none) {
    const auto with = [](std::uint8_t mask, status_code code) {
        return [mask, code](encoder& out) {
            out.u8(static_cast<std::uint8_t>(mask | 1U));
            out.variant_head(builtin_type::float32);
            out.write(8.0F);
            if ((mask & 2U) != 0) {
                out.u32(code);
            }
            if ((mask & 4U) != 0) {
                out.i64(132'000'000'000'000'000);
            }
            if ((mask & 8U) != 0) {
                out.i64(132'000'000'000'000'000);
            }
        };
    };
    EXPECT_EQ(write({{"press/tank/level", with(2, status::bad_out_of_service)},
                     {"press/tank/level", with(4, 0)},
                     {"press/tank/level", with(8, 0)},
                     {"press/tank/level", with(14, status::good)}}),
              codes(4, status::bad_write_not_supported));
    EXPECT_EQ(write({{"press/tank/level", with(2, status::good)}}), codes{status::good});
    EXPECT_EQ(level(), 8);
}

TEST_F(writing, a_range_writes_the_elements_it_names) {
    EXPECT_EQ(write({{"press/array", int16_array({-1, -2}), "1:2"}}), codes{status::good});
    EXPECT_EQ(write({{"press/array", int16_array({-4}), "4"}}), codes{status::good});
    bytes expected;
    for (const int each : {0, -1, -2, 30, -4}) {
        append(expected, slot_of(static_cast<std::int16_t>(each)));
    }
    EXPECT_EQ(site.gateway.tag_at("press/array").value, expected);
}

TEST_F(writing, a_range_follows_the_rules_of_read) {
    for (const char* wrong :
         {"2:1", "1:1", "-1", "0x1", "1-2", "a", "1:", ":1", " 1", "1,", "+1"}) {
        EXPECT_EQ(write({{"press/array", int16_array({1, 2}), wrong}}),
                  codes{status::bad_index_range_invalid})
            << wrong;
    }
    EXPECT_EQ(write({{"press/array", int16_array({1}), "5"},
                     {"press/array", int16_array({1, 2}), "4:5"},
                     {"press/array", int16_array({1}), "0,0"},
                     {"press/tank/level", real(1), "0"},
                     {"press/recipe/name", text("ab"), "0:1"}}),
              codes(5, status::bad_index_range_no_data));
    EXPECT_EQ(write({{"press/array", int16_array({1, 2, 3}), "1:2"},
                     {"press/array", int16_array({}), "1:2"}}),
              codes(2, status::bad_index_range_data_mismatch));
    EXPECT_EQ(site.gateway.writes_started, 0U);
}

TEST_F(writing, registered_numbers_are_written_as_their_tags) {
    bytes rest;
    raw_client::result_of(client.call(client.request(id::register_nodes_request_binary,
                                                     [](encoder& out) {
                                                         out.i32(1);
                                                         raw_client::write_id(out,
                                                                              "press/tank/level");
                                                     })),
                          nullptr, &rest);
    decoder in{rest, bounds};
    in.array_length(1);
    EXPECT_EQ(write({{"3#" + std::to_string(in.node_id().number), real(3)}}), codes{status::good});
    EXPECT_EQ(level(), 3);
}

TEST_F(writing, each_outcome_reaches_the_client_as_the_device_gave_it) {
    const codes outcomes{status::good, status::bad_no_communication, status::bad_timeout,
                         status::bad_communication_error, status::bad_device_failure};
    client.driver.feed(request(std::vector<item>(5, {"press/tank/level", real(9)})));
    site.gateway.complete_write(outcomes, site.time.now());
    client.driver.turn();
    EXPECT_EQ(results(client.next()), outcomes);
}

TEST_F(writing, while_a_write_waits_reads_of_the_same_channel_are_answered) {
    const bytes sent = request({{"press/tank/level", real(1)}});
    client.driver.feed(sent);
    EXPECT_FALSE(client.has_reply());
    EXPECT_EQ(pending(), 1U);
    const reply read = client.call(client.read_request({"press/tank/level"}));
    EXPECT_EQ(raw_client::result_of(read), status::good);
    EXPECT_EQ(read.request_id, client.request_id);
    site.gateway.complete_write(site.time.now());
    client.driver.turn();
    const reply answer = client.next();
    EXPECT_EQ(answer.request_id, client.request_id - 1);
    EXPECT_EQ(results(answer), codes{status::good});
}

TEST_F(writing, the_value_sent_is_that_of_the_request_however_the_input_changes_after_it) {
    client.driver.feed(request({{"press/tank/level", real(1)}}));
    client.call(client.read_request({"press/array", "press/recipe/name", "press/tank/level"}));
    site.gateway.complete_write(site.time.now());
    EXPECT_EQ(level(), 1);
}

TEST_F(writing, the_deadline_comes_from_the_timeout_hint_and_its_outcomes_from_the_gateway) {
    client.driver.feed(request({{"press/tank/level", real(1)}}, 2'000));
    ASSERT_EQ(site.gateway.pending_writes.size(), 1U);
    EXPECT_EQ(site.gateway.pending_writes[0].deadline, site.time.now() + 2s);
    site.time.advance(2s);
    site.host->expire(site.time.now());
    client.driver.turn();
    EXPECT_FALSE(client.has_reply()) << "a timeout says less than the outcome of each item";
    site.gateway.complete_write(codes{status::bad_timeout}, site.time.now());
    client.driver.turn();
    EXPECT_EQ(results(client.next()), codes{status::bad_timeout});
}

TEST_F(writing, losing_the_channel_drops_the_answer_and_never_the_write) {
    {
        raw_client other{site.connect()};
        other.open_session();
        other.driver.feed(other.request(id::write_request_binary, [](encoder& out) {
            out.i32(1);
            raw_client::write_id(out, "press/tank/level");
            out.u32(13);
            out.string({});
            real(77)(out);
        }));
    }
    ASSERT_EQ(site.gateway.pending_writes.size(), 1U);
    EXPECT_EQ(pending(), 1U);
    site.gateway.complete_write(site.time.now());
    EXPECT_EQ(level(), 77);
    EXPECT_EQ(pending(), 0U);
}

TEST_F(writing, closing_the_session_drops_the_answer_and_never_the_write) {
    client.driver.feed(request({{"press/tank/level", real(78)}}));
    client.call(
        client.request(id::close_session_request_binary, [](encoder& out) { out.boolean(true); }));
    site.gateway.complete_write(site.time.now());
    client.driver.turn();
    EXPECT_FALSE(client.has_reply());
    EXPECT_EQ(level(), 78);
    EXPECT_EQ(pending(), 0U);
}

TEST_F(writing, cancel_answers_what_waits_and_never_takes_a_write_back) {
    client.driver.feed(request({{"press/tank/level", real(79)}}));
    const std::uint32_t handle = client.handle;
    client.driver.feed(client.read_request({"press/tank/level"}, 0));
    EXPECT_EQ(pending(), 2U);
    const auto cancel = [&](std::uint32_t which) {
        bytes rest;
        client.driver.feed(
            client.request(id::cancel_request_binary, [&](encoder& out) { out.u32(which); }));
        codes before;
        reply answer = client.next();
        while (answer.request_id != client.request_id) {
            before.push_back(raw_client::result_of(answer));
            answer = client.next();
        }
        std::uint32_t type = 0;
        EXPECT_EQ(raw_client::result_of(answer, &type, &rest), status::good);
        EXPECT_EQ(type, id::cancel_response_binary);
        decoder in{rest, bounds};
        EXPECT_EQ(in.u32(), before.size());
        return before;
    };
    EXPECT_EQ(cancel(handle + 1'000), codes{});
    EXPECT_EQ(cancel(handle), codes{status::bad_request_cancelled_by_client});
    EXPECT_EQ(cancel(handle), codes{});
    site.gateway.complete_write(site.time.now());
    client.driver.turn();
    EXPECT_FALSE(client.has_reply());
    EXPECT_EQ(level(), 79);
    EXPECT_EQ(cancel(handle + 1), codes{status::bad_request_cancelled_by_client});
}

TEST_F(writing, too_much_waiting_is_refused_and_nothing_of_it_is_sent) {
    const std::uint32_t most = bounds.max_pending_operations_per_session;
    for (std::uint32_t count = 0; count <= most; ++count) {
        client.driver.feed(request({{"press/tank/level", real(1)}}));
    }
    EXPECT_EQ(site.gateway.pending_writes.size(), most);
    EXPECT_EQ(results(client.next()), codes{status::bad_resource_unavailable});
    while (!site.gateway.pending_writes.empty()) {
        site.gateway.complete_write(site.time.now());
    }
    site.gateway.refuse_writes = true;
    client.driver.turn();
    for (std::uint32_t count = 0; count < most; ++count) {
        EXPECT_EQ(results(client.next()), codes{status::good});
    }
    EXPECT_EQ(write({{"press/tank/level", real(1)}, {"nobody", real(1)}}),
              (codes{status::bad_resource_unavailable, status::bad_node_id_unknown}));
    EXPECT_EQ(pending(), 0U);
}

TEST_F(writing, a_long_list_takes_several_turns_and_several_chunks) {
    std::vector<item> many(9'000, {"press/tank/level", real(5)});
    many[8'999].value = real(6);
    const bytes whole = request(many);
    const bytes_view body = bytes_view{whole}.subspan(24);
    client.sequence -= 1;
    for (std::size_t at = 0; at < body.size(); at += 60'000) {
        const bytes_view part = body.subspan(at, std::min<std::size_t>(60'000, body.size() - at));
        client.driver.feed(
            client.chunk(at + 60'000 < body.size() ? "MSGC" : "MSGF", part, client.request_id));
    }
    EXPECT_GT(client.driver.yields, 10);
    site.gateway.complete_write(site.time.now());
    client.driver.turn();
    EXPECT_EQ(results(client.next()), codes(9'000, status::good));
    EXPECT_EQ(level(), 6);
}

TEST_F(writing, an_item_cut_short_ends_the_request_and_sends_nothing) {
    bytes sent = request({{"press/tank/level", real(1)}, {"press/tank/level", real(2)}});
    sent.resize(sent.size() - 2);
    transport::store(sent.data() + 4, static_cast<std::uint32_t>(sent.size()), std::endian::little);
    EXPECT_EQ(results(client.call(sent)), codes{status::bad_decoding_error});
    EXPECT_EQ(site.gateway.writes_started, 0U);
    EXPECT_EQ(write({{"press/tank/level", real(3)}}), codes{status::good});
}

}  // namespace
}  // namespace tagferry::opcua::test
