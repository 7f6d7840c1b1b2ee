// The S7 source against the simulator: reads, quality and its link.
#include "protocols/s7/types/data_type.hpp"
#include "tests/support/gateway/s7_source_rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;
using test::finished_reads;
using test::finished_writes;
using test::make_tag;

class s7_source_test : public test::s7_source_rig {};

TEST_F(s7_source_test, values_come_with_the_time_of_their_reply) {
    connection().tags = {make_tag("on", "DB1.DBX0.3", "BOOL"), make_tag("count", "DB1.DBW2", "INT"),
                         make_tag("level", "DB1.DBD4", "REAL"),
                         make_tag("name", "DB1.DBB10", "STRING[10]"),
                         make_tag("row", "DB2.DBW0", "ARRAY[0..3] OF INT")};
    connection().tags[4].scan_class = 1;
    block(1)[0] = std::byte{0x08};
    block(1)[2] = std::byte{0xFF};
    block(1)[3] = std::byte{0xFE};
    block(1)[4] = std::byte{0x41};
    block(1)[5] = std::byte{0x20};
    block(1)[10] = std::byte{10};
    block(1)[11] = std::byte{2};
    block(1)[12] = std::byte{'h'};
    block(1)[13] = std::byte{'i'};
    block(2)[7] = std::byte{9};
    start();
    const auto before = clock_.wall_now();
    ASSERT_TRUE(has_status("press/row", status_code::good));
    ASSERT_TRUE(has_status("press/on", status_code::good));
    EXPECT_EQ(value<std::uint8_t>(), 1);
    const sample count = seen("press/count");
    EXPECT_EQ(value<std::int16_t>(), -2);
    EXPECT_GE(count.source_time, before);
    EXPECT_LE(count.source_time, clock_.wall_now());
    seen("press/level");
    EXPECT_EQ(value<float>(), 10.0F);
    seen("press/name");
    EXPECT_EQ(value<std::uint16_t>(), 2);
    EXPECT_EQ(std::memcmp(value_.data() + 2, "hi", 2), 0);
    seen("press/row");
    EXPECT_EQ((value<std::array<std::int16_t, 4>>()), (std::array<std::int16_t, 4>{0, 0, 0, 9}));
    EXPECT_EQ(source_->status().state, source_state::up);
    EXPECT_EQ(source_->status().pdu_size, 960u);
    block(1)[3] = std::byte{0x05};
    block(1)[2] = std::byte{0x00};
    EXPECT_TRUE(until([&] {
        seen("press/count");
        return value<std::int16_t>() == 5;
    }));
}

TEST_F(s7_source_test, a_lost_link_is_seen_at_once_and_heals_by_itself) {
    connection().tags = {make_tag("count", "DB1.DBW2", "INT")};
    start();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    station_->pull_cable();
    ASSERT_TRUE(has_status("press/count", status_code::bad_no_communication));
    EXPECT_FALSE(seen("press/count").has_value);
    EXPECT_TRUE(seen("press/count").has_last_good);
    ASSERT_TRUE(until([&] { return source_->status().connect_failures > 2; }));
    EXPECT_FALSE(source_->status().reason.empty());
    station_->plug_cable_in();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    EXPECT_EQ(source_->status().connects, 2u);
    EXPECT_TRUE(source_->status().reason.empty());
}

TEST_F(s7_source_test, an_absent_plc_is_no_communication) {
    station_.reset();
    connection().tags = {make_tag("count", "DB1.DBW2", "INT")};
    start();
    ASSERT_TRUE(has_status("press/count", status_code::bad_no_communication));
    EXPECT_FALSE(seen("press/count").has_last_good);
}

TEST_F(s7_source_test, a_kept_value_is_uncertain_while_the_link_is_down) {
    connection().tags = {make_tag("count", "DB1.DBW2", "INT")};
    connection().on_link_loss = config::link_loss::uncertain;
    block(1)[3] = std::byte{7};
    start();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    const auto delivered = seen("press/count").source_time;
    station_->pull_cable();
    ASSERT_TRUE(
        has_status("press/count", status_code::uncertain_no_communication_last_usable_value));
    EXPECT_GE(seen("press/count").source_time, delivered);
    EXPECT_EQ(value<std::int16_t>(), 7);
}

TEST_F(s7_source_test, one_wrong_address_does_not_take_its_neighbours_along) {
    // The last bytes of the block and three beyond its end are one stretch to the planner.
    connection().tags = {make_tag("a", "DB2.DBW58", "INT"), make_tag("b", "DB2.DBW60", "INT"),
                         make_tag("c", "DB2.DBW62", "INT"), make_tag("d", "DB2.DBW64", "INT"),
                         make_tag("e", "DB9.DBW0", "INT")};
    start();
    ASSERT_TRUE(has_status("press/d", status_code::bad_configuration_error));
    EXPECT_TRUE(has_status("press/e", status_code::bad_not_found));
    EXPECT_TRUE(has_status("press/a", status_code::good));
    EXPECT_TRUE(has_status("press/c", status_code::good));
    const auto requests = source_->status().requests;
    const auto scans = source_->status().scans;
    ASSERT_TRUE(until([&] { return source_->status().scans >= scans + 10; }));
    EXPECT_LE(source_->status().requests - requests, 12u) << "the good ones go together again";
    station_->plc().memory().define(s7::area::data_block, 9, 10);
    EXPECT_TRUE(has_status("press/e", status_code::good)) << "a block loaded later";
}

TEST_F(s7_source_test, an_uninitialised_string_is_a_substitute) {
    connection().tags = {make_tag("name", "DB1.DBB10", "STRING[10]")};
    block(1)[10] = std::byte{0};
    block(1)[11] = std::byte{200};
    start();
    EXPECT_TRUE(has_status("press/name", status_code::uncertain_substitute_value));
    EXPECT_EQ(seen("press/name").reason, reason_id::uninitialised_string);
}

TEST_F(s7_source_test, a_value_over_one_pdu_is_put_together) {
    connection().pdu_size = 240;
    connection().tags = {make_tag("row", "DB1.DBW0", "ARRAY[0..299] OF INT")};
    for (std::size_t i = 0; i < 300; ++i) {
        block(1)[2 * i] = static_cast<std::byte>(i >> 8U);
        block(1)[2 * i + 1] = static_cast<std::byte>(i & 0xFFU);
    }
    start();
    ASSERT_TRUE(has_status("press/row", status_code::good));
    for (std::size_t i = 0; i < 300; ++i) {
        std::int16_t element = 0;
        std::memcpy(&element, value_.data() + 2 * i, sizeof element);
        ASSERT_EQ(element, static_cast<std::int16_t>(i));
    }
}

TEST_F(s7_source_test, late_scans_make_values_stale) {
    connection().tags = {make_tag("count", "DB1.DBW2", "INT")};
    connection().tags[0].stale_after_ms = 60;
    connection().scan_classes = {{"rare", 60'000, {}}};
    start();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    const auto delivered = seen("press/count").source_time;
    ASSERT_TRUE(has_status("press/count", status_code::uncertain_last_usable_value));
    EXPECT_EQ(seen("press/count").source_time, delivered);
    finished_reads reads;
    const tag_handle tag = handle("press/count");
    {
        const transport::turn_scope turn(shard_);
        ASSERT_TRUE(source_->read({&tag, 1}, 5, reads));
        EXPECT_TRUE(reads.results.empty()) << "never told on the caller's stack";
    }
    ASSERT_TRUE(until([&] { return reads.results.contains(5); }));
    EXPECT_EQ(reads.results[5], device_read_result::completed);
    EXPECT_EQ(seen("press/count").status, status_code::good);
    EXPECT_GT(seen("press/count").source_time, delivered);
}

TEST_F(s7_source_test, reads_of_one_block_join) {
    connection().tags = {make_tag("a", "DB1.DBW2", "INT"), make_tag("b", "DB1.DBW4", "INT")};
    connection().scan_classes = {{"rare", 60'000, {}}};
    constexpr std::uint32_t most = 5;
    configuration_.limits.pending_device_reads_per_connection = most;
    start();
    ASSERT_TRUE(has_status("press/b", status_code::good));
    const auto requests = source_->status().requests;
    finished_reads reads;
    {
        const transport::turn_scope turn(shard_);
        for (std::uint64_t ticket = 0; ticket < most; ++ticket) {
            const tag_handle tag = handle(ticket % 2 == 0 ? "press/a" : "press/b");
            ASSERT_TRUE(source_->read({&tag, 1}, ticket, reads));
        }
        const tag_handle tag = handle("press/a");
        EXPECT_FALSE(source_->read({&tag, 1}, 99, reads)) << "the limit";
        EXPECT_EQ(source_->status().pending_device_reads, most);
    }
    ASSERT_TRUE(until([&] { return reads.results.size() == most; }));
    EXPECT_EQ(source_->status().requests - requests, 1u);
}

TEST_F(s7_source_test, a_read_without_a_link_ends_with_that) {
    station_.reset();
    connection().tags = {make_tag("a", "DB1.DBW2", "INT")};
    start();
    finished_reads reads;
    const tag_handle tag = handle("press/a");
    {
        const transport::turn_scope turn(shard_);
        ASSERT_TRUE(source_->read({&tag, 1}, 1, reads));
    }
    ASSERT_TRUE(until([&] { return reads.results.contains(1); }));
    EXPECT_EQ(reads.results[1], device_read_result::no_communication);
}

TEST_F(s7_source_test, tags_come_and_go_while_it_runs) {
    connection().tags = {make_tag("a", "DB1.DBW2", "INT"), make_tag("b", "DB1.DBW4", "INT")};
    start();
    ASSERT_TRUE(has_status("press/b", status_code::good));
    const tag_handle a = handle("press/a");
    const tag_handle b = handle("press/b");
    connection().tags = {make_tag("c", "DB1.DBW6", "INT"), make_tag("b", "DB1.DBW4", "INT")};
    std::vector<model_error> errors;
    auto next = builder_.build(configuration_, &read_s7_type, errors);
    {
        const transport::turn_scope turn(shard_);
        source_->apply(*next, next->connections()[0]);
    }
    model_ = std::move(next);
    builder_.remove_unused();
    EXPECT_TRUE(has_status("press/c", status_code::good));
    EXPECT_EQ(handle("press/b"), b);
    EXPECT_EQ(seen("press/b").status, status_code::good);
    EXPECT_FALSE(table_.contains(a));
    EXPECT_EQ(source_->status().connects, 1u);
}

}  // namespace
}  // namespace tagferry::gateway
