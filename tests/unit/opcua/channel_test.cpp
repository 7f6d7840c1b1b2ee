// Hello, secure channel and chunks. Tests named rx…, tx… and edge_E… are rows of the lists of
// requirements; each says what a client sees when it breaks.
#include "protocols/opcua/channel/frame.hpp"
#include "protocols/opcua/channel/sequence.hpp"
#include "protocols/opcua/channel/tokens.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace tagferry::opcua::test {
namespace {

using namespace std::chrono_literals;

status_code check(std::string_view head, std::uint32_t size, std::uint32_t largest) {
    std::array<std::byte, 8> wire{};
    std::memcpy(wire.data(), head.data(), 4);
    transport::store(wire.data() + 4, size, std::endian::little);
    frame_header out;
    return read_frame_header(wire, largest, out);
}

TEST(rx3, type_and_size_are_checked_before_anything_is_allocated) {
    for (const char* good :
         {"HELF", "ACKF", "ERRF", "RHEF", "OPNF", "MSGF", "MSGC", "MSGA", "CLOF"}) {
        EXPECT_EQ(check(good, 100, 8'192), status::good) << good;
    }
    for (const char* bad :
         {"HELC", "ACKA", "ERRC", "RHEA", "OPNC", "CLOA", "MSGX", "msgF", "GET ", "HEL\0"}) {
        EXPECT_EQ(check(bad, 100, 8'192), status::bad_tcp_message_type_invalid);
    }
    for (const std::uint32_t size :
         {0U, 7U, 8U, 23U, 8'193U, 0x7FFFFFFFU, 0x80000000U, 0xFFFFFFFFU}) {
        EXPECT_EQ(check("MSGF", size, 8'192), status::bad_tcp_message_too_large) << size;
    }
    EXPECT_EQ(check("MSGF", 24, 8'192), status::good);
    EXPECT_EQ(check("MSGF", 8'192, 8'192), status::good);
    // The type comes first: an unknown type with a wrong size is an unknown type.
    EXPECT_EQ(check("XXXF", 0, 8'192), status::bad_tcp_message_type_invalid);
}

TEST(rx3, a_wrong_header_is_answered_with_its_error_and_the_end) {
    plant site;
    raw_client client = site.connect();
    EXPECT_EQ(raw_client::error_of(client.call(raw_client::frame("GETF", bytes(8)))),
              status::bad_tcp_message_type_invalid);
    EXPECT_EQ(client.driver.reason, transport::close_reason::protocol_error);
    raw_client second = site.connect();
    EXPECT_EQ(raw_client::error_of(second.call(raw_client::frame("HELF", bytes(9'000)))),
              status::bad_tcp_message_too_large);
}

TEST(edge_E13, a_hello_in_any_splits_is_acknowledged) {
    for (std::size_t piece = 1; piece <= 60; ++piece) {
        plant site{small_limits()};
        raw_client client = site.connect();
        client.driver.feed_in_pieces(raw_client::hello_frame(), piece);
        EXPECT_EQ(client.next().type, "ACK") << piece;
    }
}

TEST(edge_E13, a_whole_conversation_split_at_every_byte_gives_the_same_answers) {
    const auto answers = [](std::size_t piece) {
        plant site{small_limits()};
        raw_client client = site.connect();
        client.driver.feed_in_pieces(raw_client::hello_frame(), piece);
        client.next();
        client.driver.feed_in_pieces(client.open_frame(), piece);
        client.take_open(client.next());
        client.create_session();
        client.driver.feed_in_pieces(
            client.activate_request([](encoder& out) { raw_client::anonymous(out); }), piece);
        EXPECT_EQ(raw_client::result_of(client.next()), status::good);
        bytes both = client.read_request({"press/tank/level"});
        append(both, client.read_request({"press/recipe/name", "#2258"}));
        client.driver.feed_in_pieces(both, piece);
        bytes first;
        bytes second;
        raw_client::result_of(client.next(), nullptr, &first);
        raw_client::result_of(client.next(), nullptr, &second);
        append(first, second);
        return first;
    };
    const bytes whole = answers(1'000'000);
    EXPECT_FALSE(whole.empty());
    for (const std::size_t piece : {1U, 2U, 3U, 5U, 7U, 8U, 9U, 23U, 24U, 25U, 60U}) {
        EXPECT_EQ(answers(piece), whole) << piece;
    }
}

struct acknowledged {
    std::uint32_t version, receive, send, message, chunks;
};

acknowledged read_ack(const reply& message) {
    static const limits bounds;
    decoder in{message.body, bounds};
    acknowledged out{};
    out.version = in.u32();
    out.receive = in.u32();
    out.send = in.u32();
    out.message = in.u32();
    out.chunks = in.u32();
    return out;
}

TEST(edge_E16, sizes_of_the_acknowledge_never_exceed_those_of_the_hello) {
    plant site;
    for (const std::uint32_t size : {8'192U, 10'000U, 65'536U, 1'000'000U}) {
        raw_client client = site.connect();
        const acknowledged ack = read_ack(client.call(raw_client::hello_frame(size, size)));
        EXPECT_EQ(ack.version, 0U);
        EXPECT_EQ(ack.receive, std::min(size, site.bounds.chunk_size));
        EXPECT_EQ(ack.send, std::min(size, site.bounds.chunk_size));
    }
    raw_client client = site.connect();
    EXPECT_EQ(raw_client::error_of(client.call(raw_client::hello_frame(8'191, 65'536))),
              status::bad_tcp_not_enough_resources);
}

TEST(hello, an_url_over_its_limit_is_refused) {
    plant site;
    raw_client client = site.connect();
    const std::string url = "opc.tcp://" + std::string(4'090, 'a');
    EXPECT_EQ(raw_client::error_of(client.call(raw_client::hello_frame(65'536, 65'536, 0, 0, url))),
              status::bad_tcp_endpoint_url_invalid);
}

TEST(hello, a_second_one_and_anything_before_it_end_the_connection) {
    plant site;
    raw_client client = site.connect();
    client.hello();
    EXPECT_EQ(raw_client::error_of(client.call(raw_client::hello_frame())),
              status::bad_tcp_message_type_invalid);
    raw_client early = site.connect();
    EXPECT_EQ(raw_client::error_of(early.call(early.open_frame())),
              status::bad_tcp_message_type_invalid);
}

TEST(rx9, a_limit_lowered_by_the_hello_holds_from_the_next_chunk_on) {
    plant site;
    raw_client client = site.connect();
    client.call(raw_client::hello_frame(65'536, 8'192));
    client.take_open(client.call(client.open_frame()));
    EXPECT_EQ(raw_client::error_of(client.call(client.chunk("MSGF", bytes(8'192 - 23), 9))),
              status::bad_tcp_message_too_large);
}

TEST(rx8, each_step_of_opening_has_its_deadline) {
    plant site;
    raw_client silent = site.connect();
    site.time.advance(4'999ms);
    silent.driver.expire();
    EXPECT_FALSE(silent.driver.closing());
    site.time.advance(2ms);
    silent.driver.expire();
    EXPECT_EQ(raw_client::error_of(silent.next()), status::bad_timeout);
    EXPECT_EQ(silent.driver.reason, transport::close_reason::timed_out);

    raw_client half = site.connect();
    half.hello();
    site.time.advance(10'001ms);
    half.driver.expire();
    EXPECT_EQ(raw_client::error_of(half.next()), status::bad_timeout);
}

TEST(rx8, a_message_left_incomplete_ends_the_connection) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.driver.feed(client.chunk("MSGC", bytes(100), 7));
    site.time.advance(20'001ms);
    client.driver.expire();
    EXPECT_EQ(raw_client::error_of(client.next()), status::bad_timeout);
}

TEST(rx13, no_more_than_the_limit_of_chunks_is_handled_in_one_turn) {
    limits bounds = small_limits();
    bounds.turn_frames = 3;
    plant site{bounds};
    raw_client client = site.connect();
    client.open_session();
    bytes burst;
    for (int count = 0; count < 10; ++count) {
        append(burst, client.read_request({"press/tank/level"}));
    }
    client.driver.yields = 0;
    client.driver.feed(burst);
    EXPECT_GE(client.driver.yields, 3U);
    for (int count = 0; count < 10; ++count) {
        EXPECT_EQ(raw_client::result_of(client.next()), status::good);
    }
}

TEST(rx13, the_requests_of_one_turn_share_its_budget) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const std::vector<std::string> paths(200, "press/tank/level");
    bytes burst;
    for (int count = 0; count < 10; ++count) {
        append(burst, client.read_request(paths));
    }
    client.driver.yields = 0;
    client.driver.feed(burst);
    EXPECT_GE(client.driver.yields, 2'000U / site.bounds.turn_items);
    for (int count = 0; count < 10; ++count) {
        EXPECT_EQ(raw_client::result_of(client.next()), status::good);
    }
}

TEST(open_channel, any_policy_but_none_is_refused) {
    plant site;
    raw_client client = site.connect();
    client.hello();
    EXPECT_EQ(raw_client::error_of(client.call(client.open_frame(
                  false, 60'000, "http://opcfoundation.org/UA/SecurityPolicy#Basic256Sha256"))),
              status::bad_security_policy_rejected);
    raw_client signing = site.connect();
    signing.hello();
    EXPECT_EQ(raw_client::error_of(signing.call(signing.open_frame(false, 60'000, policy_none, 2))),
              status::bad_security_mode_rejected);
}

// Claroty "open_multiple_secure_channels", CVE-2023-32787.
TEST(open_channel, a_second_issue_on_one_connection_is_refused) {
    plant site;
    raw_client client = site.connect();
    client.open();
    EXPECT_EQ(raw_client::error_of(client.call(client.open_frame(false))),
              status::bad_security_checks_failed);
}

TEST(edge_E24, policy_none_takes_a_nonce_of_any_length) {
    for (const std::size_t length :
         {std::size_t{0}, std::size_t{1}, std::size_t{32}, std::size_t{500}}) {
        plant site{small_limits()};
        raw_client client = site.connect();
        client.hello();
        const bytes nonce(length, std::byte{7});
        const bytes body = encoded([&](encoder& out) {
            out.u32(0);
            out.string(policy_none);
            out.i32(-1);
            out.i32(-1);
            out.u32(client.next_sequence());
            out.u32(1);
            client.write_request_head(out, id::open_secure_channel_request_binary);
            out.u32(0);
            out.u32(0);
            out.u32(1);
            out.byte_string(nonce);
            out.u32(60'000);
        });
        EXPECT_EQ(client.call(raw_client::frame("OPNF", body)).type, "OPN") << length;
    }
}

TEST(edge_E01, after_a_renewal_both_tokens_are_taken) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const std::uint32_t old_token = client.token_id;
    client.take_open(client.call(client.open_frame(true)));
    EXPECT_NE(client.token_id, old_token);
    const std::uint32_t new_token = client.token_id;
    client.token_id = old_token;
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request({"press/tank/level"}))),
              status::good);
    client.token_id = new_token;
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request({"press/tank/level"}))),
              status::good);
    // The first use of the new token ends the old one.
    client.token_id = old_token;
    EXPECT_EQ(raw_client::error_of(client.call(client.read_request({"press/tank/level"}))),
              status::bad_secure_channel_token_unknown);
}

TEST(edge_E01, the_old_token_ends_a_quarter_of_its_lifetime_late) {
    plant site;
    raw_client client = site.connect();
    client.hello();
    client.take_open(client.call(client.open_frame(false, 10'000)));
    site.time.advance(12'499ms);
    client.driver.expire();
    EXPECT_FALSE(client.driver.closing());
    site.time.advance(2ms);
    client.driver.expire();
    EXPECT_EQ(raw_client::error_of(client.next()), status::bad_secure_channel_closed);
}

TEST(edge_E02, answers_go_under_the_new_token_only_once_the_client_used_it) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const std::uint32_t old_token = client.token_id;
    client.take_open(client.call(client.open_frame(true)));
    const std::uint32_t new_token = client.token_id;
    client.token_id = old_token;
    EXPECT_EQ(client.call(client.read_request({"press/tank/level"})).token_id, old_token);
    client.token_id = new_token;
    EXPECT_EQ(client.call(client.read_request({"press/tank/level"})).token_id, new_token);
}

TEST(edge_E03, renewal_does_not_restart_the_sequence) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const std::uint32_t before =
        client.call(client.read_request({"press/tank/level"})).sequence_numbers.back();
    client.take_open(client.call(client.open_frame(true)));
    const std::uint32_t after =
        client.call(client.read_request({"press/tank/level"})).sequence_numbers.back();
    EXPECT_EQ(after, before + 2);
}

TEST(edge_E04, a_wrap_is_legal_at_the_end_of_the_numbers_only) {
    constexpr std::uint32_t most = std::numeric_limits<std::uint32_t>::max();
    const auto accepts = [](std::uint32_t last, std::uint32_t next) {
        inbound_sequence sequence;
        sequence.accept(last);
        return sequence.accept(next);
    };
    EXPECT_TRUE(accepts(7, 8));
    EXPECT_TRUE(accepts(most - 1'023, 1));
    EXPECT_TRUE(accepts(most, 0));
    EXPECT_TRUE(accepts(most - 5, 1'023));
    EXPECT_FALSE(accepts(most - 1'024, 1));
    EXPECT_FALSE(accepts(most, 1'024));
    EXPECT_FALSE(accepts(7, 9));
    EXPECT_FALSE(accepts(7, 7));
    EXPECT_FALSE(accepts(7, 6));
    outbound_sequence sent{most - 1'025};
    EXPECT_EQ(sent.next(), most - 1'024);
    EXPECT_EQ(sent.next(), most - 1'023);
    EXPECT_EQ(sent.next(), 1U);
}

TEST(edge_E04, a_jump_in_the_sequence_ends_the_connection) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    client.sequence += 1;
    EXPECT_EQ(raw_client::error_of(client.call(client.read_request({"press/tank/level"}))),
              status::bad_sequence_number_invalid);
}

TEST(channel, a_chunk_of_another_channel_ends_the_connection) {
    plant site;
    raw_client client = site.connect();
    client.open();
    ++client.channel_id;
    EXPECT_EQ(raw_client::error_of(client.call(client.chunk("MSGF", bytes(20), 5))),
              status::bad_tcp_secure_channel_unknown);
}

TEST(channel, close_secure_channel_closes_and_answers_nothing) {
    plant site;
    raw_client client = site.connect();
    client.open();
    EXPECT_EQ(client.call(client.chunk("CLOF", bytes(20), 5)).type, "");
    EXPECT_EQ(client.driver.reason, transport::close_reason::requested);
}

// A request cut into chunks of a few bytes each.
bytes in_chunks(raw_client& client, const bytes& body, std::size_t piece, std::uint32_t request) {
    bytes out;
    for (std::size_t at = 0; at < body.size(); at += piece) {
        const std::size_t part = std::min(piece, body.size() - at);
        append(out, client.chunk(at + part == body.size() ? "MSGF" : "MSGC",
                                 std::span{body}.subspan(at, part), request));
    }
    return out;
}

bytes read_body(raw_client& client, const std::vector<std::string>& paths) {
    const bytes whole = client.read_request(paths);
    client.sequence -= 1;
    return {whole.begin() + 24, whole.end()};
}

TEST(chunking, a_request_of_several_chunks_is_one_request) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const bytes body = read_body(client, {"press/tank/level", "press/recipe/name"});
    const reply answer = client.call(in_chunks(client, body, 10, 77));
    EXPECT_EQ(raw_client::result_of(answer), status::good);
    EXPECT_EQ(answer.request_id, 77U);
}

TEST(edge_E18, an_abort_chunk_drops_the_message_and_keeps_the_channel) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    const bytes body = read_body(client, {"press/tank/level"});
    bytes wire = client.chunk("MSGC", std::span{body}.first(20), 5);
    append(wire, client.chunk("MSGA", encoded([](encoder& out) {
                                  out.u32(status::bad_request_too_large);
                                  out.string("changed my mind");
                              }),
                              5));
    append(wire, client.read_request({"press/tank/level"}));
    const reply answer = client.call(wire);
    EXPECT_EQ(answer.request_id, client.request_id);
    EXPECT_EQ(raw_client::result_of(answer), status::good);
    EXPECT_EQ(client.next().type, "");
}

// Claroty "chunk_flood", CVE-2022-29864 and others.
TEST(chunking, a_message_over_the_limits_ends_the_connection) {
    plant site{small_limits()};
    raw_client client = site.connect();
    client.open_session();
    for (int count = 0; count < 8; ++count) {
        client.driver.feed(client.chunk("MSGC", bytes(1), 5));
        EXPECT_FALSE(client.driver.closing());
    }
    client.driver.feed(client.chunk("MSGC", bytes(1), 5));
    EXPECT_EQ(raw_client::error_of(client.next()), status::bad_tcp_message_too_large);
}

TEST(chunking, many_connections_with_half_a_message_get_an_error_and_cost_nothing_more) {
    plant site{small_limits()};
    std::vector<std::unique_ptr<raw_client>> clients;
    for (std::size_t count = 0; count < site.bounds.assembly_slots; ++count) {
        clients.push_back(std::make_unique<raw_client>(*site.host, site.time));
        clients.back()->open();
        clients.back()->driver.feed(clients.back()->chunk("MSGC", bytes(50), 5));
        EXPECT_FALSE(clients.back()->driver.closing());
    }
    raw_client late = site.connect();
    late.open();
    EXPECT_EQ(raw_client::error_of(late.call(late.chunk("MSGC", bytes(50), 5))),
              status::bad_tcp_not_enough_resources);
}

TEST(chunking, chunks_of_two_requests_are_never_mixed) {
    plant site;
    raw_client client = site.connect();
    client.open();
    client.driver.feed(client.chunk("MSGC", bytes(50), 5));
    EXPECT_EQ(raw_client::error_of(client.call(client.chunk("MSGF", bytes(50), 6))),
              status::bad_decoding_error);
}

TEST(edge_E17, a_long_answer_comes_in_chunks_that_fit_the_clients_buffer) {
    plant site;
    raw_client client = site.connect();
    client.call(raw_client::hello_frame(8'192, 65'536));
    client.take_open(client.call(client.open_frame()));
    client.create_session();
    client.activate();
    const std::vector<std::string> paths(1'500, "press/recipe/name");
    const reply answer = client.call(client.read_request(paths));
    EXPECT_EQ(raw_client::result_of(answer), status::good);
    EXPECT_GT(answer.chunk_sizes.size(), 3U);
    for (const std::uint32_t size : answer.chunk_sizes) {
        EXPECT_LE(size, 8'192U);
    }
    for (std::size_t at = 1; at < answer.sequence_numbers.size(); ++at) {
        EXPECT_EQ(answer.sequence_numbers[at], answer.sequence_numbers[at - 1] + 1);
    }
}

TEST(edge_E15, an_answer_over_the_clients_limit_is_a_fault_and_the_channel_lives) {
    plant site;
    raw_client client = site.connect();
    client.call(raw_client::hello_frame(8'192, 65'536, 10'000, 0));
    client.take_open(client.call(client.open_frame()));
    client.create_session();
    client.activate();
    const std::vector<std::string> paths(1'500, "press/recipe/name");
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request(paths))),
              status::bad_response_too_large);
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request({"press/tank/level"}))),
              status::good);
}

TEST(edge_E14, zero_in_the_hello_means_no_limit) {
    plant site;
    raw_client client = site.connect();
    client.call(raw_client::hello_frame(8'192, 65'536, 0, 0));
    client.take_open(client.call(client.open_frame()));
    client.create_session();
    client.activate();
    const std::vector<std::string> paths(1'500, "press/recipe/name");
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request(paths))), status::good);
}

TEST(tx13, a_message_dropped_at_encoding_leaves_no_gap_in_the_sequence) {
    plant site;
    raw_client client = site.connect();
    client.call(raw_client::hello_frame(8'192, 65'536, 10'000, 0));
    client.take_open(client.call(client.open_frame()));
    client.create_session();
    client.activate();
    const std::uint32_t before =
        client.call(client.read_request({"press/tank/level"})).sequence_numbers.back();
    const reply fault =
        client.call(client.read_request(std::vector<std::string>(1'500, "press/recipe/name")));
    EXPECT_EQ(fault.sequence_numbers, std::vector<std::uint32_t>{before + 1});
}

TEST(tx1, pipelined_requests_are_answered_in_the_order_of_their_sequence_numbers) {
    plant site;
    raw_client client = site.connect();
    client.open_session();
    bytes burst;
    for (int count = 0; count < 40; ++count) {
        append(burst, client.read_request({"press/tank/level"}));
    }
    const std::uint32_t first_request = client.request_id - 39;
    client.driver.feed(burst);
    std::uint32_t last = 0;
    for (std::uint32_t count = 0; count < 40; ++count) {
        const reply answer = client.next();
        EXPECT_EQ(answer.request_id, first_request + count);
        if (last != 0) {
            EXPECT_EQ(answer.sequence_numbers.back(), last + 1);
        }
        last = answer.sequence_numbers.back();
    }
}

TEST(tx9, a_client_that_does_not_read_is_not_read_from_either) {
    limits bounds = small_limits();
    bounds.pipelined_responses = 4;
    plant site{bounds};
    raw_client client = site.connect();
    client.open_session();
    client.driver.hold_output = true;
    for (int count = 0; count < 20; ++count) {
        client.driver.feed(client.read_request({"press/tank/level"}));
    }
    EXPECT_FALSE(client.driver.engine().wants_input().wanted);
    EXPECT_GT(client.driver.unconsumed(), 0U);
    client.driver.hold_output = false;
    for (int count = 0; count < 20; ++count) {
        client.driver.turn();
    }
    for (int count = 0; count < 20; ++count) {
        EXPECT_EQ(raw_client::result_of(client.next()), status::good) << count;
    }
}

TEST(pools, an_empty_response_pool_holds_requests_back_until_a_slot_returns) {
    limits bounds = small_limits();
    bounds.response_slots = 2;
    plant site{bounds};
    raw_client one = site.connect();
    one.open_session();
    raw_client two = site.connect();
    two.open_session();
    one.driver.hold_output = true;
    one.driver.feed(one.read_request({"press/tank/level"}));
    one.driver.feed(one.read_request({"press/tank/level"}));
    two.driver.feed(two.read_request({"press/tank/level"}));
    EXPECT_FALSE(two.driver.engine().wants_input().wanted);
    EXPECT_EQ(two.next().type, "");
    one.driver.hold_output = false;
    one.driver.turn();
    two.driver.turn();
    EXPECT_EQ(raw_client::result_of(two.next()), status::good);
}

TEST(edge_E22, the_oldest_channel_without_a_session_makes_room) {
    plant site{small_limits()};
    raw_client with_session = site.connect();
    with_session.open_session();
    std::vector<std::unique_ptr<raw_client>> idle;
    for (std::uint32_t count = 1; count < site.bounds.max_channels; ++count) {
        idle.push_back(std::make_unique<raw_client>(*site.host, site.time));
        idle.back()->open();
    }
    raw_client late = site.connect();
    late.open_session();
    EXPECT_FALSE(with_session.driver.closing());
    EXPECT_TRUE(idle.front()->driver.closing());
    EXPECT_EQ(raw_client::result_of(late.call(late.read_request({"press/tank/level"}))),
              status::good);
}

TEST(edge_E22, two_thousand_connections_leave_nothing_behind) {
    plant site{small_limits()};
    for (int count = 0; count < 2'000; ++count) {
        raw_client client = site.connect();
        client.open();
    }
    raw_client client = site.connect();
    client.open_session();
    EXPECT_EQ(raw_client::result_of(client.call(client.read_request({"press/tank/level"}))),
              status::good);
}

}  // namespace
}  // namespace tagferry::opcua::test
