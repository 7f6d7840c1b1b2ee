// The S7 source against the simulator: writes and what the PLC holds then.
#include "protocols/s7/types/data_type.hpp"
#include "tests/support/gateway/s7_source_rig.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <numeric>
#include <thread>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;
using test::finished_writes;
using test::make_tag;

class s7_writes_test : public test::s7_source_rig {};

TEST_F(s7_writes_test, a_write_is_answered_by_the_plc_and_read_back) {
    connection().tags = {make_tag("count", "DB1.DBW2", "INT"), make_tag("on", "DB1.DBX0.3", "BOOL"),
                         make_tag("gone", "DB9.DBW0", "INT")};
    connection().scan_classes = {{"rare", 60'000, {}}};
    block(1)[0] = std::byte{0xF0};
    start();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    finished_writes writes;
    const std::int16_t number = 1234;
    const std::uint8_t on = 1;
    {
        const transport::turn_scope turn(shard_);
        EXPECT_EQ(source_->write({handle("press/count"), std::as_bytes(std::span(&number, 1))}, 1,
                                 writes),
                  reason_id::none);
        EXPECT_EQ(source_->write({handle("press/on"), std::as_bytes(std::span(&on, 1))}, 2, writes),
                  reason_id::none);
        EXPECT_EQ(
            source_->write({handle("press/gone"), std::as_bytes(std::span(&number, 1))}, 3, writes),
            reason_id::none);
        EXPECT_EQ(
            source_->write({handle("press/on"), std::as_bytes(std::span(&number, 1))}, 4, writes),
            reason_id::write_type_mismatch);
        EXPECT_EQ(source_->write({tag_handle{}, {}}, 5, writes), reason_id::tag_removed);
    }
    ASSERT_TRUE(until([&] { return writes.results.size() == 3; }));
    EXPECT_EQ(writes.results[1].reason, reason_id::write_accepted);
    EXPECT_EQ(writes.results[2].reason, reason_id::write_accepted);
    EXPECT_EQ(writes.results[3].reason, reason_id::s7_object_missing);
    const source_status counted = source_->status();
    EXPECT_EQ(counted.bytes_written, 3u) << "an INT and a BOOL; what was refused is not written";
    EXPECT_EQ(std::accumulate(counted.writes.buckets.begin(), counted.writes.buckets.end(), 0u),
              3u);
    EXPECT_GT(counted.writes.sum_s, 0);
    EXPECT_EQ(block(1)[2], std::byte{0x04});
    EXPECT_EQ(block(1)[0], std::byte{0xF8}) << "the other bits stay";
    EXPECT_TRUE(until([&] {
        seen("press/count");
        return value<std::int16_t>() == 1234;
    })) << "the table follows by a read, long before the next scan";
}

TEST_F(s7_writes_test, the_maximum_of_a_text_belongs_to_the_plc) {
    connection().tags = {make_tag("name", "DB1.DBB10", "STRING[10]"),
                         make_tag("list", "DB1.DBB40", "ARRAY[0..1] OF STRING[3]")};
    connection().scan_classes = {{"rare", 60'000, {}}};
    block(1)[10] = std::byte{8};
    block(1)[40] = std::byte{2};
    block(1)[46] = std::byte{3};
    block(1)[45] = std::byte{0xAA};
    start();
    ASSERT_TRUE(has_status("press/name", status_code::good));
    finished_writes writes;
    std::vector<std::byte> name(s7::slot_size({s7::base_type::string, false, 1, 0, 10}));
    name[0] = std::byte{2};
    name[2] = std::byte{'h'};
    name[3] = std::byte{'i'};
    const std::size_t stride = s7::slot_element_size({s7::base_type::string, true, 2, 0, 3});
    std::vector<std::byte> list(2 * stride);
    list[0] = std::byte{1};
    list[2] = std::byte{'x'};
    list[stride] = std::byte{1};
    list[stride + 2] = std::byte{'y'};
    {
        const transport::turn_scope turn(shard_);
        ASSERT_EQ(source_->write({handle("press/name"), name}, 1, writes), reason_id::none);
        ASSERT_EQ(source_->write({handle("press/list"), list}, 2, writes), reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.size() == 2; }));
    EXPECT_EQ(writes.results[1].reason, reason_id::write_accepted);
    EXPECT_EQ(block(1)[10], std::byte{8});
    EXPECT_EQ(block(1)[11], std::byte{2});
    EXPECT_EQ(block(1)[12], std::byte{'h'});
    EXPECT_EQ(block(1)[13], std::byte{'i'});
    EXPECT_EQ(writes.results[2].reason, reason_id::write_accepted);
    EXPECT_EQ(block(1)[40], std::byte{2});
    EXPECT_EQ(block(1)[41], std::byte{1});
    EXPECT_EQ(block(1)[42], std::byte{'x'});
    EXPECT_EQ(block(1)[45], std::byte{0xAA}) << "fill and unused characters are not touched";
    EXPECT_EQ(block(1)[46], std::byte{3});
    EXPECT_EQ(block(1)[47], std::byte{1});
    EXPECT_EQ(block(1)[48], std::byte{'y'});
}

TEST_F(s7_writes_test, a_text_that_was_never_initialised_gets_its_maximum_with_the_first_write) {
    connection().tags = {make_tag("name", "DB1.DBB10", "STRING[10]"),
                         make_tag("list", "DB1.DBB40", "ARRAY[0..2] OF STRING[3]"),
                         make_tag("longer", "DB1.DBB80", "STRING[4]")};
    connection().scan_classes = {{"rare", 60'000, {}}};
    block(1)[40] = std::byte{2};
    block(1)[52] = std::byte{3};
    block(1)[80] = std::byte{20};
    start();
    ASSERT_TRUE(has_status("press/longer", status_code::uncertain_substitute_value));
    ASSERT_TRUE(has_status("press/name", status_code::uncertain_substitute_value));
    ASSERT_TRUE(has_status("press/list", status_code::uncertain_substitute_value));
    const auto texts = [](std::uint8_t declared, std::vector<std::string> each) {
        const std::size_t stride =
            s7::slot_element_size({s7::base_type::string, false, 1, 0, declared});
        std::vector<std::byte> slot(stride * each.size());
        for (std::size_t i = 0; i < each.size(); ++i) {
            slot[i * stride] = static_cast<std::byte>(each[i].size());
            std::memcpy(slot.data() + i * stride + 2, each[i].data(), each[i].size());
        }
        return slot;
    };
    const auto name = texts(10, {"hi"});
    const auto list = texts(3, {"ab", "cde", ""});
    const auto longer = texts(4, {"x"});
    const auto too_long = texts(3, {"abc", "", ""});
    finished_writes writes;
    {
        const transport::turn_scope turn(shard_);
        EXPECT_EQ(source_->write({handle("press/longer"), longer}, 3, writes),
                  reason_id::write_text_differs);
        EXPECT_EQ(source_->write({handle("press/list"), too_long}, 4, writes),
                  reason_id::write_too_long)
            << "the PLC's first text takes two characters";
        ASSERT_EQ(source_->write({handle("press/name"), name}, 1, writes), reason_id::none);
        ASSERT_EQ(source_->write({handle("press/list"), list}, 2, writes), reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.size() == 2; }));
    EXPECT_EQ(writes.results[1].reason, reason_id::write_accepted);
    EXPECT_EQ(writes.results[2].reason, reason_id::write_accepted);
    const auto held = [&](std::size_t at) { return std::to_integer<int>(block(1)[at]); };
    EXPECT_EQ(held(10), 10);
    EXPECT_EQ(held(11), 2);
    EXPECT_EQ(held(12), 'h');
    EXPECT_EQ(held(40), 2) << "the PLC's own stays";
    EXPECT_EQ(held(41), 2);
    EXPECT_EQ(held(46), 3) << "never initialised";
    EXPECT_EQ(held(47), 3);
    EXPECT_EQ(held(48), 'c');
    EXPECT_EQ(held(52), 3);
    EXPECT_EQ(held(53), 0);
    EXPECT_EQ(held(80), 20);
    EXPECT_TRUE(has_status("press/name", status_code::good));
    EXPECT_TRUE(has_status("press/list", status_code::good));
}

TEST_F(s7_writes_test, a_value_written_in_part_says_how_much) {
    connection().tags = {make_tag("list", "DB2.DBB57", "ARRAY[0..1] OF STRING[3]")};
    start();
    ASSERT_TRUE(has_status("press/list", status_code::bad_configuration_error));
    const std::size_t stride = s7::slot_element_size({s7::base_type::string, true, 2, 0, 3});
    std::vector<std::byte> list(2 * stride);
    list[0] = std::byte{1};
    list[2] = std::byte{'x'};
    list[stride] = std::byte{1};
    list[stride + 2] = std::byte{'y'};
    finished_writes writes;
    {
        const transport::turn_scope turn(shard_);
        ASSERT_EQ(source_->write({handle("press/list"), list}, 1, writes), reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.contains(1); }));
    EXPECT_EQ(writes.results[1].reason, reason_id::write_partly_written);
    EXPECT_EQ(writes.results[1].bytes_written, 2u);
    EXPECT_EQ(block(2)[58], std::byte{1});
    EXPECT_EQ(block(2)[59], std::byte{'x'});
}

TEST_F(s7_writes_test, a_value_over_one_pdu_is_written_in_several_jobs) {
    connection().pdu_size = 240;
    connection().tags = {make_tag("row", "DB1.DBW0", "ARRAY[0..299] OF INT"),
                         make_tag("cut", "DB1.DBW600", "ARRAY[0..299] OF INT")};
    connection().scan_classes = {{"rare", 60'000, {}}};
    start();
    ASSERT_TRUE(has_status("press/row", status_code::good));
    std::array<std::int16_t, 300> row{};
    for (std::size_t i = 0; i < row.size(); ++i) {
        row[i] = static_cast<std::int16_t>(i * 7 + 1);
    }
    finished_writes writes;
    const auto jobs = station_->plc().counters().write_jobs;
    {
        const transport::turn_scope turn(shard_);
        ASSERT_EQ(source_->write({handle("press/row"), std::as_bytes(std::span(row))}, 1, writes),
                  reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.contains(1); }));
    EXPECT_EQ(writes.results[1].reason, reason_id::write_accepted);
    EXPECT_EQ(station_->plc().counters().write_jobs - jobs, 3u);
    for (std::size_t i = 0; i < row.size(); ++i) {
        ASSERT_EQ(block(1)[2 * i], static_cast<std::byte>(row[i] >> 8));
        ASSERT_EQ(block(1)[2 * i + 1], static_cast<std::byte>(row[i] & 0xFF));
    }
    {
        // The block ends within the second job's bytes.
        const transport::turn_scope turn(shard_);
        ASSERT_EQ(source_->write({handle("press/cut"), std::as_bytes(std::span(row))}, 2, writes),
                  reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.contains(2); }));
    EXPECT_EQ(writes.results[2].reason, reason_id::write_partly_written);
    EXPECT_EQ(writes.results[2].bytes_written, 212u);
    EXPECT_EQ(writes.results[2].device_code, 5);
    EXPECT_EQ(block(1)[600 + 211], static_cast<std::byte>(row[105] & 0xFF));
    EXPECT_EQ(block(1)[600 + 212], std::byte{0});
}

TEST_F(s7_writes_test, bits_of_an_array_leave_their_neighbours_alone) {
    connection().tags = {make_tag("bits", "DB1.DBX2.5", "ARRAY[0..5] OF BOOL"),
                         make_tag("many", "DB1.DBX10.0", "ARRAY[0..19] OF BOOL")};
    block(1)[2] = std::byte{0x1F};
    block(1)[3] = std::byte{0xFF};
    block(1)[12] = std::byte{0xF0};
    start();
    ASSERT_TRUE(has_status("press/many", status_code::good));
    const std::array<std::uint8_t, 6> bits{1, 0, 1, 0, 1, 0};
    std::array<std::uint8_t, 20> many{};
    many[0] = many[9] = many[17] = 1;
    finished_writes writes;
    {
        const transport::turn_scope turn(shard_);
        ASSERT_EQ(source_->write({handle("press/bits"), std::as_bytes(std::span(bits))}, 1, writes),
                  reason_id::none);
        ASSERT_EQ(source_->write({handle("press/many"), std::as_bytes(std::span(many))}, 2, writes),
                  reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.size() == 2; }));
    EXPECT_EQ(writes.results[1].reason, reason_id::write_accepted);
    EXPECT_EQ(writes.results[2].reason, reason_id::write_accepted);
    EXPECT_EQ(block(1)[2], std::byte{0xBF});
    EXPECT_EQ(block(1)[3], std::byte{0xFA});
    EXPECT_EQ(block(1)[10], std::byte{0x01});
    EXPECT_EQ(block(1)[11], std::byte{0x02});
    EXPECT_EQ(block(1)[12], std::byte{0xF2});
}

TEST_F(s7_writes_test, a_part_of_an_array_leaves_the_rest_alone) {
    connection().tags = {make_tag("row", "DB1.DBW100", "ARRAY[5..14] OF INT"),
                         make_tag("bits", "DB1.DBX2.5", "ARRAY[0..29] OF BOOL"),
                         make_tag("list", "DB1.DBB40", "ARRAY[0..2] OF STRING[3]"),
                         make_tag("one", "DB1.DBW200", "INT")};
    connection().scan_classes = {{"rare", 60'000, {}}};
    std::ranges::fill(block(1), std::byte{0xA5});
    for (const std::size_t at : {40U, 46U, 52U}) {
        block(1)[at] = std::byte{3};
        block(1)[at + 1] = std::byte{0};
    }
    start();
    ASSERT_TRUE(has_status("press/list", status_code::good));
    ASSERT_TRUE(has_status("press/bits", status_code::good));
    std::vector<std::byte> expected(block(1).begin(), block(1).end());
    const auto put = [&](std::size_t at, std::initializer_list<int> bytes) {
        std::ranges::transform(bytes, expected.begin() + static_cast<std::ptrdiff_t>(at),
                               [](int each) { return static_cast<std::byte>(each); });
    };
    const std::array<std::int16_t, 3> row{0x1122, 0x3344, 0x5566};
    put(106, {0x11, 0x22, 0x33, 0x44, 0x55, 0x66});
    // Elements 2 to 13 are bits 7 of byte 2, all of byte 3, and 0 to 2 of byte 4.
    const std::array<std::uint8_t, 12> bits{0, 1, 1, 0, 0, 0, 0, 0, 1, 0, 1, 0};
    put(2, {0x25, 0x83, 0xA2});
    std::vector<std::byte> text(s7::slot_element_size({s7::base_type::string, true, 3, 0, 3}));
    text[0] = std::byte{2};
    text[2] = std::byte{'o'};
    text[3] = std::byte{'k'};
    put(47, {2, 'o', 'k'});
    finished_writes writes;
    {
        const transport::turn_scope turn(shard_);
        const auto write = [&](const char* path, auto bytes, std::uint32_t first,
                               std::uint32_t elements, std::uint64_t ticket) {
            return source_->write({handle(path), bytes, first, elements}, ticket, writes);
        };
        const auto row_bytes = std::as_bytes(std::span(row));
        EXPECT_EQ(write("press/row", row_bytes, 8, 3, 9), reason_id::write_out_of_range);
        EXPECT_EQ(write("press/row", row_bytes, 4'000'000'000, 3, 9),
                  reason_id::write_out_of_range);
        EXPECT_EQ(write("press/row", row_bytes, 3, 2, 9), reason_id::write_type_mismatch);
        EXPECT_EQ(write("press/one", row_bytes.first(2), 0, 1, 9), reason_id::write_out_of_range);
        EXPECT_EQ(write("press/row", row_bytes, 3, 3, 1), reason_id::none);
        EXPECT_EQ(write("press/bits", std::as_bytes(std::span(bits)), 2, 12, 2), reason_id::none);
        EXPECT_EQ(write("press/list", std::span<const std::byte>(text), 1, 1, 3), reason_id::none);
    }
    ASSERT_TRUE(until([&] { return writes.results.size() == 3; }));
    for (const auto& [ticket, outcome] : writes.results) {
        EXPECT_EQ(outcome.reason, reason_id::write_accepted) << ticket;
    }
    EXPECT_TRUE(std::ranges::equal(block(1), expected));
    EXPECT_TRUE(until([&] {
        seen("press/row");
        std::array<std::int16_t, 10> held{};
        std::memcpy(held.data(), value_.data(), sizeof held);
        return held[3] == 0x1122 && held[5] == 0x5566 &&
               held[6] == static_cast<std::int16_t>(0xA5A5);
    })) << "the table follows by a read";
}

TEST_F(s7_writes_test, writes_of_one_tag_keep_their_order_whoever_makes_them) {
    connection().tags = {make_tag("count", "DB1.DBW2", "INT"),
                         make_tag("other", "DB1.DBW4", "INT")};
    start();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    struct listener final : write_listener {
        bool write_starting(std::uint64_t ticket) override {
            started.push_back(ticket);
            return ticket != 3;
        }
        void write_finished(std::uint64_t ticket, const write_outcome& outcome) override {
            finished.emplace_back(ticket, outcome.reason);
        }
        std::vector<std::uint64_t> started;
        std::vector<std::pair<std::uint64_t, reason_id>> finished;
    } one;
    std::array<std::int16_t, 5> numbers{1, 2, 3, 4, 5};
    {
        const transport::turn_scope turn(shard_);
        for (std::uint64_t i = 0; i < 4; ++i) {
            ASSERT_EQ(source_->write(
                          {handle("press/count"), std::as_bytes(std::span(numbers).subspan(i, 1))},
                          i + 1, one),
                      reason_id::none);
        }
        ASSERT_EQ(
            source_->write({handle("press/other"), std::as_bytes(std::span(numbers).subspan(4, 1))},
                           5, one),
            reason_id::none);
        EXPECT_TRUE(one.started.empty());
    }
    ASSERT_TRUE(until([&] { return one.finished.size() == 5; }));
    EXPECT_EQ(one.started, (std::vector<std::uint64_t>{1, 5, 2, 3, 4})) << "others do not wait";
    const std::pair<std::uint64_t, reason_id> unwanted{3, reason_id::write_not_sent};
    EXPECT_EQ(std::ranges::count(one.finished, unwanted), 1);
    EXPECT_EQ(block(1)[3], std::byte{4});
    EXPECT_EQ(block(1)[5], std::byte{5});
}

TEST_F(s7_writes_test, no_more_writes_wait_than_the_limit_says) {
    connection().tags = {make_tag("count", "DB1.DBW2", "INT")};
    constexpr std::uint32_t most = 20;
    configuration_.limits.pending_writes_per_connection = most;
    start();
    ASSERT_TRUE(has_status("press/count", status_code::good));
    finished_writes writes;
    const std::int16_t number = 7;
    const source_write write{handle("press/count"), std::as_bytes(std::span(&number, 1))};
    {
        const transport::turn_scope turn(shard_);
        for (std::uint64_t ticket = 0; ticket < most; ++ticket) {
            ASSERT_EQ(source_->write(write, ticket, writes), reason_id::none) << ticket;
        }
        EXPECT_EQ(source_->write(write, most, writes), reason_id::busy);
        EXPECT_EQ(source_->status().pending_writes, most);
    }
    ASSERT_TRUE(until([&] { return writes.results.size() == most; }));
    EXPECT_EQ(source_->status().pending_writes, 0u);
}

TEST_F(s7_writes_test, a_write_without_a_link_is_not_sent) {
    station_.reset();
    connection().tags = {make_tag("count", "DB1.DBW2", "INT")};
    start();
    finished_writes writes;
    const std::int16_t number = 1;
    const transport::turn_scope turn(shard_);
    EXPECT_EQ(
        source_->write({handle("press/count"), std::as_bytes(std::span(&number, 1))}, 1, writes),
        reason_id::write_not_sent);
}

}  // namespace
}  // namespace tagferry::gateway
