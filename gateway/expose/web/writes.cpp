#include "gateway/expose/web/writes.hpp"

#include "gateway/expose/slot_values.hpp"

#include <algorithm>
#include <utility>

namespace tagferry::gateway {
namespace {

using web::write_ending;

write_ending ending_of(reason_id reason) noexcept {
    switch (reason) {
        case reason_id::write_partly_written:
            return write_ending::partial;
        case reason_id::write_outcome_unknown_timeout:
        case reason_id::write_outcome_unknown_link_lost:
        case reason_id::job_timed_out:
        case reason_id::reply_unusable:
            return write_ending::unknown;
        case reason_id::write_not_sent:
        case reason_id::link_down:
        case reason_id::busy:
        case reason_id::shutting_down:
        case reason_id::deadline_passed:
            return write_ending::not_sent;
        case reason_id::write_read_only:
        case reason_id::write_type_mismatch:
        case reason_id::write_out_of_range:
        case reason_id::write_too_long:
        case reason_id::write_not_allowed:
        case reason_id::tag_removed:
        case reason_id::item_too_large:
        case reason_id::write_text_differs:
            return write_ending::rejected;
        default:
            return write_ending::answered;
    }
}

web::write_result result_of(const write_outcome& outcome) noexcept {
    const reason_entry& entry = tagferry::gateway::describe(outcome.reason);
    web::write_result result;
    result.ending = ending_of(outcome.reason);
    result.http_status = entry.http_status;
    result.status = static_cast<std::uint32_t>(entry.status);
    result.status_name = name_of(entry.status);
    result.code = entry.name;
    result.reason = entry.words;
    result.remedy = entry.remedy;
    result.bytes_written = outcome.bytes_written;
    result.device_code =
        result.ending == write_ending::answered && !result.ok() ? entry.s7_code : -1;
    return result;
}

reason_id reason_of(web::write_refusal why) noexcept {
    switch (why) {
        case web::write_refusal::unknown_tag:
            return reason_id::tag_removed;
        case web::write_refusal::read_only:
            return reason_id::write_read_only;
        case web::write_refusal::type_mismatch:
            return reason_id::write_type_mismatch;
        case web::write_refusal::out_of_range:
            return reason_id::write_out_of_range;
        case web::write_refusal::too_long:
        case web::write_refusal::too_much:
            return reason_id::write_too_long;
    }
    return reason_id::write_type_mismatch;
}

constexpr std::size_t value_alignment = 8;

}  // namespace

web_writes::web_writes(transport::shard& asking, const model_access& models,
                       const source_directory& sources, log::logger& logger,
                       const web_write_limits& limits)
    : shard_(asking),
      models_(models),
      sources_(sources),
      logger_(logger),
      limits_(limits),
      requests_(limits.requests),
      items_(limits.requests * max_items),
      values_(limits.requests * limits.value_bytes) {
    shard_.add(static_cast<transport::sweep_participant&>(*this));
}

std::span<web_writes::item> web_writes::items_of(transport::completion_token name) const noexcept {
    return std::span(items_.data(), items_.size()).subspan(name.index * max_items, max_items);
}

/// Whether the item may be sent; its value is then in `values`, in the form of the table.
reason_id web_writes::accept(request& to, item& made, const web::write_item& wanted,
                             std::span<std::byte> values) const noexcept {
    const tag_definition* const known = models_.model().find(made.tag);
    if (known == nullptr) {
        return reason_id::tag_removed;
    }
    if (!known->writable) {
        return reason_id::write_read_only;
    }
    if (wanted.value.type != to_web(known->type.element) ||
        wanted.value.array_length != known->type.array_length) {
        return reason_id::write_type_mismatch;
    }
    const std::size_t size = value_size(known->type);
    if (values.size() - to.values_used < size) {
        return reason_id::write_too_long;
    }
    const auto slot = values.subspan(to.values_used, size);
    if (!unpack_slot(known->type, wanted.value.bytes, slot)) {
        return reason_id::write_too_long;
    }
    made.value = slot;
    made.place = sources_.find(models_.model().connections()[known->connection].owner);
    const std::size_t end = to.values_used + size;
    to.values_used =
        std::min((end + value_alignment - 1) / value_alignment * value_alignment, values.size());
    return made.place == nullptr ? reason_id::write_not_sent : reason_id::none;
}

void web_writes::begin(request& to, item& made, const web::write_item& wanted,
                       std::span<std::byte> values) {
    made = {};
    made.hub = this;
    made.tag = {wanted.tag.index, wanted.tag.generation};
    made.deadline = to.deadline;
    made.result = wanted.result;
    made.path.set(wanted.path);
    made.text.set(wanted.text);
    reason_id refused = accept(to, made, wanted, values);
    if (refused == reason_id::none &&
        !made.place->shard->post({&web_writes::run_item, &made, 0, 0})) {
        refused = reason_id::busy;
    }
    if (refused != reason_id::none) {
        made.ended = true;
        settle(to, made, {.reason = refused});
    }
}

web::outcome web_writes::write(const web::call& context, std::span<const web::write_item> items,
                               std::string_view reason) {
    transport::completion_token name;
    if (context.sink == nullptr || items.size() > max_items) {
        return web::outcome::invalid;
    }
    if (!requests_.take(name)) {
        return web::outcome::busy;
    }
    request& made = *requests_.find(name);
    made = {};
    made.sink = context.sink;
    made.token = context.token;
    made.deadline = context.deadline;
    made.count = items.size();
    made.user.set(context.who.user);
    made.peer.set(context.who.peer);
    made.reason.set(reason);
    const auto own = items_of(name);
    const auto values = std::span(values_.data(), values_.size())
                            .subspan(name.index * limits_.value_bytes, limits_.value_bytes);
    bool all_settled = true;
    for (std::size_t i = 0; i < items.size(); ++i) {
        begin(made, own[i], items[i], values);
        all_settled = all_settled && own[i].settled;
    }
    if (all_settled) {
        requests_.release(name);
        return web::outcome::done;
    }
    return web::outcome::deferred;
}

void web_writes::abandon(transport::completion_sink& sink,
                         transport::completion_token token) noexcept {
    requests_.for_each([&](transport::completion_token, request& about) {
        if (about.sink == &sink && about.token == token) {
            about.sink = nullptr;
            about.abandoned = true;
        }
    });
}

web::write_result web_writes::refuse(const web::call& context, std::string_view path,
                                     std::string_view text, web::write_refusal why) {
    web::write_result result = result_of({.reason = reason_of(why)});
    if (why == web::write_refusal::unknown_tag) {
        result.code = "not_found";
        result.reason = "there is no tag of this path";
        result.remedy = "GET /api/v1/tags lists what there is";
    } else if (why == web::write_refusal::too_much) {
        result.code = "too_much";
        result.reason = "the values of this request are too large together";
        result.remedy = "write them in several requests";
    }
    report(result, path, text, context.who.user, context.who.peer, {});
    return result;
}

/// On the source's shard, right before the first byte leaves: what the asker has given up is not
/// sent.
bool web_writes::write_starting(std::uint64_t ticket) {
    auto& which = *reinterpret_cast<item*>(static_cast<std::uintptr_t>(ticket));
    stage before = stage::waiting;
    return std::atomic_ref(which.at).compare_exchange_strong(before, stage::started,
                                                             std::memory_order_acq_rel);
}

/// On the source's shard.
void web_writes::run_item(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& which = *static_cast<item*>(object);
    if (which.place->shard->now() >= which.deadline) {
        which.hub->end(which, {.reason = reason_id::deadline_passed});
        return;
    }
    const auto ticket = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&which));
    const reason_id refused =
        which.place->source->write({which.tag, which.value}, ticket, *which.hub);
    if (refused != reason_id::none) {
        which.hub->end(which, {.reason = refused});
    }
}

void web_writes::write_finished(std::uint64_t ticket, const write_outcome& outcome) {
    end(*reinterpret_cast<item*>(static_cast<std::uintptr_t>(ticket)), outcome);
}

/// On the source's shard: the last it does with the item.
void web_writes::end(item& which, const write_outcome& outcome) noexcept {
    transport::shard& asking = shard_;
    which.outcome = outcome;
    std::atomic_ref(which.ended).store(true, std::memory_order_release);
    // A mailbox that is full delays the answer until the next sweep.
    static_cast<void>(asking.post({&web_writes::item_ended, this, 0, 0}));
}

/// Many items that ended are looked at together.
void web_writes::item_ended(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& hub = *static_cast<web_writes*>(object);
    hub.shard_.at_next_turn(hub);
}

transport::time_point web_writes::deadline() const noexcept {
    return requests_.size() == 0 ? transport::time_point::max() : transport::time_point::min();
}

void web_writes::settle(const request& about, item& which, const write_outcome& outcome) noexcept {
    const web::write_result result = result_of(outcome);
    which.settled = true;
    if (!about.abandoned) {
        *which.result = result;
    }
    report(result, which.path.view(), which.text.view(), about.user.view(), about.peer.view(),
           about.reason.view());
}

/// At the deadline: what was handed to the device may or may not happen, the rest is never sent.
void web_writes::give_up(const request& about, item& which) noexcept {
    stage before = stage::waiting;
    const bool unsent = std::atomic_ref(which.at).compare_exchange_strong(
        before, stage::given_up, std::memory_order_acq_rel);
    settle(
        about, which,
        {.reason = unsent ? reason_id::deadline_passed : reason_id::write_outcome_unknown_timeout});
}

/// Whether every result is final.
bool web_writes::look_at(const request& about, std::span<item> items, transport::time_point now,
                         bool& all_ended) noexcept {
    bool all_settled = true;
    for (item& each : items) {
        const bool ended = std::atomic_ref(each.ended).load(std::memory_order_acquire);
        if (ended && !each.settled) {
            settle(about, each, each.outcome);
        } else if (!each.settled && now >= about.deadline) {
            give_up(about, each);
        }
        all_ended = all_ended && ended;
        all_settled = all_settled && each.settled;
    }
    return all_settled;
}

void web_writes::next_turn(transport::time_point now) {
    requests_.for_each([this, now](transport::completion_token name, request& about) {
        bool all_ended = true;
        const bool settled = look_at(about, items_of(name).first(about.count), now, all_ended);
        transport::completion_sink* sink = nullptr;
        const transport::completion_token token = about.token;
        if (settled) {
            std::swap(sink, about.sink);
            // Nobody's results are written from here on.
            about.abandoned = true;
        }
        if (all_ended) {
            requests_.release(name);
        }
        if (sink != nullptr) {
            sink->resume(token, static_cast<std::uint32_t>(web::outcome::done), now);
        }
    });
}

void web_writes::report(const web::write_result& result, std::string_view path,
                        std::string_view text, std::string_view user, std::string_view peer,
                        std::string_view reason) noexcept {
    const bool refused_by_device = result.ending == write_ending::answered && !result.ok();
    const std::size_t kind = result.ok()                               ? 0
                             : result.ending == write_ending::rejected ? 1
                             : refused_by_device                       ? 2
                             : result.ending == write_ending::not_sent ? 3
                             : result.ending == write_ending::unknown  ? 4
                                                                       : 5;
    counts_[kind].store(counts_[kind].load(std::memory_order_relaxed) + 1,
                        std::memory_order_relaxed);
    const log::event event = result.ok() ? log::event::write_accepted
                             : kind >= 4 ? log::event::write_outcome_unknown
                                         : log::event::write_refused;
    logger_.write(event, {{"tag", path},
                          {"value", text},
                          {"user", user.empty() ? std::string_view("anonymous") : user},
                          {"peer", peer},
                          {"via", "rest"},
                          {"reason", result.reason},
                          {"comment", reason}});
}

web_write_counts web_writes::counts() const noexcept {
    const auto count = [this](std::size_t kind) {
        return counts_[kind].load(std::memory_order_relaxed);
    };
    return {count(0), count(1), count(2), count(3), count(4), count(5)};
}

}  // namespace tagferry::gateway
