#include "transport/threads/shard.hpp"

#include "transport/time/manual_clock.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

/// A task that calls a function kept by the test.
task calling(std::function<void()>& function) {
    return {.run = [](void* object, std::uint64_t,
                      std::uint64_t) { (*static_cast<std::function<void()>*>(object))(); },
            .object = &function};
}

task counting(std::atomic<std::uint64_t>& counter) {
    return {.run =
                [](void* object, std::uint64_t a, std::uint64_t) {
                    static_cast<std::atomic<std::uint64_t>*>(object)->fetch_add(a);
                },
            .object = &counter,
            .a = 1};
}

struct turn_actor final : turn_participant, after_turn_participant, next_turn_participant {
    std::function<void(time_point)> on_end = [](time_point) {};
    std::function<void(time_point)> on_after = [](time_point) {};
    std::function<void(time_point)> on_next = [](time_point) {};
    void end_turn(time_point now) override { on_end(now); }
    void after_turn(time_point now) override { on_after(now); }
    void next_turn(time_point now) override { on_next(now); }
};

/// A descriptor that is ready until it has been reported once.
class ready_descriptor final : public descriptor_watcher {
  public:
    ready_descriptor(shard& owner, std::function<void()> on_ready)
        : owner_(owner), act_(std::move(on_ready)), descriptor_(eventfd(1, EFD_NONBLOCK)) {
        EXPECT_FALSE(owner_.descriptors().add(descriptor_, {.readable = true}, *this));
    }
    ~ready_descriptor() { close(descriptor_); }
    void forget() { owner_.descriptors().remove(descriptor_, *this); }

  private:
    void ready(readiness what) override {
        EXPECT_TRUE(what.readable());
        owner_.descriptors().remove(descriptor_, *this);
        act_();
    }

    shard& owner_;
    std::function<void()> act_;
    int descriptor_;
};

/// A shard without a thread and with time moved by hand.
class shard_test : public testing::Test {
  protected:
    shard_test() : shard_(options(), clock_) {}

    shard_options options() {
        shard_options chosen{.name = "test", .mailbox_capacity = 1024};
        chosen.on_fault = {.report =
                               [](void* context, std::string_view, std::string_view where,
                                  std::string_view what) noexcept {
                                   static_cast<shard_test*>(context)->faults_.push_back(
                                       std::string(where) + ": " + std::string(what));
                               },
                           .context = this};
        return chosen;
    }
    void pass(duration step) {
        clock_.advance(step);
        shard_.wake();
        shard_.poll_here();
    }

    manual_clock clock_;
    std::vector<std::string> faults_;
    std::vector<std::string> log_;
    shard shard_;
};

using lines = std::vector<std::string>;

TEST_F(shard_test, tasks_run_in_the_order_posted_with_one_wake_up) {
    std::vector<std::uint64_t> order;
    for (std::uint64_t i = 0; i < 100; ++i) {
        EXPECT_TRUE(
            shard_.post({.run =
                             [](void* object, std::uint64_t a, std::uint64_t b) {
                                 EXPECT_EQ(b, a + 7);
                                 static_cast<std::vector<std::uint64_t>*>(object)->push_back(a);
                             },
                         .object = &order,
                         .a = i,
                         .b = i + 7}));
    }
    EXPECT_EQ(shard_.statistics().wake_ups, 1u);
    shard_.poll_here();
    EXPECT_EQ(order.size(), 100u);
    EXPECT_TRUE(std::is_sorted(order.begin(), order.end()));
    EXPECT_EQ(shard_.statistics().wake_ups, 1u);
    EXPECT_EQ(shard_.statistics().tasks_run, 100u);
}

TEST_F(shard_test, full_mailbox_refuses_and_says_so) {
    std::atomic<std::uint64_t> sum{0};
    for (int i = 0; i < 1024; ++i) {
        EXPECT_TRUE(shard_.post(counting(sum)));
    }
    EXPECT_FALSE(shard_.post(counting(sum)));
    EXPECT_EQ(shard_.statistics().tasks_refused, 1u);
    shard_.poll_here();
    EXPECT_EQ(sum, 1024u);
    EXPECT_TRUE(shard_.post(counting(sum)));
}

TEST_F(shard_test, a_turn_takes_at_most_256_tasks_and_others_get_their_turn) {
    std::atomic<std::uint64_t> sum{0};
    std::uint64_t at_other = 0;
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(shard_.post(counting(sum)));
    }
    const ready_descriptor other(shard_, [&] { at_other = sum; });
    shard_.poll_here();
    EXPECT_EQ(sum, 1000u);
    EXPECT_EQ(at_other, turn_item_limit);
}

TEST_F(shard_test, participants_act_once_then_the_after_turn_list_until_both_are_empty) {
    turn_actor first;
    turn_actor second;
    first.on_end = [&](time_point) {
        log_.emplace_back("first ends");
        shard_.after_turn(first);
    };
    second.on_end = [&](time_point) { log_.emplace_back("second ends"); };
    first.on_after = [&](time_point) {
        log_.emplace_back("first after");
        if (log_.size() < 5) {
            shard_.at_turn_end(second);
        }
    };
    {
        const turn_scope outer(shard_);
        shard_.at_turn_end(first);
        shard_.at_turn_end(second);
        {
            const turn_scope inner(shard_);
            shard_.at_turn_end(first);
        }
        EXPECT_TRUE(log_.empty());
    }
    EXPECT_EQ(log_, (lines{"first ends", "second ends", "first after", "second ends"}));
}

TEST_F(shard_test, destruction_takes_the_marks_away) {
    {
        const turn_scope turn(shard_);
        turn_actor gone;
        gone.on_end = [&](time_point) { log_.emplace_back("ghost"); };
        shard_.at_turn_end(gone);
        shard_.after_turn(gone);
        shard_.at_next_turn(gone);
    }
    shard_.poll_here();
    EXPECT_TRUE(log_.empty());
}

TEST_F(shard_test, one_that_marks_itself_for_ever_does_not_keep_the_shard) {
    turn_actor restless;
    std::size_t acted = 0;
    restless.on_end = [&](time_point) {
        if (++acted < 10'000) {
            shard_.at_turn_end(restless);
        }
    };
    {
        const turn_scope turn(shard_);
        shard_.at_turn_end(restless);
    }
    EXPECT_EQ(acted, turn_item_limit);
    shard_.poll_here();
    EXPECT_EQ(acted, 10'000u);
}

TEST_F(shard_test, next_turn_comes_by_itself_and_not_in_this_one) {
    turn_actor actor;
    std::uint64_t turn_of_mark = 0;
    std::vector<std::uint64_t> turns;
    actor.on_next = [&](time_point) {
        turns.push_back(shard_.statistics().turns);
        if (turns.size() < 3) {
            shard_.at_next_turn(actor);
        }
    };
    {
        const turn_scope turn(shard_);
        turn_of_mark = shard_.statistics().turns;
        shard_.at_next_turn(actor);
        shard_.at_next_turn(actor);
        EXPECT_TRUE(turns.empty());
    }
    shard_.poll_here();
    ASSERT_EQ(turns.size(), 3u);
    EXPECT_GT(turns[0], turn_of_mark);
    EXPECT_EQ(turns[1], turns[0] + 1);
    EXPECT_EQ(turns[2], turns[0] + 2);
}

TEST_F(shard_test, the_clock_is_read_once_a_turn) {
    const turn_scope turn(shard_);
    const time_point begun = shard_.now();
    clock_.advance(1s);
    EXPECT_EQ(shard_.now(), begun);
    {
        const turn_scope inner(shard_);
        EXPECT_EQ(shard_.now(), begun);
    }
}

struct ticking final : wheel_timer {
    std::function<void(time_point)> act;
    void fire(time_point now) override { act(now); }
};

TEST_F(shard_test, timers_fire_at_their_time) {
    ticking timer;
    std::vector<time_point> fired;
    timer.act = [&](time_point now) { fired.push_back(now); };
    shard_.wheel().schedule(timer, clock_.now() + 50ms);
    pass(49ms);
    EXPECT_TRUE(fired.empty());
    pass(1ms);
    EXPECT_EQ(fired, std::vector{clock_.now()});
}

struct sweeping final : sweep_participant {
    time_point at = time_point::max();
    std::function<void()> act;
    time_point deadline() const noexcept override { return at; }
    void expire(time_point) override { act(); }
};

TEST_F(shard_test, deadlines_are_swept_every_100_ms) {
    sweeping member;
    int expired = 0;
    member.at = clock_.now() + 10ms;
    member.act = [&] {
        ++expired;
        member.at = time_point::max();
    };
    shard_.add(member);
    pass(50ms);
    EXPECT_EQ(expired, 0);
    pass(50ms);
    EXPECT_EQ(expired, 1);
    member.at = clock_.now() + 1ms;
    pass(99ms);
    EXPECT_EQ(expired, 1);
    pass(1ms);
    EXPECT_EQ(expired, 2);
    shard_.remove(member);
    member.at = clock_.now();
    pass(1h);
    EXPECT_EQ(expired, 2);
}

TEST_F(shard_test, a_crowd_of_timers_is_worked_off_over_turns) {
    std::vector<ticking> timers(2000);
    std::size_t fired = 0;
    std::size_t at_other = 0;
    for (ticking& each : timers) {
        each.act = [&](time_point) { ++fired; };
        shard_.wheel().schedule(each, clock_.now() + 5ms);
    }
    shard_.poll_here();
    clock_.advance(5ms);
    shard_.wake();
    const ready_descriptor other(shard_, [&] { at_other = fired; });
    shard_.poll_here();
    EXPECT_EQ(fired, 2000u);
    EXPECT_LT(at_other, 2000u);
}

TEST_F(shard_test, exceptions_are_contained_told_and_make_it_unhealthy) {
    std::function<void()> throwing = [] { throw std::runtime_error("of a task"); };
    ticking timer;
    timer.act = [](time_point) { throw std::runtime_error("of a timer"); };
    sweeping member;
    member.at = clock_.now();
    member.act = [&] {
        member.at = time_point::max();
        throw std::runtime_error("of a deadline");
    };
    turn_actor actor;
    actor.on_end = [&](time_point) {
        shard_.after_turn(actor);
        throw std::runtime_error("of an end");
    };
    actor.on_after = [](time_point) { throw std::runtime_error("of an after"); };
    actor.on_next = [](time_point) { throw 7; };
    std::atomic<std::uint64_t> sum{0};

    EXPECT_TRUE(shard_.healthy());
    shard_.add(member);
    shard_.wheel().schedule(timer, clock_.now());
    shard_.post(calling(throwing));
    shard_.post(counting(sum));
    pass(100ms);
    const ready_descriptor other(shard_, [&] {
        shard_.at_turn_end(actor);
        shard_.at_next_turn(actor);
        throw std::runtime_error("of a descriptor");
    });
    shard_.poll_here();

    EXPECT_FALSE(shard_.healthy());
    EXPECT_EQ(sum, 1u);
    EXPECT_EQ(shard_.statistics().faults, faults_.size());
    std::sort(faults_.begin(), faults_.end());
    EXPECT_EQ(faults_, (lines{"after turn: of an after", "deadline: of a deadline",
                              "descriptor: of a descriptor", "end of turn: of an end",
                              "next turn: an exception of unknown type", "task: of a task",
                              "timer: of a timer"}));
    // It goes on.
    shard_.post(counting(sum));
    shard_.poll_here();
    EXPECT_EQ(sum, 2u);
}

struct listening final : turn_start_listener {
    std::function<void()> act;
    void turn_starts() noexcept override { act(); }
};

TEST_F(shard_test, announcement_is_heard_before_anything_else_in_the_turn) {
    listening listener;
    listener.act = [&] { log_.emplace_back("listener"); };
    shard_.add(listener);
    std::function<void()> work = [&] { log_.emplace_back("task"); };
    shard_.post(calling(work));
    shard_.announce();
    shard_.announce();
    EXPECT_EQ(shard_.statistics().wake_ups, 1u);
    shard_.poll_here();
    EXPECT_EQ(log_, (lines{"listener", "task"}));
    shard_.wake();
    shard_.poll_here();
    EXPECT_EQ(log_, (lines{"listener", "task"}));
}

TEST_F(shard_test, knows_its_thread) {
    std::function<void()> work = [&] {
        EXPECT_TRUE(shard_.on_this_thread());
        EXPECT_EQ(shard::current(), &shard_);
        log_.emplace_back("ran");
    };
    EXPECT_FALSE(shard_.on_this_thread());
    shard_.post(calling(work));
    shard_.poll_here();
    EXPECT_FALSE(shard_.on_this_thread());
    EXPECT_EQ(log_, lines{"ran"});
}

TEST(shard, rejects_a_mailbox_without_room) {
    const real_clock clock;
    EXPECT_THROW(shard({.name = "none", .mailbox_capacity = 0}, clock), std::invalid_argument);
}

TEST(shard, runs_on_a_named_thread_of_its_own) {
    const real_clock clock;
    shard running({.name = "a-name-that-is-too-long", .mailbox_capacity = 16}, clock);
    std::string name;
    std::function<void()> work = [&] {
        char buffer[16] = {};
        pthread_getname_np(pthread_self(), buffer, sizeof buffer);
        name = buffer;
        running.stop();
    };
    EXPECT_TRUE(running.post(calling(work)));
    running.start();
    EXPECT_THROW(running.start(), std::system_error);
    running.join();
    EXPECT_EQ(name, "a-name-that-is-");
    EXPECT_FALSE(running.post(calling(work)));
}

TEST(shard, stays_on_the_cpu_it_is_given) {
    cpu_set_t allowed;
    ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
    int cpu = 0;
    while (!CPU_ISSET(static_cast<std::size_t>(cpu), &allowed)) {
        ++cpu;
    }
    const real_clock clock;
    shard pinned({.name = "pinned", .mailbox_capacity = 16, .cpu = cpu}, clock);
    cpu_set_t of_shard;
    CPU_ZERO(&of_shard);
    pinned.start();
    std::function<void()> work = [&] {
        sched_getaffinity(0, sizeof of_shard, &of_shard);
        pinned.stop();
    };
    EXPECT_TRUE(pinned.post(calling(work)));
    pinned.join();
    EXPECT_EQ(CPU_COUNT(&of_shard), 1);
    EXPECT_TRUE(CPU_ISSET(static_cast<std::size_t>(cpu), &of_shard));

    shard nowhere({.name = "nowhere", .mailbox_capacity = 16, .cpu = 1'000'000}, clock);
    EXPECT_THROW(nowhere.start(), std::system_error);
}

TEST(shard, real_time_timers_keep_an_idle_shard_asleep_in_between) {
    const real_clock clock;
    shard running({.name = "timers", .mailbox_capacity = 16}, clock);
    ticking timer;
    int fired = 0;
    timer.act = [&](time_point now) {
        EXPECT_GE(now, timer.due());
        if (++fired == 5) {
            running.stop();
            return;
        }
        running.wheel().schedule(timer, next_due(timer.due(), 20ms, now));
    };
    running.wheel().schedule(timer, clock.now() + 20ms);
    running.start();
    running.join();
    EXPECT_EQ(fired, 5);
    // One turn at the start, one a tick (an early wake-up of the system may add a few), one at
    // the end.
    EXPECT_LE(running.statistics().turns, 16u);
}

TEST(shard, an_earlier_timer_overtakes_the_one_armed) {
    const real_clock clock;
    shard running({.name = "timers", .mailbox_capacity = 16}, clock);
    ticking far;
    ticking near;
    far.act = [](time_point) { FAIL(); };
    near.act = [&](time_point) { running.stop(); };
    running.wheel().schedule(far, clock.now() + 1h);
    running.start();
    std::function<void()> work = [&] { running.wheel().schedule(near, running.now() + 2ms); };
    EXPECT_TRUE(running.post(calling(work)));
    running.join();
}

TEST(shard, stop_runs_what_is_queued) {
    const real_clock clock;
    std::atomic<std::uint64_t> sum{0};
    shard running({.name = "stop", .mailbox_capacity = 2048}, clock);
    for (int i = 0; i < 2000; ++i) {
        ASSERT_TRUE(running.post(counting(sum)));
    }
    running.stop();
    running.stop();
    EXPECT_FALSE(running.post(counting(sum)));
    running.start();
    running.join();
    EXPECT_EQ(sum, 2000u);
    EXPECT_EQ(running.statistics().tasks_dropped, 0u);
}

TEST(shard, never_started_it_counts_what_it_drops) {
    const real_clock clock;
    std::atomic<std::uint64_t> sum{0};
    shard idle({.name = "idle", .mailbox_capacity = 16}, clock);
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(idle.post(counting(sum)));
    }
    idle.join();
    EXPECT_EQ(idle.statistics().tasks_dropped, 0u);
    idle.stop();
    idle.join();
    EXPECT_EQ(sum, 0u);
    EXPECT_EQ(idle.statistics().tasks_dropped, 3u);
}

TEST(shard, one_that_asks_for_a_next_turn_at_the_stop_gets_it_but_not_for_ever) {
    const real_clock clock;
    shard running({.name = "stop", .mailbox_capacity = 16}, clock);
    std::size_t calls = 0;
    turn_actor again;
    again.on_next = [&](time_point) {
        ++calls;
        running.at_next_turn(again);
    };
    running.at_next_turn(again);
    running.stop();
    running.run_here();
    running.join();
    EXPECT_GT(calls, 1u);
    EXPECT_LE(calls, shard::final_turn_limit);
}

TEST(shard, a_watcher_that_is_removed_in_the_batch_that_reports_it_is_not_called) {
    const real_clock clock;
    shard one({.name = "batch"}, clock);
    std::size_t reported = 0;
    std::unique_ptr<ready_descriptor> first;
    std::unique_ptr<ready_descriptor> second;
    first = std::make_unique<ready_descriptor>(one, [&] {
        ++reported;
        second->forget();
    });
    second = std::make_unique<ready_descriptor>(one, [&] {
        ++reported;
        first->forget();
    });
    one.poll_here();
    EXPECT_EQ(reported, 1u);
}

TEST(shard, an_idle_one_with_an_empty_sweep_makes_no_system_call) {
    const real_clock clock;
    shard idle({.name = "idle"}, clock);
    idle.start();
    std::this_thread::sleep_for(20ms);
    const std::uint64_t waits = idle.descriptors().waits();
    std::this_thread::sleep_for(250ms);
    EXPECT_EQ(idle.descriptors().waits(), waits);
    idle.stop();
    idle.join();
}

TEST(shard, posts_from_many_threads_all_run_in_the_order_of_their_thread) {
    constexpr std::uint64_t each = 20'000;
    constexpr std::uint64_t threads = 3;
    struct checker {
        std::uint64_t next[threads] = {};
        std::uint64_t total = 0;
    } seen;
    const real_clock clock;
    shard running({.name = "many", .mailbox_capacity = 64}, clock);
    running.start();
    std::vector<std::thread> posters;
    for (std::uint64_t thread = 0; thread < threads; ++thread) {
        posters.emplace_back([&, thread] {
            for (std::uint64_t i = 0; i < each; ++i) {
                const task work{.run =
                                    [](void* object, std::uint64_t a, std::uint64_t b) {
                                        auto& to = *static_cast<checker*>(object);
                                        EXPECT_EQ(to.next[a], b);
                                        to.next[a] = b + 1;
                                        ++to.total;
                                    },
                                .object = &seen,
                                .a = thread,
                                .b = i};
                while (!running.post(work)) {
                    std::this_thread::yield();
                }
            }
        });
    }
    for (std::thread& poster : posters) {
        poster.join();
    }
    running.stop();
    running.join();
    EXPECT_EQ(seen.total, each * threads);
    EXPECT_LE(running.statistics().wake_ups, each * threads);
}

}  // namespace
}  // namespace tagferry::transport
