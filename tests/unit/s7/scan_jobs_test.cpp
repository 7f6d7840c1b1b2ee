// A whole scan of 10,000 REALs through both engines: the simulator counts the jobs, every value
// arrives, and the window shortens it by what it promises.
#include "protocols/s7/session/read_plan.hpp"
#include "tests/unit/s7/engine_pair.hpp"
#include "transport/bytes/endian.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t real_count = 10'000;

/// Each REAL holds its own number; as many data blocks as they need.
std::vector<wanted_item> reals(std::uint32_t stride) {
    const std::uint32_t in_block = 65'532 / stride;
    std::vector<wanted_item> wanted;
    for (std::uint32_t i = 0; i < real_count; ++i) {
        const auto block = static_cast<std::uint16_t>(1 + i / in_block);
        wanted.push_back({area::data_block, block, i % in_block * stride, 4, 4, false});
    }
    return wanted;
}

struct scan {
    std::uint64_t jobs = 0;
    transport::duration time{};
};

/// Reads all of them once.
scan scan_once(std::uint32_t stride, std::uint16_t pdu_size, std::uint16_t window,
               transport::duration latency) {
    const auto wanted = reals(stride);
    simulator_config config;
    config.pdu_size = pdu_size;
    config.calling_jobs = window;
    config.latency = latency;
    for (std::uint16_t block = 1; block <= wanted.back().block; ++block) {
        config.data_blocks.push_back({block, 65'536});
    }
    engine_pair both(config, options_of(960, 8));
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        transport::store(both.plc.memory().bytes(area::data_block, wanted[i].block).data() +
                             wanted[i].start_byte,
                         static_cast<float>(i), std::endian::big);
    }
    both.open();
    read_plan plan;
    plan.build(wanted, {.pdu_size = both.client.limits().pdu_size});
    const auto begin = both.clock.now();
    std::size_t submitted = 0;
    while (both.observer.order.size() < plan.job_count()) {
        while (submitted < plan.job_count() &&
               both.client.submit_read(submitted, plan.job(submitted).items)) {
            ++submitted;
        }
        both.run();
        if (latency > transport::duration::zero()) {
            both.advance(latency);
        }
    }
    std::size_t right = 0;
    for (std::size_t job = 0; job < plan.job_count(); ++job) {
        const auto planned = plan.job(job);
        for (std::size_t item = 0; item < planned.items.size(); ++item) {
            for (const placement& placed : planned.placements_of(item)) {
                const float value = transport::load<float>(
                    both.observer.jobs.at(job).values.at(item).data() + placed.block_offset,
                    std::endian::big);
                right += value == static_cast<float>(placed.item) ? 1U : 0U;
            }
        }
    }
    EXPECT_EQ(right, real_count);
    return {both.plc.counters().read_jobs, both.clock.now() - begin};
}

TEST(s7_scan_jobs, the_simulator_counts_as_few_as_promised) {
    EXPECT_LE(scan_once(4, 240, 8, 0s).jobs, 182U);
    EXPECT_LE(scan_once(4, 480, 8, 0s).jobs, 87U);
    EXPECT_LE(scan_once(4, 960, 8, 0s).jobs, 43U);
    EXPECT_LE(scan_once(54, 240, 8, 0s).jobs, 500U);
    EXPECT_LE(scan_once(54, 480, 8, 0s).jobs, 400U);
    EXPECT_LE(scan_once(54, 960, 8, 0s).jobs, 295U);
}

TEST(s7_scan_jobs, a_window_of_eight_makes_a_scan_at_least_seven_times_shorter) {
    for (const std::uint16_t pdu_size :
         {std::uint16_t{240}, std::uint16_t{480}, std::uint16_t{960}}) {
        const scan alone = scan_once(4, pdu_size, 1, 1ms);
        const scan together = scan_once(4, pdu_size, 8, 1ms);
        EXPECT_EQ(alone.jobs, together.jobs);
        EXPECT_GE(alone.time, 7 * together.time) << pdu_size;
    }
}

}  // namespace
}  // namespace tagferry::s7::test
