#include "protocols/opcua/subscription/value_queue.hpp"

#include <cstring>

namespace tagferry::opcua {
namespace {

// InfoType DataValue with the Overflow bit (Part 4 §7.39.1).
constexpr status_code overflow_bits = 0x0000'0480;

}  // namespace

value_queues::head value_queues::head_of(std::uint32_t value) noexcept {
    head out;
    std::memcpy(&out, store_.payload(value), sizeof out);
    return out;
}

void value_queues::set_head(std::uint32_t value, const head& to) noexcept {
    std::memcpy(store_.payload(value), &to, sizeof to);
}

void value_queues::mark_overflow(std::uint32_t value) noexcept {
    head marked = head_of(value);
    marked.status |= overflow_bits;
    set_head(value, marked);
}

std::uint32_t value_queues::store(const encoded_value& value) noexcept {
    head made;
    made.source_time = value.source_time;
    made.server_time = value.server_time;
    made.status = value.status;
    made.size = static_cast<std::uint32_t>(value.variant.size());
    block_store::writer out{store_};
    if (!out.append(std::as_bytes(std::span{&made, 1})) || !out.append(value.variant)) {
        return 0;
    }
    return out.finish();
}

bool value_queues::replace_newest(monitored_item& item, const encoded_value& value) noexcept {
    head made = head_of(item.last_value);
    made.source_time = value.source_time;
    made.server_time = value.server_time;
    made.status = value.status;
    made.size = static_cast<std::uint32_t>(value.variant.size());
    block_store::writer out{store_, item.last_value};
    const bool whole = out.append(std::as_bytes(std::span{&made, 1})) && out.append(value.variant);
    if (!whole) {
        // What stood there is gone and the new value has no room: its status is all that is left.
        made.size = 0;
        set_head(item.last_value, made);
    }
    out.finish();
    return whole;
}

bool value_queues::push(monitored_item& item, const encoded_value& value) noexcept {
    bool discarded = item.has_lost;
    bool mark_new = item.has_lost;
    if (item.queue_count == item.queue_size) {
        const bool tells = item.queue_size > 1;
        discarded = discarded || tells;
        if (!item.discard_oldest && tells) {
            item.has_lost = !replace_newest(item, value);
            mark_overflow(item.last_value);
            return false;
        }
        pop(item);
        if (tells) {
            mark_overflow(item.first_value);
        }
    }
    std::uint32_t made = store(value);
    while (made == 0 && item.queue_count != 0) {
        pop(item);
        mark_new = true;
        made = store(value);
    }
    item.has_lost = made == 0;
    if (made == 0) {
        return false;
    }
    if (item.queue_count == 0) {
        item.first_value = made;
    } else {
        head before = head_of(item.last_value);
        before.next = made;
        set_head(item.last_value, before);
    }
    item.last_value = made;
    ++item.queue_count;
    if (mark_new && item.queue_size > 1) {
        mark_overflow(made);
    }
    return !discarded && !mark_new;
}

encoded_value value_queues::front(const monitored_item& item, std::size_t& variant_size) noexcept {
    const head first = head_of(item.first_value);
    variant_size = first.size;
    return {{}, first.status, first.source_time, first.server_time};
}

void value_queues::write_variant(const monitored_item& item, std::size_t size,
                                 encoder& out) noexcept {
    store_.visit(item.first_value, sizeof(head), size, [&](bytes_view piece) { out.raw(piece); });
}

void value_queues::pop(monitored_item& item) noexcept {
    const std::uint32_t gone = item.first_value;
    item.first_value = head_of(gone).next;
    store_.release(gone);
    if (--item.queue_count == 0) {
        item.first_value = item.last_value = 0;
    }
}

void value_queues::clear(monitored_item& item) noexcept {
    while (item.queue_count != 0) {
        pop(item);
    }
    item.has_lost = false;
}

// Keeps the first `size` values, at least one, in one walk.
void value_queues::drop_newest(monitored_item& item, std::uint32_t size) noexcept {
    std::uint32_t kept = item.first_value;
    for (std::uint32_t count = 1; count < size; ++count) {
        kept = head_of(kept).next;
    }
    head last = head_of(kept);
    for (std::uint32_t gone = last.next; item.queue_count > size; --item.queue_count) {
        const std::uint32_t after = head_of(gone).next;
        store_.release(gone);
        gone = after;
    }
    last.next = 0;
    set_head(kept, last);
    item.last_value = kept;
}

std::uint32_t value_queues::resize(monitored_item& item, std::uint32_t size) noexcept {
    item.queue_size = size;
    if (item.queue_count <= size) {
        return 0;
    }
    const std::uint32_t discarded = item.queue_count - size;
    if (item.discard_oldest || size == 1) {
        while (item.queue_count > size) {
            pop(item);
        }
    } else {
        drop_newest(item, size);
    }
    if (size > 1) {
        mark_overflow(item.discard_oldest ? item.first_value : item.last_value);
    }
    return discarded;
}

bool value_queues::set_compared(monitored_item& item, bytes_view variant) noexcept {
    clear_compared(item);
    block_store::writer out{store_};
    if (!out.append(variant)) {
        return false;
    }
    item.compared = out.finish();
    item.compared_size = static_cast<std::uint32_t>(variant.size());
    return true;
}

bytes_view value_queues::compared(const monitored_item& item,
                                  std::span<std::byte> scratch) noexcept {
    if (item.compared_size <= store_.payload_size()) {
        return item.compared == 0 ? bytes_view{}
                                  : bytes_view{store_.payload(item.compared), item.compared_size};
    }
    std::size_t used = 0;
    store_.visit(item.compared, 0, item.compared_size, [&](bytes_view piece) {
        std::memcpy(scratch.data() + used, piece.data(), piece.size());
        used += piece.size();
    });
    return scratch.first(used);
}

void value_queues::clear_compared(monitored_item& item) noexcept {
    store_.release(item.compared);
    item.compared = 0;
    item.compared_size = 0;
}

}  // namespace tagferry::opcua
