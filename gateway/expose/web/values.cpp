#include "gateway/expose/web/values.hpp"

#include "gateway/expose/slot_values.hpp"
#include "web/backend/pattern.hpp"

#include <chrono>
#include <cstring>

namespace tagferry::gateway {
namespace {

/// Tags looked at in one call of `next` without a match before the turn is given back.
constexpr std::size_t steps_per_call = 256;

bool may_read(const web::call& context) noexcept {
    return context.who.role >= web::role::viewer;
}

void fill(const tag_model& model, const tag_definition& tag, web::tag_row& row) noexcept {
    const model_node& node = model.nodes()[tag.node];
    row.handle = {tag.handle.index, tag.handle.generation};
    row.path = node.path;
    row.node_id = node.node_id_text;
    row.type = tag.type_text;
    row.address = tag.address;
    row.readable = true;
    row.writable = tag.writable;
    row.element = to_web(tag.type.element);
    row.array_length = tag.type.array_length;
    row.capacity = tag.type.capacity;
    row.scan_class = tag.scan_class;
    row.unit = tag.unit;
    row.description = tag.description;
}

web::value_view view_of(const value_type& type, std::span<const std::byte> bytes) noexcept {
    return {to_web(type.element), type.array_length, bytes};
}

}  // namespace

device_read_codes web_device_read_codes() noexcept {
    device_read_codes codes;
    codes.completed = static_cast<std::uint32_t>(web::outcome::done);
    codes.timed_out = static_cast<std::uint32_t>(web::outcome::timed_out);
    // The row then says that there is no communication.
    codes.no_communication = codes.completed;
    codes.busy = static_cast<std::uint32_t>(web::outcome::busy);
    return codes;
}

web::outcome web_values::find(const web::call& context, std::string_view path,
                              web::tag_handle& found) {
    const model_node* const node = models_.model().find(path);
    if (node == nullptr || node->kind != node_kind::tag) {
        return web::outcome::not_found;
    }
    if (!may_read(context)) {
        return web::outcome::forbidden;
    }
    const tag_handle tag = models_.model().tags()[node->item].handle;
    found = {tag.index, tag.generation};
    return web::outcome::done;
}

web::outcome web_values::read(const web::call& context, web::tag_handle tag,
                              std::span<std::byte> scratch, web::value_row& row) {
    const tag_handle handle{tag.index, tag.generation};
    const tag_definition* const known = models_.model().find(handle);
    if (known == nullptr) {
        return web::outcome::not_found;
    }
    if (!may_read(context)) {
        return web::outcome::forbidden;
    }
    if (read_good_number(handle, scratch, row)) {
        row.handle = tag;
        row.path = models_.model().nodes()[known->node].path;
        return web::outcome::done;
    }
    const std::size_t size = value_size(known->type);
    if (scratch.size() < 2 * size) {
        return web::outcome::invalid;
    }
    const auto current = scratch.first(size);
    const auto last_good = scratch.subspan(size, size);
    sample seen;
    if (table_.read(handle, current, seen) != read_result::done) {
        return web::outcome::not_found;
    }
    row = {};
    row.handle = tag;
    row.path = models_.model().nodes()[known->node].path;
    row.status = static_cast<std::uint32_t>(seen.status);
    row.status_name = name_of(seen.status);
    // Null over REST where the device said nothing; OPC UA shows when the status arose (Part 4).
    row.source_timestamp = came_from_device(seen.reason) ? seen.source_time : 0;
    row.server_timestamp = seen.update_time;
    if (seen.has_value) {
        row.value = view_of(known->type, pack_slot(known->type, current));
    }
    if (quality_of(seen.status) == quality::good) {
        return web::outcome::done;
    }
    row.reason_id = static_cast<std::uint16_t>(seen.reason);
    row.reason = tagferry::gateway::describe(seen.reason).words;
    sample good;
    if (seen.has_last_good &&
        table_.read(handle, last_good, good, value_choice::last_good) == read_result::done) {
        row.has_last_good = true;
        row.last_good = view_of(known->type, pack_slot(known->type, last_good));
        row.last_good_timestamp = good.last_good_time;
    }
    return web::outcome::done;
}

// What nearly every read finds. Whatever is not good has a reason, which the record alone knows.
bool web_values::read_good_number(tag_handle tag, std::span<std::byte> scratch,
                                  web::value_row& row) const noexcept {
    number_sample number;
    if (scratch.size() < sizeof number.bits || !table_.read_number(tag, number) ||
        number.status != status_code::good || !number.has_value) {
        return false;
    }
    std::memcpy(scratch.data(), &number.bits, sizeof number.bits);
    row.value = {to_web(number.type), web::scalar, scratch.first(number.size)};
    row.status = 0;
    row.status_name = "Good";
    row.reason_id = 0;
    row.reason = {};
    row.source_timestamp = number.source_time;
    row.server_timestamp = number.update_time;
    row.has_last_good = false;
    return true;
}

web::outcome web_values::refresh(const web::call& context, std::span<const web::tag_handle> tags,
                                 transport::duration max_age) {
    if (tags.size() > max_refresh_tags || context.sink == nullptr) {
        return web::outcome::invalid;
    }
    const transport::wall_time_ns now = clock_.wall_now();
    const auto allowed = std::chrono::duration_cast<std::chrono::nanoseconds>(max_age).count();
    std::array<tag_handle, max_refresh_tags> old{};
    std::size_t count = 0;
    for (const web::tag_handle tag : tags) {
        const tag_handle handle{tag.index, tag.generation};
        sample seen;
        const bool known = table_.read_part(handle, 0, {}, seen) == read_result::done;
        const bool young = allowed > 0 && quality_of(seen.status) == quality::good &&
                           now - seen.source_time <= allowed;
        if (known && !young) {
            old[count++] = handle;
        }
    }
    if (count == 0) {
        return web::outcome::done;
    }
    return reads_.start(std::span(old).first(count), context.deadline, *context.sink, context.token)
               ? web::outcome::deferred
               : web::outcome::busy;
}

void web_values::cancel_refresh(transport::completion_sink& sink,
                                transport::completion_token token) noexcept {
    reads_.cancel(sink, token);
}

web::outcome web_values::next(const web::call& context, std::string_view pattern,
                              web::tag_position& position, web::tag_row& row) {
    if (!may_read(context)) {
        return web::outcome::end;
    }
    const tag_model& model = models_.model();
    for (std::size_t step = 0; step < steps_per_call; ++step) {
        const tag_definition* const tag =
            position > 0xFFFFFFFFU ? nullptr
                                   : model.at_or_after(static_cast<std::uint32_t>(position));
        if (tag == nullptr) {
            return web::outcome::end;
        }
        position = std::uint64_t{tag->handle.index} + 1;
        if (web::matches(pattern, model.nodes()[tag->node].path)) {
            fill(model, *tag, row);
            return web::outcome::done;
        }
    }
    return web::outcome::later;
}

web::outcome web_values::describe(const web::call& context, web::tag_handle tag,
                                  web::tag_row& row) {
    const tag_definition* const known = models_.model().find(tag_handle{tag.index, tag.generation});
    if (known == nullptr) {
        return web::outcome::not_found;
    }
    if (!may_read(context)) {
        return web::outcome::forbidden;
    }
    fill(models_.model(), *known, row);
    return web::outcome::done;
}

}  // namespace tagferry::gateway
