#include "gateway/expose/device_read_hub.hpp"

#include <algorithm>

namespace tagferry::gateway {

device_read_hub::device_read_hub(transport::shard& asking, const model_access& models,
                                 const source_directory& sources, const device_read_codes& codes,
                                 const device_read_limits& limits)
    : shard_(asking),
      models_(models),
      sources_(sources),
      codes_(codes),
      limits_(limits),
      requests_(limits.requests) {
    std::vector<transport::completion_token> taken(limits.requests);
    for (transport::completion_token& each : taken) {
        requests_.take(each);
        request& made = *requests_.find(each);
        made.routed.reserve(limits.tags_per_request);
        made.tags.reserve(limits.tags_per_request);
        made.parts = std::vector<part>(limits.connections_per_request);
    }
    for (const transport::completion_token each : taken) {
        requests_.release(each);
    }
    shard_.add(static_cast<transport::sweep_participant&>(*this));
}

device_read_hub::~device_read_hub() = default;

std::size_t device_read_hub::route(request& to, std::span<const tag_handle> tags) {
    const tag_model& model = models_.model();
    to.routed.clear();
    for (const tag_handle tag : tags) {
        if (const tag_definition* const known = model.find(tag); known != nullptr) {
            to.routed.push_back({known->connection, tag});
        }
    }
    std::ranges::sort(to.routed, {}, &routed_tag::connection);
    to.tags.clear();
    for (const routed_tag& each : to.routed) {
        to.tags.push_back(each.tag);
    }
    std::size_t count = 0;
    for (std::size_t first = 0; first < to.routed.size();) {
        const std::uint32_t connection = to.routed[first].connection;
        std::size_t end = first;
        while (end < to.routed.size() && to.routed[end].connection == connection) {
            ++end;
        }
        const auto* const place = sources_.find(model.connections()[connection].owner);
        if (place != nullptr && count == to.parts.size()) {
            return count + 1;
        }
        if (place != nullptr) {
            part& made = to.parts[count++];
            made.hub = this;
            made.place = place;
            made.tags = std::span(to.tags).subspan(first, end - first);
            made.ended.store(0, std::memory_order_relaxed);
            made.counted = false;
        }
        first = end;
    }
    return count;
}

bool device_read_hub::start(std::span<const tag_handle> tags, transport::time_point deadline,
                            transport::completion_sink& sink, transport::completion_token token) {
    transport::completion_token name;
    if (tags.size() > limits_.tags_per_request || !requests_.take(name)) {
        return false;
    }
    request& made = *requests_.find(name);
    const std::size_t parts = route(made, tags);
    if (parts > made.parts.size()) {
        requests_.release(name);
        return false;
    }
    made.sink = &sink;
    made.token = token;
    made.deadline = deadline;
    made.code = codes_.completed;
    made.parts_open = parts;
    for (std::size_t i = 0; i < parts; ++i) {
        made.parts[i].request = name;
        begin(made.parts[i]);
    }
    // What has nothing to wait for, or was refused, is told in another turn.
    shard_.at_next_turn(*this);
    return true;
}

void device_read_hub::begin(part& which) {
    if (which.place->shard == &shard_) {
        run_part(&which, 0, 0);
    } else if (!which.place->shard->post({&run_part, &which, 0, 0})) {
        which.ended.store(1U + static_cast<std::uint32_t>(device_read_result::busy),
                          std::memory_order_release);
    }
}

void device_read_hub::run_part(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    part& which = *static_cast<part*>(object);
    const auto ticket = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&which));
    if (!which.place->source->read(which.tags, ticket, *which.hub)) {
        which.hub->end(which, device_read_result::busy);
    }
}

void device_read_hub::device_read_finished(std::uint64_t ticket, device_read_result result) {
    end(*reinterpret_cast<part*>(static_cast<std::uintptr_t>(ticket)), result);
}

/// On the source's shard.
void device_read_hub::end(part& which, device_read_result result) {
    transport::shard& asking = shard_;
    which.ended.store(1U + static_cast<std::uint32_t>(result), std::memory_order_release);
    // The part may belong to another request from here on. A mailbox that is full delays the
    // answer until the next sweep.
    static_cast<void>(asking.post({&part_ended, this, 0, 0}));
}

void device_read_hub::part_ended(void* object, std::uint64_t /*a*/, std::uint64_t /*b*/) {
    auto& hub = *static_cast<device_read_hub*>(object);
    hub.next_turn(hub.shard_.now());
}

void device_read_hub::next_turn(transport::time_point now) {
    requests_.for_each([this, now](transport::completion_token name, request& /*each*/) {
        take_ended(name, now);
    });
}

void device_read_hub::take_ended(transport::completion_token name, transport::time_point now) {
    request& about = *requests_.find(name);
    for (part& each : about.parts) {
        const std::uint32_t ended =
            each.request == name && !each.counted ? each.ended.load(std::memory_order_acquire) : 0;
        if (ended == 0) {
            continue;
        }
        each.counted = true;
        --about.parts_open;
        const auto result = static_cast<device_read_result>(ended - 1);
        if (result == device_read_result::busy) {
            about.code = codes_.busy;
        } else if (result == device_read_result::no_communication && about.code != codes_.busy) {
            about.code = codes_.no_communication;
        }
    }
    if (about.parts_open == 0) {
        transport::completion_sink* const sink = about.sink;
        const transport::completion_token token = about.token;
        const std::uint32_t code = about.code;
        about.sink = nullptr;
        requests_.release(name);
        if (sink != nullptr) {
            sink->resume(token, code, now);
        }
    }
}

transport::time_point device_read_hub::deadline() const noexcept {
    // Asked every 100 ms: with requests outstanding look at them each time, for their deadlines
    // and for answers whose wake-up found the mailbox full.
    return requests_.size() == 0 ? transport::time_point::max() : transport::time_point::min();
}

void device_read_hub::expire(transport::time_point now) {
    requests_.for_each([this, now](transport::completion_token name, request& each) {
        if (each.sink != nullptr && each.deadline <= now) {
            tell(each, codes_.timed_out, now);
        }
        take_ended(name, now);
    });
}

void device_read_hub::tell(request& about, std::uint32_t code, transport::time_point now) {
    transport::completion_sink* const sink = about.sink;
    about.sink = nullptr;
    sink->resume(about.token, code, now);
}

void device_read_hub::cancel(const transport::completion_sink& sink,
                             transport::completion_token token) noexcept {
    requests_.for_each([&](transport::completion_token /*name*/, request& each) {
        if (each.sink == &sink && each.token == token) {
            each.sink = nullptr;
        }
    });
}

}  // namespace tagferry::gateway
