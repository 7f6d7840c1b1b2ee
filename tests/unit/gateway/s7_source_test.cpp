// The S7 source against the simulator, over sockets on loopback, on one shard driven by hand.
#include "gateway/sources/s7/s7_source.hpp"

#include "gateway/simulation/simulated_station.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "protocols/s7/types/data_type.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <thread>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

s7::simulator_config plc_config() {
    s7::simulator_config made;
    made.data_blocks = {{1, 1'000}, {2, 64}};
    return made;
}

config::tag make_tag(const std::string& path, const std::string& address, const std::string& type) {
    config::tag tag;
    tag.path = path;
    tag.address = address;
    tag.type = type;
    tag.stale_after_ms = 10'000;
    tag.writable = true;
    return tag;
}

class finished_reads final : public device_read_listener {
  public:
    void device_read_finished(std::uint64_t ticket, device_read_result result) override {
        results[ticket] = result;
    }
    std::unordered_map<std::uint64_t, device_read_result> results;
};

class finished_writes final : public write_listener {
  public:
    void write_finished(std::uint64_t ticket, const write_outcome& outcome) override {
        results[ticket] = outcome;
    }
    std::unordered_map<std::uint64_t, write_outcome> results;
};

class s7_source_test : public testing::Test {
  protected:
    void SetUp() override {
        station_.emplace(shard_, plc_config(), 0);
        station_->start();
        auto& connection = configuration_.connections.emplace_back();
        connection.name = "press";
        connection.host = "127.0.0.1";
        connection.port = station_->port();
        connection.back_off_ms = {20, 100, {}};
        connection.job_timeout_ms = 300;
        connection.scan_classes = {{"fast", 20, {}}, {"slow", 50, {}}};
    }
    void TearDown() override {
        if (source_) {
            source_->stop();
            EXPECT_TRUE(until([&] { return source_->stopped(); }));
        }
        source_.reset();
        station_.reset();
        shard_.poll_here();
    }

    config::connection& connection() { return configuration_.connections.front(); }

    void start() {
        std::vector<model_error> errors;
        model_ = builder_.build(configuration_, &read_s7_type, errors);
        ASSERT_TRUE(errors.empty());
        const connection_definition& made = model_->connections()[0];
        source_.emplace(shard_, workers_, pool_, table_, made.owner,
                        s7_options_of(made.settings, configuration_.limits, traffic_));
        const transport::turn_scope turn(shard_);
        source_->apply(*model_, made);
        source_->start();
    }

    /// Lets the shard run until the condition holds; false after five seconds.
    bool until(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + 5s;
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            if (shard_.poll_here() == 0) {
                std::this_thread::sleep_for(1ms);
            }
        }
        return true;
    }

    tag_handle handle(std::string_view path) const {
        const model_node* const node = model_->find(path);
        return node == nullptr ? tag_handle{} : model_->tags()[node->item].handle;
    }
    sample seen(std::string_view path) {
        sample out;
        table_.read(handle(path), value_, out);
        return out;
    }
    template <typename T>
    T value() const {
        T out{};
        std::memcpy(&out, value_.data(), sizeof out);
        return out;
    }
    bool has_status(std::string_view path, status_code status) {
        return until([&] { return seen(path).status == status; });
    }
    std::span<std::byte> block(std::uint16_t number) {
        return station_->plc().memory().bytes(s7::area::data_block, number);
    }

    transport::real_clock clock_;
    transport::shard shard_{{"test"}, clock_};
    transport::worker_pool workers_{{"worker"}};
    transport::pinned_pool pool_{{"s7", 967, 64}};
    transport::traffic traffic_{"s7"};
    std::optional<simulated_station> station_;
    tag_table table_;
    model_builder builder_{table_};
    config::configuration configuration_;
    std::unique_ptr<const tag_model> model_;
    std::optional<s7_source> source_;
    std::array<std::byte, 4096> value_{};
};

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

TEST_F(s7_source_test, a_write_is_answered_by_the_plc_and_read_back) {
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

TEST_F(s7_source_test, the_maximum_of_a_text_belongs_to_the_plc) {
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

TEST_F(s7_source_test, a_text_that_was_never_initialised_gets_its_maximum_with_the_first_write) {
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

TEST_F(s7_source_test, a_value_written_in_part_says_how_much) {
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

TEST_F(s7_source_test, a_value_over_one_pdu_is_written_in_several_jobs) {
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

TEST_F(s7_source_test, bits_of_an_array_leave_their_neighbours_alone) {
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

TEST_F(s7_source_test, writes_of_one_tag_keep_their_order_whoever_makes_them) {
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

TEST_F(s7_source_test, no_more_writes_wait_than_the_limit_says) {
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

TEST_F(s7_source_test, a_write_without_a_link_is_not_sent) {
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
