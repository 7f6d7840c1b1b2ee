#include "transport/time/timing_wheel.hpp"

#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

struct recorder final : wheel_timer {
    std::vector<int>* log = nullptr;
    int id = 0;
    void fire(time_point) override { log->push_back(id); }
};

template <class Function>
struct calling final : wheel_timer {
    explicit calling(Function f) : function(std::move(f)) {}
    void fire(time_point now) override { function(now); }
    Function function;
};

class timing_wheel_test : public testing::Test {
  protected:
    timing_wheel_test() : wheel(clock.now()), start(clock.now()) {}

    turn_budget unlimited() const {
        return {clock, clock.now(), std::numeric_limits<std::size_t>::max(), 1h};
    }
    /// Moves the clock in one jump and advances until the wheel is done.
    void jump(duration step) {
        clock.advance(step);
        turn_budget budget = unlimited();
        ASSERT_TRUE(wheel.advance(clock.now(), budget));
    }
    recorder& timer(int id) {
        timers.push_back(std::make_unique<recorder>());
        timers.back()->log = &fired;
        timers.back()->id = id;
        return *timers.back();
    }

    manual_clock clock;
    timing_wheel wheel;
    time_point start;
    std::vector<int> fired;
    std::vector<std::unique_ptr<recorder>> timers;
};

using ids = std::vector<int>;

TEST_F(timing_wheel_test, fires_at_the_first_tick_that_is_not_early) {
    wheel.schedule(timer(1), start + 5ms);
    wheel.schedule(timer(2), start + 5ms + 1ns);
    jump(5ms - 1ns);
    EXPECT_TRUE(fired.empty());
    jump(1ns);
    EXPECT_EQ(fired, ids{1});
    jump(1ms - 1ns);
    EXPECT_EQ(fired, ids{1});
    jump(1ns);
    EXPECT_EQ(fired, (ids{1, 2}));
    EXPECT_EQ(wheel.size(), 0u);
    EXPECT_EQ(wheel.wake_time(), time_point::max());
}

TEST_F(timing_wheel_test, a_time_that_has_passed_is_due_at_once) {
    jump(10s);
    wheel.schedule(timer(1), start);
    wheel.schedule(timer(2), clock.now());
    wheel.schedule(timer(3), time_point::min());
    EXPECT_LE(wheel.wake_time(), clock.now());
    jump(0ms);
    EXPECT_EQ(fired, (ids{1, 2, 3}));
}

TEST_F(timing_wheel_test, never_is_never_and_the_end_of_time_is_far) {
    recorder& never = timer(1);
    wheel.schedule(never, start + 1ms);
    wheel.schedule(never, time_point::max());
    EXPECT_FALSE(never.scheduled());
    wheel.schedule(timer(2), time_point::max() - 1ns);
    wheel.schedule(timer(3), start + 24h * 365);
    EXPECT_EQ(wheel.size(), 2u);
    jump(24h * 365 - 1ms);
    EXPECT_TRUE(fired.empty());
    jump(1ms);
    EXPECT_EQ(fired, ids{3});
    EXPECT_EQ(wheel.size(), 1u);
}

TEST_F(timing_wheel_test, jump_of_hours_fires_every_due_timer_once_in_due_order) {
    wheel.schedule(timer(5), start + 7h);
    wheel.schedule(timer(1), start + 1ms);
    wheel.schedule(timer(4), start + 3h);
    wheel.schedule(timer(2), start + 64ms);
    wheel.schedule(timer(3), start + 65s);
    wheel.schedule(timer(6), start + 9h);
    jump(8h);
    EXPECT_EQ(fired, (ids{1, 2, 3, 4, 5}));
    jump(1h);
    EXPECT_EQ(fired, (ids{1, 2, 3, 4, 5, 6}));
}

TEST_F(timing_wheel_test, timers_of_one_tick_fire_in_the_order_they_were_scheduled) {
    wheel.schedule(timer(1), start + 10min);
    jump(9min);
    wheel.schedule(timer(2), start + 10min);
    jump(59s + 999ms);
    wheel.schedule(timer(3), start + 10min);
    jump(1ms);
    EXPECT_EQ(fired, (ids{1, 2, 3}));
}

TEST_F(timing_wheel_test, scheduling_again_moves_and_cancelling_removes) {
    recorder& moved = timer(1);
    wheel.schedule(moved, start + 10ms);
    wheel.schedule(moved, start + 20ms);
    EXPECT_EQ(wheel.size(), 1u);
    jump(15ms);
    EXPECT_TRUE(fired.empty());
    moved.cancel();
    moved.cancel();
    EXPECT_EQ(wheel.size(), 0u);
    jump(1h);
    EXPECT_TRUE(fired.empty());
}

TEST_F(timing_wheel_test, destruction_cancels_either_way_round) {
    wheel.schedule(timer(1), start + 10ms);
    wheel.schedule(timer(2), start + 10ms);
    timers.front().reset();
    jump(10ms);
    EXPECT_EQ(fired, ids{2});

    recorder outliving;
    {
        timing_wheel other(start);
        other.schedule(outliving, start + 5s);
        EXPECT_TRUE(outliving.scheduled());
    }
    EXPECT_FALSE(outliving.scheduled());
}

TEST_F(timing_wheel_test, a_timer_moves_from_wheel_to_wheel) {
    timing_wheel other(start);
    recorder& moving = timer(1);
    other.schedule(moving, start + 5ms);
    wheel.schedule(moving, start + 6ms);
    EXPECT_EQ(other.size(), 0u);
    jump(6ms);
    EXPECT_EQ(fired, ids{1});
}

TEST_F(timing_wheel_test, inside_fire_any_timer_may_be_cancelled_scheduled_or_destroyed) {
    recorder& victim = timer(1);
    recorder& later = timer(2);
    auto act = [&](time_point now) {
        victim.cancel();
        timers.back().reset();
        wheel.schedule(later, now + 1ms);
        fired.push_back(99);
    };
    calling acting(act);
    wheel.schedule(acting, start + 5ms);
    wheel.schedule(victim, start + 5ms);
    wheel.schedule(timer(3), start + 6ms);
    jump(5ms);
    EXPECT_EQ(fired, ids{99});
    jump(1ms);
    EXPECT_EQ(fired, (ids{99, 2}));
    EXPECT_EQ(wheel.size(), 0u);
}

struct suicidal final : wheel_timer {
    std::unique_ptr<suicidal>* self = nullptr;
    void fire(time_point) override { self->reset(); }
};

TEST_F(timing_wheel_test, inside_fire_a_timer_may_destroy_itself) {
    auto timer_itself = std::make_unique<suicidal>();
    timer_itself->self = &timer_itself;
    wheel.schedule(*timer_itself, start + 1ms);
    jump(1ms);
    EXPECT_EQ(timer_itself, nullptr);
}

TEST_F(timing_wheel_test, periodic_schedule_does_not_drift) {
    std::vector<time_point> dues;
    calling<std::function<void(time_point)>> periodic({});
    periodic.function = [&](time_point now) {
        dues.push_back(periodic.due());
        wheel.schedule(periodic, next_due(periodic.due(), 100ms, now));
    };
    wheel.schedule(periodic, start + 100ms);
    for (int step = 0; step < 1000; ++step) {
        jump(7ms + 300us);
    }
    ASSERT_EQ(dues.size(), 73u);
    for (std::size_t i = 0; i < dues.size(); ++i) {
        EXPECT_EQ(dues[i], start + 100ms * (i + 1));
    }
}

TEST(next_due, skips_what_was_missed_and_keeps_the_phase) {
    const time_point due{10s};
    EXPECT_EQ(next_due(due, 100ms, due - 1ns), due);
    EXPECT_EQ(next_due(due, 100ms, due), due + 100ms);
    EXPECT_EQ(next_due(due, 100ms, due + 99ms), due + 100ms);
    EXPECT_EQ(next_due(due, 100ms, due + 100ms), due + 200ms);
    EXPECT_EQ(next_due(due, 100ms, due + 3h + 1ms), due + 3h + 100ms);
}

TEST_F(timing_wheel_test, budget_ends_a_call_and_loses_nothing) {
    for (int id = 0; id < 1000; ++id) {
        wheel.schedule(timer(id), start + 1s + std::chrono::milliseconds{id / 100});
    }
    clock.advance(1h);
    std::size_t calls = 0;
    for (bool done = false; !done; ++calls) {
        const std::size_t before = fired.size();
        turn_budget budget(clock, clock.now());
        done = wheel.advance(clock.now(), budget);
        EXPECT_LE(fired.size() - before, turn_item_limit);
        if (!done) {
            EXPECT_LE(wheel.wake_time(), clock.now());
        }
    }
    EXPECT_GE(calls, 4u);
    ASSERT_EQ(fired.size(), 1000u);
    EXPECT_TRUE(std::is_sorted(fired.begin(), fired.end()));
}

TEST_F(timing_wheel_test, moving_a_crowded_slot_down_is_bounded_too) {
    for (int id = 0; id < 20'000; ++id) {
        wheel.schedule(timer(id), start + 2h);
    }
    clock.advance(2h);
    std::size_t calls = 0;
    for (bool done = false; !done; ++calls) {
        if (calls == 1) {
            // Comes and goes while the slot is half moved.
            wheel.schedule(timer(20'000), start + 2h);
            timers[19'999]->cancel();
        }
        turn_budget budget(clock, clock.now());
        done = wheel.advance(clock.now(), budget);
    }
    EXPECT_GE(calls, 20'000u / turn_item_limit);
    EXPECT_EQ(fired.size(), 20'000u);
}

TEST_F(timing_wheel_test, budget_of_time_ends_a_call) {
    calling<std::function<void(time_point)>> slow({});
    std::size_t calls = 0;
    slow.function = [&](time_point now) {
        ++calls;
        clock.advance(100us);
        wheel.schedule(slow, now);
    };
    wheel.schedule(slow, start);
    turn_budget budget(clock, clock.now());
    EXPECT_FALSE(wheel.advance(clock.now(), budget));
    EXPECT_LE(calls, 16u);
}

TEST_F(timing_wheel_test, exception_leaves_the_wheel_whole) {
    calling throwing([](time_point) { throw std::runtime_error("timer"); });
    wheel.schedule(throwing, start + 5ms);
    wheel.schedule(timer(1), start + 5ms);
    clock.advance(5ms);
    turn_budget budget = unlimited();
    EXPECT_THROW(wheel.advance(clock.now(), budget), std::runtime_error);
    EXPECT_LE(wheel.wake_time(), clock.now());
    EXPECT_TRUE(wheel.advance(clock.now(), budget));
    EXPECT_EQ(fired, ids{1});
}

TEST_F(timing_wheel_test, a_lone_far_timer_costs_one_wake_up) {
    wheel.schedule(timer(1), start + 5h);
    EXPECT_EQ(wheel.wake_time(), start + 5h);
    jump(1h);
    EXPECT_EQ(wheel.wake_time(), start + 5h);
}

// A million operations against a model: a sorted set of (tick, order scheduled).
class model {
  public:
    struct entry {
        std::int64_t tick = -1;
        std::uint64_t order = 0;
    };
    explicit model(std::size_t count) : entries_(count) {}

    void schedule(std::size_t id, std::int64_t tick) {
        cancel(id);
        entries_[id] = {.tick = std::max(tick, position_), .order = ++order_};
        due_.emplace(std::pair{entries_[id].tick, entries_[id].order}, id);
    }
    void cancel(std::size_t id) {
        if (entries_[id].tick >= 0) {
            due_.erase({entries_[id].tick, entries_[id].order});
            entries_[id].tick = -1;
        }
    }
    std::vector<int> advance(std::int64_t tick) {
        std::vector<int> fired;
        while (!due_.empty() && due_.begin()->first.first <= tick) {
            const std::size_t id = due_.begin()->second;
            fired.push_back(static_cast<int>(id));
            cancel(id);
        }
        position_ = tick;
        return fired;
    }

  private:
    std::vector<entry> entries_;
    std::map<std::pair<std::int64_t, std::uint64_t>, std::size_t> due_;
    std::uint64_t order_ = 0;
    std::int64_t position_ = 0;
};

TEST_F(timing_wheel_test, million_random_operations_agree_with_a_model) {
    constexpr std::size_t count = 20'000;
    model expected(count);
    for (std::size_t id = 0; id < count; ++id) {
        timer(static_cast<int>(id));
    }
    std::mt19937_64 random(4840);  // NOLINT(cert-msc51-cpp): repeatable
    std::int64_t tick = 0;
    std::size_t most = 0;
    for (std::size_t operation = 0; operation < 1'000'000; ++operation) {
        const std::size_t id = random() % count;
        const std::uint64_t choice = random() % 100;
        if (choice < 70) {
            // Log-uniform: as many within milliseconds as within weeks.
            const auto ahead = static_cast<std::int64_t>(random() >> (33 + random() % 31));
            const std::int64_t to = tick + ahead - 3;
            expected.schedule(id, to);
            wheel.schedule(*timers[id], start + std::chrono::milliseconds{to});
        } else if (choice < 85) {
            expected.cancel(id);
            timers[id]->cancel();
        } else if (choice < 86 || operation % 1000 == 0) {
            const auto step = static_cast<std::int64_t>(random() >> (36 + random() % 28));
            tick += step;
            fired.clear();
            jump(std::chrono::milliseconds{step});
            most = std::max(most, fired.size());
            ASSERT_EQ(fired, expected.advance(tick));
        }
    }
    EXPECT_GT(most, 100u);
}

TEST(timing_wheel, million_timers_each_fire_once_in_order) {
    constexpr int count = 1'000'000;
    manual_clock clock;
    const time_point start = clock.now();
    timing_wheel wheel(start);
    struct counted final : wheel_timer {
        time_point* last = nullptr;
        int fired = 0;
        void fire(time_point) override {
            ++fired;
            EXPECT_LE(*last, due());
            *last = due();
        }
    };
    std::vector<counted> timers(count);
    std::mt19937_64 random(1);  // NOLINT(cert-msc51-cpp): repeatable
    time_point last = start;
    for (counted& each : timers) {
        each.last = &last;
        const auto ahead = static_cast<std::int64_t>(random() % (24 * 3600 * 1000));
        wheel.schedule(each, start + std::chrono::milliseconds{ahead});
    }
    std::size_t calls = 0;
    while (wheel.size() != 0) {
        if (calls % 500 == 0) {
            clock.advance(2h);
        }
        turn_budget budget(clock, clock.now());
        wheel.advance(clock.now(), budget);
        ++calls;
    }
    EXPECT_TRUE(std::all_of(timers.begin(), timers.end(),
                            [](const counted& each) { return each.fired == 1; }));
    EXPECT_GT(calls, count / turn_item_limit);
}

}  // namespace
}  // namespace tagferry::transport
