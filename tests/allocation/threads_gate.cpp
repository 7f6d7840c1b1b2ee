// Time and threads in steady state allocate nothing: posts and wake-ups between shards, turns,
// timers, deadlines, jobs and records, 10,000 of each, counted over all threads of the process.

#include "tests/allocation/allocation_gate.hpp"
#include "transport/threads/shard.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <span>

namespace tagferry::allocation {
namespace {

using namespace transport;
using namespace std::chrono_literals;

constexpr std::uint64_t warm_up = 1000;
constexpr std::uint64_t measured = 10'000;

struct swallowing_sink final : storage_sink {
    void write(record_kind, std::span<const std::byte>) override {}
    void flush() override {}
};

/// One round is a task to the other shard and back with a record written, and a job to a worker;
/// in between the timer and the deadline go on by themselves.
class exerciser final : public completion_sink,
                        public turn_participant,
                        public after_turn_participant,
                        public next_turn_participant,
                        public sweep_participant {
  public:
    exerciser() : timer_(*this) {
        storage_.set_sink(record_kind{0}, sink_);
        home_.add(static_cast<sweep_participant&>(*this));
        home_.wheel().schedule(timer_, home_.now() + 1ms);
        storage_.start();
        pool_.start();
        away_.start();
        home_.start();
    }
    ~exerciser() {
        pool_.stop();
        away_.stop();
        away_.join();
        home_.stop();
        home_.join();
        storage_.stop();
    }
    void run(std::uint64_t rounds) {
        done_.store(false);
        home_.post({.run = serve, .object = this, .a = rounds});
        done_.wait(false);
    }
    std::uint64_t fired() const { return fired_.load(); }

  private:
    static void serve(void* object, std::uint64_t rounds, std::uint64_t) {
        auto& self = *static_cast<exerciser*>(object);
        self.rounds_ = rounds;
        self.away_.post({.run = give_back, .object = object});
    }
    static void give_back(void* object, std::uint64_t, std::uint64_t) {
        auto& self = *static_cast<exerciser*>(object);
        self.home_.post({.run = submit, .object = object});
    }
    static void submit(void* object, std::uint64_t, std::uint64_t) {
        auto& self = *static_cast<exerciser*>(object);
        self.home_.at_turn_end(self);
        const std::array<std::byte, 100> line{};
        EXPECT_TRUE(self.storage_.keep(record_kind{0}, line));
    }
    void end_turn(time_point) override { home_.after_turn(*this); }
    void after_turn(time_point) override { home_.at_next_turn(*this); }
    void next_turn(time_point) override {
        EXPECT_TRUE(pool_.submit({.run = [](void*, job::payload_type&) { return std::uint32_t{0}; },
                                  .owner = &home_,
                                  .sink = this}));
    }
    void resume(completion_token, std::uint32_t, time_point) override {
        if (--rounds_ != 0) {
            away_.post({.run = give_back, .object = this});
            return;
        }
        done_.store(true);
        done_.notify_one();
    }
    void tick(time_point now) {
        ++fired_;
        home_.wheel().schedule(timer_, next_due(timer_.due(), 1ms, now));
    }
    time_point deadline() const noexcept override { return home_.now(); }
    void expire(time_point) override {}

    real_clock clock_;
    swallowing_sink sink_;
    std::atomic<bool> done_{false};
    std::atomic<std::uint64_t> fired_{0};
    std::uint64_t rounds_ = 0;
    storage_thread storage_{{}};
    worker_pool pool_{{.name = "work", .threads = 2}};
    shard home_{{.name = "home", .index = 0, .mailbox_capacity = 64}, clock_};
    shard away_{{.name = "away", .index = 1, .mailbox_capacity = 64}, clock_};
    member_timer<exerciser, &exerciser::tick> timer_;
};

TEST(threads_gate, steady_state_allocates_nothing_on_any_thread) {
    const outer_counter outer;
    exerciser everything;
    everything.run(warm_up);
    const std::uint64_t fired_before = everything.fired();
    const window open(outer);
    everything.run(measured);
    const window::result seen = open.close();
    EXPECT_EQ(seen.allocations, 0u);
    EXPECT_TRUE(seen.outer_agrees);
    EXPECT_GT(everything.fired(), fired_before);
}

}  // namespace
}  // namespace tagferry::allocation
