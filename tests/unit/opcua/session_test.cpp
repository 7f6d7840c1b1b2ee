// Sessions, identity and discovery: E-rows and what a client is told.
#include "protocols/opcua/services/endpoints.hpp"
#include "protocols/opcua/services/service.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

status_code read_level(raw_client& client) {
    return raw_client::result_of(client.call(client.read_request({"press/tank/level"})));
}

TEST(edge_E08, a_session_is_not_used_on_a_channel_it_was_not_activated_on) {
    plant site;
    raw_client first = site.connect();
    first.open_session();
    raw_client second = site.connect();
    second.open();
    second.token = first.token;
    EXPECT_EQ(read_level(second), status::bad_secure_channel_id_invalid);
    EXPECT_EQ(second.activate(), status::good);
    EXPECT_EQ(read_level(second), status::good);
}

TEST(edge_E09, the_old_channel_loses_a_session_that_moves) {
    plant site;
    raw_client first = site.connect();
    first.open_session();
    raw_client second = site.connect();
    second.open();
    second.token = first.token;
    second.activate();
    EXPECT_EQ(read_level(first), status::bad_secure_channel_id_invalid);
}

TEST(edge_E10, a_session_outlives_its_connection_until_its_timeout) {
    plant site;
    std::string token;
    {
        raw_client first = site.connect();
        first.open_session();
        token = first.token;
    }
    site.time.advance(59s);
    site.host->expire(site.time.now());
    raw_client second = site.connect();
    second.open();
    second.token = token;
    EXPECT_EQ(second.activate(), status::good);
    EXPECT_EQ(read_level(second), status::good);
    site.time.advance(61s);
    site.host->expire(site.time.now());
    EXPECT_EQ(read_level(second), status::bad_session_id_invalid);
}

TEST(edge_E11, a_timeout_too_small_or_absurd_is_revised) {
    plant site{small_limits()};
    raw_client client = site.connect();
    client.open();
    const auto revised = [&](double asked) {
        EXPECT_EQ(client.create_session(asked), status::good);
        const double got = client.revised_timeout_ms;
        client.call(client.request(id::close_session_request_binary,
                                   [](encoder& out) { out.boolean(true); }));
        return got;
    };
    EXPECT_EQ(revised(0), 10'000);
    EXPECT_EQ(revised(-1), 10'000);
    EXPECT_EQ(revised(std::numeric_limits<double>::quiet_NaN()), 10'000);
    EXPECT_EQ(revised(1), 10'000);
    EXPECT_EQ(revised(45'000), 45'000);
    EXPECT_EQ(revised(std::numeric_limits<double>::infinity()), 3'600'000);
}

TEST(edge_E11, requests_keep_a_session_alive) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session(10'000);
    client.activate();
    for (int count = 0; count < 10; ++count) {
        site.time.advance(9s);
        site.host->expire(site.time.now());
        EXPECT_EQ(read_level(client), status::good);
    }
}

TEST(edge_E12, not_activated_and_unknown_are_told_apart) {
    plant site;
    raw_client client = site.connect();
    client.open();
    EXPECT_EQ(read_level(client), status::bad_session_id_invalid);
    client.create_session();
    EXPECT_EQ(read_level(client), status::bad_session_not_activated);
    std::string wrong = client.token;
    wrong.back() = static_cast<char>(wrong.back() ^ 1);
    client.token = wrong;
    EXPECT_EQ(read_level(client), status::bad_session_id_invalid);
}

TEST(session, one_never_activated_ends_soon) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session(3'600'000);
    site.time.advance(30s);
    site.host->expire(site.time.now());
    EXPECT_EQ(client.activate(), status::bad_session_id_invalid);
}

TEST(session, closing_twice_fails_and_frees_at_once) {
    plant site{small_limits()};
    raw_client client = site.connect();
    client.open();
    const auto close = [&] {
        return raw_client::result_of(client.call(client.request(
            id::close_session_request_binary, [](encoder& out) { out.boolean(true); })));
    };
    for (int count = 0; count < 100; ++count) {
        ASSERT_EQ(client.create_session(), status::good) << count;
        ASSERT_EQ(client.activate(), status::good);
        ASSERT_EQ(close(), status::good);
    }
    EXPECT_EQ(close(), status::bad_session_id_invalid);
}

TEST(session, more_than_the_limit_are_refused) {
    plant site{small_limits()};
    raw_client client = site.connect();
    client.open();
    for (std::uint32_t count = 0; count < site.bounds.max_sessions; ++count) {
        EXPECT_EQ(client.create_session(), status::good);
    }
    EXPECT_EQ(client.create_session(), status::bad_too_many_sessions);
    EXPECT_EQ(site.host->statistics().sessions, site.bounds.max_sessions);
    site.time.advance(31s);
    site.host->expire(site.time.now());
    EXPECT_EQ(site.host->statistics().sessions, 0U);
    EXPECT_EQ(client.create_session(), status::good);
}

TEST(session, numbers_and_tokens_are_never_the_same_twice) {
    plant site;
    raw_client client = site.connect();
    client.open();
    std::set<std::string> tokens;
    std::set<std::uint32_t> numbers;
    for (int count = 0; count < 50; ++count) {
        client.create_session();
        tokens.insert(client.token);
        numbers.insert(client.session_number);
    }
    EXPECT_EQ(tokens.size(), 50U);
    EXPECT_EQ(numbers.size(), 50U);
}

TEST(session, an_empty_name_is_given_one_and_a_long_one_refused) {
    plant site;
    raw_client client = site.connect();
    client.open();
    EXPECT_EQ(client.create_session(60'000, ""), status::good);
    client.activate();
    read_level(client);
    EXPECT_EQ(site.gateway.last_actor.session_id, client.session_number);
    EXPECT_EQ(client.create_session(60'000, std::string(300, 'n')), status::bad_invalid_argument);
}

TEST(actor, the_gateway_is_told_who_asks) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    site.gateway.last_actor = {};
    read_level(client);
    EXPECT_EQ(site.gateway.last_actor.session_id, client.session_number);
    EXPECT_EQ(site.gateway.last_actor.channel_id, client.channel_id);
    EXPECT_TRUE(site.gateway.last_actor.has(role::anonymous));
    EXPECT_FALSE(site.gateway.last_actor.has(role::operator_));
}

status_code activate_with(raw_client& client, bytes (*token)()) {
    return raw_client::result_of(
        client.call(client.activate_request([&](encoder& out) { out.raw(token()); })));
}

bytes anonymous_token(text_view policy) {
    return encoded([&](encoder& out) { raw_client::anonymous(out, policy); });
}

TEST(edge_E25, the_policy_id_is_opaque_and_may_be_empty) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session();
    EXPECT_EQ(activate_with(client, [] { return anonymous_token("anonymous"); }), status::good);
    EXPECT_EQ(activate_with(client, [] { return anonymous_token(""); }), status::good);
    EXPECT_EQ(activate_with(client, [] { return anonymous_token("other"); }),
              status::bad_identity_token_invalid);
}

TEST(edge_E26, a_null_identity_token_is_anonymous_when_allowed) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session();
    const auto null_token = [] {
        return encoded([](encoder& out) { out.null_extension_object(); });
    };
    EXPECT_EQ(activate_with(client, null_token), status::good);
    site.gateway.rules.allow_anonymous = false;
    EXPECT_EQ(activate_with(client, null_token), status::bad_identity_token_rejected);
}

TEST(identity, other_kinds_of_token_are_refused_clearly) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session();
    EXPECT_EQ(activate_with(client,
                            [] {
                                return encoded([](encoder& out) {
                                    out.numeric_id(0, id::user_name_identity_token_binary);
                                    out.u8(1);
                                    out.i32(4);
                                    out.i32(-1);
                                });
                            }),
              status::bad_identity_token_rejected);
    EXPECT_EQ(activate_with(client,
                            [] {
                                return encoded([](encoder& out) {
                                    out.numeric_id(0, 4'711);
                                    out.u8(1);
                                    out.i32(0);
                                });
                            }),
              status::bad_identity_token_invalid);
}

TEST(edge_E28, a_request_with_any_timestamp_is_answered) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    for (const std::int64_t stamp :
         {std::int64_t{0}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
        bytes wire = client.read_request({"press/tank/level"});
        // Frame, channel and sequence heads, type id, token of namespace, length and 32 bytes.
        const std::size_t at = 24 + 4 + 3 + 4 + 32;
        transport::store(wire.data() + at, stamp, std::endian::little);
        EXPECT_EQ(raw_client::result_of(client.call(wire)), status::good) << stamp;
    }
}

TEST(edge_E34, null_empty_and_many_locales_are_taken) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.create_session();
    const auto activate_for = [&](std::int32_t count, text_view locale) {
        return raw_client::result_of(
            client.call(client.request(id::activate_session_request_binary, [&](encoder& out) {
                out.string({});
                out.byte_string({});
                out.i32(-1);
                out.i32(count);
                for (std::int32_t left = count; left > 0; --left) {
                    out.string(locale);
                }
                out.null_extension_object();
                out.string({});
                out.byte_string({});
            })));
    };
    EXPECT_EQ(activate_for(-1, {}), status::good);
    EXPECT_EQ(activate_for(0, {}), status::good);
    EXPECT_EQ(activate_for(2, {}), status::good);
    EXPECT_EQ(activate_for(2, ""), status::good);
    EXPECT_EQ(activate_for(1'000, "de-DE-a-very-long-locale-indeed-of-nobody"), status::good);
}

TEST(edge_E30, a_step_of_the_wall_clock_ends_no_session) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    site.time.set_wall(4'000'000'000'000'000'000);
    site.host->expire(site.time.now());
    client.driver.expire();
    EXPECT_EQ(read_level(client), status::good);
    site.time.set_wall(1);
    site.host->expire(site.time.now());
    EXPECT_EQ(read_level(client), status::good);
}

std::vector<std::string> endpoint_urls(raw_client& client, text_view url) {
    const reply answer =
        client.call(client.request(id::get_endpoints_request_binary, [&](encoder& out) {
            out.string(url);
            out.i32(-1);
            out.i32(-1);
        }));
    bytes rest;
    EXPECT_EQ(raw_client::result_of(answer, nullptr, &rest), status::good);
    static const limits bounds;
    decoder in{rest, bounds};
    std::vector<std::string> urls;
    for (std::uint32_t left = in.array_length(1); left != 0; --left) {
        urls.emplace_back(in.string());
        in.string();
        in.string();
        in.localized_text();
        in.u32();
        in.string();
        in.string();
        in.skip_strings();
        in.byte_string();
        EXPECT_EQ(in.u32(), 1U);
        EXPECT_EQ(in.string(), policy_none);
        EXPECT_EQ(in.array_length(1), 1U);
        EXPECT_EQ(in.string(), "anonymous");
        EXPECT_EQ(in.u32(), 0U);
        in.string();
        in.string();
        in.string();
        EXPECT_EQ(in.string(), binary_transport_profile);
        in.u8();
    }
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0U);
    return urls;
}

TEST(edge_E31, endpoints_follow_the_url_the_client_dialled) {
    plant site;
    raw_client client = site.connect();
    client.open();
    EXPECT_EQ(endpoint_urls(client, "opc.tcp://nat.example:14840/tags"),
              (std::vector<std::string>{"opc.tcp://nat.example:14840/tags",
                                        "opc.tcp://plant.example:4840"}));
    EXPECT_EQ(endpoint_urls(client, "opc.tcp://plant.example:4840"),
              std::vector<std::string>{"opc.tcp://plant.example:4840"});
    for (const char* url : {"opc.tcp://0.0.0.0:4840", "opc.tcp://[::]:4840"}) {
        EXPECT_EQ(endpoint_urls(client, url),
                  std::vector<std::string>{"opc.tcp://plant.example:4840"});
    }
}

TEST(edge_E32, nonsense_in_discovery_is_answered_all_the_same) {
    plant site;
    raw_client client = site.connect();
    client.open();
    for (const char* url : {"", "nonsense", "http://x", "opc.tcp://", "opc.tcp:// x", "\xFF\xFE"}) {
        EXPECT_FALSE(endpoint_urls(client, url).empty()) << url;
    }
    const reply answer =
        client.call(client.request(id::find_servers_request_binary, [](encoder& out) {
            out.string({});
            out.i32(2);
            out.string("xx-YY-nonsense");
            out.string({});
            out.i32(-1);
        }));
    EXPECT_EQ(raw_client::result_of(answer), status::good);
}

TEST(get_endpoints, an_unsupported_profile_gives_an_empty_list) {
    plant site;
    raw_client client = site.connect();
    client.open();
    const reply answer =
        client.call(client.request(id::get_endpoints_request_binary, [](encoder& out) {
            out.string("opc.tcp://plant.example:4840");
            out.i32(-1);
            out.i32(1);
            out.string("http://opcfoundation.org/UA-Profile/Transport/https-uabinary");
        }));
    bytes rest;
    EXPECT_EQ(raw_client::result_of(answer, nullptr, &rest), status::good);
    EXPECT_EQ(rest, bytes(4));
}

TEST(edge_E33, no_timeout_hint_and_the_greatest_one_are_both_taken) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    for (const std::uint32_t hint : {0U, 1U, 0xFFFFFFFFU}) {
        EXPECT_EQ(raw_client::result_of(client.call(
                      client.read_request({"press/tank/level"}, 1'000, 13, 2, {}, hint))),
                  status::good);
    }
}

TEST(services, what_is_not_offered_yet_says_so) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    for (const service& row : services()) {
        if (row.run == nullptr) {
            EXPECT_EQ(raw_client::result_of(
                          client.call(client.request(row.request_type, [](encoder&) {}))),
                      status::bad_service_unsupported)
                << row.name;
        }
    }
    std::uint32_t type = 0;
    const reply answer = client.call(client.request(9'999, [](encoder&) {}));
    EXPECT_EQ(raw_client::result_of(answer, &type), status::bad_service_unsupported);
    EXPECT_EQ(type, id::service_fault_binary);
}

TEST(services, an_empty_body_of_each_is_a_fault_and_the_channel_lives) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    for (const service& row : services()) {
        const reply answer = client.call(client.request(row.request_type, [](encoder&) {}));
        EXPECT_NE(raw_client::result_of(answer), status::good) << row.name;
    }
    EXPECT_EQ(read_level(client), status::good);
}

TEST(services, the_table_is_whole) {
    std::set<std::uint32_t> types;
    for (const service& row : services()) {
        EXPECT_TRUE(types.insert(row.request_type).second) << row.name;
        EXPECT_EQ(find_service(row.request_type), &row);
        EXPECT_EQ(row.run == nullptr, row.response_type == 0) << row.name;
    }
    EXPECT_EQ(find_service(1), nullptr);
}

}  // namespace
}  // namespace tagferry::opcua::test
