#include "protocols/s7/session/job_table.hpp"

#include <algorithm>
#include <stdexcept>

namespace tagferry::s7 {

job_table::job_table(std::size_t slots, transport::pinned_pool& pool)
    : slots_(slots), free_count_(slots) {
    for (job_slot& slot : slots_) {
        slot.buffer = pool.rent();
        if (!slot.buffer) {
            throw std::length_error("the pool has too few slots for the jobs of an S7 client");
        }
    }
}

std::optional<std::size_t> job_table::acquire() noexcept {
    const auto found = std::find_if(slots_.begin(), slots_.end(), [](const job_slot& slot) {
        return slot.state == job_state::free;
    });
    if (found == slots_.end()) {
        return std::nullopt;
    }
    // Zero is what PLCs put into messages that answer nothing. There are at most `max_slots`
    // references in use, so that this ends soon.
    const auto in_use = [this](std::uint16_t reference) {
        return std::any_of(slots_.begin(), slots_.end(), [&](const job_slot& slot) {
            return slot.state != job_state::free && slot.reference == reference;
        });
    };
    do {
        ++last_reference_;
    } while (last_reference_ == 0 || in_use(last_reference_));
    found->reference = last_reference_;
    found->sent = {};
    return static_cast<std::size_t>(found - slots_.begin());
}

void job_table::enqueue(std::size_t index) noexcept {
    job_slot& slot = slots_[index];
    slot.state = job_state::queued;
    --free_count_;
    queue& to = slot.kind == job_kind::read ? reads_ : writes_;
    if (to.count == 0) {
        to.head = static_cast<std::uint32_t>(index);
    } else {
        slots_[to.tail].next = static_cast<std::uint32_t>(index);
    }
    to.tail = static_cast<std::uint32_t>(index);
    ++to.count;
}

void job_table::pop(queue& from) noexcept {
    from.head = slots_[from.head].next;
    --from.count;
}

std::optional<std::size_t> job_table::next_to_send() const noexcept {
    if (in_flight_count_ >= window_) {
        return std::nullopt;
    }
    // Places that jobs given up still hold are not there for the others.
    const std::size_t usable = window_ - abandoned_count_;
    const bool read_first =
        usable == 1 ? last_was_write_ && reads_.count != 0 : writes_in_flight_ + 1 >= usable;
    if (writes_.count != 0 && !read_first) {
        return writes_.head;
    }
    return reads_.count != 0 ? std::optional<std::size_t>{reads_.head} : std::nullopt;
}

void job_table::mark_sent(std::size_t index, transport::time_point now) noexcept {
    job_slot& slot = slots_[index];
    const bool is_write = slot.kind == job_kind::write;
    pop(is_write ? writes_ : reads_);
    writes_in_flight_ += is_write ? 1U : 0U;
    last_was_write_ = is_write;
    slot.state = job_state::sent;
    slot.sent = now;
    slot.write_pending = true;
    in_flight_[in_flight_count_++] = static_cast<std::uint8_t>(index);
}

void job_table::mark_written(std::size_t index) noexcept {
    job_slot& slot = slots_[index];
    slot.write_pending = false;
    if (slot.state == job_state::done) {
        slot.state = job_state::free;
        ++free_count_;
    }
}

void job_table::remove_from_flight(std::size_t index) noexcept {
    const auto end = in_flight_.begin() + static_cast<std::ptrdiff_t>(in_flight_count_);
    const auto found = std::find(in_flight_.begin(), end, static_cast<std::uint8_t>(index));
    if (found != end) {
        std::move(found + 1, end, found);
        --in_flight_count_;
        if (slots_[index].state == job_state::abandoned) {
            --abandoned_count_;
        } else if (slots_[index].kind == job_kind::write) {
            --writes_in_flight_;
        }
    }
}

void job_table::release(std::size_t index) noexcept {
    job_slot& slot = slots_[index];
    if (slot.state == job_state::sent || slot.state == job_state::abandoned) {
        remove_from_flight(index);
    }
    slot.state = slot.write_pending ? job_state::done : job_state::free;
    free_count_ += slot.state == job_state::free ? 1U : 0U;
}

std::optional<std::size_t> job_table::find(std::uint16_t reference) const noexcept {
    for (const std::uint8_t index : in_flight()) {
        if (slots_[index].reference == reference) {
            return index;
        }
    }
    return std::nullopt;
}

void job_table::abandon(std::size_t index) noexcept {
    job_slot& slot = slots_[index];
    slot.state = job_state::abandoned;
    ++abandoned_count_;
    writes_in_flight_ -= slot.kind == job_kind::write ? 1U : 0U;
}

std::optional<std::size_t> job_table::take_queued() noexcept {
    queue& from = writes_.count != 0 ? writes_ : reads_;
    if (from.count == 0) {
        return std::nullopt;
    }
    const std::size_t index = from.head;
    pop(from);
    return index;
}

}  // namespace tagferry::s7
