#include "gateway/expose/opcua/writes.hpp"

#include "gateway/expose/slot_values.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace tagferry::gateway {
namespace {

/// The reverse of `pack_slot`. False: an element is longer than the tag takes, or the bytes are
/// not that many elements.
bool unpack_texts(std::span<const std::byte> packed, std::uint16_t capacity, std::size_t count,
                  std::span<std::byte> slot) noexcept {
    const std::size_t stride = slot.size() / count;
    std::ranges::fill(slot, std::byte{});
    std::size_t at = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::uint16_t length = 0;
        if (packed.size() - at < sizeof length) {
            return false;
        }
        std::memcpy(&length, packed.data() + at, sizeof length);
        if (length > capacity || packed.size() - at - sizeof length < length) {
            return false;
        }
        std::memcpy(slot.data() + i * stride, packed.data() + at, sizeof length + length);
        at += sizeof length + length;
    }
    return at == packed.size();
}

}  // namespace

opcua_writes::opcua_writes(transport::shard& asking, const model_access& models,
                           const source_directory& sources, const opcua_write_limits& limits)
    : shard_(asking),
      models_(models),
      sources_(sources),
      limits_(limits),
      requests_(limits.requests),
      lines_(sources.all().size()) {
    for (line& each : lines_) {
        each.parts.reserve(limits.requests);
    }
    std::vector<transport::completion_token> taken(limits.requests);
    for (transport::completion_token& each : taken) {
        requests_.take(each);
        requests_.find(each)->routed.reserve(limits.items_per_request);
        requests_.find(each)->parts = std::vector<part>(limits.connections_per_request);
    }
    for (const transport::completion_token each : taken) {
        requests_.release(each);
    }
    shard_.add(static_cast<transport::sweep_participant&>(*this));
}

opcua_writes::~opcua_writes() = default;

reason_id opcua_writes::check(const opcua::write_item& item, routed_item& to) const noexcept {
    const tag_definition* const known =
        models_.model().find(tag_handle{item.handle.index, item.handle.generation});
    if (known == nullptr) {
        return reason_id::tag_removed;
    }
    if (!known->writable) {
        return reason_id::write_read_only;
    }
    if (item.value.type != to_opcua(known->type.element)) {
        return reason_id::write_type_mismatch;
    }
    value_type type = known->type;
    if (!item.range.whole()) {
        if (!type.is_array() || item.range.last >= static_cast<std::uint32_t>(type.array_length)) {
            return reason_id::write_out_of_range;
        }
        type.array_length = static_cast<std::int32_t>(item.range.last - item.range.first + 1);
        to.first_element = item.range.first;
        to.elements = static_cast<std::uint32_t>(type.array_length);
    }
    if (item.value.array_length != type.array_length) {
        return reason_id::write_type_mismatch;
    }
    const std::size_t size = value_size(type);
    const bool text = needs_packing(known->type);
    if (text ? size > largest_written_text : item.value.bytes.size() != size) {
        return text ? reason_id::write_too_long : reason_id::write_type_mismatch;
    }
    to.connection = known->connection;
    to.capacity = text ? known->type.capacity : std::uint16_t{0};
    to.slot_bytes = static_cast<std::uint32_t>(size);
    return reason_id::none;
}

bool opcua_writes::route(request& to) {
    to.routed.clear();
    for (std::uint32_t i = 0; i < to.items.size(); ++i) {
        routed_item routed;
        routed.item = i;
        const reason_id refused = check(to.items[i], routed);
        if (refused == reason_id::none) {
            to.routed.push_back(routed);
        } else {
            to.outcomes[i] =
                static_cast<opcua::status_code>(tagferry::gateway::describe(refused).status);
        }
    }
    // By connection, and in the request's order within each.
    std::ranges::sort(to.routed, [](const routed_item& a, const routed_item& b) {
        return a.connection != b.connection ? a.connection < b.connection : a.item < b.item;
    });
    to.part_count = 0;
    for (std::size_t first = 0; first < to.routed.size();) {
        std::size_t end = first;
        while (end < to.routed.size() && to.routed[end].connection == to.routed[first].connection) {
            ++end;
        }
        if (to.part_count == to.parts.size()) {
            return false;
        }
        part& made = to.parts[to.part_count++];
        made.hub = this;
        made.owner = &to;
        made.place =
            sources_.find(models_.model().connections()[to.routed[first].connection].owner);
        made.items = std::span(to.routed).subspan(first, end - first);
        made.next = 0;
        made.open = 0;
        made.state.store(part_state::resting, std::memory_order_relaxed);
        made.counted = false;
        for (routed_item& each : made.items) {
            each.of = &made;
        }
        first = end;
    }
    return true;
}

bool opcua_writes::start_write(const opcua::call& context, std::span<const opcua::write_item> items,
                               std::span<opcua::status_code> outcomes) {
    transport::completion_token name;
    if (context.sink == nullptr || items.size() > limits_.items_per_request ||
        outcomes.size() < items.size() || !requests_.take(name)) {
        return false;
    }
    request& made = *requests_.find(name);
    made.sink = context.sink;
    made.token = context.token;
    made.deadline = context.deadline;
    made.items = items;
    made.outcomes = outcomes;
    if (!route(made)) {
        requests_.release(name);
        return false;
    }
    made.parts_open = made.part_count;
    for (std::size_t i = 0; i < made.part_count; ++i) {
        part& each = made.parts[i];
        if (each.place == nullptr ||
            !each.place->shard->post({&opcua_writes::run_part, &each, 0, 0})) {
            for (const routed_item& unsent : each.items) {
                made.outcomes[unsent.item] = static_cast<opcua::status_code>(
                    tagferry::gateway::describe(reason_id::busy).status);
            }
            each.state.store(part_state::ended, std::memory_order_release);
        }
    }
    shard_.at_next_turn(*this);
    return true;
}

/// On the source's shard.
void opcua_writes::run_part(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    part& which = *static_cast<part*>(object);
    line& of = which.hub->line_of(which);
    of.parts.push_back(&which);
    which.hub->work_off(of);
}

opcua_writes::line& opcua_writes::line_of(const part& which) noexcept {
    return lines_[static_cast<std::size_t>(which.place - sources_.all().data())];
}

/// Passes on what the source takes, of the oldest part first: none overtakes another.
void opcua_writes::work_off(line& of) {
    while (!of.parts.empty()) {
        part& oldest = *of.parts.front();
        const bool wanted = begin_work(oldest);
        if (wanted && !pass_on(oldest, of)) {
            oldest.state.store(part_state::resting, std::memory_order_release);
            return;
        }
        oldest.next = oldest.items.size();
        of.parts.erase(of.parts.begin());
        rest_or_end(oldest);
    }
}

/// False: the asker has given it up.
bool opcua_writes::begin_work(part& which) noexcept {
    auto expected = part_state::resting;
    return which.state.compare_exchange_strong(expected, part_state::working,
                                               std::memory_order_acquire);
}

void opcua_writes::set_outcome(routed_item& item, reason_id reason) noexcept {
    item.state = progress::ended;
    item.of->owner->outcomes[item.item] =
        static_cast<opcua::status_code>(tagferry::gateway::describe(reason).status);
}

/// False: the source has no room; the part goes on when one of its items has ended.
bool opcua_writes::pass_on(part& which, line& of) {
    for (; which.next < which.items.size(); ++which.next) {
        routed_item& item = which.items[which.next];
        const bool late = which.place->shard->now() >= which.owner->deadline;
        item.state = progress::with_source;
        const reason_id refused = late ? reason_id::deadline_passed : send(item);
        if (refused == reason_id::busy && of.open != 0) {
            item.state = progress::waiting;
            return false;
        }
        if (refused == reason_id::none) {
            ++which.open;
            ++of.open;
        } else {
            set_outcome(item, refused);
        }
    }
    return true;
}

/// After work on a part, whether its asker still wants it or not.
void opcua_writes::rest_or_end(part& which) {
    if (which.next < which.items.size() || which.open != 0) {
        auto expected = part_state::working;
        which.state.compare_exchange_strong(expected, part_state::resting,
                                            std::memory_order_release);
        return;
    }
    transport::shard& asking = shard_;
    which.state.store(part_state::ended, std::memory_order_release);
    // A mailbox that is full delays the answer until the next sweep.
    static_cast<void>(asking.post({&opcua_writes::part_ended, this, 0, 0}));
}

reason_id opcua_writes::send(routed_item& item) {
    part& which = *item.of;
    const opcua::write_item& wanted = which.owner->items[item.item];
    std::array<std::byte, largest_written_text> text;
    std::span<const std::byte> value = wanted.value.bytes;
    if (item.capacity != 0) {
        const auto slot = std::span(text).first(item.slot_bytes);
        const std::size_t count =
            wanted.value.array_length < 0 ? 1 : static_cast<std::size_t>(wanted.value.array_length);
        if (!unpack_texts(value, item.capacity, count, slot)) {
            return reason_id::write_too_long;
        }
        value = slot;
    }
    const auto ticket = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&item));
    return which.place->source->write(
        {{wanted.handle.index, wanted.handle.generation}, value, item.first_element, item.elements},
        ticket, *this);
}

/// What the asker has given up is not sent.
bool opcua_writes::write_starting(std::uint64_t ticket) {
    auto& item = *reinterpret_cast<routed_item*>(static_cast<std::uintptr_t>(ticket));
    const bool at_work = item.of->state.load(std::memory_order_relaxed) == part_state::working;
    if (!at_work && !begin_work(*item.of)) {
        return false;
    }
    item.state = progress::started;
    if (!at_work) {
        item.of->state.store(part_state::resting, std::memory_order_release);
    }
    return true;
}

void opcua_writes::write_finished(std::uint64_t ticket, const write_outcome& outcome) {
    auto& item = *reinterpret_cast<routed_item*>(static_cast<std::uintptr_t>(ticket));
    part& which = *item.of;
    line& of = line_of(which);
    --which.open;
    --of.open;
    if (begin_work(which)) {
        set_outcome(item, outcome.reason);
    }
    rest_or_end(which);
    work_off(of);
}

void opcua_writes::part_ended(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& hub = *static_cast<opcua_writes*>(object);
    hub.next_turn(hub.shard_.now());
}

transport::time_point opcua_writes::deadline() const noexcept {
    return requests_.size() == 0 ? transport::time_point::max() : transport::time_point::min();
}

/// At the deadline: what was handed to the device may or may not happen, the rest is never sent.
/// False: the source's shard is at it this very moment.
bool opcua_writes::give_up(part& which) noexcept {
    auto state = part_state::resting;
    if (!which.state.compare_exchange_strong(state, part_state::given_up,
                                             std::memory_order_acquire)) {
        return state != part_state::working;
    }
    for (routed_item& item : which.items) {
        if (item.state != progress::ended) {
            set_outcome(item, item.state == progress::started
                                  ? reason_id::write_outcome_unknown_timeout
                                  : reason_id::deadline_passed);
        }
    }
    return true;
}

void opcua_writes::next_turn(transport::time_point now) {
    requests_.for_each([this, now](transport::completion_token name, request& about) {
        bool settled = true;
        for (std::size_t i = 0; i < about.part_count; ++i) {
            part& each = about.parts[i];
            if (!each.counted && each.state.load(std::memory_order_acquire) == part_state::ended) {
                each.counted = true;
                --about.parts_open;
            }
            settled = settled && (each.counted || (now >= about.deadline && give_up(each)));
        }
        const transport::completion_token token = about.token;
        transport::completion_sink* sink = nullptr;
        if (settled) {
            std::swap(sink, about.sink);
        }
        if (about.parts_open == 0) {
            requests_.release(name);
        }
        if (sink != nullptr) {
            sink->resume(token, 0, now);
        }
    });
}

}  // namespace tagferry::gateway
