// Every fault of the catalogue: what it does on the wire, when, and how often.
#include "protocols/s7/simulator/fault_script.hpp"

#include "tests/unit/s7/asked_plc.hpp"
#include "tests/unit/s7/engine_pair.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view write_ee_to_mb0 =
    "32010000 0005 000e0005 0501 120a10020001000083000000 00040008ee";
const std::string answered_00 = "3203000000050002000500000401ff04000800";

// Of every manual clock.
const transport::time_point start_of_time = transport::manual_clock{}.now();

scripted_fault each(fault_kind kind, std::uint32_t every) {
    scripted_fault fault = fault_catalogue()[static_cast<std::size_t>(kind)].usual;
    fault.every = every;
    return fault;
}

/// A PLC that runs one fault, from the start of its clock on.
struct faulty_plc {
    explicit faulty_plc(const scripted_fault& fault, const simulator_config& config)
        : faults(std::span(&fault, 1), start_of_time), one(config, &faults) {
        one.connect();
    }
    explicit faulty_plc(const scripted_fault& fault) : faulty_plc(fault, with_signals({})) {}

    std::byte mb0() { return one.plc.memory().bytes(area::memory, 0)[0]; }
    void advance(transport::duration step) {
        one.clock.advance(step);
        one.wire.expire();
    }
    lines answers_to(std::string_view pdu) {
        one.ask(pdu);
        return one.answers();
    }

    scripted_faults faults;
    asked_plc one;
};

TEST(s7_fault_script, the_catalogue_names_every_kind_once) {
    std::set<std::string_view> names;
    ASSERT_EQ(fault_catalogue().size(), fault_kind_count);
    for (const fault_description& one : fault_catalogue()) {
        EXPECT_TRUE(names.insert(one.name).second) << one.name;
        EXPECT_FALSE(one.words.empty());
        EXPECT_EQ(find_fault(one.name), &one);
    }
    EXPECT_EQ(find_fault("earthquake"), nullptr);
}

TEST(s7_fault_script, a_dropped_reply_was_carried_out) {
    faulty_plc plc(each(fault_kind::dropped_reply, 2));
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U);
    EXPECT_TRUE(plc.answers_to(write_ee_to_mb0).empty());
    EXPECT_EQ(plc.mb0(), std::byte{0xEE});
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U);
    EXPECT_EQ(plc.faults.hits(fault_kind::dropped_reply), 1U);
}

TEST(s7_fault_script, a_late_reply_comes_after_its_delay) {
    faulty_plc plc(each(fault_kind::late_reply, 1));
    EXPECT_TRUE(plc.answers_to(read_one_byte).empty());
    plc.advance(2499ms);
    EXPECT_TRUE(plc.one.answers().empty());
    plc.advance(1ms);
    EXPECT_EQ(plc.one.answers(), lines{answered_00});
}

TEST(s7_fault_script, a_duplicate_reply_and_a_wrong_reference) {
    faulty_plc twice(each(fault_kind::duplicate_reply, 1));
    EXPECT_EQ(twice.answers_to(read_one_byte), (lines{answered_00, answered_00}));
    faulty_plc wrong(each(fault_kind::wrong_reference, 1));
    EXPECT_EQ(wrong.answers_to(read_one_byte), lines{"3203000080050002000500000401ff04000800"});
}

TEST(s7_fault_script, two_replies_leave_in_one_turn) {
    faulty_plc plc(each(fault_kind::two_replies, 2));
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U);
    EXPECT_TRUE(plc.answers_to(read_one_byte).empty()) << "it waits for the next";
    EXPECT_EQ(plc.answers_to(read_one_byte), (lines{answered_00, answered_00}));
    EXPECT_TRUE(plc.answers_to(read_one_byte).empty());
    plc.advance(20ms);
    EXPECT_EQ(plc.one.answers(), (lines{answered_00, answered_00})) << "alone: with its copy";
    EXPECT_EQ(plc.one.plc.counters().jobs, 4U);
}

TEST(s7_fault_script, two_held_replies_let_each_other_go) {
    auto config = with_signals({});
    config.latency = 5ms;
    faulty_plc plc(each(fault_kind::two_replies, 1), config);
    EXPECT_TRUE(plc.answers_to(read_one_byte).empty());
    EXPECT_TRUE(plc.answers_to(read_one_byte).empty());
    plc.advance(5ms);
    EXPECT_EQ(plc.one.answers().size(), 2U);
    plc.advance(1s);
    EXPECT_TRUE(plc.one.answers().empty());
}

TEST(s7_fault_script, a_dribbled_reply_comes_byte_by_byte) {
    auto fault = each(fault_kind::dribble, 1);
    fault.delay = 100us;
    faulty_plc plc(fault);
    plc.one.ask(read_one_byte);
    bytes heard;
    while (heard.size() < envelope_size + 19) {
        const bytes piece = plc.one.wire.take_sent();
        ASSERT_EQ(piece.size(), 1U);
        heard.push_back(piece[0]);
        plc.advance(100us);
    }
    EXPECT_EQ(to_hex(pdus_in(heard).at(0)), answered_00);
}

TEST(s7_fault_script, fragments_are_of_64_bytes) {
    faulty_plc plc(each(fault_kind::fragments, 1));
    plc.one.ask("32010000 0005 000e0000 0401 120a100200c8000083000000");
    const bytes sent = plc.one.wire.take_sent();
    const std::size_t pdu = 14 + 4 + 200;
    EXPECT_EQ(sent.size(), pdu + 4 * envelope_size);
    ASSERT_EQ(pdus_in(sent).size(), 1U);
    EXPECT_EQ(pdus_in(sent)[0].size(), pdu);
    EXPECT_EQ(to_hex(std::span(sent).first(envelope_size)), "0300004702f000");
}

TEST(s7_fault_script, the_largest_pdu_leaves_in_fragments) {
    auto config = with_signals({});
    config.pdu_size = largest_pdu;
    faulty_plc plc(each(fault_kind::fragments, 1), config);
    plc.one.ask("32010000 0001 00080000 f000000800080800");
    plc.one.wire.take_sent();
    plc.one.ask("32010000 0005 000e0000 0401 120a100207ee000083000000");
    const auto sent = pdus_in(plc.one.wire.take_sent());
    ASSERT_EQ(sent.size(), 1U);
    EXPECT_EQ(sent[0].size(), largest_pdu);
}

TEST(s7_fault_script, an_item_error_meets_one_item_and_another_each_time) {
    faulty_plc plc(each(fault_kind::item_error, 1));
    const std::string two =
        "32010000 0005 001a0000 0402 120a10020001000083000000 120a10020001000083000008";
    EXPECT_EQ(plc.answers_to(two), lines{"3203000000050002000a00000402ff0400080000"
                                         "05000000"});
    EXPECT_EQ(plc.answers_to(two), lines{"3203000000050002000900000402"
                                         "05000000ff04000800"});
    EXPECT_EQ(plc.answers_to(write_ee_to_mb0), lines{"320300000005000200010000050105"});
    EXPECT_EQ(plc.mb0(), std::byte{0}) << "what fails is not written";
}

TEST(s7_fault_script, a_job_error_is_an_ack_and_nothing_is_done) {
    faulty_plc plc(each(fault_kind::job_error, 1));
    EXPECT_EQ(plc.answers_to(write_ee_to_mb0), lines{"320200000005000000008001"});
    EXPECT_EQ(plc.mb0(), std::byte{0});
}

TEST(s7_fault_script, a_data_block_is_gone_for_a_time_and_keeps_its_content) {
    auto config = with_signals({});
    config.data_blocks = {{1, 16}, {2, 16}};
    auto fault = each(fault_kind::data_block_gone, 1);
    fault.block = 2;
    faulty_plc plc(fault, config);
    plc.one.plc.memory().bytes(area::data_block, 2)[0] = std::byte{7};
    const auto code_of = [&](std::uint16_t block) {
        item_code code{};
        static_cast<void>(plc.one.plc.read(byte_variable(area::data_block, block, 0, 1), code));
        return code;
    };
    EXPECT_EQ(code_of(2), item_code::success);
    plc.advance(1s);
    EXPECT_EQ(code_of(2), item_code::object_missing);
    EXPECT_EQ(code_of(1), item_code::success);
    const bytes value = hex("01");
    EXPECT_EQ(plc.one.plc.write(byte_variable(area::data_block, 2, 0, 1), value),
              item_code::object_missing);
    plc.advance(1s);
    EXPECT_EQ(code_of(2), item_code::success);
    EXPECT_EQ(plc.one.plc.memory().bytes(area::data_block, 2)[0], std::byte{7});
    plc.advance(2s);
    EXPECT_EQ(code_of(2), item_code::object_missing) << "again each period";
    EXPECT_EQ(plc.faults.hits(fault_kind::data_block_gone), 3U);
}

TEST(s7_fault_script, a_reset_comes_before_and_after_the_job_by_turns) {
    faulty_plc plc(each(fault_kind::reset, 1));
    plc.one.ask(write_ee_to_mb0);
    EXPECT_FALSE(plc.one.wire.is_open());
    EXPECT_EQ(plc.mb0(), std::byte{0});
    plc.one.wire.open();
    plc.one.connect();
    plc.one.ask(write_ee_to_mb0);
    EXPECT_FALSE(plc.one.wire.is_open());
    EXPECT_EQ(plc.mb0(), std::byte{0xEE});
    EXPECT_TRUE(plc.one.answers().empty());
}

TEST(s7_fault_script, refused_connections_break_those_that_are_there_too) {
    faulty_plc plc(each(fault_kind::refused_connection, 1));
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U);
    plc.advance(1s);
    plc.one.ask(read_one_byte);
    EXPECT_FALSE(plc.one.wire.is_open());
    plc.one.wire.open();
    EXPECT_FALSE(plc.one.wire.is_open());
    EXPECT_EQ(plc.one.plc.counters().connections_refused, 1U);
    plc.advance(1s);
    plc.one.wire.open();
    plc.one.connect();
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U);
}

TEST(s7_fault_script, silence_answers_nothing_not_even_a_connect_request) {
    faulty_plc plc(each(fault_kind::silence, 1));
    plc.advance(1s);
    EXPECT_TRUE(plc.answers_to(write_ee_to_mb0).empty());
    EXPECT_EQ(plc.mb0(), std::byte{0}) << "a PLC that is not there does nothing";
    plc.one.wire.close(transport::close_reason::peer_closed);
    plc.one.wire.open();
    plc.one.wire.receive(hex("0300001611e00000000100c1020100c2020102c0010a"));
    EXPECT_TRUE(plc.one.wire.take_sent().empty());
    EXPECT_EQ(plc.one.wire.unconsumed(), 0U);
    plc.advance(3s);
    plc.one.wire.close(transport::close_reason::peer_closed);
    plc.one.wire.open();
    plc.one.connect();
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U);
}

TEST(s7_fault_script, in_stop_signals_stand_still_and_then_go_on_from_there) {
    faulty_plc plc(each(fault_kind::stop, 1),
                   with_signals({signal("DB1.DBW0", "INT", signal_kind::counter, 0, 1e4, 10ms)}));
    const auto value = [&] {
        item_code code{};
        return to_hex(plc.one.plc.read(byte_variable(area::data_block, 1, 0, 2), code));
    };
    plc.advance(1s);
    EXPECT_EQ(value(), "0064");
    plc.advance(500ms);
    EXPECT_EQ(value(), "0064");
    EXPECT_EQ(plc.answers_to(read_one_byte).size(), 1U) << "it still answers";
    plc.advance(600ms);
    EXPECT_EQ(value(), "006e");
    plc.advance(1900ms);
    EXPECT_EQ(value(), "012c") << "3.0 s in RUN out of 4";
    plc.advance(999ms);
    EXPECT_EQ(value(), "012c") << "the second STOP";
}

TEST(s7_fault_script, a_smaller_pdu_is_granted_to_every_other_link) {
    faulty_plc plc(each(fault_kind::smaller_pdu, 1));
    for (const std::string_view granted : {"0078", "03c0", "0078"}) {
        plc.one.ask(read_one_byte);
        EXPECT_FALSE(plc.one.wire.is_open());
        plc.one.wire.open();
        plc.one.wire.receive(hex("0300001611e00000000100c1020100c2020102c0010a"));
        plc.one.wire.take_sent();
        plc.one.ask("32010000 0001 00080000 f0000008000803c0");
        EXPECT_EQ(plc.one.answers().at(0).substr(36), granted);
    }
}

TEST(s7_fault_script, faults_that_meet_add_up_and_the_first_that_ends_the_job_counts) {
    const std::array script = {each(fault_kind::duplicate_reply, 1), each(fault_kind::job_error, 2),
                               each(fault_kind::dropped_reply, 2)};
    scripted_faults faults(script, start_of_time);
    asked_plc one(with_signals({}), &faults);
    one.connect();
    one.ask(read_one_byte);
    EXPECT_EQ(one.answers().size(), 2U);
    one.ask(read_one_byte);
    EXPECT_EQ(one.answers(), (lines{"320200000005000000008001", "320200000005000000008001"}));
}

/// Reads one word that says its own address, again and again, through whatever the fault does.
void read_through(const fault_description& fault, const plc_profile& profile) {
    SCOPED_TRACE(std::string(fault.name) + " on " + std::string(profile.name));
    scripted_faults faults(std::span(&fault.usual, 1), start_of_time);
    auto config = plc_config(std::string(profile.name));
    config.latency = 1ms;
    engine_pair both(config, options_of(960, 8), &faults);
    const auto block = both.plc.memory().bytes(area::data_block, 1);
    for (std::size_t i = 0; i < block.size(); i += 2) {
        transport::store(block.data() + i, static_cast<std::uint16_t>(i), std::endian::big);
    }
    std::uint64_t tag = 0;
    std::uint64_t answered = 0;
    for (; both.clock.now() < start_of_time + 12s;) {
        if (!both.client_side.is_open()) {
            both.open();
        }
        const auto place = static_cast<std::uint32_t>(tag * 2 % 4000);
        if (both.client.submit_read(tag,
                                    std::array{byte_variable(area::data_block, 1, place, 2)})) {
            ++tag;
        }
        both.run();
        both.advance(both.client.state() == link_state::up ? 2ms : 50ms);
    }
    both.client_side.close(transport::close_reason::shutting_down);
    for (const auto& [number, job] : both.observer.jobs) {
        ASSERT_EQ(job.times, 1U);
        if (job.outcome == job_outcome::answered && job.codes[0] == item_code::success) {
            ++answered;
            ASSERT_EQ(transport::load<std::uint16_t>(job.values[0].data(), std::endian::big),
                      number * 2 % 4000);
        }
    }
    EXPECT_EQ(both.observer.jobs.size(), tag) << "every job ends";
    EXPECT_GT(answered, 200U);
    EXPECT_GT(faults.hits(fault.usual.kind), 0U);
}

TEST(s7_fault_script, every_fault_on_every_profile_leaves_each_job_its_own_answer_or_none) {
    for (const fault_description& fault : fault_catalogue()) {
        for (const plc_profile& profile : plc_profiles()) {
            read_through(fault, profile);
        }
    }
}

class heard final : public simulator_observer {
  public:
    void item_read(const variable& item, std::span<const std::byte> value,
                   transport::time_point /*now*/) override {
        told.push_back("read " + std::to_string(item.start_byte()) + " " + to_hex(value));
    }
    void item_written(const variable& item, std::span<const std::byte> value,
                      transport::time_point /*now*/) override {
        told.push_back("written " + std::to_string(item.start_byte()) + " " + to_hex(value));
    }
    lines told;
};

TEST(s7_simulator, an_observer_hears_what_was_done_whether_or_not_the_answer_arrives) {
    faulty_plc plc(each(fault_kind::dropped_reply, 2));
    heard observer;
    plc.one.plc.observe(&observer);
    plc.one.ask(read_one_byte);
    plc.one.ask(write_ee_to_mb0);
    plc.one.ask("32010000 0005 000e0005 0501 120a10020001000983000000 00040010ee");
    plc.one.ask(read_one_byte);
    EXPECT_EQ(observer.told, (lines{"read 0 00", "written 0 ee", "read 0 ee"}));
}

}  // namespace
}  // namespace tagferry::s7::test
