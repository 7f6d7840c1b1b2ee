// What clients ask of monitored items.
#include "protocols/opcua/subscription/monitor.hpp"

#include "protocols/opcua/nodes/attributes.hpp"
#include "protocols/opcua/nodes/server_object.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tagferry::opcua {
namespace {

constexpr std::uint32_t value_attribute = static_cast<std::uint32_t>(attribute::value);

// An item's id: its place and how often the place was used before, so that the id of a deleted
// item does not name its successor.
constexpr std::uint32_t place_bits = 20;
constexpr std::uint32_t place_mask = (1U << place_bits) - 1;

// The closest multiple of what the source offers; a negative request is the publishing interval,
// and so is what is no number.
double revised_sampling(double asked, double scan_ms, double publishing_ms,
                        const limits& bounds) noexcept {
    const double least = scan_ms > 0 ? scan_ms : 0;
    double wanted = asked >= 0 ? asked : publishing_ms;
    wanted = std::min(wanted, static_cast<double>(bounds.max_sampling_interval_ms));
    if (least == 0) {
        return wanted;
    }
    return std::max(1.0, std::round(wanted / least)) * least;
}

}  // namespace

struct monitor::facts {
    item_source source = item_source::once;  // `latest` for every tag
    bool is_numeric = false;
    double scan_ms = 0;
};

monitor::monitor(const server_view& server, const transport::clock& time,
                 const std::vector<std::unique_ptr<subscription>>& all)
    : server_(server),
      ports_(server.ports),
      bounds_(server.bounds),
      time_(time),
      subscriptions_(all),
      own_call_{self_, transport::time_point::max(), {}, nullptr},
      items_(bounds_.max_monitored_items),
      links_(bounds_.max_triggering_links),
      values_(bounds_.max_queue_bytes),
      scratch_size_(bounds_.max_encoded_value_bytes),
      scratch_(std::make_unique_for_overwrite<std::byte[]>(scratch_size_)),
      compared_(std::make_unique_for_overwrite<std::byte[]>(scratch_size_)) {}

std::uint32_t monitor::find(const subscription& of, std::uint32_t id) const noexcept {
    const std::uint32_t number = id & place_mask;
    return items_.has(number) && id != 0 && items_[number].id == id &&
                   items_[number].subscription == of.place
               ? number
               : 0;
}

// What kind of thing an item would watch.
status_code monitor::learn(const call& caller, const item_request& wanted, facts& out) {
    const bool is_value = wanted.attribute_id == value_attribute;
    if (wanted.node.in_tree && wanted.node.tree.kind == tree_kind::tag && is_value) {
        tree_node tag;
        if (!ports_.browse.describe(caller, wanted.node.tree, tag)) {
            return status::bad_node_id_unknown;
        }
        out.source = item_source::latest;
        out.is_numeric = is_number(tag.type);
        out.scan_ms = tag.minimum_sampling_interval_ms;
        return status::good;
    }
    encoder shown{{scratch_.get(), scratch_size_}};
    const status_code known =
        write_attribute(shown, server_, caller, wanted.node, wanted.attribute_id, time_.wall_now());
    if (known != status::good || !shown.ok()) {
        return known != status::good ? known : shown.status();
    }
    if (is_value && !wanted.node.in_tree) {
        decoder value{bytes_view{scratch_.get(), shown.used()}, bounds_};
        out.is_numeric = is_number(value.variant().type);
        const standard_node& node = standard_nodes[wanted.node.row];
        if (node.namespace_index == namespace_standard && value_lives(node.number)) {
            out.source = item_source::sampled;
            out.scan_ms = bounds_.min_sampling_interval_ms;
        }
    }
    return status::good;
}

std::uint32_t monitor::new_item(subscription& to, const item_request& wanted, const facts& known) {
    const std::uint32_t number = items_.take();
    if (number == 0) {
        return 0;
    }
    const std::uint32_t lives_before = items_[number].reuse + 1;
    monitored_item& item = items_[number];
    item = {};
    item.reuse = lives_before;
    item.id = number | (lives_before << place_bits);
    item.subscription = to.place;
    item.source = known.source;
    item.is_numeric = known.is_numeric;
    item.scan_ms = known.scan_ms;
    item.node = wanted.node;
    item.attribute_id = wanted.attribute_id;
    item.range = wanted.range;
    item.timestamps = wanted.timestamps;
    item.tag_index = wanted.node.tree.index;
    item.tag_generation = wanted.node.tree.generation;
    item.own_next = to.first_item;
    if (to.first_item != 0) {
        items_[to.first_item].own_previous = number;
    }
    to.first_item = number;
    ++to.item_count;
    item_count_.add(1);
    return number;
}

// Revises what was asked for and decides how the item gets its samples. It is not started.
void monitor::configure(monitored_item& item, const subscription& of,
                        const monitoring_parameters& wanted, item_answer& out) {
    item.client_handle = wanted.client_handle;
    item.discard_oldest = wanted.discard_oldest;
    item.filter = wanted.filter;
    item.sampling_ms = revised_sampling(wanted.sampling_ms, item.scan_ms,
                                        of.settings.publishing_interval_ms, bounds_);
    const std::uint32_t queue_size =
        std::clamp(wanted.queue_size, std::uint32_t{1}, bounds_.max_item_queue_size);
    const bool by_time = item.filter.trigger == data_change_trigger::status_value_timestamp;
    if (item.source == item_source::latest || item.source == item_source::queued) {
        item.source = queue_size > 1 || by_time ? item_source::queued : item_source::latest;
        item.is_direct = item.source == item_source::latest && !item.range.present &&
                         item.filter.deadband == deadband_type::none &&
                         item.filter.trigger == data_change_trigger::status_value;
    }
    item.period =
        item.scan_ms > 0
            ? std::max(1U, static_cast<std::uint32_t>(std::lround(item.sampling_ms / item.scan_ms)))
            : 1;
    item.skip = std::min(item.skip, item.period - 1);
    if (values_.resize(item, queue_size) != 0) {
        overflows_.add(1);
    }
    out = {item.id, item.sampling_ms, queue_size};
}

status_code monitor::create(const call& caller, subscription& to, const item_request& wanted,
                            item_answer& out) {
    if (to.item_count >= bounds_.max_monitored_items_per_subscription) {
        return status::bad_too_many_monitored_items;
    }
    facts known;
    status_code outcome = learn(caller, wanted, known);
    if (outcome == status::good) {
        outcome = wanted.parameters.filter_status;
    }
    if (outcome == status::good) {
        outcome = check_filter(wanted.parameters.filter, wanted.attribute_id == value_attribute,
                               known.is_numeric);
    }
    if (outcome != status::good) {
        return outcome;
    }
    const std::uint32_t number = new_item(to, wanted, known);
    if (number == 0) {
        return status::bad_too_many_monitored_items;
    }
    configure(items_[number], to, wanted.parameters, out);
    items_[number].mode = wanted.mode;
    if (wanted.mode != monitoring_mode::disabled && !start(caller, to, number)) {
        remove_item(caller, to, number);
        return status::bad_too_many_monitored_items;
    }
    return status::good;
}

status_code monitor::modify(const call& caller, subscription& of, std::uint32_t id,
                            std::uint8_t timestamps, const monitoring_parameters& wanted,
                            item_answer& out) {
    const std::uint32_t number = find(of, id);
    if (number == 0) {
        return status::bad_monitored_item_id_invalid;
    }
    monitored_item& item = items_[number];
    if (wanted.filter_status != status::good) {
        return wanted.filter_status;
    }
    const status_code allowed =
        check_filter(wanted.filter, item.attribute_id == value_attribute, item.is_numeric);
    if (allowed != status::good) {
        return allowed;
    }
    const bool enabled = item.mode != monitoring_mode::disabled;
    const item_source source_before = item.source;
    const bool was_direct = item.is_direct;
    if (enabled) {
        unwatch(caller, number);
    }
    item.timestamps = timestamps;
    configure(item, of, wanted, out);
    if (!enabled) {
        return status::good;
    }
    if (!watch(caller, number)) {
        // No room in the queued feed: the latest value is better than none.
        item.source = item_source::latest;
        watch(caller, number);
    }
    if (was_direct && !item.is_direct) {
        // What was due from the table is now due from the queue, and is what comes next is
        // compared with.
        const bool due = item.is_dirty || !item.has_last;
        item.is_dirty = false;
        const encoded_value present = ask(caller, item);
        item.fresh = drained_;
        if (passes(item, present) && due && !values_.push(item, present)) {
            overflows_.add(1);
        }
        item.reported_time = present.server_time;
    } else if (!was_direct && item.is_direct) {
        item.is_dirty = item.queue_count != 0;
        values_.clear(item);
        values_.clear_compared(item);
    } else if (source_before != item.source) {
        item.fresh = drained_;
    }
    return status::good;
}

status_code monitor::remove(const call& caller, subscription& of, std::uint32_t id) {
    const std::uint32_t number = find(of, id);
    if (number == 0) {
        return status::bad_monitored_item_id_invalid;
    }
    remove_item(caller, of, number);
    return status::good;
}

void monitor::remove_item(const call& caller, subscription& of, std::uint32_t number) {
    monitored_item& item = items_[number];
    if (item.mode != monitoring_mode::disabled) {
        stop(caller, of, number);
    }
    drop_links(item);
    if (item.link_count != 0) {
        drop_links_to(of, number);
    }
    if (of.resend_at == number) {
        of.resend_at = item.own_next;
    }
    (item.own_previous != 0 ? items_[item.own_previous].own_next : of.first_item) = item.own_next;
    if (item.own_next != 0) {
        items_[item.own_next].own_previous = item.own_previous;
    }
    --of.item_count;
    item_count_.subtract(1);
    item.id = 0;
    items_.give_back(number);
}

bool monitor::remove_all(subscription& of, transport::turn_budget& budget) {
    while (of.first_item != 0) {
        if (!budget.spend()) {
            return false;
        }
        remove_item(own_call_, of, of.first_item);
    }
    return true;
}

status_code monitor::set_mode(const call& caller, subscription& of, std::uint32_t id,
                              monitoring_mode mode) {
    const std::uint32_t number = find(of, id);
    if (number == 0) {
        return status::bad_monitored_item_id_invalid;
    }
    monitored_item& item = items_[number];
    const monitoring_mode before = item.mode;
    if (before == mode) {
        return status::good;
    }
    if (mode == monitoring_mode::disabled) {
        stop(caller, of, number);
        item.mode = mode;
        return status::good;
    }
    item.mode = mode;
    if (before == monitoring_mode::disabled) {
        if (!start(caller, of, number)) {
            item.mode = before;
            return status::bad_resource_unavailable;
        }
        return status::good;
    }
    if (mode == monitoring_mode::reporting && has_something(item)) {
        make_ready(number);
    } else if (mode == monitoring_mode::sampling) {
        take_ready(number);
    }
    return status::good;
}

bool monitor::resend(subscription& of, transport::turn_budget& budget) {
    while (of.resend_at != 0) {
        if (!budget.spend()) {
            return false;
        }
        const std::uint32_t number = of.resend_at;
        monitored_item& item = items_[number];
        of.resend_at = item.own_next;
        if (item.mode != monitoring_mode::reporting) {
            continue;
        }
        if (item.is_direct) {
            item.is_dirty = true;
            item.reported_time = -1;
        } else if (item.queue_count == 0) {
            values_.push(item, ask(own_call_, item));
        }
        make_ready(number);
    }
    return true;
}

status_code monitor::link(subscription& of, std::uint32_t triggering, std::uint32_t target) {
    const std::uint32_t from = find(of, triggering);
    const std::uint32_t to = find(of, target);
    if (from == 0 || to == 0) {
        return status::bad_monitored_item_id_invalid;
    }
    for (std::uint32_t at = items_[from].first_link; at != 0; at = links_[at].next) {
        if (links_[at].target == to) {
            return status::good;
        }
    }
    const std::uint32_t made = links_.take();
    if (made == 0) {
        return status::bad_resource_unavailable;
    }
    links_[made] = {to, items_[from].first_link, 0};
    items_[from].first_link = made;
    ++items_[to].link_count;
    return status::good;
}

status_code monitor::unlink(subscription& of, std::uint32_t triggering, std::uint32_t target) {
    const std::uint32_t from = find(of, triggering);
    const std::uint32_t to = find(of, target);
    if (from == 0 || to == 0) {
        return status::bad_monitored_item_id_invalid;
    }
    std::uint32_t before = 0;
    for (std::uint32_t at = items_[from].first_link; at != 0; at = links_[at].next) {
        if (links_[at].target == to) {
            (before != 0 ? links_[before].next : items_[from].first_link) = links_[at].next;
            links_.give_back(at);
            --items_[to].link_count;
            return status::good;
        }
        before = at;
    }
    return status::bad_monitored_item_id_invalid;
}

void monitor::drop_links(monitored_item& item) noexcept {
    while (item.first_link != 0) {
        const std::uint32_t gone = item.first_link;
        item.first_link = links_[gone].next;
        --items_[links_[gone].target].link_count;
        links_.give_back(gone);
    }
}

void monitor::drop_links_to(subscription& of, std::uint32_t number) noexcept {
    const std::uint32_t id = items_[number].id;
    for (std::uint32_t at = of.first_item; at != 0 && items_[number].link_count != 0;
         at = items_[at].own_next) {
        if (items_[at].first_link != 0) {
            unlink(of, items_[at].id, id);
        }
    }
}

}  // namespace tagferry::opcua
