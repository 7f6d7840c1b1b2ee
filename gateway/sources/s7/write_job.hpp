// One value on its way to a PLC: which jobs write it, and what the replies mean for it.
#pragma once

#include "gateway/sources/s7/scan_set.hpp"
#include "gateway/sources/source.hpp"
#include "protocols/s7/client_engine.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::gateway {

/// How much of a value stands before the next job.
struct write_cursor {
    std::uint32_t element = 0;  ///< of an array of texts or bits; otherwise 0
    std::uint32_t offset = 0;   ///< PLC bytes, within the element for texts

    friend bool operator==(const write_cursor&, const write_cursor&) = default;
};

/// What a job may be at most.
struct write_limits {
    std::size_t pdu_size = 240;  ///< as negotiated
    std::size_t max_items = 20;
};

/// The items of one job. A text is written from its current length on: its first byte, the
/// maximum, belongs to the PLC's program, unless that never initialised it. So an array of texts
/// has an item for each element; bits have one each where they share their byte with others;
/// everything else has one item. What does not fit one job is cut between elements and goes in
/// address order.
struct write_job {
    static constexpr std::size_t max_items = 20;
    std::array<s7::write_item, max_items> items{};
    std::size_t count = 0;
    write_cursor next{};  ///< where the job after this one begins
    bool last = true;     ///< there is none
};

/// Bytes of each item of a write under way, for telling how much of it was written.
using write_sizes = std::array<std::uint16_t, write_job::max_items>;

/// Where a write goes, and what it is there.
struct write_target {
    s7::address where{};
    s7::data_type type{};
    std::uint32_t plc_bytes = 0;
    std::uint32_t slot_bytes = 0;
    std::span<const std::uint8_t> text_maxima{};  ///< of its elements, see `scan_set`
};

/// The whole tag, or the elements of its array that the write names: an array of its own.
/// @return false when there are no such elements.
bool find_target(const scan_set::entry& tag, std::span<const std::uint8_t> text_maxima,
                 const source_write& write, write_target& to) noexcept;

/// @param value in slot form. @param room for the PLC's bytes, at least `plc_bytes` of the target.
/// A text
///   that was never initialised (maximum 0) is written with its maximum; the maximum of any other
///   is 0 in `room`: the PLC's own stays, and a longer text than it allows is refused.
/// @return `none`, or why the value cannot be written.
reason_id encode_write(const write_target& target, std::span<const std::byte> value,
                       std::span<std::byte> room) noexcept;

/// The job that writes what follows `from`.
/// @param plc what `encode_write` made; the items point into it.
void next_write_job(const s7::address& where, const s7::data_type& type,
                    std::span<const std::byte> plc, const write_limits& limits,
                    const write_cursor& from, write_job& to) noexcept;

/// What a job did, or how a write ended.
struct write_step {
    bool ended = false;
    std::uint32_t bytes = 0;  ///< that the PLC took with this job; a single bit counts as one
    write_outcome outcome{};  ///< when ended
};

/// @param result of a job of a write. @param sizes of its items. @param last no job follows.
/// @param before bytes that earlier jobs of the write have written.
write_step step_of(const s7::job_result& result, const write_sizes& sizes, bool last,
                   std::uint32_t before) noexcept;

}  // namespace tagferry::gateway
