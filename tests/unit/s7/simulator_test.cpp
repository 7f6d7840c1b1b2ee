// The simulated PLC: what moves, what it refuses, and how it can be made to misbehave.
#include "protocols/s7/types/codec.hpp"
#include "tests/unit/s7/asked_plc.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

template <class T>
T value_at(simulated_plc& plc, std::uint32_t byte) {
    item_code code{};
    const auto from = plc.read(byte_variable(area::data_block, 1, byte, sizeof(T)), code);
    EXPECT_EQ(code, item_code::success);
    return transport::load<T>(from.data(), std::endian::big);
}

TEST(s7_signals, each_kind_moves_with_the_clock) {
    transport::manual_clock clock;
    simulated_plc plc(
        with_signals({signal("DB1.DBD0", "REAL", signal_kind::ramp, 10, 20, 10s),
                      signal("DB1.DBD4", "REAL", signal_kind::sine, -1, 1, 4s),
                      signal("DB1.DBW8", "INT", signal_kind::counter, 5, 7, 1s),
                      signal("DB1.DBX10.3", "BOOL", signal_kind::toggle, 0, 1, 1s),
                      signal("DB1.DBX10.4", "BOOL", signal_kind::constant, 1, 1, 1s),
                      signal("DB1.DBB12", "USINT", signal_kind::constant, 200, 0, 1s),
                      signal("DB1.DBB14", "SINT", signal_kind::constant, -200, 0, 1s)}),
        clock);
    plc.memory().bytes(area::data_block, 1)[10] = std::byte{0x81};
    EXPECT_FLOAT_EQ(value_at<float>(plc, 0), 10);
    EXPECT_NEAR(value_at<float>(plc, 4), 0, 1e-6);
    EXPECT_EQ(value_at<std::int16_t>(plc, 8), 5);
    EXPECT_EQ(value_at<std::uint8_t>(plc, 10), 0x91) << "bits beside a signal stay";
    EXPECT_EQ(value_at<std::uint8_t>(plc, 12), 200);
    EXPECT_EQ(value_at<std::int8_t>(plc, 14), -128) << "beyond the type stops at its limit";
    clock.advance(1s);
    EXPECT_FLOAT_EQ(value_at<float>(plc, 0), 11);
    EXPECT_NEAR(value_at<float>(plc, 4), 1, 1e-6);
    EXPECT_EQ(value_at<std::int16_t>(plc, 8), 6);
    EXPECT_EQ(value_at<std::uint8_t>(plc, 10), 0x99);
    clock.advance(2s);
    EXPECT_EQ(value_at<std::int16_t>(plc, 8), 5) << "from the minimum again past the maximum";
    EXPECT_NEAR(value_at<float>(plc, 4), -1, 1e-6);
    clock.advance(7s);
    EXPECT_FLOAT_EQ(value_at<float>(plc, 0), 10);
}

TEST(s7_signals, texts_and_arrays_move_too) {
    transport::manual_clock clock;
    simulated_plc plc(
        with_signals({signal("DB1.DBB0", "STRING[10]", signal_kind::text, 0, 0, 1s, "Größe"),
                      signal("DB1.DBB20", "ARRAY[0..3] OF DINT", signal_kind::ramp, 0, 100, 1s),
                      signal("DB1.DBB40", "STRING[4]", signal_kind::constant, 0, 0, 1s, "longer")}),
        clock);
    clock.advance(12s);
    item_code code{};
    data_type type;
    ASSERT_FALSE(parse_data_type("STRING[10]", type));
    bytes slot(slot_size(type));
    EXPECT_EQ(
        decode_value(type, 0, plc.read(byte_variable(area::data_block, 1, 0, 12), code), slot),
        decode_result::good);
    const auto size = transport::load<std::uint16_t>(slot.data(), std::endian::native);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(slot.data()) + 2, size), "Größe 12");
    EXPECT_EQ(value_at<std::int32_t>(plc, 20), 0);
    EXPECT_EQ(value_at<std::int32_t>(plc, 24), 10);
    EXPECT_EQ(value_at<std::int32_t>(plc, 32), 30);
    EXPECT_EQ(to_hex(plc.read(byte_variable(area::data_block, 1, 40, 6), code)), "04046c6f6e67");
}

TEST(s7_signals, a_read_inside_an_array_sees_it_move) {
    transport::manual_clock clock;
    simulated_plc plc(
        with_signals({signal("DB1.DBB0", "ARRAY[0..59] OF INT", signal_kind::counter, 0, 1e4, 1s)}),
        clock);
    clock.advance(7s);
    EXPECT_EQ(value_at<std::int16_t>(plc, 118), 7);
}

TEST(s7_signals, configurations_that_make_no_sense_are_refused_in_words) {
    const transport::manual_clock clock;
    const auto refused = [&](simulator_config config, std::string_view words) {
        try {
            const simulated_plc plc(config, clock);
            ADD_FAILURE() << "taken: " << words;
        } catch (const std::invalid_argument& error) {
            EXPECT_NE(std::string_view(error.what()).find(words), std::string_view::npos)
                << error.what();
        }
    };
    constexpr auto ramp = signal_kind::ramp;
    refused(with_signals({signal("DB2.DBD0", "REAL", ramp, 0, 1, 1s)}), "does not exist");
    refused(with_signals({signal("DB1.DBD253", "REAL", ramp, 0, 1, 1s)}), "DB1.DBB253");
    refused(with_signals({signal("DB1.DBD0", "REAL", ramp, 0, 1, 0s)}), "period");
    refused(with_signals({signal("DB1.DBD0", "STRING[4]", ramp, 0, 1, 1s)}), "kind");
    refused(with_signals({signal("DB1.DBD0", "REAL", signal_kind::text, 0, 1, 1s)}), "kind");
    refused(with_signals({signal("DB1.DBD0", "REAL", ramp, 0, 1, 1s),
                          signal("DB1.DBW2", "INT", ramp, 0, 1, 1s)}),
            "overlaps");
    refused(with_signals({signal("DB1.DBX0.0", "ARRAY[0..8] OF BOOL", ramp, 0, 1, 1s),
                          signal("DB1.DBX1.0", "BOOL", ramp, 0, 1, 1s)}),
            "overlaps");
    refused(with_signals({signal("DB1.DBX0.1", "INT", ramp, 0, 1, 1s)}), "BOOL");
    refused(with_signals({signal("DB1.DBB0", "STRING[4]", signal_kind::constant, 0, 1, 1s, "Ω")}),
            "character");
    simulator_config config;
    config.profile = "s7-2000";
    refused(config, "s7-2000");
    config = {};
    config.pdu_size = 100;
    refused(config, "PDU");
    config = {};
    config.calling_jobs = 65;
    refused(config, "jobs");
    config = {};
    config.tpdu_size = 300;
    refused(config, "TPDU");
    config = {};
    config.data_blocks = {{0, 10}};
    refused(config, "data block 0");
    config.data_blocks = {{7, 0}};
    refused(config, "data block 7");
}

TEST(s7_simulator, refuses_items_one_by_one_with_the_codes_of_a_plc) {
    asked_plc one;
    one.connect();
    const auto code_of = [&](std::string_view item) {
        one.ask("32010000 0005 000e0000 0401" + std::string(item));
        const auto answers = one.answers();
        return answers.size() == 1 ? answers[0].substr(28, 2) : "none";
    };
    EXPECT_EQ(code_of("120a10020001000183000000"), "ff") << "a block number outside blocks";
    EXPECT_EQ(code_of("120a10020001000984000000"), "0a") << "no DB 9";
    EXPECT_EQ(code_of("120a10020001000184000800"), "05") << "behind the block";
    EXPECT_EQ(code_of("120a100200020001840007f8"), "05") << "half behind the block";
    EXPECT_EQ(code_of("120a10010002000183000000"), "06") << "two bits";
    EXPECT_EQ(code_of("120a10770001000083000000"), "06") << "a type that is none";
    EXPECT_EQ(code_of("120a10020001000080000000"), "06") << "an area that is not there";
    EXPECT_EQ(code_of("120a10020000000083000000"), "06") << "nothing";
    EXPECT_EQ(code_of("120ab2020001000083000000"), "06") << "another syntax";
    EXPECT_EQ(one.plc.counters().items_failed, 8U);
    EXPECT_EQ(one.plc.counters().items_read, 1U);
}

TEST(s7_simulator, an_item_that_does_not_fit_the_reply_fails_alone) {
    asked_plc one;
    one.connect(1, 240);
    one.ask("32010000 0005 001a0000 0402 120a100200d5000083000000 120a1002000a000083000000");
    auto answers = one.answers();
    ASSERT_EQ(answers.size(), 1U);
    EXPECT_EQ(answers[0].size(), 2 * (14U + 4 + 213 + 1 + 4));
    EXPECT_EQ(answers[0].substr(answers[0].size() - 8), "03000000");
    one.ask("32010000 0006 001a0000 0402 120a100200dd000083000000 120a10020001000083000000");
    EXPECT_EQ(one.answers(), lines{"320200000006000000008500"}) << "not even the failed item fits";
}

TEST(s7_simulator, services_it_does_not_have_are_refused) {
    asked_plc one;
    one.connect();
    one.ask("32010000 0007 00020000 1d00");
    one.ask("32070000 0008 00080008 0001120411440100 ff09000400110000");
    one.ask("32010000 0009 00030000 040107");
    EXPECT_EQ(one.answers(), (lines{"320200000007000000008104", "320200000008000000008104",
                                    "320200000009000000008104"}));
}

TEST(s7_simulator, a_request_over_the_pdu_is_refused) {
    asked_plc one;
    one.connect(1, 240);
    bytes request(512);
    request.resize(
        encode_read_request(request, 6, std::vector(20, byte_variable(area::memory, 0, 0, 1))));
    one.wire.receive(packet(request));
    EXPECT_EQ(one.answers(), lines{"320200000006000000008500"});
}

TEST(s7_simulator, a_write_whose_data_is_not_whole_changes_nothing) {
    asked_plc one;
    one.connect();
    one.ask(
        "32010000 0005 001a0006 0502 120a10020001000083000000 120a10020001000083000008"
        "00040008ee00");
    EXPECT_EQ(one.answers(), lines{"320200000005000000008104"});
    EXPECT_EQ(one.plc.memory().bytes(area::memory, 0)[0], std::byte{0});
    one.ask("32010000 0005 000e0006 0501 120a10020001000083000000 00040010eeee");
    EXPECT_EQ(one.answers(), lines{"320300000005000200010000050107"}) << "two bytes into one";
}

TEST(s7_simulator, breaches_of_the_protocol_close_the_connection) {
    for (const std::string_view said :
         {"04", "0300000702f080", "0300000b06d00001000300", "0300000b06e00000000140"}) {
        asked_plc one;
        one.wire.receive(hex(said));
        EXPECT_FALSE(one.wire.is_open()) << said;
        EXPECT_EQ(one.plc.connection_count(), 0U);
    }
    asked_plc no_setup;
    no_setup.wire.receive(hex("0300001611e00000000100c1020100c2020102c0010a"));
    no_setup.ask(read_one_byte);
    EXPECT_FALSE(no_setup.wire.is_open());
}

TEST(s7_simulator, answers_leave_when_their_latency_has_passed) {
    auto config = with_signals({});
    config.latency = 5ms;
    transport::timing_wheel wheel{transport::manual_clock{}.now()};
    asked_plc one(config, nullptr, &wheel);
    one.connect();
    one.ask(read_one_byte);
    one.clock.advance(2ms);
    one.ask(read_one_byte);
    const auto tick = [&](transport::duration step) {
        one.clock.advance(step);
        transport::turn_budget budget(one.clock, one.clock.now());
        one.wire.ready = false;
        wheel.advance(one.clock.now(), budget);
        if (one.wire.ready) {
            one.wire.turn();
        }
        return one.answers().size();
    };
    EXPECT_EQ(tick(2ms), 0U);
    EXPECT_EQ(tick(1ms), 1U) << "woken by the wheel, without the sweep";
    EXPECT_EQ(tick(2ms), 1U);
    EXPECT_EQ(one.plc.counters().most_in_flight, 2U);
}

TEST(s7_simulator, without_a_wheel_the_sweep_sends_what_is_due) {
    auto config = with_signals({});
    config.latency = 5ms;
    asked_plc one(config);
    one.connect();
    one.ask(read_one_byte);
    EXPECT_EQ(one.server.deadline(), one.clock.now() + 5ms);
    one.clock.advance(100ms);
    one.wire.expire();
    EXPECT_EQ(one.answers().size(), 1U);
    EXPECT_EQ(one.server.deadline(), transport::time_point::max());
}

TEST(s7_simulator, jobs_over_the_window_wait_unread_until_answers_have_left) {
    auto config = with_signals({});
    config.profile = "s7-300";
    config.latency = 5ms;
    asked_plc one(config);
    one.connect(1, 240);
    for (int i = 0; i < 8; ++i) {
        one.ask(read_one_byte);
    }
    EXPECT_FALSE(one.server.wants_input().wanted);
    EXPECT_EQ(one.wire.unconsumed(), 3 * (10U + 14 + 7));
    one.clock.advance(5ms);
    one.wire.expire();
    EXPECT_EQ(one.answers().size(), 5U);
    one.clock.advance(5ms);
    one.wire.expire();
    EXPECT_EQ(one.answers().size(), 3U);
}

class planned_fate final : public fault_hook {
  public:
    connection_fate accept_connection(transport::time_point /*now*/) override {
        return connection_fate::serve;
    }
    job_fate judge(const s7_message& job, transport::time_point /*now*/) override {
        return job.function() == 0xF0 ? job_fate{} : next;
    }
    job_fate next;
};

TEST(s7_simulator, a_fault_hook_decides_what_becomes_of_a_job) {
    planned_fate faults;
    asked_plc one(with_signals({}), &faults);
    one.connect();
    faults.next.what = job_fate::action::refuse;
    faults.next.error = 0xD241;
    one.ask(read_one_byte);
    EXPECT_EQ(one.answers(), lines{"32020000000500000000d241"});
    faults.next.what = job_fate::action::ignore;
    one.ask(read_one_byte);
    EXPECT_TRUE(one.answers().empty());
    faults.next = {};
    faults.next.delay = 30ms;
    one.ask(read_one_byte);
    EXPECT_TRUE(one.answers().empty());
    one.clock.advance(30ms);
    one.wire.expire();
    EXPECT_EQ(one.answers().size(), 1U);
    faults.next.what = job_fate::action::drop;
    one.ask(read_one_byte);
    EXPECT_FALSE(one.wire.is_open());
}

TEST(s7_simulator, answers_can_be_spoiled) {
    planned_fate faults;
    asked_plc one(with_signals({}), &faults);
    one.connect();
    const std::string good =
        "320300000005000200050000"
        "0401"
        "ff04000800";
    faults.next.twice = true;
    one.ask(read_one_byte);
    EXPECT_EQ(one.answers(), (lines{good, good}));
    faults.next = {};
    faults.next.reference_flip = 0x0100;
    one.ask(read_one_byte);
    EXPECT_EQ(one.answers(), lines{"320300000105000200050000"
                                   "0401"
                                   "ff04000800"});
    faults.next = {};
    faults.next.item_error = item_code::hardware_fault;
    one.ask(read_one_byte);
    EXPECT_EQ(one.answers(), lines{"320300000005000200040000"
                                   "0401"
                                   "01000000"});
    one.ask("32010000 0005 000e0005 0501 120a10020001000083000000 00040008ee");
    EXPECT_EQ(one.answers(), lines{"320300000005000200010000"
                                   "0501"
                                   "01"});
    EXPECT_EQ(one.plc.memory().bytes(area::memory, 0)[0], std::byte{0}) << "nothing is written";
}

TEST(s7_simulator, an_answer_can_leave_byte_by_byte_and_holds_up_the_next) {
    planned_fate faults;
    asked_plc one(with_signals({}), &faults);
    one.connect();
    faults.next.dribble = 3ms;
    one.ask(read_one_byte);
    faults.next = {};
    one.ask(read_one_byte);
    constexpr std::size_t size = 7 + 14 + 5;
    bytes heard;
    for (std::size_t i = 0; i + 1 < size; ++i) {
        const bytes piece = one.wire.take_sent();
        ASSERT_EQ(piece.size(), 1U) << i;
        heard.insert(heard.end(), piece.begin(), piece.end());
        one.clock.advance(3ms);
        one.wire.expire();
    }
    const bytes rest = one.wire.take_sent();
    EXPECT_EQ(rest.size(), 1 + size) << "the last byte, and the answer behind it";
    heard.insert(heard.end(), rest.begin(), rest.end());
    EXPECT_EQ(pdus_in(heard).size(), 2U);
    EXPECT_EQ(pdus_in(heard)[0], pdus_in(heard)[1]);
    EXPECT_TRUE(one.server.wants_input().wanted);
}

TEST(s7_simulator, a_serial_plc_works_on_one_job_after_the_other) {
    auto config = with_signals({});
    config.latency = 10ms;
    config.serial = true;
    asked_plc one(config);
    one.connect();
    for (int i = 0; i < 3; ++i) {
        one.ask(read_one_byte);
    }
    for (int i = 0; i < 3; ++i) {
        one.clock.advance(10ms);
        one.wire.expire();
        EXPECT_EQ(one.answers().size(), 1U);
    }
}

TEST(s7_simulator, a_plc_with_small_tpdus_answers_in_fragments) {
    auto config = with_signals({});
    config.tpdu_size = 256;
    asked_plc one(config);
    one.connect();
    one.ask("32010000 0005 000e0000 0401 120a10020200000083000000");
    const bytes sent = one.wire.take_sent();
    EXPECT_EQ(sent.size(), 14U + 4 + 512 + 3 * 7);
    ASSERT_EQ(pdus_in(sent).size(), 1U);
    EXPECT_EQ(pdus_in(sent)[0].size(), 14U + 4 + 512);
}

TEST(s7_simulator, a_plc_without_a_free_connection_refuses) {
    auto config = with_signals({});
    config.max_connections = 1;
    asked_plc first(config);
    server_engine second(first.plc);
    fake_driver wire(second, first.clock);
    wire.open();
    EXPECT_FALSE(wire.is_open());
    EXPECT_EQ(first.plc.connection_count(), 1U);
    EXPECT_EQ(first.plc.counters().connections_refused, 1U);
    first.wire.close(transport::close_reason::peer_closed);
    wire.open();
    EXPECT_TRUE(wire.is_open());
    wire.close(transport::close_reason::shutting_down);
}

TEST(s7_simulator, dropping_connections_closes_every_one) {
    asked_plc first;
    server_engine second(first.plc);
    fake_driver wire(second, first.clock);
    wire.open();
    EXPECT_EQ(first.plc.connection_count(), 2U);
    first.plc.drop_connections();
    wire.turn();
    first.wire.turn();
    EXPECT_FALSE(wire.is_open());
    EXPECT_FALSE(first.wire.is_open());
    EXPECT_EQ(first.plc.connection_count(), 0U);
}

TEST(s7_simulator, a_block_that_vanishes_fails_its_items_and_comes_back_zeroed) {
    asked_plc one(with_signals({signal("DB1.DBW0", "INT", signal_kind::constant, 7, 7, 1s)}));
    item_code code{};
    const auto item = byte_variable(area::data_block, 1, 0, 2);
    EXPECT_EQ(to_hex(one.plc.read(item, code)), "0007");
    one.plc.memory().remove(1);
    EXPECT_TRUE(one.plc.read(item, code).empty());
    EXPECT_EQ(code, item_code::object_missing);
    one.plc.memory().define(area::data_block, 1, 1);
    one.plc.read(item, code);
    EXPECT_EQ(code, item_code::out_of_range);
    one.plc.read(byte_variable(area::data_block, 1, 0, 1), code);
    EXPECT_EQ(code, item_code::success) << "the signal that no longer fits is left out";
}

}  // namespace
}  // namespace tagferry::s7::test
