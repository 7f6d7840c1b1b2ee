#include "transport/memory/pinned_pool.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tagferry::transport {
namespace {

TEST(pinned_pool, rents_every_slot_once_and_then_refuses) {
    pinned_pool pool({.name = "test", .slot_size = 967, .slot_count = 3});
    std::vector<pooled_buffer> rented;
    for (std::size_t index = 0; index < 3; ++index) {
        rented.push_back(pool.rent());
        ASSERT_TRUE(rented.back());
        EXPECT_EQ(rented.back().bytes().size(), 967u);
        std::memset(rented.back().bytes().data(), static_cast<int>(index), 967);
    }
    EXPECT_FALSE(pool.rent());
    EXPECT_TRUE(pool.rent().bytes().empty());
    EXPECT_EQ(pool.free_count(), 0u);
    for (std::size_t index = 0; index < 3; ++index) {
        for (const std::byte value : rented[index].bytes()) {
            ASSERT_EQ(value, std::byte(index));
        }
    }
    rented[1].reset();
    EXPECT_TRUE(pool.rent());
}

TEST(pinned_pool, slots_are_aligned_to_a_cache_line) {
    pinned_pool pool({.name = "test", .slot_size = 33, .slot_count = 4});
    for (int round = 0; round < 4; ++round) {
        const pooled_buffer first = pool.rent();
        const pooled_buffer second = pool.rent();
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.bytes().data()) % 64, 0u);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(second.bytes().data()) % 64, 0u);
    }
}

TEST(pinned_pool, handle_returns_its_slot_when_destroyed_moved_over_or_reset) {
    pinned_pool pool({.name = "test", .slot_size = 16, .slot_count = 2});
    {
        pooled_buffer first = pool.rent();
        pooled_buffer second = pool.rent();
        const std::byte* const kept = first.bytes().data();
        second = std::move(first);
        EXPECT_FALSE(first);
        EXPECT_EQ(pool.free_count(), 1u);
        EXPECT_EQ(second.bytes().data(), kept);
        pooled_buffer& same = second;
        second = std::move(same);
        EXPECT_TRUE(second);
        pooled_buffer third(std::move(second));
        EXPECT_FALSE(second);
        EXPECT_EQ(pool.free_count(), 1u);
        third.reset();
        third.reset();
        EXPECT_EQ(pool.free_count(), 2u);
    }
    EXPECT_EQ(pool.free_count(), 2u);
}

TEST(pinned_pool, counts_rents_refusals_and_high_water) {
    pinned_pool pool({.name = "counted", .slot_size = 16, .slot_count = 2});
    {
        const pooled_buffer first = pool.rent();
        const pooled_buffer second = pool.rent();
        const pooled_buffer refused = pool.rent();
    }
    const pooled_buffer again = pool.rent();
    const pool_statistics statistics = pool.statistics();
    EXPECT_EQ(statistics.name, "counted");
    EXPECT_EQ(statistics.slot_size, 16u);
    EXPECT_EQ(statistics.slot_count, 2u);
    EXPECT_EQ(statistics.rents, 3u);
    EXPECT_EQ(statistics.refusals, 1u);
    EXPECT_EQ(statistics.high_water, 2u);
}

std::vector<std::string> names_of_all_pools() {
    std::vector<std::string> names;
    pinned_pool::for_each_statistics(
        [&](const pool_statistics& statistics) { names.emplace_back(statistics.name); });
    return names;
}

TEST(pinned_pool, lists_all_pools_of_the_process_oldest_first) {
    const auto before = names_of_all_pools();
    {
        const pinned_pool first({.name = "first", .slot_size = 16, .slot_count = 1});
        auto expected = before;
        expected.emplace_back("first");
        {
            const pinned_pool second({.name = "second", .slot_size = 16, .slot_count = 1});
            expected.emplace_back("second");
            EXPECT_EQ(names_of_all_pools(), expected);
            expected.pop_back();
        }
        EXPECT_EQ(names_of_all_pools(), expected);
    }
    EXPECT_EQ(names_of_all_pools(), before);
}

TEST(pinned_pool, statistics_are_readable_while_the_pool_works) {
    pinned_pool pool({.name = "busy", .slot_size = 64, .slot_count = 4});
    std::atomic<bool> done{false};
    std::thread reader([&] {
        std::uint64_t last = 0;
        while (!done.load(std::memory_order_relaxed)) {
            const std::uint64_t rents = pool.statistics().rents;
            EXPECT_GE(rents, last);
            last = rents;
            std::this_thread::yield();
        }
    });
    for (int round = 0; round < 20000; ++round) {
        const pooled_buffer rented = pool.rent();
    }
    done.store(true, std::memory_order_relaxed);
    reader.join();
    EXPECT_EQ(pool.statistics().rents, 20000u);
}

TEST(pinned_pool, refuses_options_out_of_range) {
    const std::array<pinned_pool_options, 4> wrong{{
        {.name = "no size", .slot_size = 0, .slot_count = 1},
        {.name = "no slots", .slot_size = 1, .slot_count = 0},
        {.name = "too many", .slot_size = 1, .slot_count = std::size_t{1} << 32U},
        {.name = "too big", .slot_size = std::size_t{1} << 60U, .slot_count = 64},
    }};
    for (const auto& options : wrong) {
        EXPECT_THROW(pinned_pool{options}, std::invalid_argument) << options.name;
    }
}

TEST(pinned_pool, reports_what_the_system_cannot_give) {
    EXPECT_THROW(pinned_pool({.name = "all", .slot_size = std::size_t{1} << 47U, .slot_count = 2}),
                 std::system_error);
}

// The limit is lowered for the whole process, so it is given back as soon as the pool is made. A
// process that may lock anything (CAP_IPC_LOCK) is not bound by it.
TEST(pinned_pool, works_unlocked_where_locking_is_not_permitted) {
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_MEMLOCK, &before), 0);
    const rlimit none{0, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &none), 0);
    pinned_pool pool({.name = "unlocked", .slot_size = 4096, .slot_count = 2});
    ASSERT_EQ(setrlimit(RLIMIT_MEMLOCK, &before), 0);
    EXPECT_TRUE(pool.rent());
    if (pool.locked()) {
        EXPECT_FALSE(pool.lock_error());
        EXPECT_GE(pool.statistics().locked_bytes, 2 * 4096u);
    } else {
        EXPECT_TRUE(pool.lock_error());
        EXPECT_EQ(pool.statistics().locked_bytes, 0u);
    }
}

class noting_waiter final : public pool_waiter {
  public:
    noting_waiter(pinned_pool& pool, std::vector<int>& notes, int number, bool again = false)
        : pool_(pool), notes_(notes), number_(number), again_(again) {}
    void slot_returned() noexcept override {
        notes_.push_back(number_);
        if (again_) {
            pool_.wait(*this);
        }
    }

  private:
    pinned_pool& pool_;
    std::vector<int>& notes_;
    int number_;
    bool again_;
};

TEST(pinned_pool, tells_all_who_wait_once_longest_waiting_first) {
    pinned_pool pool({.name = "waited", .slot_size = 16, .slot_count = 2});
    pooled_buffer first = pool.rent();
    pooled_buffer second = pool.rent();
    std::vector<int> notes;
    noting_waiter one(pool, notes, 1);
    noting_waiter two(pool, notes, 2);
    noting_waiter three(pool, notes, 3);
    {
        noting_waiter gone(pool, notes, 4);
        pool.wait(gone);
        pool.wait(one);
        pool.wait(three);
        pool.wait(two);
        pool.wait(one);
    }
    pool.stop_waiting(three);
    EXPECT_FALSE(three.waiting());
    EXPECT_TRUE(one.waiting());
    first.reset();
    EXPECT_EQ(notes, (std::vector<int>{1, 2}));
    EXPECT_FALSE(one.waiting());
    second.reset();
    EXPECT_EQ(notes, (std::vector<int>{1, 2}));
}

TEST(pinned_pool, whoever_waits_again_while_being_told_is_told_at_the_next_return) {
    pinned_pool pool({.name = "waited", .slot_size = 16, .slot_count = 2});
    pooled_buffer first = pool.rent();
    pooled_buffer second = pool.rent();
    std::vector<int> notes;
    noting_waiter one(pool, notes, 1, true);
    noting_waiter two(pool, notes, 2, true);
    pool.wait(one);
    pool.wait(two);
    first.reset();
    EXPECT_EQ(notes, (std::vector<int>{1, 2}));
    second.reset();
    EXPECT_EQ(notes, (std::vector<int>{1, 2, 1, 2}));
}

TEST(pinned_pool, forgets_its_waiters_when_destroyed) {
    std::vector<int> notes;
    auto pool = std::make_unique<pinned_pool>(
        pinned_pool_options{.name = "waited", .slot_size = 16, .slot_count = 1});
    noting_waiter waiter(*pool, notes, 1);
    pool->wait(waiter);
    pool.reset();
    EXPECT_FALSE(waiter.waiting());
    EXPECT_TRUE(notes.empty());
}

#ifdef TAGFERRY_DEBUG_CHECKS

// AddressSanitizer sees a stray access before the pool does, and says so in its own words.
void expect_death(const std::function<void()>& bug, const char* message) {
    EXPECT_DEATH(bug(), std::string(message) + "|use-after-poison");
}

TEST(pinned_pool_death, names_pool_and_slot_of_a_double_return) {
    expect_death(
        [] {
            pinned_pool pool({.name = "doubled", .slot_size = 16, .slot_count = 2});
            pooled_buffer rented = pool.rent();
            alignas(pooled_buffer) std::array<std::byte, sizeof(pooled_buffer)> copy;
            std::memcpy(copy.data(), static_cast<const void*>(&rented), sizeof rented);
            rented.reset();
            reinterpret_cast<pooled_buffer*>(copy.data())->reset();
        },
        "pool slot returned twice, doubled 0");
}

TEST(pinned_pool_death, names_pool_and_slot_written_after_return) {
    expect_death(
        [] {
            pinned_pool pool({.name = "stray", .slot_size = 16, .slot_count = 2});
            pooled_buffer rented = pool.rent();
            const auto view = rented.bytes();
            rented.reset();
            view[3] = std::byte{1};
            rented = pool.rent();
        },
        "pool slot written after its return, stray 0");
}

TEST(pinned_pool_death, names_pool_and_slot_written_past_its_end) {
    expect_death(
        [] {
            pinned_pool pool({.name = "overrun", .slot_size = 17, .slot_count = 2});
            pooled_buffer rented = pool.rent();
            std::byte* volatile end = rented.bytes().data() + 17;
            *end = std::byte{1};
        },
        "pool slot written past its end, overrun 0");
}

TEST(pinned_pool_death, notices_slots_that_outlive_the_pool) {
    EXPECT_DEATH(
        {
            pooled_buffer outlives;
            const pinned_pool pool({.name = "early", .slot_size = 16, .slot_count = 1});
            outlives = const_cast<pinned_pool&>(pool).rent();
        },
        "pool destroyed while slots are rented, early 1");
}

#endif

}  // namespace
}  // namespace tagferry::transport
