// The table and its feeds with writer and readers on threads of their own. Run under
// ThreadSanitizer with a smaller count, in release builds with the full one.
#include "gateway/tags/tag_feed.hpp"
#include "gateway/tags/tag_writer.hpp"
#include "tests/support/gateway/value_types.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::gateway {
namespace {

using test::of;

#ifdef NDEBUG
constexpr std::uint64_t reads_in_all = 10'000'000;
#else
constexpr std::uint64_t reads_in_all = 1'200'000;
#endif

/// A value whose every byte follows from one number.
void make_value(const value_type& type, std::uint64_t number, std::vector<std::byte>& into) {
    into.assign(value_size(type), std::byte{});
    const auto put = [&](std::size_t offset, const void* from, std::size_t size) {
        std::memcpy(into.data() + offset, from, size);
    };
    const auto put_text = [&](std::size_t offset, std::size_t capacity) {
        const auto length = static_cast<std::uint16_t>(number % (capacity + 1));
        put(offset, &length, sizeof length);
        std::memset(into.data() + offset + 2, static_cast<int>(number % 251), length);
    };
    if (type.element == data_type::float32) {
        const auto real = static_cast<float>(number % (1U << 24U));
        put(0, &real, sizeof real);
    } else if (type.element == data_type::string) {
        put_text(0, type.capacity);
    } else if (type.element == data_type::structure) {
        const auto& members = type.layout->members();
        into[members[0].offset] = static_cast<std::byte>(number % 2);
        const auto speed = static_cast<double>(number);
        put(members[1].offset, &speed, sizeof speed);
        for (std::size_t i = 0; i < 5; ++i) {
            const auto element = static_cast<std::int16_t>(number + i);
            put(members[2].offset + i * 2, &element, sizeof element);
        }
        put_text(members[3].offset, members[3].type.capacity);
    } else {
        std::memset(into.data(), static_cast<int>(number % 251), into.size());
    }
}

std::vector<value_type> types_under_test() {
    value_type structure = of(data_type::structure);
    structure.layout = std::make_shared<const struct_layout>(std::vector<struct_layout::member>{
        {"on", of(data_type::boolean), 0},
        {"speed", of(data_type::float64), 0},
        {"counts", of(data_type::int16, 5), 0},
        {"name", of(data_type::string, -1, 30), 0},
    });
    // STRING[254] has room for 254 characters of up to three bytes of UTF-8.
    return {of(data_type::float32), of(data_type::string, -1, 762), structure,
            of(data_type::uint8, 6'000)};
}

struct shared_tags {
    explicit shared_tags(const std::vector<value_type>& wanted) : types(wanted) {
        for (const value_type& type : types) {
            tags.push_back(table.add(owner, type).value());
        }
    }
    std::vector<value_type> types;
    tag_table table;
    tag_table::owner_id owner = table.add_owner().value();
    std::vector<tag_handle> tags;
};

void write_until(shared_tags& shared, const std::atomic<bool>& stop) {
    tag_writer writer{shared.table, shared.owner, 0};
    std::vector<std::byte> value;
    for (std::uint64_t number = 1; !stop.load(std::memory_order_relaxed); ++number) {
        const auto time = static_cast<transport::wall_time_ns>(number);
        for (std::size_t i = 0; i < shared.tags.size(); ++i) {
            make_value(shared.types[i], number, value);
            // Refused when the readers hold every buffer of the large value; then it stays.
            static_cast<void>(writer.publish(shared.tags[i], status_code::good, reason_id::none,
                                             time, time, value));
        }
        // Short pauses let readers finish between writes on a machine with few processors.
        if (number % 64 == 0) {
            std::this_thread::yield();
        }
    }
}

struct comparison {
    std::uint64_t torn = 0;
    std::uint64_t fresh = 0;  ///< reads that found another sample than the one before
};

/// Share of reads that must have found a new sample: reading the same samples again and again
/// would prove nothing.
constexpr std::uint64_t reads_per_fresh_read = 1'000;

/// Compares at least `count` samples, all of tags that were published before, and more while the
/// writer does not get enough of the processor.
comparison read_and_compare(shared_tags& shared, std::uint64_t count) {
    std::vector<std::byte> value(8'192);
    std::vector<std::byte> expected;
    std::vector<transport::wall_time_ns> last(shared.tags.size());
    comparison found;
    for (std::uint64_t i = 0;
         i < count || (found.fresh < count / reads_per_fresh_read && i < 20 * count); ++i) {
        const std::size_t which = i % shared.tags.size();
        sample seen;
        const read_result result = shared.table.read(shared.tags[which], value, seen);
        make_value(shared.types[which], static_cast<std::uint64_t>(seen.source_time), expected);
        found.fresh += seen.source_time != last[which] ? 1U : 0U;
        last[which] = seen.source_time;
        const bool whole =
            result == read_result::done && seen.has_value && seen.status == status_code::good &&
            seen.source_time == seen.update_time && seen.value_size == expected.size() &&
            std::memcmp(value.data(), expected.data(), expected.size()) == 0;
        found.torn += whole ? 0U : 1U;
    }
    return found;
}

void wait_for_values(const shared_tags& shared) {
    for (const tag_handle tag : shared.tags) {
        sample seen;
        std::vector<std::byte> value(8'192);
        while (shared.table.read(tag, value, seen) != read_result::done || !seen.has_value) {
            std::this_thread::yield();
        }
    }
}

TEST(tag_threads, no_read_is_torn) {
    shared_tags shared{types_under_test()};
    std::atomic<bool> stop{false};
    std::atomic<std::uint64_t> torn{0};
    std::atomic<std::uint64_t> fresh{0};
    std::thread writer([&] { write_until(shared, stop); });
    wait_for_values(shared);
    std::vector<std::thread> readers;
    for (int i = 0; i < 2; ++i) {
        readers.emplace_back([&] {
            const comparison found = read_and_compare(shared, reads_in_all / 2);
            torn += found.torn;
            fresh += found.fresh;
        });
    }
    for (std::thread& reader : readers) {
        reader.join();
    }
    stop = true;
    writer.join();
    EXPECT_EQ(torn, 0u);
    EXPECT_GE(fresh, reads_in_all / reads_per_fresh_read);
    RecordProperty("fresh_reads", std::to_string(fresh));
}

TEST(tag_threads, a_stale_handle_reads_nothing_while_indexes_are_reused) {
    tag_table table;
    const auto owner = table.add_owner().value();
    const value_type type = of(data_type::uint32, 8);
    std::atomic<std::uint64_t> published{0};  // {index, generation} of the newest tag
    std::atomic<bool> stop{false};
    std::thread control([&] {
        tag_writer writer{table, owner, 0};
        while (!stop.load(std::memory_order_relaxed)) {
            const tag_handle tag = table.add(owner, type).value();
            published = (std::uint64_t{tag.index} << 32U) | tag.generation;
            std::array<std::uint32_t, 8> value{};
            value.fill(tag.generation);
            for (int time = 1; time <= 20; ++time) {
                writer.publish(tag, status_code::good, reason_id::none, time, time,
                               std::as_bytes(std::span(value)));
            }
            table.remove(tag);
        }
    });
    std::uint64_t wrong = 0;
    std::uint64_t good = 0;
    std::uint64_t stale = 0;
    while (good < 20'000 || stale < 20'000) {
        const std::uint64_t name = published.load();
        const tag_handle tag{static_cast<std::uint32_t>(name >> 32U),
                             static_cast<std::uint32_t>(name)};
        std::array<std::uint32_t, 8> value{};
        sample seen;
        const auto into = std::as_writable_bytes(std::span(value));
        if (table.read(tag, into, seen) == read_result::stale) {
            ++stale;
        } else if (seen.has_value) {
            ++good;
            for (const std::uint32_t element : value) {
                wrong += element == tag.generation ? 0 : 1;
            }
        }
    }
    stop = true;
    control.join();
    EXPECT_EQ(wrong, 0u);
}

/// Consumer state of the ring test: each tag's values count up by one, so a gap is a loss.
struct ring_consumer {
    std::map<std::uint32_t, std::uint32_t> last;
    std::uint64_t unexplained_gaps = 0;
    std::uint64_t samples = 0;
    std::uint64_t overflows = 0;

    void take(std::uint32_t index, std::uint32_t value, bool overflow) {
        if (value != last[index] + 1 && !overflow) {
            ++unexplained_gaps;
        }
        last[index] = value;
        ++samples;
        overflows += overflow ? 1 : 0;
    }
};

void count_up(tag_table& table, tag_table::owner_id owner, const std::vector<tag_handle>& tags,
              std::uint32_t rounds) {
    tag_writer writer{table, owner, 0};
    std::vector<number_value> together(tags.size());
    for (std::uint32_t value = 1; value <= rounds; ++value) {
        for (std::size_t i = 0; i < tags.size(); ++i) {
            together[i] = {tags[i], value};
        }
        if (value % 2 == 0) {
            writer.publish_numbers(together, value, value);
        }
        for (const tag_handle tag : value % 2 == 0 ? std::span<const tag_handle>{} : tags) {
            ASSERT_TRUE(writer.publish(tag, status_code::good, reason_id::none, value, value,
                                       std::as_bytes(std::span(&value, 1))));
        }
        if (value % 16 == 0) {
            std::this_thread::yield();
        }
    }
}

void consume_until_done(tag_table& table, tag_feed& feed, const std::vector<tag_handle>& tags,
                        const std::atomic<bool>& done, ring_consumer& consumer) {
    for (bool last_pass = false; !last_pass;) {
        last_pass = done.load(std::memory_order_acquire);
        const auto take = [&](const queued_sample& sample) {
            std::uint32_t value = 0;
            std::memcpy(&value, sample.value.data(), sizeof value);
            consumer.take(sample.handle.index, value, sample.overflow);
        };
        while (feed.peek_samples(64, take) != 0) {
            feed.release_samples();
        }
        // Only at the end: until then the next sample that finds room tells the loss.
        if (last_pass) {
            feed.drain_overflowed(1'000, [&](std::uint32_t index) {
                std::uint32_t value = 0;
                sample seen;
                for (const tag_handle tag : tags) {
                    if (tag.index == index) {
                        table.read(tag, std::as_writable_bytes(std::span(&value, 1)), seen);
                    }
                }
                consumer.take(index, value, true);
            });
        }
    }
}

TEST(tag_threads, every_change_reaches_a_ring_consumer_or_marks_an_overflow) {
    tag_feed_options options;
    options.tags = tag_table_limits{}.tags;
    options.ring_bytes = 4096;
    tag_feed feed{options};
    tag_table table;
    const std::size_t number = table.add_feed(feed).value();
    const auto owner = table.add_owner().value();
    std::vector<tag_handle> tags(20);
    for (tag_handle& tag : tags) {
        tag = table.add(owner, of(data_type::uint32)).value();
        ASSERT_TRUE(table.watch(tag, number, interest::queued_changes));
    }
    constexpr std::uint32_t rounds = 20'000;
    std::atomic<bool> done{false};
    std::thread writer([&] {
        count_up(table, owner, tags, rounds);
        done.store(true, std::memory_order_release);
    });
    ring_consumer consumer;
    consume_until_done(table, feed, tags, done, consumer);
    writer.join();
    EXPECT_EQ(consumer.unexplained_gaps, 0u);
    for (const tag_handle tag : tags) {
        EXPECT_EQ(consumer.last[tag.index], rounds) << "the last change is never lost";
    }
    RecordProperty("samples", static_cast<int>(consumer.samples));
    RecordProperty("overflows", static_cast<int>(consumer.overflows));
}

TEST(tag_threads, whoever_begins_to_watch_hears_of_a_sample_or_reads_it) {
    tag_feed_options options;
    options.tags = tag_table_limits{}.tags;
    tag_feed feed{options};
    tag_table table;
    const std::size_t number = table.add_feed(feed).value();
    const auto owner = table.add_owner().value();
    std::vector<number_value> values(100);
    tag_writer writer{table, owner, 0};
    for (number_value& each : values) {
        each = {table.add(owner, of(data_type::uint32)).value(), 0};
    }
    writer.publish_numbers(values, 1, 1);
    constexpr std::uint32_t rounds = 1'000;
    std::atomic<std::uint32_t> begun{0};
    std::atomic<std::uint32_t> published{0};
    std::thread writing([&] {
        for (std::uint32_t round = 1; round <= rounds; ++round) {
            while (begun.load() != round) {
                std::this_thread::yield();
            }
            for (number_value& each : values) {
                each.bits = round;
            }
            writer.publish_numbers(values, round, round);
            published.store(round);
        }
    });
    std::uint64_t missed = 0;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
        const tag_handle tag = values[round % values.size()].tag;
        begun.store(round);
        for (std::uint32_t pause = round % 512; pause != 0; --pause) {
            static_cast<void>(begun.load());  // so that rounds meet at different moments
        }
        ASSERT_TRUE(table.watch(tag, number, interest::changes));
        std::uint32_t seen_value = 0;
        sample seen;
        table.read(tag, std::as_writable_bytes(std::span(&seen_value, 1)), seen);
        while (published.load() != round) {
            std::this_thread::yield();
        }
        bool told = false;
        feed.begin();
        feed.drain_changed(1'000, [&](std::uint32_t index) { told = told || index == tag.index; });
        missed += told || seen_value == round ? 0U : 1U;
        table.unwatch(tag, number, interest::changes);
    }
    writing.join();
    EXPECT_EQ(missed, 0u);
}

TEST(tag_threads, every_last_value_reaches_a_bitmap_consumer) {
    std::atomic<int> wakes{0};
    tag_feed_options options;
    options.tags = tag_table_limits{}.tags;
    options.waker = {[](void* object) { ++*static_cast<std::atomic<int>*>(object); }, &wakes};
    tag_feed feed{options};
    tag_table table;
    const std::size_t number = table.add_feed(feed).value();
    const auto owner = table.add_owner().value();
    std::vector<tag_handle> tags(300);
    std::map<std::uint32_t, tag_handle> by_index;
    for (tag_handle& tag : tags) {
        tag = table.add(owner, of(data_type::uint32)).value();
        by_index[tag.index] = tag;
        ASSERT_TRUE(table.watch(tag, number, interest::changes));
    }
    constexpr std::uint32_t rounds = 2'000;
    std::atomic<bool> done{false};
    std::thread writer([&] {
        count_up(table, owner, tags, rounds);
        done = true;
    });
    std::map<std::uint32_t, std::uint32_t> last;
    // The consumer looks only when it was woken, so a lost wake-up would lose the last values.
    for (int seen_wakes = 0;;) {
        const bool finished = done.load();
        const int now = wakes.load();
        if (now == seen_wakes) {
            if (finished) {
                break;
            }
            std::this_thread::yield();
            continue;
        }
        seen_wakes = now;
        feed.begin();
        const auto take = [&](std::uint32_t index) {
            std::uint32_t value = 0;
            sample seen;
            table.read(by_index[index], std::as_writable_bytes(std::span(&value, 1)), seen);
            last[index] = value;
        };
        while (feed.drain_changed(50, take) == 50) {
        }
    }
    writer.join();
    for (const tag_handle tag : tags) {
        EXPECT_EQ(last[tag.index], rounds);
    }
}

}  // namespace
}  // namespace tagferry::gateway
