// How monitored items get their samples, and which of them are worth a notification.
#include "protocols/opcua/nodes/attributes.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "protocols/opcua/subscription/monitor.hpp"

#include <array>
#include <chrono>
#include <cstring>

namespace tagferry::opcua {
namespace {

constexpr std::uint32_t value_attribute = static_cast<std::uint32_t>(attribute::value);
constexpr std::size_t batch = 32;
constexpr std::size_t tag_step = 4'096;

tag_handle tag_of(const monitored_item& item) noexcept {
    return {item.tag_index, item.tag_generation};
}

bool is_fed(const monitored_item& item) noexcept {
    return item.source == item_source::latest || item.source == item_source::queued;
}

feed_kind kind_of(const monitored_item& item) noexcept {
    return item.source == item_source::queued ? feed_kind::queued : feed_kind::latest;
}

// Whether a sample is judged by what came before, not by the feed's word.
bool compares(const monitored_item& item) noexcept {
    return item.range.present || item.filter.deadband != deadband_type::none ||
           item.source == item_source::sampled;
}

transport::duration milliseconds_of(double count) noexcept {
    return std::chrono::duration_cast<transport::duration>(
        std::chrono::duration<double, std::milli>{count});
}

}  // namespace

bool monitor::start(const call& caller, subscription& of, std::uint32_t number) {
    if (!watch(caller, number)) {
        return false;
    }
    static_cast<void>(of);
    first_sample(caller, number);
    return true;
}

// The initial value is always delivered, whatever the filter.
void monitor::first_sample(const call& caller, std::uint32_t number) {
    monitored_item& item = items_[number];
    item.has_last = false;
    item.has_changed = false;
    item.skip = item.period - 1;
    item.reported_time = -1;
    item.next_sample = {};
    item.fresh = drained_;
    if (item.is_direct) {
        item.is_dirty = true;
        notify(number);
        return;
    }
    const encoded_value present = ask(caller, item);
    item.reported_time = present.server_time;
    set_next_sample(item, time_.now());
    offer(number, present);
}

void monitor::stop(const call& caller, subscription& of, std::uint32_t number) {
    monitored_item& item = items_[number];
    unwatch(caller, number);
    take_ready(number);
    if (item.is_deferred) {
        take_off_list(of.first_deferred, of.last_deferred, number);
        item.is_deferred = false;
        --of.deferred_count;
    }
    values_.clear(item);
    values_.clear_compared(item);
    item.is_dirty = false;
}

bool monitor::watch(const call& caller, std::uint32_t number) {
    monitored_item& item = items_[number];
    if (item.source == item_source::sampled) {
        link_to_sampled(number, time_.now());
        return true;
    }
    if (!is_fed(item)) {
        return true;
    }
    item.is_watched = ports_.feed.watch(caller, tag_of(item), kind_of(item));
    sample ignored;
    if (!item.is_watched &&
        ports_.values.read_current(caller, tag_of(item), value_scratch_, ignored)) {
        return false;  // no place in the feed; a tag that is gone is no reason to refuse
    }
    link_to_tag(number);
    seeing_all_ += item.is_direct ? 0U : 1U;
    return true;
}

void monitor::link_to_tag(std::uint32_t number) {
    monitored_item& item = items_[number];
    if (item.tag_index >= first_of_tag_.size()) {
        first_of_tag_.resize((item.tag_index / tag_step + 1) * tag_step);
    }
    std::uint32_t& first = first_of_tag_[item.tag_index];
    item.tag_previous = 0;
    item.tag_next = first;
    if (first != 0) {
        items_[first].tag_previous = number;
    }
    first = number;
}

void monitor::link_to_sampled(std::uint32_t number, transport::time_point now) {
    monitored_item& item = items_[number];
    item.tag_previous = 0;
    item.tag_next = first_sampled_;
    if (first_sampled_ != 0) {
        items_[first_sampled_].tag_previous = number;
    }
    first_sampled_ = number;
    item.is_watched = true;
    set_next_sample(item, now);
}

void monitor::unwatch(const call& caller, std::uint32_t number) {
    monitored_item& item = items_[number];
    if (item.source == item_source::once) {
        return;
    }
    std::uint32_t& first =
        item.source == item_source::sampled ? first_sampled_ : first_of_tag_[item.tag_index];
    if (sampling_at_ == number) {
        sampling_at_ = item.tag_next;
    }
    (item.tag_previous != 0 ? items_[item.tag_previous].tag_next : first) = item.tag_next;
    if (item.tag_next != 0) {
        items_[item.tag_next].tag_previous = item.tag_previous;
    }
    item.tag_next = item.tag_previous = 0;
    if (is_fed(item)) {
        seeing_all_ -= item.is_direct ? 0U : 1U;
        if (item.is_watched) {
            ports_.feed.unwatch(caller, tag_of(item), kind_of(item));
        }
    }
    item.is_watched = false;
}

// Half a scan early, so that a schedule that trembles takes every sample it should.
void monitor::set_next_sample(monitored_item& item, transport::time_point now) noexcept {
    item.next_sample = now + milliseconds_of(item.sampling_ms - item.scan_ms / 2);
}

encoded_value monitor::encode(const monitored_item& item, const sample& from) noexcept {
    encoded_value out{{}, from.status, from.source_time, from.server_time};
    if (from.value.type == builtin_type::null) {
        return out;
    }
    encoder to{{scratch_.get(), scratch_size_}};
    if (item.range.present) {
        const status_code part = write_part(to, from.value, item.range);
        if (part != status::good) {
            out.status = part;
            return out;
        }
    } else {
        to.variant(from.value);
    }
    if (!to.ok()) {
        out.status = to.status();
        return out;
    }
    out.variant = {scratch_.get(), to.used()};
    return out;
}

encoded_value monitor::ask(const call& caller, const monitored_item& item) {
    if (!is_fed(item)) {
        return ask_attribute(caller, item);
    }
    sample current;
    if (!ports_.values.read_current(caller, tag_of(item), value_scratch_, current)) {
        current = {};
        current.status = status::bad_node_id_unknown;  // E40
        current.server_time = time_.wall_now();
    }
    return encode(item, current);
}

encoded_value monitor::ask_attribute(const call& caller, const monitored_item& item) {
    const transport::wall_time_ns now = time_.wall_now();
    const bool is_value = item.attribute_id == value_attribute;
    encoded_value out{{}, status::good, is_value ? now : 0, now};
    encoder to{{scratch_.get(), scratch_size_}};
    out.status = write_attribute(to, server_, caller, item.node, item.attribute_id, now);
    if (out.status == status::good && !to.ok()) {
        out.status = to.status();
    }
    if (out.status != status::good) {
        return out;
    }
    out.variant = {scratch_.get(), to.used()};
    if (!item.range.present) {
        return out;
    }
    encoder part{{compared_.get(), scratch_size_}};
    decoder whole{out.variant, bounds_};
    out.status = is_value ? write_part(part, whole.variant(), item.range, bounds_)
                          : status_code{status::bad_index_range_no_data};
    if (out.status != status::good) {
        out.variant = {};
        return out;
    }
    std::memcpy(scratch_.get(), compared_.get(), part.used());
    out.variant = {scratch_.get(), part.used()};
    return out;
}

// A change of status passes every filter (E49); without a deadband the feed's word is enough.
bool monitor::passes(monitored_item& item, const encoded_value& value) noexcept {
    bool passing = !item.has_last || value.status != item.last_status;
    if (!passing && item.filter.trigger != data_change_trigger::status) {
        passing = item.filter.trigger == data_change_trigger::status_value_timestamp &&
                  value.source_time != item.last_source_time;
        if (!passing) {
            passing = !compares(item) ||
                      differs(item.filter, values_.compared(item, {compared_.get(), scratch_size_}),
                              value.variant, bounds_);
        }
    }
    if (passing) {
        item.has_last = true;
        item.last_status = value.status;
        item.last_source_time = value.source_time;
        if (compares(item) && !values_.set_compared(item, value.variant)) {
            item.has_last = false;  // without memory to compare, the next sample passes
        }
    }
    return passing;
}

void monitor::offer(std::uint32_t number, const encoded_value& value) {
    monitored_item& item = items_[number];
    if (!passes(item, value)) {
        return;
    }
    if (!values_.push(item, value)) {
        overflows_.add(1);
    }
    notify(number);
}

void monitor::sample_tag(std::uint32_t number, transport::time_point now) {
    monitored_item& item = items_[number];
    item.is_dirty = false;
    set_next_sample(item, now);
    offer(number, ask(own_call_, item));
}

// The feed has marked the item's tag.
void monitor::changed(std::uint32_t number, transport::time_point now) {
    monitored_item& item = items_[number];
    if (item.is_direct) {
        item.is_dirty = true;
        if (item.fresh != drained_) {
            notify(number);
        } else if (item.mode == monitoring_mode::reporting) {
            make_ready(number);  // the mark may be the feed's first, which triggers nothing
        }
        return;
    }
    if (item.source == item_source::queued) {
        // Its samples come by the other feed; only the end of the tag does not.
        sample current;
        if (!ports_.values.read_current(own_call_, tag_of(item), value_scratch_, current)) {
            offer(number, ask(own_call_, item));
        }
        return;
    }
    if (now < item.next_sample) {
        item.is_dirty = true;
        defer(number);
        return;
    }
    sample_tag(number, now);
}

void monitor::queued(std::uint32_t number, const feed_sample& from) {
    monitored_item& item = items_[number];
    if (item.fresh == drained_ && from.data.server_time <= item.reported_time) {
        return;  // older than the initial value
    }
    item.has_changed = item.has_changed || from.changed;
    if (from.overflow) {
        item.has_lost = true;
    }
    if (item.skip != 0) {
        --item.skip;
        return;
    }
    item.skip = item.period - 1;
    const bool by_time = item.filter.trigger == data_change_trigger::status_value_timestamp;
    if (!item.has_changed && !by_time) {
        return;
    }
    item.has_changed = false;
    offer(number, encode(item, from.data));
}

bool monitor::drain(transport::time_point since, transport::time_point now,
                    transport::turn_budget& budget) {
    since_ = since;
    const auto items_of = [&](tag_handle tag, auto&& act) {
        std::uint32_t at = tag.index < first_of_tag_.size() ? first_of_tag_[tag.index] : 0;
        while (at != 0) {
            const std::uint32_t next = items_[at].tag_next;
            if (items_[at].tag_generation == tag.generation) {
                budget.spend();
                act(at);
            }
            at = next;
        }
    };
    for (std::size_t taken = batch; taken == batch;) {
        if (budget.exhausted()) {
            return false;
        }
        std::array<feed_mark, batch> marks;
        taken = ports_.feed.drain_latest(marks);
        for (std::size_t at = 0; at < taken; ++at) {
            items_of(marks[at].handle, [&](std::uint32_t number) { changed(number, now); });
        }
    }
    for (std::size_t taken = 1; taken != 0;) {
        if (budget.exhausted()) {
            return false;
        }
        std::array<feed_sample, batch> samples;
        taken = ports_.feed.drain_queued(samples);
        for (std::size_t at = 0; at < taken; ++at) {
            items_of(samples[at].handle, [&](std::uint32_t number) {
                if (items_[number].source == item_source::queued) {
                    queued(number, samples[at]);
                }
            });
        }
    }
    ++drained_;
    return true;
}

bool monitor::take_samples(transport::time_point now, transport::turn_budget& budget) {
    since_ = now;
    std::uint32_t at = sampling_at_ != 0 ? sampling_at_ : first_sampled_;
    while (at != 0) {
        if (!budget.spend()) {
            sampling_at_ = at;
            return false;
        }
        const std::uint32_t next = items_[at].tag_next;
        if (items_[at].next_sample <= now) {
            set_next_sample(items_[at], now);
            offer(at, ask_attribute(own_call_, items_[at]));
        }
        at = next;
    }
    sampling_at_ = 0;
    return true;
}

bool monitor::take_deferred(subscription& of, transport::time_point now,
                            transport::turn_budget& budget) {
    for (std::uint32_t left = of.deferred_count; left != 0; --left) {
        if (!budget.spend()) {
            return false;
        }
        const std::uint32_t number = of.first_deferred;
        monitored_item& item = items_[number];
        take_off_list(of.first_deferred, of.last_deferred, number);
        if (now < item.next_sample) {
            put_on_list(of.first_deferred, of.last_deferred, number);
            continue;
        }
        item.is_deferred = false;
        --of.deferred_count;
        if (item.is_direct) {
            notify(number);
        } else {
            sample_tag(number, now);
        }
    }
    return true;
}

}  // namespace tagferry::opcua
