// When the loss of a PLC is seen, and when it is Good again: exact, on a clock moved by hand.
#include "gateway/simulation/simulated_station.hpp"
#include "gateway/sources/s7/s7_source.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "transport/net/traffic.hpp"
#include "transport/threads/worker_pool.hpp"
#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

constexpr transport::duration interval = 250ms;
constexpr transport::duration job_timeout = 2s;
constexpr transport::duration longest_back_off = 1s;

class link_loss_test : public testing::Test, private source_observer {
  protected:
    void start(std::span<const s7::scripted_fault> script = {}) {
        s7::simulator_config plc;
        plc.data_blocks = {{1, 1'000}};
        plc.latency = 5ms;
        station_.emplace(shard_, plc, std::uint16_t{0}, script);
        station_->start();
        auto& connection = configuration_.connections.emplace_back();
        connection.name = "press";
        connection.host = "127.0.0.1";
        connection.port = station_->port();
        connection.job_timeout_ms = 2'000;
        connection.back_off_ms = {250, 1'000, {}};
        connection.scan_classes = {{"only", 250, {}}};
        for (int i = 0; i < 3; ++i) {
            config::tag tag;
            tag.path = "t" + std::to_string(i);
            tag.address = "DB1.DBD" + std::to_string(i * 300);
            tag.type = "DINT";
            tag.stale_after_ms = 60'000;
            connection.tags.push_back(tag);
        }
        std::vector<model_error> errors;
        model_ = builder_.build(configuration_, &read_s7_type, errors);
        ASSERT_TRUE(errors.empty());
        const connection_definition& made = model_->connections()[0];
        s7_source_options options = s7_options_of(made.settings, configuration_.limits, traffic_);
        options.observer = this;
        source_.emplace(shard_, workers_, pool_, table_, made.owner, options);
        const transport::turn_scope turn(shard_);
        source_->apply(*model_, made);
        source_->start();
    }
    void TearDown() override {
        source_.reset();
        station_.reset();
        shard_.poll_here();
    }

    void settle() {
        shard_.wake();
        for (int idle = 0; idle < 2;) {
            idle = shard_.poll_here() <= 1 ? idle + 1 : 0;  // its own turn is one
        }
    }
    sample seen(std::size_t tag) {
        sample out;
        std::array<std::byte, 4> value{};
        table_.read(model_->tags()[tag].handle, value, out);
        return out;
    }
    bool all_are(status_code status) {
        bool all = true;
        for (std::size_t tag = 0; tag < 3; ++tag) {
            all = all && seen(tag).status == status;
        }
        return all;
    }
    /// Time until every tag has that status, to the millisecond; a minute when it never does.
    transport::duration until(status_code status) {
        transport::duration passed{0};
        for (settle(); !all_are(status) && passed < 60s; settle()) {
            clock_.advance(1ms);
            passed += 1ms;
        }
        return passed;
    }
    void pass(transport::duration time) {
        while (time > transport::duration::zero()) {
            const transport::duration step = std::min<transport::duration>(time, 7ms);
            clock_.advance(step);
            time -= step;
            settle();
        }
    }

    void source_changed(const source&, source_state) override {}
    void source_event_happened(const source&, const source_event& what) override {
        events_.push_back(what.kind);
    }

    transport::manual_clock clock_;
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
    std::vector<source_event_kind> events_;
};

TEST_F(link_loss_test, a_closed_socket_shows_at_once_and_the_plc_is_good_again_in_time) {
    start();
    ASSERT_LT(until(status_code::good), interval);
    for (int round = 0; round < 5; ++round) {
        pass(1s + round * 37ms);
        station_->pull_cable();
        EXPECT_LE(until(status_code::bad_no_communication), interval + 100ms);
        pass(1s + round * 211ms);
        station_->plug_cable_in();
        EXPECT_LE(until(status_code::good), longest_back_off + interval);
    }
}

TEST_F(link_loss_test, a_silent_plc_shows_within_job_timeout_and_one_interval) {
    s7::scripted_fault silence = s7::find_fault("silence")->usual;
    silence.start = 2s;
    silence.length = 6s;
    silence.period = 14s + 77ms;
    const transport::time_point begin = clock_.now();
    start(std::span(&silence, 1));
    ASSERT_LT(until(status_code::good), interval);
    for (int round = 0; round < 4; ++round) {
        // A moment before it begins, seen from the start of the script.
        const transport::time_point at = begin + 2s + round * (14s + 77ms);
        pass(at - clock_.now() - 2ms);
        ASSERT_TRUE(all_are(status_code::good));
        EXPECT_LE(until(status_code::bad_no_communication), job_timeout + interval);
        EXPECT_GE(seen(0).source_time, 0);
        pass(6s - (clock_.now() - at));
        // An attempt on the connection that was swallowed has to end first.
        EXPECT_LE(until(status_code::good), transport::duration(3s) + longest_back_off + interval);
    }
    EXPECT_NE(std::ranges::find(events_, source_event_kind::request_timed_out), events_.end());
}

TEST_F(link_loss_test, a_lost_answer_is_told_and_heals) {
    s7::scripted_fault loss = s7::find_fault("dropped_reply")->usual;
    loss.every = 50;
    start(std::span(&loss, 1));
    ASSERT_LT(until(status_code::good), interval);
    pass(30s);
    EXPECT_GT(station_->script().hits(s7::fault_kind::dropped_reply), 0u);
    EXPECT_NE(std::ranges::find(events_, source_event_kind::request_timed_out), events_.end());
    EXPECT_LE(until(status_code::good), longest_back_off + job_timeout + interval);
}

}  // namespace
}  // namespace tagferry::gateway
