// From what is wanted to as few jobs as a negotiated PDU allows. Computed once per connect or
// configuration; used ever after without allocation.
#pragma once

#include "protocols/s7/wire/variables.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagferry::s7 {

/// A stretch of bytes somebody wants. A BOOL wants the byte it lies in.
struct wanted_item {
    area where = area::data_block;
    std::uint16_t block = 0;
    std::uint32_t start_byte = 0;
    std::uint32_t length = 0;  ///< bytes, over 0
    /// Bytes that must not be torn apart when the item is over one PDU: the element size of an
    /// array; `length` for what should stay whole if it can.
    std::uint32_t granule = 1;
    /// Never share a request item with neighbours: for an item whose address the PLC refuses,
    /// which would take its neighbours along.
    bool alone = false;
};

struct read_plan_options {
    std::size_t pdu_size = 240;  ///< as negotiated
    std::size_t max_items = 20;  ///< items per job, 1 to 255
    /// Items per job over which merging across a gap is considered; the gap is free as long as
    /// the reply has room. False merges only where it never costs a byte.
    bool merge_across_gaps = true;
};

/// Bytes [block_offset, + length) of a request item are bytes [item_offset, + length) of the
/// wanted item `item` (its index in what the plan was built from).
struct placement {
    std::uint32_t item = 0;
    std::uint32_t item_offset = 0;
    std::uint32_t block_offset = 0;
    std::uint32_t length = 0;
};

/// One job: a request's items, and what each of them brings.
struct planned_job {
    std::span<const variable> items;
    /// Placements of item i: `placements.subspan(first_placement[i], first_placement[i + 1] -
    /// first_placement[i])`; one entry more than there are items.
    std::span<const std::uint32_t> first_placement;
    std::span<const placement> placements;

    std::span<const placement> placements_of(std::size_t item) const noexcept {
        return placements.subspan(first_placement[item] - first_placement[0],
                                  first_placement[item + 1] - first_placement[item]);
    }
};

/// Immutable between builds. Jobs are in address order; every wanted byte is placed exactly once.
class read_plan {
  public:
    /// Throws std::invalid_argument when an option is out of range, or an item is empty or
    /// beyond what a request can address. The first wrong item is named in the text.
    void build(std::span<const wanted_item> wanted, const read_plan_options& options);

    std::size_t job_count() const noexcept { return jobs_.size(); }
    planned_job job(std::size_t index) const noexcept;
    /// How many request items `item` is spread over; over 1 means it cannot be read in one reply.
    std::uint32_t parts_of(std::size_t item) const noexcept { return parts_[item]; }
    /// How many jobs `item` is spread over: over 1 is a non-atomic read.
    std::uint32_t jobs_of(std::size_t item) const noexcept { return jobs_of_item_[item]; }

  private:
    friend class read_plan_builder;
    struct job_range {
        std::uint32_t first_item = 0;
        std::uint32_t item_count = 0;
    };
    std::vector<job_range> jobs_;
    std::vector<variable> items_;
    std::vector<std::uint32_t> first_placement_;
    std::vector<placement> placements_;
    std::vector<std::uint32_t> parts_;
    std::vector<std::uint32_t> jobs_of_item_;
};

}  // namespace tagferry::s7
