#include "protocols/s7/session/read_plan.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace tagferry::s7 {

namespace {

constexpr std::uint32_t no_gap = std::numeric_limits<std::uint32_t>::max();

/// A wanted item, or as much of it as one reply takes.
struct piece {
    std::uint32_t item;
    std::uint32_t item_offset;
    std::uint32_t start;
    std::uint32_t length;
    std::uint16_t block;
    area where;
    bool alone;

    std::uint32_t end() const noexcept { return start + length; }
};

/// Bytes that one request item may cover.
struct segment {
    std::uint32_t start;
    std::uint32_t end;
    std::uint32_t gap_before;  // from the segment before it, or no_gap when they cannot be joined
    std::uint32_t first_piece;
    std::uint32_t piece_count;
};

constexpr std::size_t even(std::size_t size) noexcept {
    return size + size % 2;
}

bool same_place(const piece& a, const piece& b) noexcept {
    return a.where == b.where && a.block == b.block && !a.alone && !b.alone;
}

bool in_address_order(const piece& a, const piece& b) noexcept {
    if (a.where != b.where) {
        return a.where < b.where;
    }
    if (a.block != b.block) {
        return a.block < b.block;
    }
    // At one start the longest comes first, so that the others lie within it.
    return a.start != b.start ? a.start < b.start : a.length > b.length;
}

void check_options(const read_plan_options& options) {
    if (options.pdu_size < smallest_pdu || options.pdu_size > largest_pdu) {
        throw std::invalid_argument("read plan: PDU size out of range");
    }
    if (options.max_items == 0 || options.max_items > largest_item_count) {
        throw std::invalid_argument("read plan: items per job out of range");
    }
}

void check_item(const wanted_item& item, std::size_t index) {
    constexpr std::uint32_t space = max_start_byte + 1;
    if (item.length == 0 || item.length > space || item.start_byte > space - item.length) {
        throw std::invalid_argument("read plan: item " + std::to_string(index) +
                                    " is empty or beyond what can be addressed");
    }
}

}  // namespace

class read_plan_builder {
  public:
    read_plan_builder(read_plan& plan, const read_plan_options& options)
        : plan_(plan),
          options_(options),
          most_items_(std::min(options.max_items,
                               (options.pdu_size - read_request_size(0)) / variable_size)) {}

    void build(std::span<const wanted_item> wanted);

  private:
    struct assignment {
        std::uint32_t block;
        std::uint32_t piece;
    };

    void cut(std::span<const wanted_item> wanted);
    void add(std::uint32_t index);
    bool covered_before(const piece& wanted) const noexcept;
    bool grow(std::uint32_t index);
    bool fits();
    void choose_merges();
    void finish_job();
    void place();

    read_plan& plan_;
    const read_plan_options options_;
    const std::size_t most_items_;
    std::vector<piece> pieces_;
    std::vector<segment> segments_;       // of the job being filled
    std::vector<std::uint32_t> gaps_;     // scratch
    std::vector<bool> joined_to_before_;  // by segment: the choice of `choose_merges`
    std::vector<assignment> assignments_;
};

void read_plan_builder::cut(std::span<const wanted_item> wanted) {
    const std::size_t capacity = options_.pdu_size - read_reply_size(1, 0);
    for (std::uint32_t i = 0; i < wanted.size(); ++i) {
        const wanted_item& item = wanted[i];
        check_item(item, i);
        // An element larger than a reply has to be torn; everything else is cut between elements.
        const std::size_t granule = item.granule == 0 || item.granule > capacity ? 1 : item.granule;
        const auto step = static_cast<std::uint32_t>(capacity - capacity % granule);
        const std::uint32_t whole = item.length <= capacity ? item.length : step;
        for (std::uint32_t offset = 0; offset < item.length; offset += whole) {
            pieces_.push_back({i, offset, item.start_byte + offset,
                               std::min(whole, item.length - offset), item.block, item.where,
                               item.alone});
        }
    }
    std::sort(pieces_.begin(), pieces_.end(), in_address_order);
}

/// Decides which neighbours share a request item, when there are more segments than items: those
/// with the smallest gaps between them, no more than necessary.
void read_plan_builder::choose_merges() {
    joined_to_before_.assign(segments_.size(), false);
    if (segments_.size() <= most_items_) {
        return;
    }
    gaps_.clear();
    for (const segment& one : segments_) {
        gaps_.push_back(one.gap_before);
    }
    std::size_t wanted = segments_.size() - most_items_;
    const auto limit_at = gaps_.begin() + static_cast<std::ptrdiff_t>(wanted - 1);
    std::nth_element(gaps_.begin(), limit_at, gaps_.end());
    const std::uint32_t limit = *limit_at;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        if (segments_[i].gap_before < limit) {
            joined_to_before_[i] = true;
            --wanted;
        }
    }
    for (std::size_t i = 0; i < segments_.size() && wanted != 0 && limit != no_gap; ++i) {
        if (segments_[i].gap_before == limit) {
            joined_to_before_[i] = true;
            --wanted;
        }
    }
}

/// Whether the segments can be one job, merged as `choose_merges` says.
bool read_plan_builder::fits() {
    if (segments_.size() > most_items_ && !options_.merge_across_gaps) {
        return false;
    }
    choose_merges();
    std::size_t items = 0;
    std::size_t data = 0;
    std::size_t length = 0;
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        if (joined_to_before_[i]) {
            length += segments_[i].end - segments_[i - 1].end;
        } else {
            data += even(length);  // a fill byte follows every odd item but the last
            length = segments_[i].end - segments_[i].start;
            ++items;
        }
    }
    data += length;
    return items <= most_items_ && read_reply_size(items, data) <= options_.pdu_size;
}

/// Adds a piece to the segments, which then may be too much for a job.
/// @return true when it went into the last segment, false when it made one of its own.
bool read_plan_builder::grow(std::uint32_t index) {
    const piece& added = pieces_[index];
    std::uint32_t gap = no_gap;
    if (!segments_.empty() && same_place(pieces_[segments_.back().first_piece], added)) {
        segment& last = segments_.back();
        // Below this gap one item is never longer than two: an item header is saved, and the fill
        // byte of an odd item.
        const std::uint32_t cheap = item_header_size + (last.end - last.start) % 2;
        if (added.start <= last.end + cheap) {
            last.end = std::max(last.end, added.end());
            ++last.piece_count;
            return true;
        }
        gap = added.start - last.end;
    }
    segments_.push_back({added.start, added.end(), gap, index, 1});
    return false;
}

bool read_plan_builder::covered_before(const piece& wanted) const noexcept {
    if (plan_.items_.empty() || wanted.alone) {
        return false;
    }
    const variable& last = plan_.items_.back();
    return pieces_[assignments_.back().piece].alone == false &&
           last.area_code == static_cast<std::uint8_t>(wanted.where) &&
           last.block == wanted.block && last.start_byte() <= wanted.start &&
           last.start_byte() + last.count >= wanted.end();
}

void read_plan_builder::add(std::uint32_t index) {
    if (segments_.empty() && covered_before(pieces_[index])) {
        assignments_.push_back({static_cast<std::uint32_t>(plan_.items_.size() - 1), index});
        return;
    }
    const segment before = segments_.empty() ? segment{} : segments_.back();
    const bool in_last = grow(index);
    if (fits()) {
        return;
    }
    if (in_last) {
        segments_.back() = before;
    } else {
        segments_.pop_back();
    }
    finish_job();
    add(index);
}

void read_plan_builder::finish_job() {
    choose_merges();
    const auto first_item = static_cast<std::uint32_t>(plan_.items_.size());
    for (std::size_t i = 0; i < segments_.size(); ++i) {
        const segment& one = segments_[i];
        const piece& first = pieces_[one.first_piece];
        if (joined_to_before_[i]) {
            variable& grown = plan_.items_.back();
            grown.count = static_cast<std::uint16_t>(one.end - grown.start_byte());
        } else {
            plan_.items_.push_back(byte_variable(first.where, first.block, one.start,
                                                 static_cast<std::uint16_t>(one.end - one.start)));
        }
        for (std::uint32_t p = 0; p < one.piece_count; ++p) {
            assignments_.push_back(
                {static_cast<std::uint32_t>(plan_.items_.size() - 1), one.first_piece + p});
        }
    }
    plan_.jobs_.push_back(
        {first_item, static_cast<std::uint32_t>(plan_.items_.size()) - first_item});
    segments_.clear();
}

/// Turns the assignments, which are in block order, into placements.
void read_plan_builder::place() {
    plan_.placements_.reserve(assignments_.size());
    plan_.first_placement_.reserve(plan_.items_.size() + 1);
    std::size_t next = 0;
    for (std::uint32_t block = 0; block < plan_.items_.size(); ++block) {
        plan_.first_placement_.push_back(static_cast<std::uint32_t>(plan_.placements_.size()));
        for (; next < assignments_.size() && assignments_[next].block == block; ++next) {
            const piece& one = pieces_[assignments_[next].piece];
            plan_.placements_.push_back({one.item, one.item_offset,
                                         one.start - plan_.items_[block].start_byte(), one.length});
            ++plan_.parts_[one.item];
        }
    }
    plan_.first_placement_.push_back(static_cast<std::uint32_t>(plan_.placements_.size()));
    std::vector<std::uint32_t> last_job(plan_.jobs_of_item_.size(), no_gap);
    for (std::uint32_t j = 0; j < plan_.jobs_.size(); ++j) {
        for (const placement& one : plan_.job(j).placements) {
            plan_.jobs_of_item_[one.item] += last_job[one.item] == j ? 0U : 1U;
            last_job[one.item] = j;
        }
    }
}

void read_plan_builder::build(std::span<const wanted_item> wanted) {
    cut(wanted);
    plan_.parts_.assign(wanted.size(), 0);
    plan_.jobs_of_item_.assign(wanted.size(), 0);
    for (std::uint32_t i = 0; i < pieces_.size(); ++i) {
        add(i);
    }
    if (!segments_.empty()) {
        finish_job();
    }
    place();
}

void read_plan::build(std::span<const wanted_item> wanted, const read_plan_options& options) {
    check_options(options);
    read_plan built;
    read_plan_builder(built, options).build(wanted);
    *this = std::move(built);
}

planned_job read_plan::job(std::size_t index) const noexcept {
    const job_range& range = jobs_[index];
    const std::uint32_t first = first_placement_[range.first_item];
    const std::uint32_t end = first_placement_[range.first_item + range.item_count];
    return {std::span(items_).subspan(range.first_item, range.item_count),
            std::span(first_placement_).subspan(range.first_item, range.item_count + 1),
            std::span(placements_).subspan(first, end - first)};
}

}  // namespace tagferry::s7
