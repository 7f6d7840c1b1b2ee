#include "transport/memory/operations.hpp"

#include "transport/memory/operation_batch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

using namespace std::chrono_literals;

// The interposed malloc family is not linked into the unit tests, so these counters hold exactly
// what the tests put there.
std::uint64_t allocations_of_all_kinds() {
    std::uint64_t sum = 0;
    for (const operation_totals& totals : operation_totals_now()) {
        sum += totals.allocations;
    }
    return sum;
}

operation_totals totals_of(operation_kind kind) {
    return operation_totals_now()[kind.index()];
}

TEST(operations, says_that_nothing_is_interposed_here) {
    EXPECT_FALSE(allocation_counting_enabled());
}

TEST(operations, same_name_is_the_same_kind) {
    const operation_kind first = register_operation_kind("test_kind");
    const operation_kind other_kind = register_operation_kind("test_other_kind");
    EXPECT_EQ(first, register_operation_kind("test_kind"));
    EXPECT_FALSE(first == other_kind);
    EXPECT_EQ(register_operation_kind("other"), kind_other);
    EXPECT_EQ(register_operation_kind("control"), kind_control);
    const auto names = operation_kind_names();
    EXPECT_EQ(names[kind_other.index()], "other");
    EXPECT_EQ(names[kind_control.index()], "control");
    EXPECT_EQ(names[first.index()], "test_kind");
}

TEST(operations, innermost_scope_pays) {
    const operation_kind kind = register_operation_kind("test_scope");
    const auto before_kind = totals_of(kind);
    const auto before_control = totals_of(kind_control);
    const auto before_other = totals_of(kind_other);
    count_allocation(1);
    {
        const operation_scope outer(kind_control);
        count_allocation(10);
        {
            const operation_scope inner(kind);
            count_allocation(100);
            count_allocation(100);
        }
        count_allocation(10);
    }
    count_allocation(1);
    EXPECT_EQ(totals_of(kind).allocations - before_kind.allocations, 2u);
    EXPECT_EQ(totals_of(kind).allocated_bytes - before_kind.allocated_bytes, 200u);
    EXPECT_EQ(totals_of(kind_control).allocated_bytes - before_control.allocated_bytes, 20u);
    EXPECT_EQ(totals_of(kind_other).allocated_bytes - before_other.allocated_bytes, 2u);
}

TEST(operations, scope_is_the_threads_own) {
    const operation_kind kind = register_operation_kind("test_thread_scope");
    const auto before = totals_of(kind);
    const operation_scope scope(kind);
    std::thread([] { count_allocation(5); }).join();
    EXPECT_EQ(totals_of(kind).allocations, before.allocations);
}

TEST(operations, those_that_ended_together_count_as_each_alone) {
    const operation_kind kind = register_operation_kind("test_together");
    const auto before = totals_of(kind);
    count_operations(kind, 3, 1s);
    const auto after = totals_of(kind);
    EXPECT_EQ(after.operations - before.operations, 3u);
    EXPECT_NEAR(after.duration_sum_s - before.duration_sum_s, 3.0, 1e-6);
    std::uint64_t in_buckets = 0;
    for (std::size_t at = 0; at < after.duration_buckets.size(); ++at) {
        const std::uint64_t added = after.duration_buckets[at] - before.duration_buckets[at];
        EXPECT_TRUE(added == 0 || added == 3) << at;
        in_buckets += added;
    }
    EXPECT_EQ(in_buckets, 3u);
}

TEST(operations, durations_fall_into_the_bucket_that_bounds_them) {
    const operation_kind kind = register_operation_kind("test_buckets");
    const auto before = totals_of(kind);
    for (const double bound_s : operation_duration_bounds_s) {
        const auto bound = std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(bound_s));
        count_operation(kind, bound);
        count_operation(kind, bound + 1ns);
    }
    count_operation(kind, -1s);
    const auto after = totals_of(kind);
    EXPECT_EQ(after.operations - before.operations, 23u);
    EXPECT_EQ(after.duration_buckets[0] - before.duration_buckets[0], 2u);
    for (std::size_t bucket = 1; bucket < operation_duration_bounds_s.size(); ++bucket) {
        EXPECT_EQ(after.duration_buckets[bucket] - before.duration_buckets[bucket], 2u) << bucket;
    }
    EXPECT_EQ(after.duration_buckets.back() - before.duration_buckets.back(), 1u);
    double expected_s = 0;
    for (const double bound_s : operation_duration_bounds_s) {
        expected_s += 2 * bound_s + 1e-9;
    }
    EXPECT_NEAR(after.duration_sum_s - before.duration_sum_s, expected_s, 1e-6);
}

TEST(operations, kinds_sum_to_the_total_over_running_and_ended_threads) {
    constexpr std::uint64_t threads = 8;
    constexpr std::uint64_t rounds = 1000;
    const auto kind = register_operation_kind("test_sum");
    const std::uint64_t before = allocations_of_all_kinds();
    for (int generation = 0; generation < 3; ++generation) {
        std::vector<std::thread> running;
        for (std::uint64_t index = 0; index < threads; ++index) {
            running.emplace_back([&, index] {
                const operation_scope scope(index % 2 == 0 ? kind : kind_control);
                for (std::uint64_t round = 0; round < rounds; ++round) {
                    count_allocation(8);
                }
            });
        }
        for (std::thread& thread : running) {
            thread.join();
        }
    }
    EXPECT_EQ(allocations_of_all_kinds() - before, 3 * threads * rounds);
}

TEST(operations, more_threads_at_once_than_have_counters_of_their_own_lose_nothing) {
    constexpr std::size_t threads = 160;
    const std::uint64_t before = allocations_of_all_kinds();
    std::atomic<std::size_t> counting{0};
    std::vector<std::thread> running;
    for (std::size_t index = 0; index < threads; ++index) {
        running.emplace_back([&] {
            count_allocation(1);
            counting.fetch_add(1);
            while (counting.load() < threads) {
                std::this_thread::sleep_for(1ms);
            }
            count_allocation(1);
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
    EXPECT_EQ(allocations_of_all_kinds() - before, 2 * threads);
}

TEST(operations, totals_never_fall_while_threads_count) {
    std::atomic<bool> done{false};
    std::thread counting([&] {
        while (!done.load(std::memory_order_relaxed)) {
            std::thread([] { count_allocation(3); }).join();
        }
    });
    std::uint64_t last = 0;
    for (int round = 0; round < 500; ++round) {
        const std::uint64_t sum = allocations_of_all_kinds();
        EXPECT_GE(sum, last);
        last = sum;
        std::this_thread::yield();
    }
    done.store(true, std::memory_order_relaxed);
    counting.join();
}

}  // namespace
}  // namespace tagferry::transport
