// Who is let in, who is cut off and what the log hears of it.
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

limits few_from_one_address() {
    limits bounds = small_limits();
    bounds.max_channels_per_address = 2;
    return bounds;
}

raw_client connect_from(plant& site, std::string_view peer) {
    return raw_client{*site.host, site.time, peer};
}

TEST(edge_E22, one_address_has_its_own_limit_of_channels) {
    plant site{few_from_one_address()};
    raw_client first = connect_from(site, "198.51.100.7:50001");
    raw_client second = connect_from(site, "198.51.100.7:50002");
    first.open_session();
    second.open_session();
    raw_client third = connect_from(site, "198.51.100.7:50003");
    third.driver.turn();
    EXPECT_EQ(raw_client::error_of(third.next()), status::bad_tcp_server_too_busy);
    EXPECT_EQ(third.driver.reason, transport::close_reason::refused);
    raw_client other = connect_from(site, "198.51.100.8:50001");
    other.open_session();
    EXPECT_FALSE(first.driver.closing());
    EXPECT_EQ(site.host->statistics().refused_by_address, 1U);
    EXPECT_EQ(site.host->statistics().refused_by_channels, 0U);
}

TEST(edge_E22, within_one_address_the_oldest_without_a_session_makes_room) {
    plant site{few_from_one_address()};
    raw_client elsewhere = connect_from(site, "198.51.100.8:50001");
    elsewhere.open();
    raw_client first = connect_from(site, "198.51.100.7:50001");
    raw_client second = connect_from(site, "198.51.100.7:50002");
    first.open_session();
    second.open();
    raw_client third = connect_from(site, "198.51.100.7:50003");
    third.open_session();
    second.driver.turn();
    EXPECT_EQ(raw_client::error_of(second.next()), status::bad_tcp_server_too_busy);
    EXPECT_FALSE(first.driver.closing());
    EXPECT_FALSE(elsewhere.driver.closing()) << "older, and of another address";
    EXPECT_EQ(site.host->statistics().evicted, 1U);
}

TEST(edge_E22, with_a_session_on_every_channel_a_new_one_is_told_why) {
    limits bounds = small_limits();
    bounds.max_channels = 2;
    plant site{bounds};
    raw_client first = site.connect();
    raw_client second = site.connect();
    first.open_session();
    second.open_session();
    raw_client third = site.connect();
    third.driver.turn();
    EXPECT_EQ(raw_client::error_of(third.next()), status::bad_tcp_server_too_busy);
    EXPECT_EQ(site.host->statistics().refused_by_channels, 1U);
}

TEST(edge_E22, beyond_twice_the_limit_nobody_is_let_in) {
    limits bounds = small_limits();
    bounds.max_channels = 1;
    plant site{bounds};
    raw_client first = site.connect();
    first.open_session();
    raw_client second = site.connect();
    EXPECT_EQ(site.host->make_connection("198.51.100.9:1"), nullptr);
    EXPECT_EQ(site.host->statistics().refused_by_channels, 2U);
}

// A message begun and not finished is answered with an Error, whatever it is (RX8).
void expect_an_error_for_half(plant& site, raw_client& client, const bytes& whole,
                              std::size_t shown) {
    client.driver.feed(std::span{whole}.first(shown));
    site.time.advance(site.bounds.frame_timeout_ms * 1ms - 1ms);
    client.driver.expire();
    EXPECT_FALSE(client.driver.closing()) << shown;
    site.time.advance(2ms);
    client.driver.expire();
    EXPECT_EQ(raw_client::error_of(client.next()), status::bad_timeout) << shown;
    EXPECT_EQ(client.driver.reason, transport::close_reason::timed_out);
}

TEST(rx8, half_an_open_ends_with_an_error_message) {
    limits bounds;
    bounds.frame_timeout_ms = 3'000;
    plant site{bounds};
    for (const std::size_t shown : {1U, 7U, 8U, 50U}) {
        raw_client client = site.connect();
        client.hello();
        expect_an_error_for_half(site, client, client.open_frame(), shown);
    }
}

TEST(rx8, half_a_hello_ends_with_an_error_message) {
    limits bounds;
    bounds.frame_timeout_ms = 3'000;
    plant site{bounds};
    for (const std::size_t shown : {1U, 7U, 8U, 20U}) {
        raw_client client = site.connect();
        expect_an_error_for_half(site, client, client.hello_frame(), shown);
    }
}

TEST(rx8, half_a_request_ends_with_an_error_message_however_slowly_it_drips) {
    limits bounds;
    bounds.frame_timeout_ms = 3'000;
    plant site{bounds};
    raw_client client = site.connect();
    client.open_session();
    const bytes request = client.read_request({"press/tank/level"});
    client.driver.feed(std::span{request}.first(10));
    for (std::size_t at = 10; at < 12; ++at) {
        site.time.advance(1'400ms);
        client.driver.expire();
        EXPECT_FALSE(client.driver.closing());
        client.driver.feed(std::span{request}.subspan(at, 1));
    }
    site.time.advance(201ms);
    client.driver.expire();
    EXPECT_EQ(raw_client::error_of(client.next()), status::bad_timeout);
}

TEST(rx8, a_frame_that_came_whole_in_time_leaves_no_deadline) {
    limits bounds;
    bounds.frame_timeout_ms = 3'000;
    plant site{bounds};
    raw_client client = site.connect();
    client.open_session();
    client.driver.feed_in_pieces(client.read_request({"press/tank/level"}), 9);
    EXPECT_EQ(raw_client::result_of(client.next()), status::good);
    site.time.advance(5s);
    client.driver.expire();
    EXPECT_FALSE(client.driver.closing());
}

using kinds = std::vector<server_event>;

kinds kinds_of(const plant& site) {
    kinds out;
    for (const fake_backend::seen_event& each : site.gateway.events) {
        out.push_back(each.event);
    }
    return out;
}

TEST(events, the_life_of_a_session_is_told_in_order) {
    plant site;
    site.gateway.keep_events = true;
    {
        raw_client client = connect_from(site, "198.51.100.7:50001");
        client.open_session();
        client.call(client.request(id::close_session_request_binary,
                                   [](encoder& out) { out.boolean(true); }));
    }
    EXPECT_EQ(kinds_of(site), (kinds{server_event::channel_opened, server_event::session_created,
                                     server_event::session_activated, server_event::session_closed,
                                     server_event::channel_closed}));
    for (const fake_backend::seen_event& each : site.gateway.events) {
        EXPECT_EQ(each.peer, "198.51.100.7:50001");
    }
    EXPECT_EQ(site.gateway.events[1].session_id, site.gateway.events[3].session_id);
}

TEST(events, a_session_whose_client_went_away_times_out) {
    plant site;
    {
        raw_client client = site.connect();
        client.open_session();
    }
    site.gateway.keep_events = true;
    site.time.advance(60'001ms);
    site.host->expire(site.time.now());
    EXPECT_EQ(kinds_of(site), kinds{server_event::session_timed_out});
    EXPECT_EQ(site.gateway.events[0].peer, "");
}

TEST(events, who_breaks_the_protocol_is_named_with_what_it_was_told) {
    plant site;
    site.gateway.keep_events = true;
    raw_client client = site.connect();
    client.driver.feed(std::as_bytes(std::span{"GET / HTTP/1.1\r\n\r\n", 18}));
    EXPECT_EQ(raw_client::error_of(client.next()), status::bad_tcp_message_type_invalid);
    ASSERT_EQ(kinds_of(site), kinds{server_event::protocol_error});
    EXPECT_EQ(site.gateway.events[0].result, status::bad_tcp_message_type_invalid);
    EXPECT_EQ(site.gateway.events[0].peer, "198.51.100.7");
}

TEST(events, a_token_left_to_run_out_breaks_no_protocol) {
    plant site;
    raw_client client = site.connect();
    client.open();
    site.gateway.keep_events = true;
    site.time.advance(2h);
    client.driver.expire();
    EXPECT_TRUE(client.driver.closing());
    EXPECT_EQ(kinds_of(site), kinds{});
}

}  // namespace
}  // namespace tagferry::opcua::test
