// Durations counted in buckets by one thread and read by any: what the metrics page shows.
#pragma once

#include "gateway/sources/source.hpp"
#include "transport/memory/shown_number.hpp"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tagferry::gateway {

class shown_durations {
  public:
    void count(transport::duration elapsed) noexcept {
        const double seconds = std::chrono::duration<double>(elapsed).count();
        std::size_t bucket = 0;
        while (bucket < write_durations::bounds_s.size() &&
               seconds > write_durations::bounds_s[bucket]) {
            ++bucket;
        }
        buckets_[bucket].add(1);
        nanoseconds_.add(static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed).count()));
    }

    /// Any thread.
    write_durations seen() const noexcept {
        write_durations made;
        for (std::size_t i = 0; i < buckets_.size(); ++i) {
            made.buckets[i] = buckets_[i].value();
        }
        made.sum_s = static_cast<double>(nanoseconds_.value()) * 1e-9;
        return made;
    }

  private:
    std::array<transport::shown_number, write_durations::bounds_s.size() + 1> buckets_{};
    transport::shown_number nanoseconds_;
};

}  // namespace tagferry::gateway
