// Which items have something to report, and how it is written.
#include "protocols/opcua/encoding/data_value.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "protocols/opcua/subscription/monitor.hpp"

#include <algorithm>

namespace tagferry::opcua {
namespace {

// Client handle, mask, status and both timestamps, and what an encoder may leave of a chunk because
// a number is never split over two.
constexpr std::size_t notification_overhead = 64;

// Bytes of a value's Variant at most.
std::size_t variant_bound(const value_view& value) noexcept {
    const auto elements = static_cast<std::size_t>(std::max(value.array_length, 1));
    // A string's length takes two bytes more on the wire than in its slot.
    return value.bytes.size() +
           (slot_element_size(value.type) == 0 ? elements * 2 : std::size_t{0});
}

}  // namespace

void monitor::put_on_list(std::uint32_t& first, std::uint32_t& last,
                          std::uint32_t number) noexcept {
    monitored_item& item = items_[number];
    item.ready_next = 0;
    item.ready_previous = last;
    (last != 0 ? items_[last].ready_next : first) = number;
    last = number;
}

void monitor::take_off_list(std::uint32_t& first, std::uint32_t& last,
                            std::uint32_t number) noexcept {
    monitored_item& item = items_[number];
    (item.ready_previous != 0 ? items_[item.ready_previous].ready_next : first) = item.ready_next;
    (item.ready_next != 0 ? items_[item.ready_next].ready_previous : last) = item.ready_previous;
    item.ready_next = item.ready_previous = 0;
}

void monitor::make_ready(std::uint32_t number) {
    monitored_item& item = items_[number];
    if (item.is_ready) {
        return;
    }
    subscription& owner = of(item);
    if (item.is_deferred) {
        take_off_list(owner.first_deferred, owner.last_deferred, number);
        item.is_deferred = false;
        --owner.deferred_count;
    }
    if (owner.first_ready == 0) {
        owner.changed_at = since_;
    }
    item.is_ready = true;
    put_on_list(owner.first_ready, owner.last_ready, number);
}

void monitor::take_ready(std::uint32_t number) noexcept {
    monitored_item& item = items_[number];
    if (item.is_ready) {
        subscription& owner = of(item);
        take_off_list(owner.first_ready, owner.last_ready, number);
        item.is_ready = false;
    }
}

void monitor::defer(std::uint32_t number) noexcept {
    monitored_item& item = items_[number];
    if (item.is_ready || item.is_deferred) {
        return;  // it is looked at again after what it has to report
    }
    subscription& owner = of(item);
    item.is_deferred = true;
    ++owner.deferred_count;
    put_on_list(owner.first_deferred, owner.last_deferred, number);
}

// The item has sampled something worth a notification.
void monitor::notify(std::uint32_t number) {
    const monitored_item& item = items_[number];
    if (item.mode == monitoring_mode::reporting) {
        make_ready(number);
    }
    if (item.first_link != 0) {
        trigger(item);
    }
}

// What linked items have sampled is reported; that triggers nothing further, so links in a circle
// do no harm (Part 4 §5.13.1.6).
void monitor::trigger(const monitored_item& item) {
    for (std::uint32_t at = item.first_link; at != 0; at = links_[at].next) {
        const std::uint32_t target = links_[at].target;
        if (items_[target].mode == monitoring_mode::sampling && has_something(items_[target])) {
            make_ready(target);
        }
    }
}

monitor::written monitor::write_next(subscription& of, encoder& out, std::size_t room, bool whole,
                                     transport::time_point now) {
    const std::uint32_t number = of.first_ready;
    monitored_item& item = items_[number];
    if (!item.is_direct) {
        const written done = write_queued(item, out, room, whole);
        if (done == written::yes && item.queue_count == 0) {
            take_ready(number);
            if (item.is_dirty) {
                defer(number);
            }
        }
        return done;
    }
    if (now < item.next_sample) {
        take_ready(number);
        defer(number);
        return written::no;
    }
    const written done = write_direct(item, out, room, whole);
    if (done != written::no_room) {
        item.is_dirty = false;
        take_ready(number);
    }
    if (done == written::yes) {
        set_next_sample(item, now);
    }
    return done;
}

monitor::written monitor::write_direct(monitored_item& item, encoder& out, std::size_t room,
                                       bool whole) {
    sample current;
    if (!ports_.values.read_current(own_call_, {item.tag_index, item.tag_generation},
                                    value_scratch_, current)) {
        current = {};
        current.status = status::bad_node_id_unknown;  // E40
        current.server_time = time_.wall_now();
    }
    if (current.server_time == item.reported_time) {
        return written::no;  // the mark was older than what was reported
    }
    if (variant_bound(current.value) + notification_overhead > room) {
        if (!whole) {
            return written::no_room;
        }
        current.value = {};
        current.status = status::bad_encoding_limits_exceeded;
    }
    item.reported_time = current.server_time;
    out.u32(item.client_handle);
    data_value_writer writer{out, item.timestamps};
    if (number_sample number; number_of(current, number)) {
        write_number(out, number, writer);
        return written::yes;
    }
    const bool has_value = current.value.type != builtin_type::null;
    writer.begin(has_value, current.status, current.source_time, current.server_time);
    if (has_value) {
        out.variant(current.value);
    }
    writer.end();
    return written::yes;
}

monitor::written monitor::write_queued(monitored_item& item, encoder& out, std::size_t room,
                                       bool whole) {
    std::size_t size = 0;
    encoded_value value = values_.front(item, size);
    if (size + notification_overhead > room) {
        if (!whole) {
            return written::no_room;
        }
        size = 0;
        value.status = status::bad_encoding_limits_exceeded;
    }
    out.u32(item.client_handle);
    data_value_writer writer{out, item.timestamps};
    writer.begin(size != 0, value.status, value.source_time, value.server_time);
    values_.write_variant(item, size, out);
    writer.end();
    values_.pop(item);
    return written::yes;
}

}  // namespace tagferry::opcua
