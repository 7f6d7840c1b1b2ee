#include "transport/threads/worker_pool.hpp"

#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

/// Notes every completion, on its shard's thread.
struct noting_sink final : completion_sink {
    explicit noting_sink(shard& owner_in) : owner(owner_in) {}
    void resume(completion_token token, std::uint32_t result, time_point now) override {
        on_owner = on_owner && owner.on_this_thread();
        at_turn_time = at_turn_time && now == owner.now();
        ++times[token.index];
        results[token.index] = result;
        generations[token.index] = token.generation;
    }
    shard& owner;
    bool on_owner = true;
    bool at_turn_time = true;
    std::map<std::uint32_t, int> times;
    std::map<std::uint32_t, std::uint32_t> results;
    std::map<std::uint32_t, std::uint32_t> generations;
};

class worker_pool_test : public testing::Test {
  protected:
    worker_pool_test() : owner({.name = "owner", .mailbox_capacity = 64}, clock), sink(owner) {}

    job adding(std::uint32_t index) {
        job work{.run =
                     [](void*, job::payload_type& payload) {
                         std::uint32_t number = 0;
                         std::memcpy(&number, payload.data(), sizeof number);
                         return number + 1000;
                     },
                 .owner = &owner,
                 .sink = &sink,
                 .token = {.index = index, .generation = index * 3}};
        std::memcpy(work.payload.data(), &index, sizeof index);
        return work;
    }
    void end_owner() {
        owner.stop();
        owner.join();
    }

    real_clock clock;
    shard owner;
    noting_sink sink;
};

TEST_F(worker_pool_test, completes_each_job_once_on_its_owners_thread) {
    worker_pool pool({.name = "work", .threads = 2, .queue_capacity = 4096});
    owner.start();
    pool.start();
    std::uint32_t accepted = 0;
    while (accepted < 2000) {
        if (pool.submit(adding(accepted))) {
            ++accepted;
        }
    }
    while (pool.statistics().run < accepted) {
        std::this_thread::yield();
    }
    pool.stop();
    end_owner();
    EXPECT_TRUE(sink.on_owner);
    EXPECT_TRUE(sink.at_turn_time);
    ASSERT_EQ(sink.times.size(), accepted);
    for (std::uint32_t i = 0; i < accepted; ++i) {
        EXPECT_EQ(sink.times[i], 1);
        EXPECT_EQ(sink.results[i], i + 1000);
        EXPECT_EQ(sink.generations[i], i * 3);
    }
    EXPECT_EQ(pool.statistics().lost, 0u);
}

TEST_F(worker_pool_test, no_job_stays_behind_when_many_submit_and_then_fall_silent) {
    worker_pool pool({.name = "work", .threads = 2, .queue_capacity = 64});
    pool.start();
    std::atomic<std::uint64_t> ran{0};
    for (std::uint64_t round = 1; round <= 300; ++round) {
        std::vector<std::thread> submitters;
        for (int i = 0; i < 3; ++i) {
            submitters.emplace_back([&] {
                for (int n = 0; n < 20; ++n) {
                    EXPECT_TRUE(pool.submit({.run =
                                                 [](void* object, job::payload_type&) {
                                                     ++*static_cast<std::atomic<std::uint64_t>*>(
                                                         object);
                                                     return std::uint32_t{0};
                                                 },
                                             .object = &ran}));
                }
            });
        }
        for (std::thread& submitter : submitters) {
            submitter.join();
        }
        while (ran != round * 60) {
            std::this_thread::yield();
        }
    }
}

TEST_F(worker_pool_test, full_queue_refuses) {
    worker_pool pool({.name = "work", .threads = 1, .queue_capacity = 4});
    for (std::uint32_t i = 0; i < 4; ++i) {
        EXPECT_TRUE(pool.submit(adding(i)));
    }
    EXPECT_FALSE(pool.submit(adding(4)));
    EXPECT_EQ(pool.statistics().refused, 1u);
    pool.stop();
}

TEST_F(worker_pool_test, stop_cancels_what_is_queued_and_refuses_from_then_on) {
    owner.start();
    worker_pool pool({.name = "work", .threads = 1, .queue_capacity = 16});
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_TRUE(pool.submit(adding(i)));
    }
    pool.stop();
    pool.stop();
    pool.start();
    EXPECT_FALSE(pool.submit(adding(10)));
    end_owner();
    ASSERT_EQ(sink.times.size(), 10u);
    for (std::uint32_t i = 0; i < 10; ++i) {
        EXPECT_EQ(sink.times[i], 1);
        EXPECT_EQ(sink.results[i], worker_pool::result_cancelled);
    }
    EXPECT_EQ(pool.statistics().cancelled, 10u);
    EXPECT_EQ(pool.statistics().run, 0u);
}

TEST_F(worker_pool_test, a_running_job_finishes_before_the_stop_returns) {
    owner.start();
    worker_pool pool({.name = "work", .threads = 1, .queue_capacity = 16});
    struct gate {
        std::binary_semaphore running{0};
        std::binary_semaphore go_on{0};
        std::atomic<bool> finished{false};
    } shared;
    job slow = adding(1);
    slow.object = &shared;
    slow.run = [](void* object, job::payload_type&) {
        auto& to = *static_cast<gate*>(object);
        to.running.release();
        to.go_on.acquire();
        to.finished = true;
        return std::uint32_t{7};
    };
    pool.start();
    EXPECT_TRUE(pool.submit(slow));
    EXPECT_TRUE(pool.submit(adding(2)));
    shared.running.acquire();
    std::thread stopper([&] {
        pool.stop();
        EXPECT_TRUE(shared.finished);
    });
    while (!pool.stopping()) {
        std::this_thread::yield();
    }
    shared.go_on.release();
    stopper.join();
    end_owner();
    EXPECT_EQ(sink.results[1], 7u);
    EXPECT_EQ(sink.results[2], worker_pool::result_cancelled);
}

TEST_F(worker_pool_test, exception_becomes_a_result_and_a_report) {
    struct told {
        std::string words;
    } report;
    owner.start();
    worker_pool pool({.name = "work",
                      .on_fault = {.report =
                                       [](void* context, std::string_view, std::string_view where,
                                          std::string_view what) noexcept {
                                           static_cast<told*>(context)->words =
                                               std::string(where) + ": " + std::string(what);
                                       },
                                   .context = &report}});
    pool.start();
    job throwing = adding(1);
    throwing.run = [](void*, job::payload_type&) -> std::uint32_t {
        throw std::runtime_error("broken key");
    };
    EXPECT_TRUE(pool.submit(throwing));
    while (pool.statistics().faults == 0) {
        std::this_thread::yield();
    }
    pool.stop();
    end_owner();
    EXPECT_EQ(sink.results[1], worker_pool::result_failed);
    EXPECT_EQ(report.words, "job: broken key");
}

TEST_F(worker_pool_test, waits_for_room_in_a_full_mailbox_and_gives_up_on_an_owner_that_ended) {
    worker_pool pool({.name = "work", .threads = 1, .queue_capacity = 256});
    pool.start();
    // The mailbox of the owner, not started yet, takes 64 completions.
    for (std::uint32_t i = 0; i < 100; ++i) {
        EXPECT_TRUE(pool.submit(adding(i)));
    }
    while (pool.statistics().run < 65) {
        std::this_thread::yield();
    }
    owner.start();
    while (pool.statistics().run < 100) {
        std::this_thread::yield();
    }
    pool.stop();
    end_owner();
    EXPECT_EQ(sink.times.size(), 100u);

    worker_pool late({.name = "late", .threads = 1, .queue_capacity = 4});
    EXPECT_TRUE(late.submit(adding(1)));
    late.stop();
    EXPECT_EQ(late.statistics().lost, 1u);
}

TEST_F(worker_pool_test, threads_have_a_name_and_lower_priority) {
    struct seen {
        char name[16] = {};
        int nice = 0;
    } worker;
    const int own = getpriority(PRIO_PROCESS, 0);
    worker_pool pool({.name = "work", .threads = 1, .queue_capacity = 4, .nice = 12});
    pool.start();
    EXPECT_TRUE(pool.submit({.run =
                                 [](void* object, job::payload_type&) {
                                     auto& to = *static_cast<seen*>(object);
                                     pthread_getname_np(pthread_self(), to.name, sizeof to.name);
                                     to.nice =
                                         getpriority(PRIO_PROCESS, static_cast<id_t>(gettid()));
                                     return std::uint32_t{0};
                                 },
                             .object = &worker}));
    while (pool.statistics().run == 0) {
        std::this_thread::yield();
    }
    pool.stop();
    EXPECT_STREQ(worker.name, "work-0");
    EXPECT_EQ(worker.nice, std::max(own, 12));
    EXPECT_EQ(getpriority(PRIO_PROCESS, 0), own);
}

}  // namespace
}  // namespace tagferry::transport
