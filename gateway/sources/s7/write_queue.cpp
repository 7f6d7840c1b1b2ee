#include "gateway/sources/s7/write_queue.hpp"

#include <algorithm>

namespace tagferry::gateway {

write_queue::write_queue(std::size_t most, std::size_t max_items)
    : max_items_(max_items), writes_(most) {
    order_.reserve(most);
}

void write_queue::make_room(std::size_t largest_value) {
    const std::size_t all = std::min(most_bytes, largest_value * writes_.size());
    bytes_.resize(std::max({bytes_.size(), largest_value, all}));
}

reason_id write_queue::accept(const scan_set::entry& tag, std::span<const std::uint8_t> text_maxima,
                              const source_write& write, std::uint64_t ticket,
                              write_listener& listener, transport::time_point now) noexcept {
    write_target target;
    if (!find_target(tag, text_maxima, write, target)) {
        return reason_id::write_out_of_range;
    }
    const auto free = std::ranges::find(writes_, false, &pending::active);
    if (free == writes_.end() || bytes_.size() - used_ < target.plc_bytes) {
        return reason_id::busy;
    }
    const auto room = std::span(bytes_).subspan(used_, target.plc_bytes);
    if (const auto refused = encode_write(target, write.value, room); refused != reason_id::none) {
        return refused;
    }
    *free = {};
    free->ticket = ticket;
    free->listener = &listener;
    free->accepted = now;
    free->tag = tag.handle;
    free->where = target.where;
    free->type = target.type;
    free->first = used_;
    free->size = target.plc_bytes;
    free->active = true;
    used_ += target.plc_bytes;
    order_.push_back(static_cast<std::uint32_t>(free - writes_.begin()));
    outstanding_.add(1);
    return reason_id::none;
}

bool write_queue::is_first_of_its_tag(std::size_t position) const noexcept {
    const tag_handle tag = writes_[order_[position]].tag;
    return std::none_of(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(position),
                        [&](std::uint32_t before) { return writes_[before].tag == tag; });
}

std::size_t write_queue::submit_to(s7::client_engine& engine, std::uint64_t tag_bits,
                                   transport::time_point now) {
    std::size_t submitted = 0;
    for (std::size_t position = 0; position < order_.size() && engine.free_slots() != 0;) {
        const std::size_t number = order_[position];
        pending& write = writes_[number];
        if (write.with_engine || !is_first_of_its_tag(position)) {
            ++position;
            continue;
        }
        if (!write.started && !write.listener->write_starting(write.ticket)) {
            end(number, {}, now);
            position = 0;  // the listener may have accepted, and others may go now
            continue;
        }
        write.started = true;
        if (!submit(engine, number, tag_bits)) {
            return submitted;
        }
        ++submitted;
        ++position;
    }
    return submitted;
}

bool write_queue::submit(s7::client_engine& engine, std::size_t number, std::uint64_t tag_bits) {
    pending& write = writes_[number];
    write_job job;
    next_write_job(write.where, write.type, std::span(bytes_).subspan(write.first, write.size),
                   {engine.limits().pdu_size, max_items_}, write.next, job);
    if (!engine.submit_write(tag_bits | number, std::span(job.items).first(job.count))) {
        return false;
    }
    for (std::size_t i = 0; i < job.count; ++i) {
        write.sizes[i] = static_cast<std::uint16_t>(job.items[i].bytes.size());
    }
    write.next = job.next;
    write.last = job.last;
    write.with_engine = true;
    return true;
}

std::optional<write_queue::ended_write> write_queue::job_finished(std::size_t number,
                                                                  const s7::job_result& result,
                                                                  transport::time_point now) {
    pending& write = writes_[number];
    const write_step step = step_of(result, write.sizes, write.last, write.written);
    write.with_engine = false;
    write.written += step.bytes;
    bytes_written_.add(step.bytes);
    if (!step.ended) {
        return std::nullopt;
    }
    return end(number, step.outcome, now);
}

write_queue::ended_write write_queue::end(std::size_t number, const write_outcome& outcome,
                                          transport::time_point now) {
    pending& write = writes_[number];
    durations_.count(now - write.accepted);
    const ended_write ended{write.tag, outcome.reason != reason_id::write_not_sent};
    write_listener* const listener = write.listener;
    const std::uint64_t ticket = write.ticket;
    // The values behind it move up: few, short, and most writes end in the order they came.
    const auto from = bytes_.begin() + static_cast<std::ptrdiff_t>(write.first + write.size);
    std::copy(from, bytes_.begin() + static_cast<std::ptrdiff_t>(used_),
              bytes_.begin() + static_cast<std::ptrdiff_t>(write.first));
    used_ -= write.size;
    for (const std::uint32_t other : order_) {
        if (writes_[other].first > write.first) {
            writes_[other].first -= write.size;
        }
    }
    std::erase(order_, static_cast<std::uint32_t>(number));
    write.active = false;
    outstanding_.subtract(1);
    listener->write_finished(ticket, outcome);
    return ended;
}

void write_queue::end_all(transport::time_point now) {
    for (std::size_t position = 0; position < order_.size();) {
        if (writes_[order_[position]].with_engine) {
            ++position;
            continue;
        }
        const pending& write = writes_[order_[position]];
        write_outcome outcome;
        outcome.bytes_written = write.written;
        if (write.written != 0) {
            outcome.reason = reason_id::write_partly_written;
        }
        end(order_[position], outcome, now);
        position = 0;
    }
}

}  // namespace tagferry::gateway
