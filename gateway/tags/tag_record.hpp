// The layout of a tag's record and value slot in words. Private to the table and its writer.
#pragma once

#include "gateway/tags/tag_table.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tagferry::gateway::record {

/// Words of a record; 16 of them, one cache line.
enum word : std::size_t {
    sequence = 0,
    generation = 1,
    status = 2,
    reason = 3,
    flags = 4,
    interests = 5,
    value_offset = 6,  ///< of the slot in the value region, in words
    value_bytes = 7,
    source_low = 8,
    source_high = 9,
    update_low = 10,
    update_high = 11,
    good_low = 12,
    good_high = 13,
    shape = 14,
    in_all = 16,
};
inline constexpr std::size_t bytes = word::in_all * sizeof(std::uint32_t);

inline constexpr std::uint32_t flag_has_good = 1;    ///< the slot holds a last good value
inline constexpr std::uint32_t flag_substitute = 2;  ///< the current value is the substitute
/// A number whose last sample was good and without a reason: of a next one that is, too, only the
/// value and the times may differ. Never set in the record of no tag.
inline constexpr std::uint32_t flag_settled = 4;
inline constexpr std::uint32_t shape_substitute = 1;  ///< the slot has a second area
inline constexpr std::uint32_t shape_large = 2;       ///< the slot is that of a large value
inline constexpr std::uint32_t shape_number = 4;  ///< a scalar of at most 8 bytes, no substitute
inline constexpr unsigned shape_type_shift = 8;   ///< above it the `data_type`

/// A large value's slot: which buffers are current, how many hold each buffer, the buffers.
inline constexpr std::size_t large_good = 0;        ///< number of the buffer plus 1; 0: none
inline constexpr std::size_t large_substitute = 1;  ///< likewise
inline constexpr std::size_t large_holders = 2;     ///< one word each
inline constexpr std::size_t large_buffers = 8;     ///< where the first buffer begins, in words
static_assert(large_holders + large_value_buffers <= large_buffers);

constexpr std::size_t words_of(std::size_t size) noexcept {
    return (size + sizeof(std::uint32_t) - 1) / sizeof(std::uint32_t);
}

inline std::uint32_t load(std::uint32_t* at,
                          std::memory_order order = std::memory_order_acquire) noexcept {
    return std::atomic_ref<std::uint32_t>(*at).load(order);
}

inline void store(std::uint32_t* at, std::uint32_t value,
                  std::memory_order order = std::memory_order_release) noexcept {
    std::atomic_ref<std::uint32_t>(*at).store(value, order);
}

/// Timestamps lie in two words that are always taken as one, so that a sample moves three of them
/// with three stores.
inline std::int64_t load64(std::uint32_t* low) noexcept {
    return static_cast<std::int64_t>(
        std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(low))
            .load(std::memory_order_acquire));
}

inline void store64(std::uint32_t* low, std::int64_t value) noexcept {
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(low))
        .store(static_cast<std::uint64_t>(value), std::memory_order_release);
}
static_assert(std::atomic_ref<std::uint64_t>::is_always_lock_free);
static_assert(word::source_low % 2 == 0 && word::update_low % 2 == 0 && word::good_low % 2 == 0);

/// A feed's bit for this kind in the word of interests.
constexpr std::uint32_t interest_bit(std::size_t feed, interest kind) noexcept {
    return std::uint32_t{1} << (feed + 8 * static_cast<std::size_t>(kind));
}

}  // namespace tagferry::gateway::record
