#include "gateway/sources/s7/scan_set.hpp"

#include "gateway/sources/s7/s7_types.hpp"
#include "protocols/s7/types/codec.hpp"
#include "transport/bytes/endian.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tagferry::gateway {

void scan_set::add(tag_handle handle, const s7::address& where, const s7::data_type& type,
                   transport::duration stale_after, bool writable, const entry* known) {
    entry added;
    added.handle = handle;
    added.where = where;
    added.type = type;
    added.plc_bytes = static_cast<std::uint32_t>(s7::plc_size(type, where.bit));
    added.slot_bytes = static_cast<std::uint32_t>(value_size(to_value_type(type)));
    added.stale_after = stale_after;
    added.writable = writable;
    if (known != nullptr) {
        added.last_arrival = known->last_arrival;
        added.delivered = known->delivered;
        added.stale = known->stale;
        added.failed = known->failed;
        added.alone = known->alone && !known->suspect && known->where == where;
    }
    added.first_text = static_cast<std::uint32_t>(text_maxima_.size());
    if (type.base == s7::base_type::string) {
        text_maxima_.insert(text_maxima_.end(), type.elements, type.string_length);
    }
    entries_.push_back(added);
}

void scan_set::plan(const s7::read_plan_options& options, transport::time_point now) {
    note_arrivals();
    std::vector<s7::wanted_item> wanted;
    wanted.reserve(entries_.size());
    std::size_t largest_slot = 0;
    for (const entry& tag : entries_) {
        s7::wanted_item item;
        item.where = tag.where.where;
        item.block = tag.where.block;
        item.start_byte = tag.where.byte;
        item.length = tag.plc_bytes;
        item.granule = static_cast<std::uint32_t>(s7::plc_granule(tag.type));
        item.alone = tag.alone;
        wanted.push_back(item);
        largest_slot = std::max<std::size_t>(largest_slot, tag.slot_bytes);
    }
    plan_.build(wanted, options);
    slot_.assign(largest_slot, std::byte{});
    wants_new_plan_ = false;
    last_answers_.assign(plan_.job_count(), now);
    shortest_stale_.assign(plan_.job_count(), transport::duration::max());
    number_parts();
}

void scan_set::number_parts() {
    for (entry& tag : entries_) {
        tag.parts = 0;
        tag.parts_seen = 0;
    }
    first_placement_ = plan_.job_count() == 0 ? nullptr : plan_.job(0).placements.data();
    part_numbers_.clear();
    routes_.clear();
    for (std::size_t job = 0; job < plan_.job_count(); ++job) {
        for (const s7::placement& placed : plan_.job(job).placements) {
            entry& tag = entries_[placed.item];
            if (tag.parts == 0) {
                tag.first_job = static_cast<std::uint32_t>(job);
            }
            tag.last_job = static_cast<std::uint32_t>(job);
            tag.placement = static_cast<std::uint32_t>(routes_.size());
            routes_.push_back({tag.handle, static_cast<std::uint16_t>(placed.block_offset),
                               tag.where.bit, route::checked});
            part_numbers_.push_back(tag.parts++);
            shortest_stale_[job] = std::min(shortest_stale_[job], tag.stale_after);
            if (tag.delivered) {
                last_answers_[job] = std::min(last_answers_[job], tag.last_arrival);
            }
        }
    }
    std::size_t parts = 0;
    std::size_t bytes = 0;
    for (entry& tag : entries_) {
        if (tag.parts > 1) {
            tag.first_part = static_cast<std::uint32_t>(parts);
            tag.assembly_offset = static_cast<std::uint32_t>(bytes);
            parts += tag.parts;
            bytes += tag.plc_bytes;
        }
    }
    part_marks_.assign(parts, 0);
    assembly_.assign(bytes, std::byte{});
}

scan_set::route scan_set::route_of(const s7::data_type& type) noexcept {
    if (type.array || type.base == s7::base_type::string) {
        return route::checked;
    }
    if (type.base == s7::base_type::boolean) {
        return route::bit;
    }
    switch (s7::plc_element_size(type)) {
        case 1:
            return route::byte;
        case 2:
            return route::two_bytes;
        case 4:
            return route::four_bytes;
        default:
            return route::eight_bytes;
    }
}

std::uint64_t scan_set::number_in(std::span<const std::byte> item,
                                  const routed_value& which) noexcept {
    const std::byte* const at = item.data() + which.offset;
    if (which.by == route::four_bytes) {  // most tags
        return transport::load<std::uint32_t>(at, std::endian::big);
    }
    switch (which.by) {
        case route::bit:
            return std::to_integer<std::uint64_t>(*at >> which.bit) & 1U;
        case route::byte:
            return std::to_integer<std::uint64_t>(*at);
        case route::two_bytes:
            return transport::load<std::uint16_t>(at, std::endian::big);
        default:
            return transport::load<std::uint64_t>(at, std::endian::big);
    }
}

bool scan_set::is_settled(const entry& tag) const noexcept {
    return tag.parts == 1 && routes_[tag.placement].by != route::checked;
}

void scan_set::settle(entry& tag) noexcept {
    if (tag.parts == 1) {
        routes_[tag.placement].by = route_of(tag.type);
    }
}

void scan_set::unsettle(entry& tag) noexcept {
    if (is_settled(tag)) {
        tag.last_arrival = last_answers_[tag.first_job];
        routes_[tag.placement].by = route::checked;
    }
}

transport::time_point scan_set::arrival_of(const entry& tag) const noexcept {
    return is_settled(tag) ? last_answers_[tag.first_job] : tag.last_arrival;
}

void scan_set::note_arrivals() noexcept {
    for (entry& tag : entries_) {
        unsettle(tag);
    }
}

void scan_set::forget_parts() noexcept {
    std::ranges::fill(part_marks_, std::uint8_t{0});
    for (entry& tag : entries_) {
        tag.parts_seen = 0;
    }
}

void scan_set::take(std::size_t job, const s7::job_result& result, const publication& to) {
    const s7::planned_job planned = plan_.job(job);
    switch (result.outcome) {
        case s7::job_outcome::answered:
            for (std::size_t item = 0; item < result.items.size(); ++item) {
                take_item(planned, item, result.items[item], to);
            }
            publish_numbers(to);
            last_answers_[job] = to.arrived;
            return;
        case s7::job_outcome::refused:
            fail(planned, reason_id::job_refused, result.error, to);
            return;
        case s7::job_outcome::reply_unusable:
            fail(planned, reason_id::reply_unusable, -1, to);
            return;
        case s7::job_outcome::timed_out:
            fail(planned, reason_id::job_timed_out, -1, to);
            return;
        case s7::job_outcome::link_lost:
        case s7::job_outcome::not_sent:
            return;
    }
}

void scan_set::fail(const s7::planned_job& job, reason_id reason, int device_code,
                    const publication& to) {
    for (const s7::placement& placed : job.placements) {
        publish_failure(entries_[placed.item], reason, device_code, to);
    }
}

std::vector<std::uint32_t> scan_set::entries_of(std::size_t job) const {
    std::vector<std::uint32_t> found;
    for (const s7::placement& placed : plan_.job(job).placements) {
        found.push_back(placed.item);
    }
    return found;
}

void scan_set::take_item(const s7::planned_job& job, std::size_t item,
                         const s7::item_result& result, const publication& to) {
    const auto placements = job.placements_of(item);
    if (result.code != s7::item_code::success) {
        ++*to.item_errors;
        // One wrong address takes its neighbours along: read them apart before blaming any.
        if (placements.size() > 1) {
            separate(placements);
            return;
        }
        for (const s7::placement& placed : placements) {
            const auto code = static_cast<std::uint8_t>(result.code);
            publish_failure(entries_[placed.item], reason_of_s7_read_code(code), code, to);
        }
        return;
    }
    *to.bytes_read += result.bytes.size();
    const auto first = static_cast<std::size_t>(placements.data() - first_placement_);
    const auto routed = std::span<const routed_value>(routes_).subspan(first, placements.size());
    for (std::size_t i = 0; i < placements.size(); ++i) {
        i += take_numbers(routed.subspan(i), result.bytes, to);
        if (i == placements.size()) {
            return;
        }
        const s7::placement& placed = placements[i];
        const auto bytes = result.bytes.subspan(placed.block_offset, placed.length);
        entry& tag = entries_[placed.item];
        if (tag.parts == 1) {
            publish_value(tag, bytes, to);
        } else {
            take_part(placed, bytes, to);
        }
    }
}

std::size_t scan_set::take_numbers(std::span<const routed_value> routed,
                                   std::span<const std::byte> item,
                                   const publication& to) noexcept {
    std::size_t waiting = number_count_;
    const routed_value* next = routed.data();
    for (; next != routed.data() + routed.size() && next->by != route::checked; ++next) {
        if (waiting == numbers_at_once) {
            number_count_ = waiting;
            publish_numbers(to);
            waiting = 0;
        }
        numbers_[waiting++] = {next->tag, number_in(item, *next)};
    }
    number_count_ = waiting;
    return static_cast<std::size_t>(next - routed.data());
}

void scan_set::publish_numbers(const publication& to) noexcept {
    to.writer.publish_numbers(std::span(numbers_).first(number_count_), to.arrived_wall,
                              to.now_wall);
    number_count_ = 0;
}

void scan_set::separate(std::span<const s7::placement> placements) {
    for (const s7::placement& placed : placements) {
        entry& tag = entries_[placed.item];
        if (!tag.suspect) {
            unsettle(tag);
            tag.suspect = true;
            tag.alone = true;
            ++suspects_;
        }
    }
    wants_new_plan_ = true;
}

void scan_set::take_part(const s7::placement& part, std::span<const std::byte> bytes,
                         const publication& to) {
    entry& tag = entries_[part.item];
    const std::uint32_t number = part_numbers_[static_cast<std::size_t>(&part - first_placement_)];
    std::byte* const value = assembly_.data() + tag.assembly_offset;
    std::memcpy(value + part.item_offset, bytes.data(), bytes.size());
    std::uint8_t& mark = part_marks_[tag.first_part + number];
    tag.parts_seen += mark == 0 ? 1 : 0;
    mark = 1;
    if (tag.parts_seen == tag.parts) {
        std::fill_n(part_marks_.begin() + tag.first_part, tag.parts, std::uint8_t{0});
        tag.parts_seen = 0;
        publish_value(tag, {value, tag.plc_bytes}, to);
    }
}

void scan_set::publish_value(entry& tag, std::span<const std::byte> plc, const publication& to) {
    if (tag.suspect) {
        tag.suspect = false;
        tag.alone = false;
        --suspects_;
        wants_new_plan_ = wants_new_plan_ || suspects_ == 0;
    }
    const auto slot = std::span(slot_).first(tag.slot_bytes);
    // A shorter text leaves nothing of the longer one before it.
    std::ranges::fill(slot, std::byte{});
    const s7::decode_result decoded = s7::decode_value(tag.type, tag.where.bit, plc, slot);
    if (decoded == s7::decode_result::bad_format) {
        publish_failure(tag, reason_id::reply_unusable, -1, to);
        return;
    }
    if (tag.type.base == s7::base_type::string) {
        const std::size_t stride = s7::plc_element_stride(tag.type);
        for (std::size_t i = 0; i < tag.type.elements; ++i) {
            text_maxima_[tag.first_text + i] = std::to_integer<std::uint8_t>(plc[i * stride]);
        }
    }
    tag.failed = reason_id::none;
    tag.last_arrival = to.arrived;
    tag.delivered = true;
    tag.stale = false;
    const bool good = decoded == s7::decode_result::good;
    to.writer.publish(tag.handle,
                      good ? status_code::good : status_code::uncertain_substitute_value,
                      good ? reason_id::none : reason_id::uninitialised_string, to.arrived_wall,
                      to.now_wall, slot);
    settle(tag);
}

void scan_set::publish_failure(entry& tag, reason_id reason, int device_code,
                               const publication& to) {
    unsettle(tag);
    const bool said_by_plc = reason != reason_id::job_timed_out;
    if (tag.suspect && said_by_plc) {
        // Found: it stays alone, and the others go together again.
        tag.suspect = false;
        --suspects_;
        wants_new_plan_ = wants_new_plan_ || suspects_ == 0;
    }
    if (tag.parts > 1) {
        std::fill_n(part_marks_.begin() + tag.first_part, tag.parts, std::uint8_t{0});
        tag.parts_seen = 0;
    }
    tag.delivered = false;
    tag.stale = false;
    to.writer.publish_status(tag.handle, reason, to.arrived_wall, to.now_wall);
    if (tag.failed != reason) {
        tag.failed = reason;
        if (said_by_plc) {
            to.failures.tag_failed(tag.handle, reason, device_code);
        }
    }
}

bool scan_set::mark(std::size_t first, std::size_t count, reason_id reason, bool keep_value,
                    const publication& to) {
    const std::size_t end = std::min(entries_.size(), first + count);
    for (std::size_t i = first; i < end; ++i) {
        entry& tag = entries_[i];
        unsettle(tag);
        tag.delivered = false;
        tag.stale = false;
        if (keep_value && to.writer.has_value(tag.handle)) {
            to.writer.publish_status(tag.handle, reason_id::link_down_last_value, std::nullopt,
                                     to.now_wall);
        } else {
            to.writer.publish_status(tag.handle, reason, to.now_wall, to.now_wall);
        }
    }
    return end < entries_.size();
}

transport::time_point scan_set::oldest_answer() const noexcept {
    const auto oldest = std::ranges::min_element(last_answers_);
    return oldest == last_answers_.end() ? transport::time_point::max() : *oldest;
}

void scan_set::mark_stale(const publication& to) {
    for (std::size_t job = 0; job < plan_.job_count(); ++job) {
        if (to.arrived - last_answers_[job] <= shortest_stale_[job]) {
            continue;
        }
        for (const s7::placement& placed : plan_.job(job).placements) {
            entry& tag = entries_[placed.item];
            if (tag.delivered && !tag.stale && to.arrived - arrival_of(tag) > tag.stale_after) {
                unsettle(tag);
                tag.stale = true;
                to.writer.publish_status(tag.handle, reason_id::stale, std::nullopt, to.now_wall);
            }
        }
    }
}

}  // namespace tagferry::gateway
