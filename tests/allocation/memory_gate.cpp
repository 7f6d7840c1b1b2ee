// After construction, nothing in transport/memory and transport/bytes allocates, whatever happens:
// also when it is full, empty or refuses.

#include "tests/allocation/allocation_gate.hpp"
#include "transport/bytes/reader.hpp"
#include "transport/bytes/receive_buffer.hpp"
#include "transport/bytes/writer.hpp"
#include "transport/memory/generation_table.hpp"
#include "transport/memory/operations.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "transport/memory/rings.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace tagferry::allocation {
namespace {

using namespace tagferry::transport;

constexpr int operations = 10000;

template <typename Operation>
void expect_no_allocation(Operation&& operation) {
    const outer_counter outer;
    const window open(outer);
    for (int number = 0; number < operations; ++number) {
        operation(number);
    }
    const window::result seen = open.close();
    EXPECT_EQ(seen.allocations, 0u);
    EXPECT_TRUE(seen.outer_agrees);
}

TEST(memory_gate, pinned_pool_when_it_rents_and_when_it_refuses) {
    pinned_pool pool({.name = "gate", .slot_size = 256, .slot_count = 4});
    std::array<pooled_buffer, 6> rented;
    expect_no_allocation([&](int number) {
        rented[static_cast<std::size_t>(number) % rented.size()] = pool.rent();
    });
    EXPECT_GT(pool.statistics().refusals, 0u);
}

template <typename Ring>
void ring_gate() {
    Ring ring(8);
    int popped = 0;
    int taken = 0;
    expect_no_allocation([&](int number) {
        ring.try_push(number);
        ring.try_push(number);
        taken += ring.try_pop(popped) ? 1 : 0;
    });
    EXPECT_EQ(taken, operations);
}

TEST(memory_gate, rings_when_they_take_and_when_they_are_full) {
    ring_gate<spsc_ring<int>>();
    ring_gate<mpsc_ring<int>>();
}

TEST(memory_gate, generation_table_when_it_gives_and_when_all_are_taken) {
    generation_table<int> table(4);
    std::array<completion_token, 6> tokens{};
    expect_no_allocation([&](int number) {
        completion_token& token = tokens[static_cast<std::size_t>(number) % tokens.size()];
        table.release(token);
        static_cast<void>(table.take(token));
    });
    EXPECT_GE(table.size(), 3u);
}

TEST(memory_gate, receive_buffer_through_small_and_large_frames) {
    pinned_pool pool({.name = "gate_large", .slot_size = 65536, .slot_count = 1});
    std::array<std::byte, receive_buffer::staging_size> staging;
    receive_buffer buffer(staging, &pool);
    std::uint64_t frames = 0;
    expect_no_allocation([&](int number) {
        const std::size_t size = number % 7 == 0 ? 40000 : 300;
        while (buffer.unconsumed().size() < size) {
            ASSERT_EQ(buffer.expect_frame(buffer.empty() ? 0 : size), frame_room::ready);
            const auto room = buffer.writable();
            const std::size_t count = std::min<std::size_t>(room.size(), 5000);
            std::memset(room.data(), number, count);
            buffer.filled(count);
        }
        buffer.consume(size);
        ++frames;
    });
    EXPECT_EQ(frames, static_cast<std::uint64_t>(operations));
}

TEST(memory_gate, reader_and_writer_when_they_fit_and_when_they_fail) {
    std::array<std::byte, 64> memory{};
    std::uint64_t failed = 0;
    expect_no_allocation([&](int number) {
        big_endian_writer out(
            std::span<std::byte>(memory).first(static_cast<std::size_t>(number) % memory.size()));
        out.u16(1);
        out.zeros(30);
        big_endian_reader in(out.written());
        static_cast<void>(in.u32());
        static_cast<void>(in.bytes(20));
        failed += in.ok() ? 0U : 1U;
    });
    EXPECT_GT(failed, 0u);
}

TEST(memory_gate, counting_itself) {
    const operation_kind kind = register_operation_kind("memory_gate");
    expect_no_allocation([&](int number) {
        const operation_scope scope(kind);
        count_operation(kind, std::chrono::microseconds{number});
        static_cast<void>(register_operation_kind("memory_gate"));
    });
    EXPECT_EQ(operation_totals_now()[kind.index()].operations,
              static_cast<std::uint64_t>(operations));
}

}  // namespace
}  // namespace tagferry::allocation
