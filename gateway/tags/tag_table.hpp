// The last sample of every tag: one writer each, any number of readers, no locks.
//
// A record of 64 bytes per index holds status, reason, timestamps and where the value lies; the
// value lies in a slot sized by its declared type. A sequence number guards record and slot (odd
// while the writer is at it). All of it is atomic words of 32 bits, times of 64, stored with
// release and loaded with acquire: a reader that saw any word of a newer sample sees its sequence
// number too and tries again, so that needs no fence. A value over `large_value_bytes` lies in a
// few immutable buffers of its tag instead, and readers hold references while they look at it.
//
// Indexes come in pages of `page_tags` that belong to one owner (a connection).
#pragma once

#include "gateway/model/catalogue.hpp"
#include "gateway/model/value_type.hpp"
#include "gateway/tags/tag_feed.hpp"
#include "gateway/tags/tag_handle.hpp"
#include "transport/memory/reserved_region.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tagferry::gateway {

struct tag_table_limits {
    std::size_t tags = 262'144;                ///< indexes, a multiple of `page_tags`
    std::size_t value_bytes = 1ULL << 30U;     ///< address space of all value slots
    std::size_t owners = 1'024;                ///< connections
    std::size_t largest_value_bytes = 65'536;  ///< of one tag
};

/// Values over this size are swapped by reference instead of copied word by word.
inline constexpr std::size_t large_value_bytes = 4096;
/// Buffers of a tag with a large value: at most two are current (value and last good value), one
/// is being filled, and the rest may be held by readers. While readers hold all of them, samples
/// of that tag are refused and counted.
inline constexpr std::size_t large_value_buffers = 5;

/// What a consuming shard wants to hear of a tag.
enum class interest : std::uint8_t {
    changes,         ///< value or status differs
    updates,         ///< sampled again
    queued_changes,  ///< every sample whose value or status differs, through the ring
    queued_samples,  ///< every sample, through the ring
};

/// The last sample of a tag as a reader gets it.
struct sample {
    status_code status{};
    reason_id reason{};
    bool has_value = false;                   ///< false: never read, or bad
    std::size_t value_size = 0;               ///< bytes; 0 without a value
    transport::wall_time_ns source_time = 0;  ///< 0: never read
    transport::wall_time_ns update_time = 0;  ///< when the record was last written; 0: never
    bool has_last_good = false;
    transport::wall_time_ns last_good_time = 0;  ///< source time of the last good value
};

/// The last sample of a tag that is one number.
struct number_sample {
    std::uint64_t bits = 0;  ///< the value's bytes, the first one lowest; 0 without a value
    std::size_t size = 0;    ///< bytes of it, 1 to 8
    data_type type{};
    status_code status{};
    bool has_value = false;
    transport::wall_time_ns source_time = 0;
    transport::wall_time_ns update_time = 0;
};

enum class read_result : std::uint8_t {
    done,
    stale,      ///< no tag of this handle (any more)
    too_small,  ///< the value does not fit into the memory given; the sample is filled in
};

/// Which of a tag's values.
enum class value_choice : std::uint8_t {
    current,    ///< the one of the last sample: none when it is bad
    last_good,  ///< the last one that was good, whatever the status is now
};

/// Holds an immutable buffer of a large value; move-only.
class value_reference {
  public:
    value_reference() noexcept = default;
    value_reference(value_reference&& other) noexcept;
    value_reference& operator=(value_reference&& other) noexcept;
    ~value_reference() { reset(); }
    std::span<const std::byte> bytes() const noexcept { return bytes_; }
    void reset() noexcept;

  private:
    friend class tag_table;
    std::uint32_t* holders_ = nullptr;
    std::span<const std::byte> bytes_{};
};

class tag_table {
  public:
    static constexpr std::size_t page_tags = 256;
    static constexpr std::size_t max_feeds = 8;
    using owner_id = std::uint32_t;

    /// Throws std::system_error when the address space is not to be had.
    explicit tag_table(const tag_table_limits& limits = {});
    ~tag_table() = default;
    tag_table(const tag_table&) = delete;
    tag_table& operator=(const tag_table&) = delete;

    const tag_table_limits& limits() const noexcept { return limits_; }

    // Control thread, one at a time.

    /// Makes a consuming shard known; before the first tag is added. @param feed outlives the
    /// table's writers. @return its number, for `watch`; nothing when `max_feeds` are there.
    std::optional<std::size_t> add_feed(tag_feed& feed);

    /// A new owner of pages; nothing when the limit is reached. `remove_owner` needs its tags to
    /// be removed.
    std::optional<owner_id> add_owner();
    void remove_owner(owner_id owner);

    /// A new tag, never read yet. Nothing when a limit is reached or the type has no size.
    std::optional<tag_handle> add(owner_id owner, const value_type& type);

    /// The tag's handle is stale from here on, and whoever watches it is told of a change. Its
    /// writer must have stopped writing this tag. False: stale already.
    bool remove(tag_handle handle);

    /// Tags there are; any thread.
    std::size_t size() const noexcept { return size_.load(std::memory_order_relaxed); }

    /// Tags of this owner with that quality; any thread.
    std::size_t count(owner_id owner, quality value) const noexcept;

    // Any thread.

    /// Copies the last sample and, where there is one, the chosen value into `into`. One
    /// consistent moment.
    read_result read(tag_handle handle, std::span<std::byte> into, sample& out,
                     value_choice choice = value_choice::current) const noexcept;

    /// The quick way for scalar numbers, which nearly all tags are: one cache line and the value.
    /// @return false, and `out` means nothing, for every other tag, for a stale handle and while
    ///   the writer is at it: `read` knows which.
    bool read_number(tag_handle handle, number_sample& out) const noexcept;

    /// The same for a part of the value: `into.size()` bytes from `offset` on. `too_small` when
    /// the value ends before that.
    read_result read_part(tag_handle handle, std::size_t offset, std::span<std::byte> into,
                          sample& out, value_choice choice = value_choice::current) const noexcept;

    /// The same by reference, for values over `large_value_bytes`; `out_value` is empty for
    /// smaller ones and where there is no value.
    read_result read_large(tag_handle handle, sample& out, value_reference& out_value,
                           value_choice choice = value_choice::current) const noexcept;

    /// Bytes of the tag's values; 0 for a stale handle.
    std::size_t value_size(tag_handle handle) const noexcept;
    bool contains(tag_handle handle) const noexcept;

    /// From here on the feed hears of the tag; a read after this call misses nothing that the
    /// feed does not report. Only the thread of that feed's consumer. False: stale handle.
    bool watch(tag_handle handle, std::size_t feed, interest kind) noexcept;
    void unwatch(tag_handle handle, std::size_t feed, interest kind) noexcept;

  private:
    friend class tag_writer;

    struct owner_record {
        bool taken = false;
        std::vector<std::uint32_t> pages;
        std::vector<std::uint32_t> free_indexes;
        std::array<std::atomic<std::uint32_t>, 3> counts{};  // by quality
    };

    struct location;

    std::uint32_t* record_words(std::uint32_t index) const noexcept;
    std::uint32_t* value_words(std::uint32_t offset) const noexcept;
    bool in_range(std::uint32_t index) const noexcept;
    bool add_page(owner_record& owner, owner_id id);
    std::optional<std::uint32_t> take_slot(std::size_t words);
    read_result read_with(tag_handle handle, value_choice choice, std::size_t offset,
                          std::span<std::byte> into, bool whole, sample& out,
                          value_reference* reference) const noexcept;
    bool copy_value(const location& from, std::size_t offset, std::span<std::byte> into,
                    value_reference& reference) const noexcept;

    tag_table_limits limits_;
    transport::reserved_region records_;
    transport::reserved_region values_;
    std::size_t value_words_used_ = 0;
    std::map<std::size_t, std::vector<std::uint32_t>> free_slots_;  // by words; control thread
    std::vector<std::uint32_t> free_pages_;
    std::uint32_t pages_used_ = 0;
    std::vector<owner_id> page_owners_;
    std::unique_ptr<owner_record[]> owners_;
    std::array<tag_feed*, max_feeds> feeds_{};
    std::size_t feed_count_ = 0;
    std::atomic<std::size_t> size_{0};
};

}  // namespace tagferry::gateway
