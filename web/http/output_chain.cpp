#include "web/http/output_chain.hpp"

#include <algorithm>

namespace tagferry::web {

std::uint32_t output_chain::filled(std::uint32_t number) const noexcept {
    const slot& held = slot_at(number);
    return number + 1 == next_ ? static_cast<std::uint32_t>(at_ - held.data) : held.filled;
}

bool output_chain::next_slot() noexcept {
    if (next_ - first_ >= slot_cap_) {
        shortage_ = shortage::cap;
        return false;
    }
    transport::pooled_buffer buffer = pool_.rent();
    if (!buffer) {
        shortage_ = shortage::pool;
        return false;
    }
    if (next_ != first_) {
        slot_at(next_ - 1).filled = filled(next_ - 1);
    }
    slot& fresh = slot_at(next_++);
    fresh.data = reinterpret_cast<char*>(buffer.bytes().data());
    fresh.filled = 0;
    fresh.pulled = 0;
    fresh.sent = 0;
    at_ = fresh.data;
    end_ = fresh.data + buffer.bytes().size() - framing_reserve;
    fresh.buffer = std::move(buffer);
    return true;
}

void output_chain::put_across(std::string_view text) noexcept {
    while (!text.empty() && open(1)) {
        const std::size_t part = std::min(text.size(), remaining());
        std::memcpy(at_, text.data(), part);
        at_ += part;
        text.remove_prefix(part);
    }
}

void output_chain::put_framing(std::string_view text) noexcept {
    std::memcpy(at_, text.data(), text.size());
    at_ += text.size();
    // From here on the slot takes no body bytes, only more framing.
    end_ = std::max(end_, at_);
}

output_chain::mark output_chain::position() const noexcept {
    if (idle()) {
        return {next_, 0};
    }
    return {next_ - 1, filled(next_ - 1)};
}

void output_chain::rollback(mark to) noexcept {
    shortage_ = shortage::none;
    while (next_ != first_ && next_ - 1 != to.slot && next_ - 1 - to.slot < 0x80000000U) {
        slot_at(--next_).buffer.reset();
    }
    if (idle()) {
        at_ = nullptr;
        end_ = nullptr;
        return;
    }
    slot& last = slot_at(next_ - 1);
    at_ = last.data + to.offset;
    end_ = std::max(at_, last.data + last.buffer.bytes().size() - framing_reserve);
    release_front();
}

std::size_t output_chain::size_since(mark from) const noexcept {
    if (idle()) {
        return 0;
    }
    std::size_t size = 0;
    for (std::uint32_t number = from.slot; number != next_; ++number) {
        size += filled(number);
    }
    return size - from.offset;
}

char* output_chain::insert_framing(mark at, std::size_t size) noexcept {
    slot& holder = slot_at(at.slot);
    char* const place = holder.data + at.offset;
    std::memmove(place + size, place, filled(at.slot) - at.offset);
    if (at.slot + 1 == next_) {
        at_ += size;
        end_ = std::max(end_, at_);
    } else {
        holder.filled += static_cast<std::uint32_t>(size);
    }
    return place;
}

void output_chain::pull(transport::send_batch& batch) noexcept {
    for (std::uint32_t number = first_; number != next_; ++number) {
        slot& held = slot_at(number);
        const std::uint32_t end = filled(number);
        if (held.pulled == end) {
            continue;
        }
        if (!batch.add(held.buffer.bytes().subspan(held.pulled, end - held.pulled))) {
            return;
        }
        held.pulled = end;
    }
}

void output_chain::written(std::size_t size) noexcept {
    while (size != 0 && first_ != next_) {
        slot& front = slot_at(first_);
        const std::size_t part = std::min<std::size_t>(size, front.pulled - front.sent);
        front.sent += static_cast<std::uint32_t>(part);
        size -= part;
        if (front.sent != filled(first_)) {
            return;
        }
        release_front();
    }
}

void output_chain::release_front() noexcept {
    while (first_ != next_ && slot_at(first_).sent == filled(first_)) {
        const bool was_last = first_ + 1 == next_;
        slot_at(first_).buffer.reset();
        ++first_;
        if (was_last) {
            at_ = nullptr;
            end_ = nullptr;
        }
    }
}

void output_chain::clear() noexcept {
    while (first_ != next_) {
        slot_at(first_++).buffer.reset();
    }
    at_ = nullptr;
    end_ = nullptr;
    shortage_ = shortage::none;
}

}  // namespace tagferry::web
