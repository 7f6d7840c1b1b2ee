// What time and threads cost: a post with its wake-up, turns, the timing wheel, the sweep, a job
// on the worker pool and a record for the storage thread.
#include "transport/threads/shard.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/threads/worker_pool.hpp"
#include "transport/time/manual_clock.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace {

using namespace tagferry::transport;
using namespace std::chrono_literals;

/// Two shards that throw one task to and fro.
class table_tennis {
  public:
    table_tennis() {
        left_.start();
        right_.start();
    }
    /// Returns when the task has crossed `crossings` times.
    void play(std::uint64_t crossings) {
        done_.store(false);
        hit(this, crossings, 0);
        done_.wait(false);
    }
    std::uint64_t wake_ups() const {
        return left_.statistics().wake_ups + right_.statistics().wake_ups;
    }

  private:
    static void hit(void* object, std::uint64_t left_to_go, std::uint64_t side) {
        auto& self = *static_cast<table_tennis*>(object);
        if (left_to_go == 0) {
            self.done_.store(true);
            self.done_.notify_one();
            return;
        }
        shard& to = side == 0 ? self.right_ : self.left_;
        to.post({.run = hit, .object = object, .a = left_to_go - 1, .b = 1 - side});
    }

    real_clock clock_;
    std::atomic<bool> done_{false};
    shard left_{{.name = "left", .mailbox_capacity = 64}, clock_};
    shard right_{{.name = "right", .mailbox_capacity = 64}, clock_};
};

void post_and_wake_up_across_threads(benchmark::State& state) {
    constexpr std::uint64_t crossings = 1000;
    table_tennis table;
    const std::uint64_t before = table.wake_ups();
    for (auto _ : state) {
        table.play(crossings);
    }
    const auto total = static_cast<double>(state.iterations()) * crossings;
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(crossings));
    state.counters["wake_ups_per_post"] = static_cast<double>(table.wake_ups() - before) / total;
}
BENCHMARK(post_and_wake_up_across_threads)->UseRealTime();

void count(void* object, std::uint64_t, std::uint64_t) {
    ++*static_cast<std::uint64_t*>(object);
}

void post_and_run_on_one_thread(benchmark::State& state) {
    const real_clock clock;
    shard one({.name = "one", .mailbox_capacity = 1024}, clock);
    std::uint64_t sum = 0;
    const auto batch = static_cast<std::uint64_t>(state.range(0));
    for (auto _ : state) {
        for (std::uint64_t i = 0; i < batch; ++i) {
            one.post({.run = count, .object = &sum});
        }
        one.poll_here();
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
    benchmark::DoNotOptimize(sum);
}
BENCHMARK(post_and_run_on_one_thread)->Arg(1)->Arg(256);

struct idle_participant final : turn_participant {
    std::uint64_t turns = 0;
    void end_turn(time_point) override { ++turns; }
};

void turn_with_one_participant(benchmark::State& state) {
    const real_clock clock;
    shard one({.name = "one", .mailbox_capacity = 64}, clock);
    idle_participant participant;
    for (auto _ : state) {
        const turn_scope turn(one);
        one.at_turn_end(participant);
    }
    benchmark::DoNotOptimize(participant.turns);
}
BENCHMARK(turn_with_one_participant);

struct silent_timer final : wheel_timer {
    void fire(time_point) override {}
};

/// Due times from milliseconds to an hour ahead, many short and few long.
std::vector<duration> delays(std::size_t count) {
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): repeatable
    std::vector<duration> result(count);
    for (duration& each : result) {
        each = std::chrono::milliseconds{1 + (random() % 3'600'000 >> random() % 20)};
    }
    return result;
}

void wheel_schedule_and_cancel(benchmark::State& state) {
    const manual_clock clock;
    const time_point now = clock.now();
    timing_wheel wheel(now);
    const auto count = static_cast<std::size_t>(state.range(0));
    const std::vector<duration> ahead = delays(count);
    std::vector<silent_timer> timers(count);
    for (std::size_t i = 0; i < count; ++i) {
        wheel.schedule(timers[i], now + ahead[i]);
    }
    std::size_t next = 0;
    for (auto _ : state) {
        timers[next].cancel();
        wheel.schedule(timers[next], now + ahead[next]);
        next = next + 1 == count ? 0 : next + 1;
    }
}
BENCHMARK(wheel_schedule_and_cancel)->Arg(100)->Arg(100'000);

struct periodic_timer final : wheel_timer {
    timing_wheel* wheel = nullptr;
    duration period{};
    std::uint64_t* fired = nullptr;
    void fire(time_point now) override {
        ++*fired;
        wheel->schedule(*this, next_due(due(), period, now));
    }
};

/// One tick of 1 ms with periodic timers of 50 ms to 10 s; an item is a timer fired and
/// scheduled again, moves between levels included.
void wheel_fire_and_schedule_again(benchmark::State& state) {
    manual_clock clock;
    timing_wheel wheel(clock.now());
    const auto count = static_cast<std::size_t>(state.range(0));
    constexpr std::array<duration, 6> periods = {50ms, 100ms, 250ms, 1000ms, 2500ms, 10'000ms};
    std::vector<periodic_timer> timers(count);
    std::uint64_t fired = 0;
    for (std::size_t i = 0; i < count; ++i) {
        timers[i].wheel = &wheel;
        timers[i].period = periods[i % periods.size()];
        timers[i].fired = &fired;
        wheel.schedule(timers[i], clock.now() + std::chrono::milliseconds{i % 10'000});
    }
    for (auto _ : state) {
        clock.advance(1ms);
        turn_budget budget(clock, clock.now(), std::numeric_limits<std::size_t>::max(), 1h);
        wheel.advance(clock.now(), budget);
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(fired));
}
BENCHMARK(wheel_fire_and_schedule_again)->Arg(100)->Arg(1000)->Arg(100'000);

struct far_deadline final : sweep_participant {
    time_point deadline() const noexcept override { return time_point::max(); }
    void expire(time_point) override {}
};

void sweep_of_deadlines(benchmark::State& state) {
    const manual_clock clock;
    deadline_sweep sweep;
    std::vector<far_deadline> members(static_cast<std::size_t>(state.range(0)));
    for (far_deadline& each : members) {
        sweep.add(each);
    }
    for (auto _ : state) {
        turn_budget budget(clock, clock.now(), std::numeric_limits<std::size_t>::max(), 1h);
        benchmark::DoNotOptimize(sweep.run(clock.now(), budget));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(sweep_of_deadlines)->Arg(100)->Arg(1000);

/// Submits the next job when one completes.
class busy_owner final : public completion_sink {
  public:
    busy_owner() {
        pool_.start();
        owner_.start();
    }
    ~busy_owner() { pool_.stop(); }
    void play(std::uint64_t jobs) {
        done_.store(false);
        left_ = jobs;
        submit();
        done_.wait(false);
    }
    void resume(completion_token, std::uint32_t, time_point) override {
        if (--left_ != 0) {
            submit();
            return;
        }
        done_.store(true);
        done_.notify_one();
    }

  private:
    void submit() {
        pool_.submit({.run = [](void*, job::payload_type&) { return std::uint32_t{0}; },
                      .owner = &owner_,
                      .sink = this});
    }

    real_clock clock_;
    std::atomic<bool> done_{false};
    std::uint64_t left_ = 0;
    shard owner_{{.name = "owner", .mailbox_capacity = 64}, clock_};
    worker_pool pool_{{.name = "work", .threads = 1}};
};

void job_to_a_worker_and_back(benchmark::State& state) {
    constexpr std::uint64_t jobs = 1000;
    busy_owner owner;
    for (auto _ : state) {
        owner.play(jobs);
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(jobs));
}
BENCHMARK(job_to_a_worker_and_back)->UseRealTime();

struct swallowing_sink final : storage_sink {
    void write(record_kind, std::span<const std::byte>) override {}
    void flush() override {}
};

/// What the thread that logs pays for a line of 120 bytes.
void record_to_the_storage_thread(benchmark::State& state) {
    constexpr std::int64_t lines = 4000;
    swallowing_sink sink;
    storage_thread storage({});
    storage.set_sink(record_kind{0}, sink);
    storage.start();
    const std::array<std::byte, 120> line{};
    for (auto _ : state) {
        for (std::int64_t i = 0; i < lines; ++i) {
            benchmark::DoNotOptimize(storage.offer(record_kind{0}, line));
        }
        state.PauseTiming();
        storage.flush();
        state.ResumeTiming();
    }
    state.SetItemsProcessed(state.iterations() * lines);
    state.counters["dropped"] = static_cast<double>(storage.statistics().dropped);
}
BENCHMARK(record_to_the_storage_thread);

}  // namespace
