#include "transport/threads/storage_thread.hpp"

#include "transport/threads/record_ring.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <map>
#include <random>
#include <semaphore>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

constexpr record_kind log_line{0};
constexpr record_kind audit_event{1};

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span{text});
}
std::string text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST(record_ring, keeps_order_and_bytes_around_its_end) {
    record_ring ring(256);
    std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): repeatable
    std::uint64_t pushed = 0;
    std::uint64_t popped = 0;
    std::map<std::uint64_t, std::string> expected;
    for (int step = 0; step < 20'000; ++step) {
        if (random() % 2 == 0) {
            const std::string text(random() % (ring.max_record_size() + 1),
                                   static_cast<char>('a' + pushed % 26));
            if (ring.try_push(static_cast<std::uint8_t>(pushed), bytes_of(text))) {
                expected[pushed++] = text;
            }
        } else {
            const bool any = ring.try_pop([&](std::uint8_t kind, std::span<const std::byte> got) {
                EXPECT_EQ(kind, static_cast<std::uint8_t>(popped));
                EXPECT_EQ(text_of(got), expected[popped]);
            });
            EXPECT_EQ(any, popped < pushed);
            popped += any ? 1 : 0;
        }
    }
    EXPECT_GT(popped, 5000u);
}

TEST(record_ring, refuses_what_is_too_large_and_always_takes_the_largest_when_empty) {
    record_ring ring(256);
    const std::string largest(ring.max_record_size(), 'x');
    EXPECT_FALSE(ring.try_push(0, bytes_of(largest + "x")));
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(ring.try_push(0, bytes_of(largest)));
        ASSERT_TRUE(ring.try_push(0, {}));
        ASSERT_TRUE(ring.try_pop([](std::uint8_t, std::span<const std::byte>) {}));
        ASSERT_TRUE(ring.try_pop([](std::uint8_t, std::span<const std::byte>) {}));
    }
    while (ring.try_push(0, bytes_of(largest))) {
    }
    EXPECT_TRUE(ring.try_pop([](std::uint8_t, std::span<const std::byte>) {}));
    EXPECT_TRUE(ring.try_push(0, bytes_of(largest)));
    EXPECT_THROW(record_ring(63), std::invalid_argument);
}

TEST(record_ring, frees_the_record_when_its_taker_throws) {
    record_ring ring(64);
    EXPECT_TRUE(ring.try_push(1, bytes_of("first")));
    EXPECT_TRUE(ring.try_push(2, bytes_of("second")));
    EXPECT_THROW(ring.try_pop([](std::uint8_t, std::span<const std::byte>) {
        throw std::runtime_error("disk");
    }),
                 std::runtime_error);
    EXPECT_TRUE(ring.try_pop([](std::uint8_t kind, std::span<const std::byte> record) {
        EXPECT_EQ(kind, 2);
        EXPECT_EQ(text_of(record), "second");
    }));
    EXPECT_EQ(ring.taken(), ring.freed());
}

void push_from_three_threads(std::size_t capacity) {
    constexpr std::uint64_t each = 20'000;
    record_ring ring(capacity);
    std::vector<std::thread> producers;
    for (std::uint8_t producer = 0; producer < 3; ++producer) {
        producers.emplace_back([&ring, producer] {
            for (std::uint64_t number = 0; number < each; ++number) {
                std::array<std::uint64_t, 16> record{};
                record.fill(number);
                const auto bytes = std::as_bytes(std::span{record}).first(8 + number % 120);
                while (!ring.try_push(producer, bytes)) {
                    std::this_thread::yield();
                }
            }
        });
    }
    std::array<std::uint64_t, 3> next{};
    for (std::uint64_t total = 0; total < 3 * each;) {
        const bool any = ring.try_pop([&](std::uint8_t kind, std::span<const std::byte> record) {
            const std::uint64_t number = next.at(kind)++;
            ASSERT_EQ(record.size(), 8 + number % 120);
            std::array<std::uint64_t, 16> expected{};
            expected.fill(number);
            ASSERT_EQ(std::memcmp(record.data(), expected.data(), record.size()), 0);
        });
        if (any) {
            ++total;
        } else {
            std::this_thread::yield();
        }
    }
    for (std::thread& producer : producers) {
        producer.join();
    }
    EXPECT_EQ(ring.taken(), ring.freed());
}

TEST(record_ring, many_producers_one_consumer) {
    push_from_three_threads(4096);
}

TEST(record_ring, many_producers_one_consumer_in_one_that_begins_at_its_front_again) {
    push_from_three_threads(std::size_t{1} << 17U);
}

TEST(record_ring, uses_only_its_front_while_the_consumer_keeps_up) {
    record_ring ring(std::size_t{1} << 20U);
    const std::string text(1'000, 'x');
    std::set<const std::byte*> places;
    for (int number = 0; number < 10'000; ++number) {
        ASSERT_TRUE(ring.try_push(1, bytes_of(text)));
        ASSERT_TRUE(ring.try_pop([&](std::uint8_t, std::span<const std::byte> got) {
            EXPECT_EQ(text_of(got), text);
            places.insert(got.data());
        }));
    }
    EXPECT_LE(*places.rbegin() - *places.begin(), 66'000);
    std::size_t pushed = 0;
    while (ring.try_push(1, bytes_of(text))) {
        ++pushed;
    }
    EXPECT_GT(pushed, 900u) << "one that falls behind still has the whole ring";
}

/// Keeps what it is given; can be held up like a slow disk.
struct keeping_sink final : storage_sink {
    void write(record_kind, std::span<const std::byte> record) override {
        if (hold.load()) {
            held.release();
            go_on.acquire();
        }
        if (fail) {
            throw std::runtime_error("disk full");
        }
        records.push_back(text_of(record));
    }
    void flush() override { flushed_records = records.size(), ++flushes; }
    void dropped(record_kind, std::uint64_t count) override { dropped_records += count; }

    std::vector<std::string> records;
    std::size_t flushed_records = 0;
    std::size_t flushes = 0;
    std::uint64_t dropped_records = 0;
    bool fail = false;
    std::atomic<bool> hold{false};
    std::binary_semaphore held{0};
    std::binary_semaphore go_on{0};
};

using texts = std::vector<std::string>;

TEST(storage_thread, writes_each_kind_to_its_sink_in_order_and_flushes) {
    keeping_sink log;
    keeping_sink audit;
    storage_thread storage({});
    storage.set_sink(log_line, log);
    storage.set_sink(audit_event, audit);
    EXPECT_TRUE(storage.offer(log_line, bytes_of("before the start")));
    storage.start();
    EXPECT_TRUE(storage.keep(audit_event, bytes_of("login")));
    EXPECT_TRUE(storage.offer(log_line, bytes_of("started")));
    EXPECT_TRUE(storage.offer(record_kind{9}, bytes_of("nobody's")));
    storage.flush();
    EXPECT_EQ(log.records, (texts{"before the start", "started"}));
    EXPECT_EQ(log.flushed_records, 2u);
    EXPECT_EQ(audit.records, texts{"login"});
    EXPECT_EQ(audit.flushed_records, 1u);
    EXPECT_EQ(storage.statistics().written, 3u);
    EXPECT_TRUE(storage.keep(audit_event, bytes_of("logout")));
    storage.stop();
    EXPECT_EQ(audit.flushed_records, 2u);
    storage.flush();
    storage.stop();
}

TEST(storage_thread, a_slow_disk_costs_log_lines_but_never_an_audit_event) {
    keeping_sink log;
    keeping_sink audit;
    storage_thread storage({.droppable_capacity = 4096, .kept_capacity = 4096});
    storage.set_sink(log_line, log);
    storage.set_sink(audit_event, audit);
    log.hold = true;
    storage.start();
    EXPECT_TRUE(storage.offer(log_line, bytes_of("slow")));
    log.held.acquire();
    std::uint64_t logged = 1;
    while (storage.offer(log_line, bytes_of("one of many lines"))) {
        ++logged;
    }
    EXPECT_FALSE(storage.offer(log_line, bytes_of("another that is dropped")));
    std::uint64_t kept = 0;
    while (storage.keep(audit_event, bytes_of("an event"))) {
        ++kept;
    }
    EXPECT_GT(kept, 100u);
    EXPECT_EQ(storage.statistics().dropped, 2u);
    EXPECT_EQ(storage.statistics().refused, 1u);
    log.hold = false;
    log.go_on.release();
    storage.flush();
    EXPECT_TRUE(storage.keep(audit_event, bytes_of("the one held back")));
    storage.stop();
    EXPECT_EQ(log.records.size(), logged);
    EXPECT_EQ(log.dropped_records, 2u);
    EXPECT_EQ(audit.records.size(), kept + 1);
    EXPECT_EQ(audit.records.back(), "the one held back");
    EXPECT_EQ(audit.dropped_records, 0u);
}

TEST(storage_thread, never_started_it_writes_at_the_stop) {
    keeping_sink audit;
    storage_thread storage({});
    storage.set_sink(audit_event, audit);
    EXPECT_TRUE(storage.keep(audit_event, bytes_of("early")));
    storage.flush();
    EXPECT_TRUE(audit.records.empty());
    storage.stop();
    EXPECT_EQ(audit.records, texts{"early"});
    EXPECT_EQ(audit.flushes, 1u);
    storage.start();
    EXPECT_FALSE(storage.keep(audit_event, bytes_of("late")));
    EXPECT_FALSE(storage.offer(audit_event, bytes_of("late")));
}

TEST(storage_thread, refuses_a_record_that_is_too_large) {
    storage_thread storage({.droppable_capacity = 4096, .kept_capacity = 8192});
    const std::string fits(storage.max_record_size(), 'x');
    EXPECT_TRUE(storage.offer(log_line, bytes_of(fits)));
    EXPECT_FALSE(storage.offer(log_line, bytes_of(fits + "x")));
    EXPECT_FALSE(storage.keep(record_kind{200}, bytes_of("no such kind")));
}

TEST(storage_thread, exception_of_a_sink_is_contained_and_counted) {
    keeping_sink log;
    keeping_sink audit;
    log.fail = true;
    storage_thread storage({});
    storage.set_sink(log_line, log);
    storage.set_sink(audit_event, audit);
    storage.start();
    EXPECT_TRUE(storage.offer(log_line, bytes_of("lost on the disk")));
    EXPECT_TRUE(storage.keep(audit_event, bytes_of("event")));
    storage.stop();
    EXPECT_EQ(storage.statistics().faults, 1u);
    EXPECT_EQ(storage.statistics().written, 1u);
    EXPECT_EQ(audit.records, texts{"event"});
}

TEST(storage_thread, everything_accepted_from_many_threads_is_written_whenever_it_stops) {
    for (int round = 0; round < 20; ++round) {
        keeping_sink log;
        keeping_sink audit;
        std::atomic<std::uint64_t> logged{0};
        std::atomic<std::uint64_t> kept{0};
        std::atomic<bool> ended{false};
        std::vector<std::thread> producers;
        {
            storage_thread storage({.droppable_capacity = 4096, .kept_capacity = 4096});
            storage.set_sink(log_line, log);
            storage.set_sink(audit_event, audit);
            storage.start();
            for (int i = 0; i < 3; ++i) {
                producers.emplace_back([&] {
                    while (!ended) {
                        logged += storage.offer(log_line, bytes_of("a line")) ? 1 : 0;
                        kept += storage.keep(audit_event, bytes_of("an event")) ? 1 : 0;
                        std::this_thread::yield();
                    }
                });
            }
            for (int i = 0; i < round; ++i) {
                storage.flush();
            }
            storage.stop();
            ended = true;
            for (std::thread& producer : producers) {
                producer.join();
            }
        }
        EXPECT_EQ(log.records.size(), logged);
        EXPECT_EQ(audit.records.size(), kept);
        EXPECT_EQ(audit.flushed_records, audit.records.size());
    }
}

}  // namespace
}  // namespace tagferry::transport
