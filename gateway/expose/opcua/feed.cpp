#include "gateway/expose/opcua/feed.hpp"

#include "gateway/expose/slot_values.hpp"

#include <limits>
#include <stdexcept>

namespace tagferry::gateway {

opcua_feed::opcua_feed(transport::shard& owner, const model_access& models, tag_table& table,
                       std::size_t writers, const opcua_feed_limits& limits)
    : shard_(owner),
      models_(models),
      table_(table),
      limits_(limits),
      feed_({table.limits().tags, writers, limits.ring_bytes, {&opcua_feed::wake, this}}),
      watched_(table.limits().tags),
      overflow_value_(table.limits().largest_value_bytes) {
    const auto number = table.add_feed(feed_);
    if (!number) {
        throw std::length_error("the tag table has no place for another feed");
    }
    number_ = *number;
    shard_.add(static_cast<transport::sweep_participant&>(*this));
}

bool opcua_feed::watch(const opcua::call& /*context*/, opcua::tag_handle handle,
                       opcua::feed_kind kind) {
    const tag_handle tag{handle.index, handle.generation};
    if (models_.model().find(tag) == nullptr) {
        return false;
    }
    watched& entry = watched_[tag.index];
    if (entry.generation != tag.generation) {
        // Whoever watched the tag that had this index before has lost it.
        queued_tags_ -= entry.queued != 0 ? 1U : 0U;
        entry = {tag.generation, 0, 0};
    }
    std::uint16_t& count = kind == opcua::feed_kind::latest ? entry.latest : entry.queued;
    if (count == std::numeric_limits<std::uint16_t>::max()) {
        return false;
    }
    if (count == 0) {
        const bool queued = kind == opcua::feed_kind::queued;
        if (queued && queued_tags_ == limits_.queued_tags) {
            return false;
        }
        if (!table_.watch(tag, number_, queued ? interest::queued_samples : interest::changes)) {
            return false;
        }
        queued_tags_ += queued ? 1U : 0U;
    }
    ++count;
    feed_.mark_changed(tag.index);
    return true;
}

void opcua_feed::unwatch(const opcua::call& /*context*/, opcua::tag_handle handle,
                         opcua::feed_kind kind) {
    const tag_handle tag{handle.index, handle.generation};
    watched& entry = watched_[tag.index];
    const bool queued = kind == opcua::feed_kind::queued;
    std::uint16_t& count = queued ? entry.queued : entry.latest;
    if (entry.generation != tag.generation || count == 0) {
        return;
    }
    if (--count == 0) {
        table_.unwatch(tag, number_, queued ? interest::queued_samples : interest::changes);
        queued_tags_ -= queued ? 1U : 0U;
    }
}

/// On a writing thread.
void opcua_feed::wake(void* object) {
    auto& feed = *static_cast<opcua_feed*>(object);
    // Should the mailbox be full, the next sweep finds the news.
    static_cast<void>(feed.shard_.post({&opcua_feed::woken, &feed, 0, 0}));
}

transport::time_point opcua_feed::deadline() const noexcept {
    return sink_ != nullptr && feed_.has_news() ? transport::time_point::min()
                                                : transport::time_point::max();
}

void opcua_feed::woken(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& feed = *static_cast<opcua_feed*>(object);
    feed.next_turn(feed.shard_.now());
}

void opcua_feed::next_turn(transport::time_point now) {
    if (sink_ != nullptr) {
        transport::completion_sink& sink = *sink_;
        sink_ = nullptr;
        sink.resume(token_, 0, now);
    }
}

void opcua_feed::arm(const opcua::call& context) {
    sink_ = context.sink;
    token_ = context.token;
    if (latest_news_ || queued_news_ || feed_.has_news()) {
        shard_.at_next_turn(*this);
    }
}

/// From here on news wakes again; until drained, both kinds may have some.
void opcua_feed::look() {
    if (feed_.has_news()) {
        latest_news_ = true;
        queued_news_ = true;
        feed_.begin();
    }
}

std::size_t opcua_feed::drain_latest(std::span<opcua::feed_mark> into) {
    look();
    std::size_t written = 0;
    while (written < into.size()) {
        const std::size_t wanted = into.size() - written;
        const std::size_t taken = feed_.drain_changed(wanted, [&](std::uint32_t index) {
            const watched& entry = watched_[index];
            if (entry.latest != 0 || entry.queued != 0) {
                into[written++] = {{index, entry.generation}, true, false};
            }
        });
        if (taken < wanted) {
            latest_news_ = false;
            return written;
        }
    }
    return written;
}

std::size_t opcua_feed::drain_queued(std::span<opcua::feed_sample> into) {
    feed_.release_samples();
    look();
    std::size_t written = 0;
    const std::size_t shown = feed_.peek_samples(into.size(), [&](const queued_sample& from) {
        written += show(from, into[written]) ? 1U : 0U;
    });
    if (shown == into.size()) {
        return written;
    }
    // One at a time: all have one place for their value.
    std::uint32_t index = 0;
    if (feed_.drain_overflowed(1, [&](std::uint32_t marked) { index = marked; }) == 1) {
        if (watched_[index].queued != 0) {
            show_overflow(index, into[written++]);
        }
        return written;
    }
    queued_news_ = false;
    return written;
}

bool opcua_feed::show(const queued_sample& from, opcua::feed_sample& to) noexcept {
    const tag_definition* const known = models_.model().find(from.handle);
    if (known == nullptr || watched_[from.handle.index].queued == 0) {
        return false;
    }
    to = {};
    to.handle = {from.handle.index, from.handle.generation};
    to.overflow = from.overflow;
    to.changed = from.changed || from.overflow;
    to.data.status = static_cast<opcua::status_code>(from.status);
    to.data.source_time = from.source_time;
    to.data.server_time = from.update_time;
    if (!from.value.empty()) {
        // The ring's memory is the consumer's until it is released.
        auto* const bytes = const_cast<std::byte*>(from.value.data());
        to.data.value = {to_opcua(known->type.element), known->type.array_length,
                         pack_slot(known->type, {bytes, from.value.size()})};
    }
    return true;
}

void opcua_feed::show_overflow(std::uint32_t index, opcua::feed_sample& to) noexcept {
    const tag_handle tag{index, watched_[index].generation};
    to = {};
    to.handle = {tag.index, tag.generation};
    to.overflow = true;
    const tag_definition* const known = models_.model().find(tag);
    sample seen;
    if (known == nullptr || table_.read(tag, overflow_value_, seen) != read_result::done) {
        to.data.status = static_cast<opcua::status_code>(status_code::bad_node_id_unknown);
        return;
    }
    to.data.status = static_cast<opcua::status_code>(seen.status);
    to.data.source_time = seen.source_time;
    to.data.server_time = seen.update_time;
    if (seen.has_value) {
        to.data.value = {to_opcua(known->type.element), known->type.array_length,
                         pack_slot(known->type, std::span(overflow_value_).first(seen.value_size))};
    }
}

}  // namespace tagferry::gateway
