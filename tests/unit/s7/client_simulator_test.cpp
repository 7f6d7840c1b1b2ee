// The client engine against the simulator engine, in memory, on a clock moved by hand.
#include "tests/unit/s7/engine_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

TEST(s7_client_and_simulator, each_profile_grants_its_pdu_and_window) {
    const std::map<std::string, std::array<std::size_t, 2>> expected = {
        {"s7-300", {240, 1}}, {"s7-400", {480, 2}}, {"s7-1200", {240, 3}}, {"s7-1500", {960, 8}}};
    for (const plc_profile& profile : plc_profiles()) {
        const std::string name(profile.name);
        engine_pair both(plc_config(name), options_of(960, 8));
        both.open();
        EXPECT_EQ(both.client.state(), link_state::up) << name;
        EXPECT_EQ(both.client.limits().pdu_size, expected.at(name)[0]) << name;
        EXPECT_EQ(both.client.limits().window, expected.at(name)[1]) << name;
    }
}

TEST(s7_client_and_simulator, the_window_is_the_smallest_of_own_calling_and_called) {
    engine_pair both(plc_config("s7-1500"), options_of(480, 3));
    both.open();
    EXPECT_EQ(both.client.limits().window, 3U);
    EXPECT_EQ(both.client.limits().pdu_size, 480U);
}

TEST(s7_client_and_simulator, reads_what_the_plc_holds_wherever_the_wire_cuts) {
    for (std::size_t cut = 1; cut < 40; ++cut) {
        engine_pair both(plc_config("s7-1500"), options_of(960, 8));
        both.cut = cut;
        both.open();
        const auto block = both.plc.memory().bytes(area::data_block, 1);
        for (std::size_t i = 0; i < block.size(); ++i) {
            block[i] = static_cast<std::byte>(i * 7);
        }
        for (std::uint32_t job = 0; job < 5; ++job) {
            const std::array items = {byte_variable(area::data_block, 1, job * 10, 3),
                                      byte_variable(area::data_block, 1, 500, 101),
                                      bit_variable(area::data_block, 1, job, 2)};
            ASSERT_TRUE(both.client.submit_read(job, items));
        }
        both.run();
        ASSERT_EQ(both.observer.jobs.size(), 5U) << cut;
        for (std::uint32_t job = 0; job < 5; ++job) {
            const auto& result = both.observer.jobs.at(job);
            ASSERT_EQ(result.outcome, job_outcome::answered) << cut;
            const auto expected = block.subspan(job * 10, 3);
            EXPECT_EQ(result.values[0], bytes(expected.begin(), expected.end()));
            EXPECT_EQ(result.values[1].size(), 101U);
            EXPECT_EQ(result.values[2], bytes{(block[job] >> 2) & std::byte{1}});
        }
    }
}

TEST(s7_client_and_simulator, one_failed_item_leaves_the_others_good) {
    engine_pair both(plc_config("s7-1500"), options_of(960, 8));
    both.open();
    const std::array items = {
        byte_variable(area::data_block, 1, 0, 3), byte_variable(area::data_block, 77, 0, 4),
        byte_variable(area::data_block, 2, 198, 3), byte_variable(area::data_block, 2, 197, 3)};
    ASSERT_TRUE(both.client.submit_read(1, items));
    both.run();
    const auto& result = both.observer.jobs.at(1);
    EXPECT_EQ(result.codes, (std::vector{item_code::success, item_code::object_missing,
                                         item_code::out_of_range, item_code::success}));
}

TEST(s7_client_and_simulator, writes_reach_the_memory_and_a_bit_changes_nothing_beside_it) {
    engine_pair both(plc_config("s7-1200"), options_of(960, 8));
    both.open();
    const auto block = both.plc.memory().bytes(area::data_block, 2);
    block[9] = std::byte{0xA5};
    const bytes three = hex("010203");
    const bytes one = hex("01");
    const bytes five = hex("1112131415");
    const std::array items = {write_item{byte_variable(area::data_block, 2, 0, 3), three},
                              write_item{bit_variable(area::data_block, 2, 9, 1), one},
                              write_item{byte_variable(area::data_block, 9, 0, 5), five},
                              write_item{byte_variable(area::data_block, 2, 20, 5), five}};
    ASSERT_TRUE(both.client.submit_write(5, items));
    both.run();
    const auto& result = both.observer.jobs.at(5);
    EXPECT_EQ(result.codes, (std::vector{item_code::success, item_code::success,
                                         item_code::object_missing, item_code::success}));
    EXPECT_EQ(to_hex(block.first(3)), "010203");
    EXPECT_EQ(to_hex(block.subspan(9, 1)), "a7");
    EXPECT_EQ(to_hex(block.subspan(20, 5)), "1112131415");
}

TEST(s7_client_and_simulator, a_job_over_the_negotiated_pdu_is_turned_away_in_either_direction) {
    engine_pair both(plc_config("s7-300"), options_of(960, 8));
    both.open();
    EXPECT_FALSE(both.client.submit_read(1, std::array{byte_variable(area::memory, 0, 0, 223)}));
    EXPECT_TRUE(both.client.submit_read(2, std::array{byte_variable(area::memory, 0, 0, 222)}));
    const std::vector twenty(20, byte_variable(area::memory, 0, 0, 1));
    EXPECT_FALSE(both.client.submit_read(3, twenty));
    EXPECT_TRUE(both.client.submit_read(4, std::span(twenty).first(19)));
    const bytes too_much(213);
    const bytes fits(212);
    EXPECT_FALSE(both.client.submit_write(
        5, std::array{write_item{byte_variable(area::memory, 0, 0, 213), too_much}}));
    EXPECT_TRUE(both.client.submit_write(
        6, std::array{write_item{byte_variable(area::memory, 0, 0, 212), fits}}));
    both.run();
    for (const std::uint64_t tag : {2U, 4U, 6U}) {
        EXPECT_EQ(both.observer.jobs.at(tag).outcome, job_outcome::answered) << tag;
    }
    EXPECT_EQ(both.observer.jobs.size(), 3U);
}

TEST(s7_client_and_simulator, ten_thousand_jobs_complete_once_within_the_window) {
    auto config = plc_config("s7-1500");
    config.latency = 1ms;
    engine_pair both(config, options_of(960, 8));
    both.open();
    std::mt19937 random(1);
    std::uint64_t submitted = 0;
    std::size_t most_in_flight = 0;
    while (both.observer.order.size() < 10'000) {
        while (submitted < 10'000) {
            const auto length = static_cast<std::uint16_t>(1 + random() % 400);
            const std::array items = {
                byte_variable(area::data_block, 1, static_cast<std::uint32_t>(random() % 3000),
                              length),
                byte_variable(area::data_block, 1, static_cast<std::uint32_t>(random() % 3000), 7)};
            if (!both.client.submit_read(submitted, items)) {
                break;
            }
            ++submitted;
        }
        both.client_side.turn();
        most_in_flight = std::max(most_in_flight, both.client.jobs_in_flight());
        both.advance(1ms);
    }
    EXPECT_EQ(most_in_flight, 8U);
    EXPECT_EQ(both.plc.counters().most_in_flight, 8U);
    EXPECT_EQ(both.observer.jobs.size(), 10'000U);
    for (const auto& [tag, job] : both.observer.jobs) {
        ASSERT_EQ(job.times, 1U) << tag;
        ASSERT_EQ(job.outcome, job_outcome::answered) << tag;
    }
    EXPECT_EQ(both.client.counters().replies_foreign, 0U);
}

TEST(s7_client_and_simulator, a_scan_with_window_eight_takes_an_eighth_of_the_time) {
    const auto scan_time = [](std::uint16_t window) {
        auto config = plc_config("s7-1500");
        config.latency = 1ms;
        config.calling_jobs = window;
        engine_pair both(config, options_of(960, 8));
        both.open();
        const auto start = both.clock.now();
        std::uint64_t submitted = 0;
        while (both.observer.order.size() < 64) {
            while (submitted < 64 &&
                   both.client.submit_read(submitted,
                                           std::array{byte_variable(area::memory, 0, 0, 4)})) {
                ++submitted;
            }
            both.run();
            both.advance(1ms);
        }
        return both.clock.now() - start;
    };
    EXPECT_GE(scan_time(1), 7 * scan_time(8));
}

TEST(s7_client_and_simulator, a_pulled_cable_fails_every_job_and_the_link_comes_back) {
    auto config = plc_config("s7-1500");
    config.latency = 10ms;
    manual_faults faults;
    engine_pair both(config, options_of(960, 2), &faults);
    both.open();
    for (std::uint64_t tag = 0; tag < 5; ++tag) {
        ASSERT_TRUE(both.client.submit_read(tag, std::array{byte_variable(area::memory, 0, 0, 4)}));
    }
    both.run();
    faults.refuse_connections(true);
    both.plc.drop_connections();
    both.run();
    EXPECT_EQ(both.client.state(), link_state::down);
    EXPECT_EQ(both.observer.events.back().reason, link_reason::peer_closed);
    ASSERT_EQ(both.observer.jobs.size(), 5U);
    EXPECT_EQ(both.observer.jobs.at(0).outcome, job_outcome::link_lost);
    EXPECT_EQ(both.observer.jobs.at(1).outcome, job_outcome::link_lost);
    EXPECT_EQ(both.observer.jobs.at(2).outcome, job_outcome::not_sent);
    EXPECT_EQ(both.observer.jobs.at(4).outcome, job_outcome::not_sent);

    both.open();
    EXPECT_EQ(both.client.state(), link_state::down);
    EXPECT_EQ(both.plc.counters().connections_refused, 1U);

    faults.refuse_connections(false);
    both.open();
    EXPECT_EQ(both.client.state(), link_state::up);
    ASSERT_TRUE(both.client.submit_read(9, std::array{byte_variable(area::memory, 0, 0, 4)}));
    both.advance(10ms);
    both.advance(10ms);
    EXPECT_EQ(both.observer.jobs.at(9).outcome, job_outcome::answered);
    EXPECT_EQ(both.observer.jobs.size(), 6U);
}

TEST(s7_client_and_simulator, a_silent_plc_is_found_out_by_the_job_timeout) {
    manual_faults faults;
    engine_pair both(plc_config("s7-1500"), options_of(960, 4), &faults);
    both.open();
    faults.be_silent(true);
    for (std::uint64_t tag = 0; tag < 6; ++tag) {
        ASSERT_TRUE(both.client.submit_read(tag, std::array{byte_variable(area::memory, 0, 0, 4)}));
    }
    both.run();
    both.advance(1999ms);
    EXPECT_TRUE(both.observer.jobs.empty());
    both.advance(1ms);
    EXPECT_EQ(both.client.state(), link_state::down);
    EXPECT_EQ(both.observer.events.back().reason, link_reason::job_timeouts);
    EXPECT_EQ(both.observer.jobs.at(3).outcome, job_outcome::timed_out);
    EXPECT_EQ(both.observer.jobs.at(4).outcome, job_outcome::not_sent);
    EXPECT_EQ(both.observer.jobs.size(), 6U);
}

/// Spoils some jobs, each time differently.
class random_faults final : public fault_hook {
  public:
    connection_fate accept_connection(transport::time_point /*now*/) override {
        return random_() % 4 != 0 ? connection_fate::serve : connection_fate::refuse;
    }
    job_fate judge(const s7_message& /*job*/, transport::time_point /*now*/) override {
        job_fate fate;
        fate.delay = std::chrono::milliseconds(random_() % 20);
        switch (random_() % 200) {
            case 0:
                fate.what = job_fate::action::ignore;
                break;
            case 1:
                fate.what = job_fate::action::drop;
                break;
            case 2:
                fate.what = job_fate::action::refuse;
                fate.error = error_protection_level;
                break;
            case 3:
                fate.delay = 2100ms;
                break;
            case 4:
                fate.twice = true;
                break;
            case 5:
                fate.reference_flip = 0x0180;
                break;
            case 6:
                fate.item_error = item_code::hardware_fault;
                break;
            case 7:
                fate.dribble = 1ms;
                break;
            default:
                break;
        }
        return fate;
    }

  private:
    std::mt19937 random_{11};
};

TEST(s7_client_and_simulator, whatever_goes_wrong_each_job_ends_once_and_no_value_is_another_s) {
    random_faults faults;
    auto config = plc_config("s7-1500");
    config.tpdu_size = 128;
    engine_pair both(config, options_of(480, 4), &faults);
    const auto block = both.plc.memory().bytes(area::data_block, 1);
    for (std::size_t i = 0; i < block.size(); i += 2) {
        block[i] = static_cast<std::byte>(i >> 8);
        block[i + 1] = static_cast<std::byte>(i);
    }
    std::uint64_t accepted = 0;
    std::map<std::uint64_t, std::uint32_t> asked;
    std::mt19937 random(5);
    for (int step = 0; step < 20'000; ++step) {
        if (!both.client_side.is_open()) {
            both.open();
        }
        const auto start = static_cast<std::uint32_t>(random() % 1900) * 2;
        const auto length = static_cast<std::uint16_t>(2 + random() % 200);
        both.cut = random() % 30;
        if (both.client.submit_read(
                accepted, std::array{byte_variable(area::data_block, 1, start, length)})) {
            asked[accepted++] = start;
        }
        both.advance(std::chrono::milliseconds(random() % 10));
    }
    both.client_side.close(transport::close_reason::shutting_down);
    ASSERT_EQ(both.observer.jobs.size(), accepted);
    std::map<job_outcome, std::uint64_t> outcomes;
    for (const auto& [tag, job] : both.observer.jobs) {
        ASSERT_EQ(job.times, 1U);
        ++outcomes[job.outcome];
        if (job.outcome == job_outcome::answered && job.codes.at(0) == item_code::success) {
            const auto expected = block.subspan(asked.at(tag), job.values.at(0).size());
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), job.values.at(0).begin()));
        }
    }
    const client_counters& counters = both.client.counters();
    EXPECT_GT(outcomes[job_outcome::answered], 1000U);
    for (const auto outcome : {job_outcome::refused, job_outcome::timed_out, job_outcome::link_lost,
                               job_outcome::not_sent}) {
        EXPECT_GT(outcomes[outcome], 0U)
            << "the test has to meet outcome " << static_cast<int>(outcome);
    }
    EXPECT_GT(counters.replies_late, 0U);
    EXPECT_GT(counters.replies_foreign, 0U);
    EXPECT_GT(counters.handshakes, 10U);
    EXPECT_GT(both.plc.counters().connections_refused, 0U);
}

}  // namespace
}  // namespace tagferry::s7::test
