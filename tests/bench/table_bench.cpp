// What the tag table and its feeds cost: publishing, reading, and draining 100,000 tags of which
// 1 %, 10 % or all have changed.
#include "gateway/tags/tag_feed.hpp"
#include "gateway/tags/tag_table.hpp"
#include "gateway/tags/tag_writer.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace {

using namespace tagferry::gateway;

constexpr std::size_t tag_count = 100'000;

value_type of(data_type element, std::uint16_t capacity = 0) {
    value_type type;
    type.element = element;
    type.capacity = capacity;
    return type;
}

struct plant {
    explicit plant(const value_type& type, std::size_t count = tag_count) {
        tag_feed_options options;
        options.tags = table.limits().tags;
        feed = std::make_unique<tag_feed>(options);
        feed_number = table.add_feed(*feed).value();
        for (std::size_t i = 0; i < count; ++i) {
            tags.push_back(table.add(owner, type).value());
        }
    }
    tag_table table;
    tag_table::owner_id owner = table.add_owner().value();
    tag_writer writer{table, owner, 0};
    std::unique_ptr<tag_feed> feed;
    std::size_t feed_number = 0;
    std::vector<tag_handle> tags;
};

/// Changes every `step`th tag, then drains the feed and reads each changed tag once.
void change_and_drain(benchmark::State& state) {
    plant one{of(data_type::float32)};
    const auto step = static_cast<std::size_t>(100 / state.range(0));
    for (const tag_handle tag : one.tags) {
        one.table.watch(tag, one.feed_number, interest::changes);
    }
    float value = 0;
    std::uint64_t drained = 0;
    for (auto _ : state) {
        value += 1;
        for (std::size_t i = 0; i < tag_count; i += step) {
            one.writer.publish(one.tags[i], status_code::good, reason_id::none, 1, 1,
                               std::as_bytes(std::span(&value, 1)));
        }
        one.feed->begin();
        drained += one.feed->drain_changed(
            tag_count, [&](std::uint32_t index) { benchmark::DoNotOptimize(index); });
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(drained));
}
BENCHMARK(change_and_drain)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

/// The drain alone, with a read of every changed tag: what the consuming shard pays.
void drain_and_read(benchmark::State& state) {
    plant one{of(data_type::float32)};
    const auto step = static_cast<std::size_t>(100 / state.range(0));
    std::vector<tag_handle> by_index(one.table.limits().tags);
    for (const tag_handle tag : one.tags) {
        by_index[tag.index] = tag;
    }
    std::uint64_t drained = 0;
    for (auto _ : state) {
        state.PauseTiming();
        for (std::size_t i = 0; i < tag_count; i += step) {
            one.feed->mark_changed(one.tags[i].index);
        }
        state.ResumeTiming();
        one.feed->begin();
        drained += one.feed->drain_changed(tag_count, [&](std::uint32_t index) {
            float value = 0;
            sample seen;
            one.table.read(by_index[index], std::as_writable_bytes(std::span(&value, 1)), seen);
            benchmark::DoNotOptimize(value);
        });
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(drained));
}
BENCHMARK(drain_and_read)->Arg(1)->Arg(10)->Arg(100)->Unit(benchmark::kMicrosecond);

/// A pass over 100,000 tags that finds nothing.
void drain_nothing(benchmark::State& state) {
    plant one{of(data_type::float32)};
    for (auto _ : state) {
        one.feed->begin();
        benchmark::DoNotOptimize(one.feed->drain_changed(tag_count, [](std::uint32_t) {}));
    }
}
BENCHMARK(drain_nothing);

void publish(benchmark::State& state, const value_type& type, bool watched, bool changing) {
    plant one{type, 1'000};
    std::vector<std::byte> value(value_size(type));
    for (const tag_handle tag : one.tags) {
        if (watched) {
            one.table.watch(tag, one.feed_number, interest::changes);
        }
    }
    std::size_t at = 0;
    for (auto _ : state) {
        if (at == one.tags.size()) {
            at = 0;
            value[0] = static_cast<std::byte>(static_cast<int>(value[0]) + (changing ? 1 : 0));
        }
        one.writer.publish(one.tags[at++], status_code::good, reason_id::none, 1, 1, value);
    }
}
BENCHMARK_CAPTURE(publish, real_unwatched, of(data_type::float32), false, true);
BENCHMARK_CAPTURE(publish, real_watched_changing, of(data_type::float32), true, true);
BENCHMARK_CAPTURE(publish, real_watched_same, of(data_type::float32), true, false);
BENCHMARK_CAPTURE(publish, string254_watched_changing, of(data_type::string, 762), true, true);

void read(benchmark::State& state, const value_type& type) {
    plant one{type, 1'000};
    std::vector<std::byte> value(value_size(type));
    for (const tag_handle tag : one.tags) {
        one.writer.publish(tag, status_code::good, reason_id::none, 1, 1, value);
    }
    std::size_t at = 0;
    sample seen;
    for (auto _ : state) {
        at = at + 1 == one.tags.size() ? 0 : at + 1;
        one.table.read(one.tags[at], value, seen);
        benchmark::DoNotOptimize(value.data());
    }
}
BENCHMARK_CAPTURE(read, real, of(data_type::float32));
BENCHMARK_CAPTURE(read, string254, of(data_type::string, 762));

}  // namespace
