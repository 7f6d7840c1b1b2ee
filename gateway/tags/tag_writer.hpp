// How the one writer of a connection's tags puts samples into the table and tells the feeds.
#pragma once

#include "gateway/tags/tag_table.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tagferry::gateway {

/// A good value of a tag that is one number of at most eight bytes.
struct number_value {
    tag_handle tag{};
    std::uint64_t bits = 0;  ///< the value's bytes, the first one lowest; those after it are 0
};

/// Belongs to one thread at a time. Allocates nothing.
class tag_writer {
  public:
    /// @param owner whose tags it writes. @param thread_number of its thread, under
    ///   `tag_feed_options::writers`: names the sample ring.
    tag_writer(tag_table& table, tag_table::owner_id owner, std::size_t thread_number) noexcept
        : table_(&table), owner_(owner), thread_number_(thread_number) {}

    /// A value the source delivered, in slot form and of exactly the tag's size.
    /// @param status good, or uncertain_substitute_value for a type that may need a substitute
    ///   (`may_need_substitute`); the last good value then stays beside it.
    /// @param source_time when the source delivered it. @param now when this is written.
    /// False: stale handle, wrong size or status, or all buffers of a large value are held.
    bool publish(tag_handle handle, status_code status, reason_id reason,
                 transport::wall_time_ns source_time, transport::wall_time_ns now,
                 std::span<const std::byte> value) noexcept;

    /// `publish` with a good status for many values that came together, at a fraction of its cost
    /// for each. Stale handles and tags that are no such number are left out.
    /// @param values each tag at most once. @param source_time,now as of `publish`.
    void publish_numbers(std::span<const number_value> values, transport::wall_time_ns source_time,
                         transport::wall_time_ns now) noexcept;

    /// The tag's status changes and nothing was delivered: link down, item code, stale. The last
    /// good value is kept; a bad status hides it from readers of the current value.
    /// @param source_time of the event; nothing keeps the value's own (uncertain statuses).
    bool publish_status(tag_handle handle, reason_id reason,
                        std::optional<transport::wall_time_ns> source_time,
                        transport::wall_time_ns now) noexcept;

    /// The same with a status other than the catalogue's for this reason.
    bool publish_status(tag_handle handle, status_code status, reason_id reason,
                        std::optional<transport::wall_time_ns> source_time,
                        transport::wall_time_ns now) noexcept;

    /// Whether the tag has ever delivered a value since it was added.
    bool has_value(tag_handle handle) const noexcept;

    /// Samples refused because readers held all buffers of a large value. Any thread.
    std::uint64_t refused_large_values() const noexcept {
        return refused_large_values_.load(std::memory_order_relaxed);
    }

  private:
    /// What a publication does to a record.
    struct change {
        status_code status{};
        reason_id reason{};
        std::uint32_t flags = 0;
        std::optional<transport::wall_time_ns> source_time{};
        transport::wall_time_ns now = 0;
        bool is_good_value = false;
        bool changed = false;
    };

    /// Numbers between two fences: what was stored is still in the nearest cache when the feeds are
    /// told of it.
    static constexpr std::size_t numbers_at_once = 64;

    void publish_some_numbers(std::span<const number_value> values,
                              transport::wall_time_ns source_time,
                              transport::wall_time_ns now) noexcept;
    void publish_unsettled(const number_value& value, transport::wall_time_ns source_time,
                           transport::wall_time_ns now) noexcept;
    bool publish_small(std::uint32_t* words, change& what,
                       std::span<const std::byte> value) noexcept;
    bool publish_large(std::uint32_t* words, change& what,
                       std::span<const std::byte> value) noexcept;
    void write_record(std::uint32_t* words, const change& what) noexcept;
    void count_quality(status_code before, status_code after) noexcept;
    void tell(tag_handle handle, std::uint32_t* words, const change& what,
              std::span<const std::byte> value) noexcept;

    tag_table* table_;
    tag_table::owner_id owner_;
    std::size_t thread_number_;
    std::atomic<std::uint64_t> refused_large_values_{0};
};

}  // namespace tagferry::gateway
