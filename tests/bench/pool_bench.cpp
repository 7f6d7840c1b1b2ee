// Renting and returning a buffer of the pinned pool, against malloc and free and against the
// standard library's pool. All three hold the same number of buffers while they are measured and
// write one byte into each buffer they get.
//
// Without arguments it measures time. `pool_bench --loop pool|malloc|pmr|none SIZE COUNT` does
// nothing but COUNT pairs, so that callgrind can count their instructions.
#include "transport/memory/pinned_pool.hpp"

#include <benchmark/benchmark.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory_resource>
#include <string_view>

namespace {

using tagferry::transport::pinned_pool;
using tagferry::transport::pooled_buffer;

constexpr std::size_t slot_count = 256;
constexpr std::size_t held_count = 8;  // buffers out while the next one is rented

void touch(void* buffer) {
    *static_cast<volatile char*>(buffer) = 1;
    benchmark::DoNotOptimize(buffer);
}

class pool_source {
  public:
    explicit pool_source(std::size_t size)
        : pool_({.name = "bench", .slot_size = size, .slot_count = slot_count}) {
        for (pooled_buffer& buffer : held_) {
            buffer = pool_.rent();
        }
    }
    void pair() {
        const pooled_buffer rented = pool_.rent();
        touch(rented.bytes().data());
    }

  private:
    pinned_pool pool_;
    std::array<pooled_buffer, held_count> held_;
};

class malloc_source {
  public:
    explicit malloc_source(std::size_t size) : size_(size) {
        for (void*& buffer : held_) {
            buffer = std::malloc(size);
        }
    }
    ~malloc_source() {
        for (void* const buffer : held_) {
            std::free(buffer);
        }
    }
    malloc_source(const malloc_source&) = delete;
    malloc_source& operator=(const malloc_source&) = delete;
    void pair() {
        void* const buffer = std::malloc(size_);
        touch(buffer);
        std::free(buffer);
    }

  private:
    std::size_t size_;
    std::array<void*, held_count> held_{};
};

// Told that our sizes are to be pooled, which beyond 4 KiB is not its default.
class pmr_source {
  public:
    explicit pmr_source(std::size_t size) : size_(size) {
        for (void*& buffer : held_) {
            buffer = resource_.allocate(size, 64);
        }
    }
    ~pmr_source() {
        for (void* const buffer : held_) {
            resource_.deallocate(buffer, size_, 64);
        }
    }
    pmr_source(const pmr_source&) = delete;
    pmr_source& operator=(const pmr_source&) = delete;
    void pair() {
        void* const buffer = resource_.allocate(size_, 64);
        touch(buffer);
        resource_.deallocate(buffer, size_, 64);
    }

  private:
    std::size_t size_;
    std::pmr::unsynchronized_pool_resource resource_{
        {.max_blocks_per_chunk = slot_count, .largest_required_pool_block = 128 * 1024}};
    std::array<void*, held_count> held_{};
};

struct nothing_source {
    explicit nothing_source(std::size_t) {}
    void pair() { touch(&byte); }
    char byte = 0;
};

template <typename Source>
void pairs(benchmark::State& state) {
    Source source(static_cast<std::size_t>(state.range(0)));
    for (auto _ : state) {
        source.pair();
    }
}

#define TAGFERRY_SIZES ArgName("bytes")->Arg(256)->Arg(967)->Arg(8192)->Arg(65536)
BENCHMARK(pairs<pool_source>)->TAGFERRY_SIZES;
BENCHMARK(pairs<malloc_source>)->TAGFERRY_SIZES;
BENCHMARK(pairs<pmr_source>)->TAGFERRY_SIZES;
#undef TAGFERRY_SIZES

template <typename Source>
int loop(std::size_t size, long count) {
    Source source(size);
    for (; count > 0; --count) {
        source.pair();
    }
    return EXIT_SUCCESS;
}

int loop_of(std::string_view source, std::size_t size, long count) {
    if (source == "pool") {
        return loop<pool_source>(size, count);
    }
    if (source == "malloc") {
        return loop<malloc_source>(size, count);
    }
    if (source == "pmr") {
        return loop<pmr_source>(size, count);
    }
    return loop<nothing_source>(size, count);
}

}  // namespace

int main(int argument_count, char** arguments) {
    if (argument_count == 5 && std::string_view(arguments[1]) == "--loop") {
        return loop_of(arguments[2], std::strtoul(arguments[3], nullptr, 10),
                       std::strtol(arguments[4], nullptr, 10));
    }
    benchmark::Initialize(&argument_count, arguments);
    benchmark::RunSpecifiedBenchmarks();
    return EXIT_SUCCESS;
}
