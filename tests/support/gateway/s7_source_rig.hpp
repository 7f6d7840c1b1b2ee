// An S7 source and a simulated PLC, over sockets on loopback, on one shard driven by hand.
#pragma once

#include "gateway/simulation/simulated_station.hpp"
#include "gateway/sources/s7/s7_source.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "gateway/tags/tag_model.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>

namespace tagferry::gateway::test {

inline s7::simulator_config plc_config() {
    s7::simulator_config made;
    made.data_blocks = {{1, 1'000}, {2, 64}};
    return made;
}

inline config::tag make_tag(const std::string& path, const std::string& address,
                            const std::string& type) {
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

class s7_source_rig : public testing::Test {
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
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
        while (!condition()) {
            if (std::chrono::steady_clock::now() > end) {
                return false;
            }
            if (shard_.poll_here() == 0) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
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

}  // namespace tagferry::gateway::test
