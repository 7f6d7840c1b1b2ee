// Jobs: matched, bounded, and finished exactly once whatever the peer and the link do.
#include "tests/unit/s7/scripted_peer.hpp"

#include <gtest/gtest.h>

#include <numeric>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

bytes value_of(std::uint64_t tag) {
    return {std::byte{0xAB}, std::byte{0}, std::byte{1}, static_cast<std::byte>(tag)};
}

bytes joined(std::initializer_list<bytes> parts) {
    bytes out;
    for (const bytes& part : parts) {
        out.insert(out.end(), part.begin(), part.end());
    }
    return out;
}

TEST(s7_client_jobs, replies_in_any_order_find_their_jobs) {
    std::vector<std::size_t> order = {0, 1, 2, 3};
    do {
        scripted one;
        one.handshake();
        for (std::uint64_t tag = 0; tag < 4; ++tag) {
            ASSERT_TRUE(one.read(tag));
        }
        const auto references = one.references();
        ASSERT_EQ(references.size(), 4U);
        for (const std::size_t job : order) {
            one.wire.receive(packet(read_reply(references[job], value_of(job))));
        }
        for (std::uint64_t tag = 0; tag < 4; ++tag) {
            ASSERT_EQ(one.observer.order[tag], order[tag]);
            ASSERT_EQ(one.observer.jobs.at(tag).values.at(0), value_of(tag));
        }
    } while (std::next_permutation(order.begin(), order.end()));
}

TEST(s7_client_jobs, replies_are_found_wherever_the_segments_end) {
    scripted model;
    model.handshake();
    model.read(0);
    model.read(1);
    const auto references = model.references();
    // Two replies, the second in three fragments with an acknowledgement between.
    const bytes stream =
        joined({packet(read_reply(references[0], value_of(0))), hex("0300000702f000"),
                fragments(read_reply(references[1], value_of(1)), 10)});
    for (std::size_t first = 0; first <= stream.size(); ++first) {
        for (std::size_t second = first; second <= stream.size(); second += 3) {
            scripted one;
            one.handshake();
            one.read(0);
            one.read(1);
            one.wire.receive(std::span(stream).first(first));
            one.wire.receive(std::span(stream).subspan(first, second - first));
            one.wire.receive(std::span(stream).subspan(second));
            ASSERT_EQ(one.observer.order.size(), 2U) << first << " " << second;
            ASSERT_EQ(one.observer.jobs.at(1).values.at(0), value_of(1));
            ASSERT_EQ(one.wire.unconsumed(), 0U);
        }
    }
}

TEST(s7_client_jobs, the_window_is_never_exceeded_and_a_reply_lets_the_next_job_go) {
    scripted one(small_options(2));
    one.handshake();
    for (std::uint64_t tag = 0; tag < 6; ++tag) {
        ASSERT_TRUE(one.read(tag));
    }
    EXPECT_FALSE(one.read(6)) << "two in flight, four queued";
    auto references = one.references();
    ASSERT_EQ(references.size(), 2U);
    EXPECT_EQ(one.client.jobs_queued(), 4U);
    EXPECT_EQ(one.observer.capacity_offers, 0);
    one.wire.receive(packet(read_reply(references[1], value_of(1))));
    EXPECT_EQ(one.observer.capacity_offers, 1);
    references = one.references();
    ASSERT_EQ(references.size(), 1U);
    EXPECT_EQ(one.client.jobs_in_flight(), 2U);
    EXPECT_TRUE(one.read(7));
}

TEST(s7_client_jobs, foreign_and_repeated_replies_are_counted_and_swallowed) {
    scripted one;
    one.handshake();
    ASSERT_TRUE(one.read(1));
    const auto reference = one.references().at(0);
    const auto other_high_byte = static_cast<std::uint16_t>(reference ^ 0x0100);
    one.wire.receive(packet(read_reply(other_high_byte, value_of(9))));
    EXPECT_TRUE(one.observer.jobs.empty());
    one.wire.receive(packet(hex("32070000000000000000")));  // a push
    one.wire.receive(packet(read_reply(reference, value_of(1))));
    one.wire.receive(packet(read_reply(reference, value_of(2))));
    EXPECT_EQ(one.client.counters().replies_foreign, 3U);
    EXPECT_EQ(one.observer.jobs.at(1).times, 1U);
    EXPECT_EQ(one.observer.jobs.at(1).values.at(0), value_of(1));
    EXPECT_EQ(one.client.state(), link_state::up);
}

TEST(s7_client_jobs, a_late_reply_frees_the_place_of_a_job_given_up) {
    scripted one;
    one.handshake();
    ASSERT_TRUE(one.read(1));
    const auto late = one.references().at(0);
    one.pass(1s);
    ASSERT_TRUE(one.read(2));
    one.wire.receive(packet(read_reply(one.references().at(0), value_of(2))));
    one.pass(1s);
    EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::timed_out);
    EXPECT_EQ(one.client.jobs_in_flight(), 1U) << "the late reply may still come";
    EXPECT_EQ(one.client.state(), link_state::up) << "one lost answer is no dead link";
    one.wire.receive(packet(read_reply(late, value_of(1))));
    EXPECT_EQ(one.client.jobs_in_flight(), 0U);
    EXPECT_EQ(one.client.counters().replies_late, 1U);
    EXPECT_EQ(one.observer.jobs.at(2).outcome, job_outcome::answered);
    EXPECT_EQ(one.observer.jobs.at(1).times, 1U);
}

TEST(s7_client_jobs, a_plc_that_is_silent_while_a_job_waits_is_given_up) {
    scripted one(small_options(8));
    one.handshake();
    ASSERT_TRUE(one.read(0));
    one.wire.receive(packet(read_reply(one.references().at(0), value_of(0))));
    one.pass(500ms);
    ASSERT_TRUE(one.read(1));
    one.pass(1900ms);
    ASSERT_TRUE(one.read(2));
    EXPECT_EQ(one.client.state(), link_state::up);
    one.pass(100ms);
    EXPECT_EQ(one.client.state(), link_state::down);
    EXPECT_EQ(one.last_event().reason, link_reason::job_timeouts);
    EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::timed_out);
    EXPECT_EQ(one.observer.jobs.at(2).outcome, job_outcome::link_lost);
}

TEST(s7_client_jobs, timeouts_in_a_row_end_the_link) {
    scripted one(small_options(8));
    one.handshake();
    for (std::uint64_t tag = 0; tag < 4; ++tag) {
        ASSERT_TRUE(one.read(tag));
        one.pass(100ms);
    }
    one.wire.receive(packet(read_reply(one.references().at(3), value_of(3))));
    one.pass(1600ms);
    ASSERT_EQ(one.client.counters().jobs_timed_out, 1U);
    one.pass(100ms);
    ASSERT_EQ(one.client.counters().jobs_timed_out, 2U);
    EXPECT_EQ(one.client.state(), link_state::up);
    one.pass(100ms);
    EXPECT_EQ(one.client.counters().jobs_timed_out, 3U);
    EXPECT_EQ(one.client.state(), link_state::down);
    EXPECT_EQ(one.last_event().reason, link_reason::job_timeouts);
}

TEST(s7_client_jobs, an_answer_between_timeouts_starts_the_count_again) {
    client_options options = small_options(8);
    options.timeouts_in_a_row = 2;
    for (const bool answered : {false, true}) {
        scripted one(options);
        one.handshake();
        one.read(0);
        one.pass(500ms);
        one.read(1);
        one.read(2);
        one.read(4);
        const auto references = one.references();
        one.pass(100ms);
        one.wire.receive(packet(read_reply(references[3], value_of(4))));
        one.pass(1400ms);
        if (answered) {
            one.wire.receive(packet(read_reply(references[1], value_of(1))));
        }
        one.read(3);
        one.pass(500ms);
        EXPECT_EQ(one.client.state(), answered ? link_state::up : link_state::down);
    }
}

/// A write that was never answered must not keep the next ones from being sent.
TEST(s7_client_jobs, places_that_are_lost_are_lost_to_reads_and_writes_alike) {
    scripted one(small_options(2));
    one.handshake();
    ASSERT_TRUE(one.write(1));
    one.pass(1s);
    ASSERT_TRUE(one.read(2));
    one.wire.receive(packet(read_reply(one.references().back(), value_of(2))));
    one.pass(1s);
    ASSERT_EQ(one.observer.jobs.at(1).outcome, job_outcome::timed_out);
    ASSERT_EQ(one.client.state(), link_state::up);
    ASSERT_TRUE(one.write(3));
    ASSERT_TRUE(one.read(4));
    EXPECT_EQ(one.client.jobs_in_flight(), 2U);
    EXPECT_EQ(one.client.jobs_queued(), 1U) << "one place is left, for which they take turns";
    EXPECT_EQ(one.references().size(), 1U);
}

TEST(s7_client_jobs, with_a_window_of_one_a_timeout_ends_the_link) {
    scripted one(small_options(1));
    one.handshake();
    ASSERT_TRUE(one.read(1));
    ASSERT_TRUE(one.read(2));
    one.pass(2s);
    EXPECT_EQ(one.client.state(), link_state::down);
    EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::timed_out);
    EXPECT_EQ(one.observer.jobs.at(2).outcome, job_outcome::not_sent);
}

struct bad_reply {
    std::string_view name;
    std::string_view pdu;  ///< with the reference 0001, of the first job
    job_outcome outcome;
    std::uint16_t error;
};

TEST(s7_client_jobs, a_reply_is_checked_against_its_request) {
    const std::vector<bad_reply> cases = {
        {"good", "320300000001000200080000 0401 ff040020ab000101", job_outcome::answered, 0},
        {"one fill byte behind", "320300000001000200090000 0401 ff040020ab00010100",
         job_outcome::reply_unusable, 0},
        {"item refused", "320300000001000200040000 0401 0a000000", job_outcome::answered, 0},
        {"item refused, length not true", "320300000001000200040000 0401 0a000004",
         job_outcome::answered, 0},
        {"refused by an ack", "320200000001000000008500", job_outcome::refused, 0x8500},
        {"refused by an ack with data", "320300000001000200008104 0401", job_outcome::refused,
         0x8104},
        {"ack without an error", "320200000001000000000000", job_outcome::reply_unusable, 0},
        {"other function", "320300000001000200010000 0501 ff", job_outcome::reply_unusable, 0},
        {"two items", "320300000001000200080000 0402 ff040020ab000101", job_outcome::reply_unusable,
         0},
        {"no items", "320300000001000200000000 0400", job_outcome::reply_unusable, 0},
        {"fewer bytes", "320300000001000200060000 0401 ff040010ab00", job_outcome::reply_unusable,
         0},
        {"more bytes", "3203000000010002000a0000 0401 ff040030ab0001010203",
         job_outcome::reply_unusable, 0},
        {"length beyond the data", "320300000001000200080000 0401 ff040028ab000101",
         job_outcome::reply_unusable, 0},
        {"cut item header", "320300000001000200030000 0401 ff0400", job_outcome::reply_unusable, 0},
        {"no data", "320300000001000200000000 0401", job_outcome::reply_unusable, 0},
        {"long parameters", "320300000001000300080000 040100 ff040020ab000101",
         job_outcome::reply_unusable, 0},
    };
    for (const bad_reply& reply : cases) {
        scripted one;
        one.handshake();
        ASSERT_TRUE(one.read(1));
        ASSERT_EQ(one.references().at(0), 1U);
        one.wire.receive(packet(hex(reply.pdu)));
        ASSERT_EQ(one.observer.jobs.size(), 1U) << reply.name;
        EXPECT_EQ(one.observer.jobs.at(1).outcome, reply.outcome) << reply.name;
        EXPECT_EQ(one.observer.jobs.at(1).error, reply.error) << reply.name;
        EXPECT_EQ(one.client.state(), link_state::up) << reply.name;
        EXPECT_EQ(one.client.jobs_in_flight(), 0U) << reply.name;
    }
}

TEST(s7_client_jobs, what_is_no_s7_message_ends_the_link) {
    for (const std::string_view pdu :
         {"32", "3303000000010002000800000401ff040020ab000101", "32030000000100020009000004",
          "3203000000010002000700000401ff040020ab000101", "320500000001000000000000"}) {
        scripted one;
        one.handshake();
        ASSERT_TRUE(one.read(1));
        one.wire.receive(packet(hex(pdu)));
        EXPECT_EQ(one.client.state(), link_state::down) << pdu;
        EXPECT_EQ(one.last_event().reason, link_reason::protocol_error) << pdu;
        EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::link_lost) << pdu;
    }
}

TEST(s7_client_jobs, a_disconnect_while_up_is_told_with_its_reason_byte) {
    scripted one;
    one.handshake();
    ASSERT_TRUE(one.read(1));
    one.wire.receive(hex("0300000b06800001000384"));
    EXPECT_EQ(one.last_event().reason, link_reason::disconnected);
    EXPECT_EQ(one.last_event().detail, 0x84);
    EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::link_lost);
}

TEST(s7_client_jobs, writes_go_ahead_of_queued_reads_and_leave_one_place) {
    scripted one(small_options(3));
    one.handshake();
    // A full window of reads, then one more read, then writes.
    for (std::uint64_t tag = 0; tag < 4; ++tag) {
        ASSERT_TRUE(one.read(tag));
    }
    auto references = one.references();
    for (std::uint64_t tag = 10; tag < 13; ++tag) {
        ASSERT_TRUE(one.write(tag));
    }
    EXPECT_TRUE(one.references().empty());
    std::vector<std::uint8_t> functions;
    for (const auto reference : references) {
        one.wire.receive(packet(read_reply(reference, value_of(0))));
    }
    for (const bytes& pdu : pdus_in(one.wire.take_sent())) {
        functions.push_back(std::to_integer<std::uint8_t>(pdu[10]));
    }
    EXPECT_EQ(functions, (std::vector<std::uint8_t>{5, 5, 4}));
    EXPECT_EQ(one.client.jobs_queued(), 1U) << "the third write leaves the last place for reads";
}

TEST(s7_client_jobs, in_a_window_of_one_reads_and_writes_alternate) {
    scripted one(small_options(1));
    one.handshake();
    ASSERT_TRUE(one.write(10));
    ASSERT_TRUE(one.write(11));
    ASSERT_TRUE(one.write(12));
    ASSERT_TRUE(one.read(1));
    ASSERT_TRUE(one.read(2));
    std::string order;
    for (int i = 0; i < 5; ++i) {
        const auto pdus = pdus_in(one.wire.take_sent());
        ASSERT_EQ(pdus.size(), 1U);
        s7_message message;
        ASSERT_TRUE(decode_message(pdus[0], message));
        const bool is_write = message.function() == 5;
        order += is_write ? 'w' : 'r';
        bytes reply = hex("320300000000000200010000 0501 ff");
        reply[4] = static_cast<std::byte>(message.reference >> 8);
        reply[5] = static_cast<std::byte>(message.reference);
        one.wire.receive(packet(is_write ? reply : read_reply(message.reference, value_of(1))));
    }
    EXPECT_EQ(order, "wrwrw");
    EXPECT_EQ(one.observer.order, (std::vector<std::uint64_t>{10, 1, 11, 2, 12}));
}

TEST(s7_client_jobs, a_buffer_is_not_used_again_before_its_message_is_written) {
    scripted one(small_options(1));
    one.handshake();
    one.wire.hold_reports = true;
    // The reply overtakes the report: the job is finished, its slot is not free.
    for (std::uint64_t tag = 0; tag < 5; ++tag) {
        ASSERT_TRUE(one.read(tag));
        one.wire.receive(packet(read_reply(one.references().at(0), value_of(tag))));
        ASSERT_EQ(one.observer.jobs.at(tag).outcome, job_outcome::answered);
    }
    EXPECT_FALSE(one.read(5)) << "all five slots are with the driver";
    one.wire.report_all();
    EXPECT_EQ(one.observer.capacity_offers, 1);
    EXPECT_TRUE(one.read(6));
}

TEST(s7_client_jobs, a_full_batch_leaves_the_rest_for_the_next) {
    scripted one;
    one.handshake();
    one.wire.message_limit = 1;
    for (std::uint64_t tag = 0; tag < 4; ++tag) {
        ASSERT_TRUE(one.client.submit_read(tag, std::array{byte_variable(area::memory, 0, 0, 4)}));
    }
    one.wire.turn();
    EXPECT_EQ(one.references().size(), 4U);
}

TEST(s7_client_jobs, requests_are_cut_to_what_the_peer_takes) {
    scripted one(small_options(4, 480));
    one.handshake("0300000b06d00001000300");
    ASSERT_EQ(one.client.limits().tpdu_size, 128U);
    const std::vector<variable> items(20, byte_variable(area::memory, 0, 0, 1));
    ASSERT_TRUE(one.client.submit_read(1, items));
    one.wire.turn();
    const bytes sent = one.wire.take_sent();
    // 252 bytes of PDU: 125, 125 and 2, each behind seven bytes of headers.
    ASSERT_EQ(sent.size(), 252U + 3 * 7);
    EXPECT_EQ(to_hex(std::span(sent).first(7)), "0300008402f000");
    EXPECT_EQ(to_hex(std::span(sent).subspan(132, 7)), "0300008402f000");
    EXPECT_EQ(to_hex(std::span(sent).subspan(264, 7)), "0300000902f080");
    bytes expected(480);
    expected.resize(encode_read_request(expected, 1, items));
    EXPECT_EQ(pdus_in(sent).at(0), expected);
}

TEST(s7_client_jobs, fragments_without_end_are_bounded) {
    scripted large;
    large.handshake();
    large.wire.receive(fragments(bytes(241), 100));
    EXPECT_EQ(large.last_event().reason, link_reason::protocol_error);

    scripted many;
    many.handshake();
    many.wire.receive(fragments(bytes(65), 1));
    EXPECT_EQ(many.last_event().reason, link_reason::protocol_error);
}

TEST(s7_client_jobs, references_pass_over_zero_and_over_those_in_flight) {
    scripted one(small_options(2));
    one.handshake();
    ASSERT_TRUE(one.read(0));
    const auto waiting = one.references().at(0);
    one.pass(1s);
    ASSERT_TRUE(one.read(70'000));
    one.wire.receive(packet(read_reply(one.references().at(0), value_of(1))));
    one.pass(1s);
    ASSERT_EQ(one.observer.jobs.at(0).outcome, job_outcome::timed_out);
    for (std::uint64_t tag = 1; tag < 66'000; ++tag) {
        ASSERT_TRUE(one.client.submit_read(1, std::array{byte_variable(area::memory, 0, 0, 4)}));
        one.wire.turn();
        const auto reference = one.references().at(0);
        ASSERT_NE(reference, 0U);
        ASSERT_NE(reference, waiting);
        one.wire.receive(packet(read_reply(reference, value_of(1))));
    }
    EXPECT_EQ(one.observer.jobs.at(1).times, 65'999U);
}

TEST(s7_client_jobs, a_flood_of_frames_is_taken_in_bounded_turns) {
    scripted one;
    one.handshake();
    bytes flood;
    for (int i = 0; i < 100; ++i) {
        const bytes frame = packet(read_reply(777, value_of(1)));
        flood.insert(flood.end(), frame.begin(), frame.end());
    }
    const auto result = one.client.receive(flood, one.clock.now());
    EXPECT_TRUE(result.more);
    EXPECT_EQ(one.client.counters().replies_foreign, 64U);
    const auto rest =
        one.client.receive(std::span(flood).subspan(result.consumed), one.clock.now());
    EXPECT_FALSE(rest.more);
    EXPECT_EQ(result.consumed + rest.consumed, flood.size());
}

TEST(s7_client_jobs, closing_from_this_side_answers_what_is_owed) {
    scripted one(small_options(1));
    one.handshake();
    ASSERT_TRUE(one.read(1));
    ASSERT_TRUE(one.read(2));
    one.client.disconnect();
    EXPECT_FALSE(one.read(3));
    EXPECT_EQ(one.client.state(), link_state::down);
    EXPECT_EQ(one.last_event().reason, link_reason::requested);
    EXPECT_EQ(one.observer.jobs.at(1).outcome, job_outcome::link_lost);
    EXPECT_EQ(one.observer.jobs.at(2).outcome, job_outcome::not_sent);
    one.client.disconnect();
}

TEST(s7_client_jobs, impossible_jobs_are_turned_away) {
    scripted one;
    one.handshake();
    EXPECT_FALSE(one.client.submit_read(1, {}));
    EXPECT_FALSE(one.client.submit_read(1, std::array{byte_variable(area::memory, 0, 0, 0)}));
    variable unknown = byte_variable(area::memory, 0, 0, 1);
    unknown.type = static_cast<request_type>(0x77);
    EXPECT_FALSE(one.client.submit_read(1, std::array{unknown}));
    const bytes three(3);
    EXPECT_FALSE(one.client.submit_write(
        1, std::array{write_item{byte_variable(area::memory, 0, 0, 4), three}}));
    EXPECT_FALSE(one.client.submit_write(
        1, std::array{write_item{byte_variable(area::memory, 0, 0, 0), {}}}));
    EXPECT_EQ(one.client.jobs_queued(), 0U);
}

/// What can befall a connection.
enum class mishap { peer_closes, transport_fails, disconnect, garbage, silence, own_close };

void befall(scripted& one, mishap what) {
    switch (what) {
        case mishap::peer_closes:
            return one.wire.close(transport::close_reason::peer_closed_mid_frame);
        case mishap::transport_fails:
            return one.wire.close(transport::close_reason::transport_error);
        case mishap::disconnect:
            return one.wire.receive(hex("0300000b06800001000380"));
        case mishap::garbage:
            return one.wire.receive(hex("47455420"));
        case mishap::silence:
            for (int i = 0; i < 10; ++i) {
                one.pass(1s);
            }
            return;
        case mishap::own_close:
            one.client.disconnect();
            return one.wire.turn();
    }
}

TEST(s7_client_jobs, every_job_ends_once_whatever_befalls_the_link_at_any_step) {
    constexpr int steps = 12;
    for (const mishap what : {mishap::peer_closes, mishap::transport_fails, mishap::disconnect,
                              mishap::garbage, mishap::silence, mishap::own_close}) {
        for (int broken_at = 0; broken_at <= steps; ++broken_at) {
            for (const bool hold : {false, true}) {
                scripted one(small_options(2));
                one.wire.hold_reports = hold;
                std::uint64_t accepted = 0;
                std::vector<std::uint16_t> references;
                for (int step = 0; step < broken_at; ++step) {
                    switch (step) {
                        case 0:
                            one.wire.open();
                            break;
                        case 1:
                            one.wire.receive(hex("0300000b06d00001000300"));
                            break;
                        case 2:
                            one.wire.receive(packet(scripted::setup_reply(2, 240)));
                            one.wire.take_sent();
                            break;
                        case 5:
                        case 8:
                        case 10:
                            references = one.references();
                            if (!references.empty()) {
                                one.wire.receive(packet(read_reply(references[0], value_of(1))));
                            }
                            break;
                        default:
                            accepted += one.read(accepted) ? 1U : 0U;
                            accepted += one.write(accepted) ? 1U : 0U;
                            break;
                    }
                }
                befall(one, what);
                if (what == mishap::silence && one.client.state() == link_state::up) {
                    // At most one job was in flight: too little to call the link dead.
                    one.wire.close(transport::close_reason::peer_closed);
                }
                ASSERT_EQ(one.client.state(), link_state::down) << broken_at;
                ASSERT_EQ(one.observer.jobs.size(), accepted);
                for (const auto& [tag, job] : one.observer.jobs) {
                    ASSERT_EQ(job.times, 1U) << tag;
                }
                ASSERT_EQ(one.client.jobs_queued() + one.client.jobs_in_flight(), 0U);
                one.wire.hold_reports = false;
                one.handshake();
                ASSERT_TRUE(one.read(1000));
                one.wire.receive(packet(read_reply(one.references().at(0), value_of(1))));
                ASSERT_EQ(one.observer.jobs.at(1000).outcome, job_outcome::answered);
            }
        }
    }
}

}  // namespace
}  // namespace tagferry::s7::test
