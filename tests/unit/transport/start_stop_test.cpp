// Everything with a thread, started and stopped in every order, with timers, posts, jobs, records
// and snapshots in flight. What is checked: nothing hangs, nothing is touched after its end (the
// sanitizers' part), and every account comes out even.
#include "transport/threads/snapshot.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

/// What lives on one shard: a timer that schedules itself, a deadline, a turn participant and a
/// snapshot reader; every tick posts to the other shard, submits a job and writes a record.
class resident final : public completion_sink, public turn_participant, public sweep_participant {
  public:
    resident(shard& owner, snapshot_hub<std::uint64_t>& hub, worker_pool& pool,
             storage_thread& storage)
        : owner_(owner), pool_(pool), storage_(storage), reader_(hub, owner), timer_(*this) {
        owner_.add(static_cast<sweep_participant&>(*this));
        owner_.wheel().schedule(timer_, owner_.now() + 1ms);
    }
    void meet(resident& other) { other_ = &other; }

    void tick(time_point now) {
        owner_.wheel().schedule(timer_, now + 1ms);
        owner_.at_turn_end(*this);
        const task greeting{
            .run = [](void* object, std::uint64_t,
                      std::uint64_t) { ++static_cast<resident*>(object)->greetings_heard; },
            .object = other_};
        greetings_sent += other_->owner_.post(greeting) ? 1U : 0U;
        const job work{.run = [](void*, job::payload_type&) { return std::uint32_t{1}; },
                       .owner = &owner_,
                       .sink = this,
                       .token = {.index = 1, .generation = 1}};
        jobs_accepted += pool_.submit(work) ? 1U : 0U;
        const std::array<std::byte, 24> record{};
        records_accepted += storage_.keep(record_kind{0}, record) ? 1U : 0U;
        if (reader_.get() != nullptr) {
            EXPECT_GE(*reader_.get(), last_seen_);
            last_seen_ = *reader_.get();
        }
    }
    void resume(completion_token, std::uint32_t result, time_point) override {
        ++jobs_completed;
        jobs_cancelled += result == worker_pool::result_cancelled ? 1U : 0U;
    }
    void end_turn(time_point) override { ++turns_ended; }
    time_point deadline() const noexcept override { return owner_.now(); }
    void expire(time_point) override { ++expired; }

    // Written on the shard's thread, read after it was joined.
    std::uint64_t greetings_sent = 0;
    std::uint64_t greetings_heard = 0;
    std::uint64_t jobs_accepted = 0;
    std::uint64_t jobs_completed = 0;
    std::uint64_t jobs_cancelled = 0;
    std::uint64_t records_accepted = 0;
    std::uint64_t turns_ended = 0;
    std::uint64_t expired = 0;

  private:
    shard& owner_;
    worker_pool& pool_;
    storage_thread& storage_;
    resident* other_ = nullptr;
    snapshot_reader<std::uint64_t> reader_;
    std::uint64_t last_seen_ = 0;
    member_timer<resident, &resident::tick> timer_;
};

struct counting_sink final : storage_sink {
    void write(record_kind, std::span<const std::byte>) override { ++records; }
    void flush() override {}
    std::uint64_t records = 0;
};

class plant {
  public:
    plant() : first_(one_, hub_, pool_, storage_), second_(two_, hub_, pool_, storage_) {
        first_.meet(second_);
        second_.meet(first_);
        storage_.set_sink(record_kind{0}, sink_);
    }

    static constexpr std::size_t part_count = 4;
    void start(std::size_t part) {
        switch (part) {
            case 0:
                return one_.start();
            case 1:
                return two_.start();
            case 2:
                return pool_.start();
            default:
                return storage_.start();
        }
    }
    void stop(std::size_t part) {
        switch (part) {
            case 0:
                one_.stop();
                return one_.join();
            case 1:
                two_.stop();
                return two_.join();
            case 2:
                return pool_.stop();
            default:
                return storage_.stop();
        }
    }
    /// Lets them live for a while.
    static void wait(std::chrono::microseconds span) {
        std::mutex mutex;
        std::condition_variable nobody;
        std::unique_lock lock(mutex);
        nobody.wait_for(lock, span);
    }
    void stop_all() {
        // Twice, so that what one posted to another that had just ended is counted as well.
        for (std::size_t i = 0; i < 2 * part_count; ++i) {
            stop(i % part_count);
        }
    }
    void publish() { hub_.publish(std::make_unique<const std::uint64_t>(++published_)); }
    void check() {
        const std::uint64_t heard = first_.greetings_heard + second_.greetings_heard;
        const std::uint64_t sent = first_.greetings_sent + second_.greetings_sent;
        const std::uint64_t accepted = first_.jobs_accepted + second_.jobs_accepted;
        const std::uint64_t completed = first_.jobs_completed + second_.jobs_completed;
        const shard_statistics one = one_.statistics();
        const shard_statistics two = two_.statistics();
        const std::uint64_t dropped = one.tasks_dropped + two.tasks_dropped;
        // Tasks are greetings and completions: each was run, or dropped and counted; a completion
        // whose owner had ended is counted by the pool.
        EXPECT_EQ(one.tasks_run + two.tasks_run, heard + completed);
        EXPECT_EQ(sent + accepted, heard + completed + dropped + pool_.statistics().lost);
        EXPECT_EQ(pool_.statistics().run + pool_.statistics().cancelled, accepted);
        EXPECT_EQ(sink_.records, first_.records_accepted + second_.records_accepted);
        EXPECT_TRUE(one_.healthy());
        EXPECT_TRUE(two_.healthy());
        activity += heard + completed;
    }
    static inline std::uint64_t activity = 0;

  private:
    real_clock clock_;
    counting_sink sink_;
    snapshot_hub<std::uint64_t> hub_;
    std::uint64_t published_ = 0;
    shard one_{{.name = "one", .index = 0, .mailbox_capacity = 64}, clock_};
    shard two_{{.name = "two", .index = 1, .mailbox_capacity = 64}, clock_};
    worker_pool pool_{{.name = "work", .threads = 2, .queue_capacity = 32}};
    storage_thread storage_{{.kept_capacity = 4096}};
    resident first_;
    resident second_;
};

TEST(start_and_stop, in_any_order_with_everything_in_flight) {
    std::mt19937 random(20261130);  // NOLINT(cert-msc51-cpp): repeatable
    for (int round = 0; round < 100; ++round) {
        plant everything;
        // Each part starts and stops once, in a random order of all eight steps: also a stop
        // before the start, and parts that run while those they speak to do not yet or no more.
        std::vector<std::size_t> steps;
        for (std::size_t part = 0; part < plant::part_count; ++part) {
            steps.push_back(part);
            steps.push_back(part);
        }
        std::shuffle(steps.begin(), steps.end(), random);
        std::array<int, plant::part_count> seen{};
        std::array<bool, plant::part_count> stop_first{};
        for (bool& each : stop_first) {
            each = random() % 8 == 0;
        }
        for (const std::size_t part : steps) {
            everything.publish();
            const bool starts = (seen.at(part)++ == 0) != stop_first.at(part);
            if (starts) {
                everything.start(part);
            } else {
                everything.stop(part);
            }
            if (random() % 4 == 0) {
                std::this_thread::yield();
            } else if (random() % 2 == 0) {
                plant::wait(std::chrono::microseconds{random() % 3000});
            }
        }
        everything.stop_all();
        everything.check();
    }
    EXPECT_GT(plant::activity, 100u);
}

TEST(start_and_stop, stops_come_from_every_thread_at_once) {
    for (int round = 0; round < 20; ++round) {
        plant everything;
        for (std::size_t part = 0; part < plant::part_count; ++part) {
            everything.start(part);
        }
        everything.publish();
        std::vector<std::thread> stoppers;
        for (std::size_t i = 0; i < 2 * plant::part_count; ++i) {
            stoppers.emplace_back([&everything, i] { everything.stop(i % plant::part_count); });
        }
        for (std::thread& stopper : stoppers) {
            stopper.join();
        }
        everything.stop_all();
        everything.check();
    }
}

}  // namespace
}  // namespace tagferry::transport
