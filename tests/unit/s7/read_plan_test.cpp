// The read plan: every wanted byte covered exactly, no job over the PDU either way, and as few
// jobs as the arithmetic allows.
#include "protocols/s7/session/read_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <stdexcept>
#include <vector>

namespace tagferry::s7::test {
namespace {

wanted_item real_at(std::uint32_t byte) {
    return {area::data_block, 1, byte, 4, 4, false};
}

std::vector<wanted_item> reals(std::size_t count, std::uint32_t stride) {
    std::vector<wanted_item> wanted;
    for (std::uint32_t i = 0; i < count; ++i) {
        wanted.push_back(real_at(i * stride));
    }
    return wanted;
}

std::size_t reply_size(const planned_job& job) {
    std::size_t data = 0;
    for (const variable& item : job.items) {
        data = data + data % 2 + item.count;
    }
    return read_reply_size(job.items.size(), data);
}

/// Everything a plan promises, for any wanted items.
void check_plan(const read_plan& plan, std::span<const wanted_item> wanted,
                const read_plan_options& options) {
    std::vector<std::vector<int>> covered;
    std::vector<std::uint32_t> parts(wanted.size());
    std::vector<std::set<std::size_t>> jobs(wanted.size());
    for (const wanted_item& item : wanted) {
        covered.emplace_back(item.length, 0);
    }
    for (std::size_t j = 0; j < plan.job_count(); ++j) {
        const planned_job job = plan.job(j);
        ASSERT_FALSE(job.items.empty());
        ASSERT_LE(job.items.size(), options.max_items);
        ASSERT_LE(read_request_size(job.items.size()), options.pdu_size);
        ASSERT_LE(reply_size(job), options.pdu_size);
        std::size_t placements = 0;
        for (std::size_t i = 0; i < job.items.size(); ++i) {
            const variable& block = job.items[i];
            ASSERT_EQ(block.type, request_type::byte);
            ASSERT_FALSE(job.placements_of(i).empty()) << "nobody wants this item";
            placements += job.placements_of(i).size();
            std::uint32_t first = block.count;
            std::uint32_t last = 0;
            for (const placement& one : job.placements_of(i)) {
                const wanted_item& item = wanted[one.item];
                ASSERT_EQ(block.area_code, static_cast<std::uint8_t>(item.where));
                ASSERT_EQ(block.block, item.block);
                ASSERT_EQ(block.start_byte() + one.block_offset, item.start_byte + one.item_offset);
                ASSERT_LE(one.block_offset + one.length, block.count);
                ASSERT_LE(one.item_offset + one.length, item.length);
                ASSERT_TRUE(!item.alone || job.placements_of(i).size() == 1);
                if (item.granule <= options.pdu_size - read_reply_size(1, 0)) {
                    ASSERT_TRUE(one.length == item.length || one.item_offset % item.granule == 0)
                        << "torn inside an element";
                }
                for (std::uint32_t b = 0; b < one.length; ++b) {
                    ++covered[one.item][one.item_offset + b];
                }
                ++parts[one.item];
                jobs[one.item].insert(j);
                first = std::min(first, one.block_offset);
                last = std::max(last, one.block_offset + one.length);
            }
            ASSERT_EQ(first, 0U) << "a request item begins before anything wanted";
            ASSERT_EQ(last, block.count) << "a request item ends behind everything wanted";
        }
        ASSERT_EQ(placements, job.placements.size());
    }
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_TRUE(
            std::all_of(covered[i].begin(), covered[i].end(), [](int times) { return times == 1; }))
            << "item " << i;
        ASSERT_EQ(plan.parts_of(i), parts[i]);
        ASSERT_EQ(plan.jobs_of(i), jobs[i].size());
    }
}

std::size_t jobs_for(std::span<const wanted_item> wanted, std::size_t pdu_size) {
    read_plan plan;
    const read_plan_options options{.pdu_size = pdu_size};
    plan.build(wanted, options);
    check_plan(plan, wanted, options);
    return plan.job_count();
}

TEST(s7_read_plan, ten_thousand_contiguous_reals) {
    const auto wanted = reals(10'000, 4);
    EXPECT_EQ(jobs_for(wanted, 240), 182U);
    EXPECT_EQ(jobs_for(wanted, 480), 87U);
    EXPECT_EQ(jobs_for(wanted, 960), 43U);
}

TEST(s7_read_plan, ten_thousand_reals_in_one_array) {
    const std::vector<wanted_item> wanted = {{area::data_block, 1, 0, 40'000, 4, false}};
    EXPECT_EQ(jobs_for(wanted, 240), 182U);
    EXPECT_EQ(jobs_for(wanted, 480), 87U);
    EXPECT_EQ(jobs_for(wanted, 960), 43U);
}

TEST(s7_read_plan, ten_thousand_reals_at_a_stride_of_54_bytes) {
    const auto wanted = reals(10'000, 54);
    EXPECT_EQ(jobs_for(wanted, 240), 500U);
    EXPECT_EQ(jobs_for(wanted, 480), 400U);
    EXPECT_EQ(jobs_for(wanted, 960), 295U);
}

TEST(s7_read_plan, without_merging_across_gaps_each_item_costs_a_place) {
    read_plan plan;
    const auto wanted = reals(1'000, 54);
    const read_plan_options options{.pdu_size = 960, .merge_across_gaps = false};
    plan.build(wanted, options);
    check_plan(plan, wanted, options);
    EXPECT_EQ(plan.job_count(), 50U);
}

TEST(s7_read_plan, a_gap_that_costs_no_byte_is_always_merged) {
    read_plan plan;
    // Four bytes between two even lengths; a fifth behind an odd one, in place of the fill byte.
    const std::vector<wanted_item> wanted = {
        {area::memory, 0, 0, 2, 2, false},   {area::memory, 0, 6, 2, 2, false},
        {area::memory, 0, 100, 1, 1, false}, {area::memory, 0, 106, 2, 2, false},
        {area::memory, 0, 200, 2, 2, false}, {area::memory, 0, 207, 2, 2, false}};
    plan.build(wanted, {.pdu_size = 240});
    ASSERT_EQ(plan.job_count(), 1U);
    const auto items = plan.job(0).items;
    ASSERT_EQ(items.size(), 4U);
    EXPECT_EQ(items[0], byte_variable(area::memory, 0, 0, 8));
    EXPECT_EQ(items[1], byte_variable(area::memory, 0, 100, 8));
    EXPECT_EQ(items[2], byte_variable(area::memory, 0, 200, 2));
    EXPECT_EQ(items[3], byte_variable(area::memory, 0, 207, 2));
}

TEST(s7_read_plan, items_over_one_pdu_are_split_between_elements) {
    read_plan plan;
    const std::vector<wanted_item> wanted = {{area::data_block, 3, 10, 500, 4, false},
                                             {area::data_block, 3, 600, 256, 256, false}};
    const read_plan_options options{.pdu_size = 240};
    plan.build(wanted, options);
    check_plan(plan, wanted, options);
    EXPECT_EQ(plan.parts_of(0), 3U);
    EXPECT_EQ(plan.jobs_of(0), 3U);
    EXPECT_EQ(plan.parts_of(1), 2U);
    EXPECT_EQ(plan.job(0).items[0].count, 220U);
}

TEST(s7_read_plan, an_item_alone_shares_no_request_item_with_its_neighbours) {
    read_plan plan;
    std::vector<wanted_item> wanted = reals(3, 4);
    wanted[1].alone = true;
    const read_plan_options options{.pdu_size = 240};
    plan.build(wanted, options);
    check_plan(plan, wanted, options);
    EXPECT_EQ(plan.job(0).items.size(), 3U);
}

TEST(s7_read_plan, bits_of_one_byte_are_one_byte) {
    read_plan plan;
    const std::vector<wanted_item> wanted(8, {area::input, 0, 5, 1, 1, false});
    plan.build(wanted, {});
    ASSERT_EQ(plan.job_count(), 1U);
    ASSERT_EQ(plan.job(0).items.size(), 1U);
    EXPECT_EQ(plan.job(0).items[0], byte_variable(area::input, 0, 5, 1));
    EXPECT_EQ(plan.job(0).placements.size(), 8U);
}

TEST(s7_read_plan, nothing_wanted_needs_no_job) {
    read_plan plan;
    plan.build(reals(3, 4), {});
    plan.build({}, {});
    EXPECT_EQ(plan.job_count(), 0U);
}

TEST(s7_read_plan, wrong_items_and_options_are_named) {
    read_plan plan;
    EXPECT_THROW(plan.build({}, {.pdu_size = 100}), std::invalid_argument);
    EXPECT_THROW(plan.build({}, {.pdu_size = 4096}), std::invalid_argument);
    EXPECT_THROW(plan.build({}, {.pdu_size = 240, .max_items = 0}), std::invalid_argument);
    EXPECT_THROW(plan.build({}, {.pdu_size = 240, .max_items = 256}), std::invalid_argument);
    std::vector<wanted_item> wanted = reals(3, 4);
    wanted[2].length = 0;
    try {
        plan.build(wanted, {});
        FAIL();
    } catch (const std::invalid_argument& error) {
        EXPECT_NE(std::string(error.what()).find("item 2"), std::string::npos);
    }
    wanted[2] = {area::data_block, 1, max_start_byte, 2, 1, false};
    EXPECT_THROW(plan.build(wanted, {}), std::invalid_argument);
    wanted[2].length = 1;
    plan.build(wanted, {});
    EXPECT_EQ(plan.job_count(), 1U);
}

TEST(s7_read_plan, holds_its_promises_for_any_items) {
    std::mt19937 random(7);
    const auto below = [&](std::uint32_t limit) {
        return static_cast<std::uint32_t>(random() % limit);
    };
    for (int round = 0; round < 300; ++round) {
        const std::uint32_t spread = 50U << below(8);
        std::vector<wanted_item> wanted(1 + below(300));
        for (wanted_item& item : wanted) {
            const std::uint32_t granule = 1U << below(4);
            item.where = below(3) == 0 ? area::memory : area::data_block;
            item.block = item.where == area::memory ? std::uint16_t{0}
                                                    : static_cast<std::uint16_t>(1 + below(3));
            item.start_byte = below(spread);
            item.length = granule * (1 + below(below(20) == 0 ? 600 : 6));
            item.granule = below(10) == 0 ? item.length : granule;
            item.alone = below(30) == 0;
        }
        const read_plan_options options{
            .pdu_size =
                smallest_pdu + below(static_cast<std::uint32_t>(largest_pdu - smallest_pdu)),
            .max_items = 1 + below(60),
            .merge_across_gaps = below(4) != 0};
        read_plan plan;
        plan.build(wanted, options);
        check_plan(plan, wanted, options);
        ASSERT_FALSE(HasFatalFailure()) << "round " << round;
    }
}

}  // namespace
}  // namespace tagferry::s7::test
