// One value on its way to a PLC: which items its write job has, and what the reply means for it.
#pragma once

#include "gateway/sources/s7/scan_set.hpp"
#include "gateway/sources/source.hpp"
#include "protocols/s7/client_engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::gateway {

/// The items of one write. A text is written from its current length on: its first byte, the
/// maximum, belongs to the PLC's program. So an array of texts has an item for each element;
/// everything else has one.
struct write_job {
    static constexpr std::size_t max_items = 20;
    std::array<s7::write_item, max_items> items{};
    std::size_t count = 0;
};

/// Bytes of each item of a write under way, for telling how much of it was written.
using write_sizes = std::array<std::uint16_t, write_job::max_items>;

/// @param value in slot form. @param room for the PLC's bytes, which the items then point to.
/// @return `none`, or why the value cannot be written.
reason_id encode_write(const scan_set::entry& tag, std::span<const std::byte> value,
                       std::span<std::byte> room, write_job& to) noexcept;

/// @param result of a write. @param sizes of its items.
write_outcome outcome_of(const s7::job_result& result, const write_sizes& sizes) noexcept;

}  // namespace tagferry::gateway
