// What every source promises (gateway/sources/source.hpp), held against each source there is: the
// fake that other tests use, and the S7 source with the simulator over loopback.
#include "gateway/simulation/simulated_station.hpp"
#include "gateway/sources/s7/s7_source.hpp"
#include "gateway/sources/s7/s7_types.hpp"
#include "tests/support/gateway/fake_source.hpp"
#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <thread>
#include <utility>

namespace tagferry::gateway {
namespace {

using namespace std::chrono_literals;

// --- Devices ------------------------------------------------------------------------------------

struct fake_device {
    explicit fake_device(transport::shard& owner) : shard(owner) {}
    void set_up(config::connection&) {}
    std::unique_ptr<source> make(tag_table& table, const connection_definition& connection,
                                 source_observer& observer) {
        auto made = std::make_unique<test::fake_source>(shard, table, connection.owner, &observer);
        fake = made.get();
        return made;
    }
    void cut() { fake->set_reachable(false); }
    void heal() { fake->set_reachable(true); }

    transport::shard& shard;
    test::fake_source* fake = nullptr;
};

struct s7_device {
    explicit s7_device(transport::shard& owner) : shard(owner), station(owner, blocks(), 0) {
        station.start();
    }
    static s7::simulator_config blocks() {
        s7::simulator_config made;
        made.data_blocks = {{1, 64}};
        return made;
    }
    void set_up(config::connection& connection) {
        connection.host = "127.0.0.1";
        connection.port = station.port();
        connection.back_off_ms = {20, 50, {}};
        connection.job_timeout_ms = 500;
    }
    std::unique_ptr<source> make(tag_table& table, const connection_definition& connection,
                                 source_observer& observer) {
        s7_source_options options =
            s7_options_of(connection.settings, config::process_limits{}, traffic);
        options.observer = &observer;
        return std::make_unique<s7_source>(shard, workers, pool, table, connection.owner, options);
    }
    void cut() { station.pull_cable(); }
    void heal() { station.plug_cable_in(); }

    transport::shard& shard;
    transport::worker_pool workers{{"worker"}};
    transport::pinned_pool pool{{"s7", 967, 64}};
    transport::traffic traffic{"s7"};
    simulated_station station;
};

struct device_names {
    template <class Device>
    static std::string GetName(int) {
        return std::is_same_v<Device, fake_device> ? "fake" : "s7";
    }
};

// --- The text -----------------------------------------------------------------------------------

/// Counts what it is told, and notices being told on the stack of a call into the source.
class answers final : public device_read_listener, public write_listener {
  public:
    void device_read_finished(std::uint64_t ticket, device_read_result result) override {
        EXPECT_FALSE(calling) << "told on the caller's stack";
        ++reads[ticket];
        last_read = result;
    }
    void write_finished(std::uint64_t ticket, const write_outcome& outcome) override {
        EXPECT_FALSE(calling) << "told on the caller's stack";
        EXPECT_NE(outcome.reason, reason_id::none);
        ++writes[ticket];
        last_write = outcome;
        if (when_written) {
            std::exchange(when_written, {})(outcome);
        }
    }
    bool each_once(std::size_t read_count, std::size_t write_count) const {
        const auto once = [](const auto& entry) { return entry.second == 1; };
        return reads.size() == read_count && writes.size() == write_count &&
               std::ranges::all_of(reads, once) && std::ranges::all_of(writes, once);
    }

    bool calling = false;
    std::function<void(const write_outcome&)> when_written{};  ///< once
    std::map<std::uint64_t, int> reads{};
    std::map<std::uint64_t, int> writes{};
    device_read_result last_read{};
    write_outcome last_write{};
};

template <class Device>
class source_contract : public testing::Test, protected source_observer {
  protected:
    source_contract() {
        config::connection& press = configuration_.connections.emplace_back();
        press.name = "press";
        press.scan_classes = {{"rare", 60'000, {}}};
        device_.set_up(press);
        set_tags({"DB1.DBW2", "DB1.DBW4"});
        const connection_definition& made = model_->connections()[0];
        source_ = device_.make(table_, made, *this);
        source_->apply(*model_, made);
    }
    ~source_contract() override {
        stop();
        source_.reset();
        shard_.poll_here();
    }

    /// A tag for each address, named as it.
    void set_tags(const std::vector<std::string>& addresses) {
        config::connection& press = configuration_.connections[0];
        press.tags.clear();
        for (const std::string& address : addresses) {
            config::tag& made = press.tags.emplace_back();
            made.path = address;
            made.address = address;
            made.type = "INT";
            made.writable = true;
            made.stale_after_ms = 600'000;
        }
        std::vector<model_error> errors;
        model_ = builder_.build(configuration_, &read_s7_type, errors);
        ASSERT_TRUE(errors.empty());
    }
    void source_changed(const source& which, source_state before) override {
        EXPECT_EQ(&which, source_.get());
        EXPECT_EQ(before, observed_) << "each change once, in order";
        observed_ = which.status().state;
        EXPECT_NE(before, observed_);
    }

    bool until(const std::function<bool()>& condition) {
        const auto end = std::chrono::steady_clock::now() + 5s;
        while (!condition() && std::chrono::steady_clock::now() < end) {
            if (shard_.poll_here() == 0) {
                std::this_thread::sleep_for(1ms);
            }
        }
        return condition();
    }
    /// Long enough for anything that would be told twice or too late.
    void let_things_happen() {
        const auto end = std::chrono::steady_clock::now() + 50ms;
        until([&] { return std::chrono::steady_clock::now() > end; });
    }
    void start() {
        const transport::turn_scope turn(shard_);
        source_->start();
    }
    void stop() {
        {
            const transport::turn_scope turn(shard_);
            source_->stop();
        }
        EXPECT_TRUE(until([&] { return source_->stopped(); }));
    }
    void come_up() {
        start();
        ASSERT_TRUE(becomes("DB1.DBW4", status_code::good, reason_id::none));
    }
    tag_handle tag(const std::string& address) const {
        return model_->tags()[model_->find("press/" + address)->item].handle;
    }
    bool is(const std::string& address, status_code status, reason_id reason) {
        sample seen;
        return table_.read(tag(address), slot_, seen) == read_result::done &&
               seen.status == status && seen.reason == reason;
    }
    bool becomes(const std::string& address, status_code status, reason_id reason) {
        return until([&] { return is(address, status, reason); });
    }
    bool all_become(status_code status, reason_id reason) {
        return becomes("DB1.DBW2", status, reason) && becomes("DB1.DBW4", status, reason);
    }
    std::int16_t value() const {
        std::int16_t out = 0;
        std::memcpy(&out, slot_.data(), sizeof out);
        return out;
    }
    bool read(tag_handle of, std::uint64_t ticket) {
        told_.calling = true;
        const bool accepted = source_->read({&of, 1}, ticket, told_);
        told_.calling = false;
        return accepted;
    }
    reason_id write(tag_handle to, std::int16_t number, std::uint64_t ticket) {
        told_.calling = true;
        const reason_id refused =
            source_->write({to, std::as_bytes(std::span(&number, 1))}, ticket, told_);
        told_.calling = false;
        return refused;
    }

    transport::real_clock clock_;
    transport::shard shard_{{"test"}, clock_};
    Device device_{shard_};
    tag_table table_;
    model_builder builder_{table_};
    config::configuration configuration_;
    std::unique_ptr<const tag_model> model_;
    source_state observed_ = source_state::stopped;
    answers told_;
    std::array<std::byte, 64> slot_{};
    std::unique_ptr<source> source_;
};

using devices = testing::Types<fake_device, s7_device>;
TYPED_TEST_SUITE(source_contract, devices, device_names);

TYPED_TEST(source_contract, values_come_once_it_is_up) {
    EXPECT_EQ(this->source_->status().state, source_state::stopped);
    EXPECT_TRUE(
        this->is("DB1.DBW2", status_code::bad_waiting_for_initial_data, reason_id::never_read));
    this->come_up();
    EXPECT_EQ(this->source_->status().state, source_state::up);
    EXPECT_EQ(this->source_->status().connects, 1u);
    EXPECT_TRUE(this->source_->status().reason.empty());
    EXPECT_FALSE(this->source_->protocol().empty());
    EXPECT_FALSE(this->source_->stopped());
}

TYPED_TEST(source_contract, a_read_is_told_once_and_in_a_later_turn) {
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_TRUE(this->read(this->tag("DB1.DBW2"), 1));
        EXPECT_TRUE(this->read(this->tag("DB1.DBW2"), 2));
        EXPECT_TRUE(this->read(tag_handle{}, 3)) << "of nothing: skipped, and told all the same";
    }
    EXPECT_TRUE(this->until([&] { return this->told_.reads.size() == 3; }));
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(3, 0));
    EXPECT_EQ(this->told_.last_read, device_read_result::completed);
}

TYPED_TEST(source_contract, a_read_too_many_is_refused_and_never_told) {
    this->come_up();
    std::size_t accepted = 0;
    {
        const transport::turn_scope turn(this->shard_);
        while (accepted < 1'000 && this->read(this->tag("DB1.DBW2"), accepted)) {
            ++accepted;
        }
    }
    EXPECT_LT(accepted, 1'000u);
    EXPECT_TRUE(this->until([&] { return this->told_.reads.size() == accepted; }));
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(accepted, 0));
}

TYPED_TEST(source_contract, a_write_is_told_once_and_the_table_follows_by_a_read) {
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_EQ(this->write(this->tag("DB1.DBW2"), 77, 1), reason_id::none);
        EXPECT_TRUE(this->is("DB1.DBW2", status_code::good, reason_id::none));
        EXPECT_EQ(this->value(), 0) << "a write does not change the table";
    }
    EXPECT_TRUE(this->until([&] {
        return this->is("DB1.DBW2", status_code::good, reason_id::none) && this->value() == 77;
    }));
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(0, 1));
    EXPECT_EQ(this->told_.last_write.reason, reason_id::write_accepted);
}

TYPED_TEST(source_contract, a_write_refused_at_once_is_never_told) {
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        const std::array<std::byte, 3> odd{};
        EXPECT_EQ(this->source_->write({this->tag("DB1.DBW2"), odd}, 1, this->told_),
                  reason_id::write_type_mismatch);
        EXPECT_EQ(this->write(tag_handle{}, 1, 2), reason_id::tag_removed);
        std::size_t accepted = 0;
        reason_id refused = reason_id::none;
        while (accepted < 1'000 && refused == reason_id::none) {
            refused = this->write(this->tag("DB1.DBW4"), 5, 100 + accepted);
            accepted += refused == reason_id::none ? 1 : 0;
        }
        EXPECT_EQ(refused, reason_id::busy);
        EXPECT_GT(accepted, 0u);
    }
    EXPECT_TRUE(this->until([&] { return !this->told_.writes.empty(); }));
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(0, this->told_.writes.size()));
    EXPECT_FALSE(this->told_.writes.contains(1));
    EXPECT_FALSE(this->told_.writes.contains(2));
}

TYPED_TEST(source_contract, a_lost_link_ends_everything_once_and_heals) {
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_TRUE(this->read(this->tag("DB1.DBW2"), 1));
        EXPECT_EQ(this->write(this->tag("DB1.DBW4"), 9, 2), reason_id::none);
        this->device_.cut();
    }
    EXPECT_TRUE(this->all_become(status_code::bad_no_communication, reason_id::link_down));
    EXPECT_TRUE(this->until(
        [&] { return this->told_.reads.size() == 1 && this->told_.writes.size() == 1; }));
    EXPECT_NE(this->source_->status().state, source_state::up);
    EXPECT_FALSE(this->source_->status().reason.empty());
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_EQ(this->write(this->tag("DB1.DBW4"), 10, 3), reason_id::write_not_sent);
        EXPECT_TRUE(this->read(this->tag("DB1.DBW2"), 4));
    }
    EXPECT_TRUE(this->until([&] { return this->told_.reads.size() == 2; }));
    EXPECT_EQ(this->told_.last_read, device_read_result::no_communication);
    EXPECT_TRUE(this->until([&] { return this->source_->status().connect_failures != 0; }));
    {
        const transport::turn_scope turn(this->shard_);
        this->device_.heal();
    }
    EXPECT_TRUE(this->all_become(status_code::good, reason_id::none));
    EXPECT_NE(this->value(), 10) << "nothing unsent is replayed";
    EXPECT_EQ(this->source_->status().connects, 2u);
    EXPECT_TRUE(this->told_.each_once(2, 1));
}

TYPED_TEST(source_contract, a_write_from_inside_an_answer_ends_once_too) {
    this->come_up();
    const auto write_again = [this](reason_id expected) {
        return [this, expected](const write_outcome& outcome) {
            EXPECT_EQ(outcome.reason == reason_id::write_accepted, expected == reason_id::none);
            EXPECT_EQ(this->write(this->tag("DB1.DBW2"), 8, 2), expected);
        };
    };
    this->told_.when_written = write_again(reason_id::none);
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_EQ(this->write(this->tag("DB1.DBW4"), 9, 1), reason_id::none);
    }
    EXPECT_TRUE(this->until([&] { return this->told_.writes.contains(2); }));
    EXPECT_TRUE(this->told_.each_once(0, 2));
    this->told_.writes.clear();
    this->told_.when_written = write_again(reason_id::write_not_sent);
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_EQ(this->write(this->tag("DB1.DBW4"), 9, 1), reason_id::none);
        this->source_->stop();
    }
    EXPECT_TRUE(this->until([&] { return this->source_->stopped(); }));
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(0, 1));
}

TYPED_TEST(source_contract, a_stop_ends_everything_once) {
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_TRUE(this->read(this->tag("DB1.DBW2"), 1));
        EXPECT_EQ(this->write(this->tag("DB1.DBW4"), 9, 2), reason_id::none);
        this->source_->stop();
    }
    EXPECT_TRUE(this->until([&] { return this->source_->stopped(); }));
    EXPECT_TRUE(this->told_.each_once(1, 1));
    EXPECT_TRUE(this->is("DB1.DBW2", status_code::bad_shutdown, reason_id::shutting_down));
    EXPECT_TRUE(this->is("DB1.DBW4", status_code::bad_shutdown, reason_id::shutting_down));
    EXPECT_EQ(this->source_->status().state, source_state::stopped);
    bool accepted = false;
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_EQ(this->write(this->tag("DB1.DBW4"), 9, 3), reason_id::write_not_sent);
        accepted = this->read(this->tag("DB1.DBW2"), 4);
    }
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(accepted ? 2 : 1, 1));
}

TYPED_TEST(source_contract, a_stop_while_the_link_is_down_shuts_the_tags_down_too) {
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        this->device_.cut();
    }
    EXPECT_TRUE(this->all_become(status_code::bad_no_communication, reason_id::link_down));
    this->stop();
    EXPECT_TRUE(this->is("DB1.DBW2", status_code::bad_shutdown, reason_id::shutting_down));
    EXPECT_TRUE(this->is("DB1.DBW4", status_code::bad_shutdown, reason_id::shutting_down));
}

TYPED_TEST(source_contract, stops_in_any_state_and_starts_again) {
    for (int turns = 0; turns < 6; ++turns) {
        this->start();
        for (int i = 0; i < turns; ++i) {
            this->shard_.poll_here();
        }
        this->stop();
        EXPECT_TRUE(this->is("DB1.DBW2", status_code::bad_shutdown, reason_id::shutting_down));
    }
    this->come_up();
}

TYPED_TEST(source_contract, tags_come_and_go) {
    this->come_up();
    const tag_handle gone = this->tag("DB1.DBW2");
    const tag_handle stays = this->tag("DB1.DBW4");
    const auto before = std::move(this->model_);
    this->set_tags({"DB1.DBW8", "DB1.DBW4"});
    {
        const transport::turn_scope turn(this->shard_);
        EXPECT_EQ(this->write(gone, 3, 1), reason_id::none);
        EXPECT_TRUE(this->read(gone, 2));
        this->source_->apply(*this->model_, this->model_->connections()[0]);
        EXPECT_EQ(this->write(gone, 3, 3), reason_id::tag_removed);
    }
    this->builder_.remove_unused();
    EXPECT_TRUE(this->becomes("DB1.DBW8", status_code::good, reason_id::none));
    EXPECT_EQ(this->tag("DB1.DBW4"), stays);
    EXPECT_TRUE(this->is("DB1.DBW4", status_code::good, reason_id::none));
    EXPECT_FALSE(this->table_.contains(gone));
    EXPECT_TRUE(this->until(
        [&] { return this->told_.reads.size() == 1 && this->told_.writes.size() == 1; }));
    this->let_things_happen();
    EXPECT_TRUE(this->told_.each_once(1, 1));
}

TYPED_TEST(source_contract, its_status_is_read_from_any_thread) {
    std::atomic<bool> end{false};
    std::atomic<int> seen{0};
    std::thread reader([&] {
        std::uint64_t connects = 0;
        while (!end) {
            const source_status status = this->source_->status();
            EXPECT_GE(status.connects, connects) << "counts up";
            connects = status.connects;
            static_cast<void>(name_of(status.state).size() + status.reason.size());
            ++seen;
        }
    });
    this->come_up();
    {
        const transport::turn_scope turn(this->shard_);
        this->device_.cut();
    }
    EXPECT_TRUE(this->all_become(status_code::bad_no_communication, reason_id::link_down));
    this->stop();
    EXPECT_TRUE(this->until([&] { return seen != 0; }));
    end = true;
    reader.join();
}

}  // namespace
}  // namespace tagferry::gateway
