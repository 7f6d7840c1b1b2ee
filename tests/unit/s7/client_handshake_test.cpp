// Connecting: what the client says, what it takes for an answer, and why it gives up.
#include "tests/unit/s7/scripted_peer.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view confirm = "0300001611d00001000300c0010ac1020100c2020102";

TEST(s7_client_handshake, says_what_real_clients_say) {
    scripted one(small_options(8, 480));
    one.wire.open();
    EXPECT_EQ(to_hex(one.wire.take_sent()), "0300001611e00000000100c1020100c2020102c0010a");
    EXPECT_EQ(one.client.state(), link_state::connecting);
    one.wire.receive(hex(confirm));
    EXPECT_EQ(to_hex(one.wire.take_sent()), "0300001902f08032010000ffff00080000f0000008000801e0");
    EXPECT_EQ(one.client.state(), link_state::negotiating);
    one.wire.receive(packet(scripted::setup_reply(3, 240)));
    EXPECT_EQ(one.client.state(), link_state::up);
    EXPECT_EQ(one.client.limits().pdu_size, 240U);
    EXPECT_EQ(one.client.limits().window, 3U);
    EXPECT_EQ(one.client.limits().tpdu_size, 1024U);
    EXPECT_TRUE(one.wire.take_sent().empty());
    ASSERT_EQ(one.observer.events.size(), 3U);
    EXPECT_EQ(one.observer.events[2].limits.window, 3U);
}

TEST(s7_client_handshake, parameters_of_the_confirm_come_in_any_order_or_not_at_all) {
    for (const auto& [text, tpdu_size] : std::vector<std::pair<std::string, std::size_t>>{
             {"0300001611d00001000300c00109c1020100c2020102", 512},
             {"0300001611d00001000300c1020100c00109c2020102", 512},
             {"0300001611d00001000300c2020102c1020100c0010b", 2048},
             {"030000130ed00001000300c1020100c2020102", 128},
             {"0300000b06d00001000300", 128},
             {"0300001209d00001000300c7050102030405", 0}}) {
        scripted one;
        one.wire.open();
        one.wire.receive(hex(text));
        if (tpdu_size == 0) {
            EXPECT_EQ(one.client.state(), link_state::down) << text << ": header and length differ";
        } else {
            ASSERT_EQ(one.client.state(), link_state::negotiating) << text;
            one.wire.receive(packet(scripted::setup_reply(1, 240)));
            EXPECT_EQ(one.client.limits().tpdu_size, tpdu_size) << text;
        }
    }
}

TEST(s7_client_handshake, an_empty_data_tpdu_is_an_acknowledgement_anywhere) {
    for (const std::string_view empty : {"0300000702f000", "0300000702f080"}) {
        scripted one;
        one.wire.open();
        one.wire.receive(hex(confirm));
        one.wire.receive(hex(empty));
        one.wire.receive(packet(scripted::setup_reply(4, 240)));
        one.wire.receive(hex(empty));
        ASSERT_EQ(one.client.state(), link_state::up);
        one.wire.take_sent();
        ASSERT_TRUE(one.read(1));
        const auto reference = one.references().at(0);
        const bytes reply = fragments(read_reply(reference, hex("01020304")), 9);
        const auto first = std::span(reply).first(16);
        one.wire.receive(first);
        one.wire.receive(hex(empty));
        one.wire.receive(std::span(reply).subspan(16));
        EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::answered);
    }
}

struct refusal {
    std::string_view says;  ///< instead of, or after, the confirm
    bool after_confirm;
    link_reason reason;
    std::uint16_t detail;
};

TEST(s7_client_handshake, every_refusal_has_its_reason) {
    const std::vector<refusal> cases = {
        {"0300000b068000010003 02", false, link_reason::connection_refused, 2},
        {"030000090470000103", false, link_reason::connection_refused, 3},
        {"0300000b068000010003 81", true, link_reason::connection_refused, 0x81},
        {"0300000b06d00001000320", false, link_reason::setup_unusable, 0x20},
        {"0300000702f080", false, link_reason::protocol_error, 0},
        {"0400000b06d00001000300", false, link_reason::protocol_error, 0},
        {"03000006", false, link_reason::protocol_error, 0},
        {"0300ffff", false, link_reason::protocol_error, 0},
        {"0300001611d00001000300c0010ec1020100c2020102", false, link_reason::protocol_error, 0},
        {"0300001302f08032020000ffff000000008500", true, link_reason::setup_refused, 0x8500},
        {"0300001b02f08032030000ffff000800000000f000000100010032", true,
         link_reason::setup_unusable, 50},
        {"0300001b02f08032030000ffff000800000000f0000000000100f0", true,
         link_reason::setup_unusable, 240},
        {"0300001b02f08032030000ffff00080000000004000001000100f0", true,
         link_reason::setup_unusable, 0},
        {"0300000b02f08072010000", true, link_reason::protocol_error, 0x72},
    };
    for (const refusal& one : cases) {
        scripted peer;
        peer.wire.open();
        if (one.after_confirm) {
            peer.wire.receive(hex(confirm));
        }
        peer.wire.receive(hex(one.says));
        EXPECT_EQ(peer.client.state(), link_state::down) << one.says;
        EXPECT_EQ(peer.last_event().reason, one.reason) << one.says;
        EXPECT_EQ(peer.last_event().detail, one.detail) << one.says;
        EXPECT_FALSE(words_of(one.reason).empty());
    }
}

TEST(s7_client_handshake, replies_to_nothing_are_counted_while_negotiating) {
    scripted one;
    one.wire.open();
    one.wire.receive(hex(confirm));
    bytes foreign(64);
    foreign.resize(encode_setup_reply(foreign, 7, {1, 1, 240}));
    one.wire.receive(packet(foreign));
    EXPECT_EQ(one.client.state(), link_state::negotiating);
    EXPECT_EQ(one.client.counters().replies_foreign, 1U);
}

TEST(s7_client_handshake, both_steps_have_a_deadline) {
    scripted silent;
    silent.wire.open();
    silent.pass(2999ms);
    EXPECT_EQ(silent.client.state(), link_state::connecting);
    silent.pass(1ms);
    EXPECT_EQ(silent.last_event().reason, link_reason::handshake_timeout);

    scripted half;
    half.wire.open();
    half.pass(2s);
    half.wire.receive(hex(confirm));
    half.pass(2999ms);
    EXPECT_EQ(half.client.state(), link_state::negotiating);
    half.pass(1ms);
    EXPECT_EQ(half.last_event().reason, link_reason::handshake_timeout);
    EXPECT_EQ(half.client.deadline(), transport::time_point::max());
}

TEST(s7_client_handshake, no_job_is_taken_before_the_link_is_up) {
    scripted one;
    EXPECT_FALSE(one.read(1));
    one.wire.open();
    EXPECT_FALSE(one.read(2));
    one.wire.receive(hex(confirm));
    EXPECT_FALSE(one.write(3));
    EXPECT_EQ(one.client.free_slots(), 0U);
    EXPECT_TRUE(one.observer.jobs.empty());
}

TEST(s7_client_handshake, a_link_that_failed_opens_again_with_nothing_left_over) {
    scripted one;
    one.handshake();
    ASSERT_TRUE(one.read(1));
    // Half a fragmented reply is on its way when the link breaks.
    const bytes reply = fragments(read_reply(1, hex("01020304")), 9);
    one.wire.receive(std::span(reply).first(20));
    one.wire.close(transport::close_reason::transport_error);
    EXPECT_EQ(one.last_event().reason, link_reason::transport_error);
    one.handshake();
    ASSERT_TRUE(one.read(2));
    const auto references = one.references();
    ASSERT_EQ(references.size(), 1U);
    one.wire.receive(packet(read_reply(references[0], hex("01020304"))));
    EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::link_lost);
    EXPECT_EQ(one.observer.jobs.at(2).outcome, job_outcome::answered);
    EXPECT_EQ(one.client.counters().handshakes, 2U);
}

TEST(s7_client_handshake, options_out_of_range_and_pools_too_small_are_refused) {
    recording_observer observer;
    transport::pinned_pool pool({"s7_test", 247, 9});
    const auto with = [](auto change) {
        client_options options = small_options();
        change(options);
        return options;
    };
    const std::vector<client_options> wrong = {
        with([](client_options& o) { o.pdu_size = 111; }),
        with([](client_options& o) { o.pdu_size = 2049; }),
        with([](client_options& o) { o.max_jobs = 0; }),
        with([](client_options& o) { o.max_jobs = 33; }),
        with([](client_options& o) { o.queued_jobs = 0; }),
        with([](client_options& o) { o.queued_jobs = 65; }),
        with([](client_options& o) { o.max_items = 0; }),
        with([](client_options& o) { o.max_items = 256; }),
        with([](client_options& o) { o.timeouts_in_a_row = 0; }),
        with([](client_options& o) { o.job_timeout = 0ms; }),
        with([](client_options& o) { o.handshake_timeout = 0ms; })};
    for (const client_options& options : wrong) {
        EXPECT_THROW(client_engine(options, pool, observer), std::invalid_argument);
    }
    EXPECT_THROW(client_engine(with([](client_options& o) { o.pdu_size = 241; }), pool, observer),
                 std::length_error);
    EXPECT_THROW(client_engine(with([](client_options& o) { o.queued_jobs = 5; }), pool, observer),
                 std::length_error);
    EXPECT_EQ(pool.free_count(), 9U) << "what was rented is back";
    const client_engine fits(small_options(), pool, observer);
    EXPECT_EQ(pool.free_count(), 0U);
}

}  // namespace
}  // namespace tagferry::s7::test
