#include "web/api/values.hpp"

#include "web/api/parameters.hpp"
#include "web/api/value_json.hpp"

namespace tagferry::web {
namespace {

// As the value of a tag that was named and cannot be shown.
constexpr std::uint32_t bad_node_id_unknown = 0x80340000;
constexpr std::uint32_t bad_user_access_denied = 0x801F0000;
constexpr std::uint32_t bad_encoding_limits_exceeded = 0x80080000;

value_row absent_row(outcome why, std::string_view path) noexcept {
    value_row row;
    row.path = path;
    if (why == outcome::forbidden) {
        row.status = bad_user_access_denied;
        row.status_name = "BadUserAccessDenied";
        row.reason = "Your role may not read this tag.";
    } else {
        row.status = bad_node_id_unknown;
        row.status_name = "BadNodeIdUnknown";
        row.reason = "There is no tag of this path.";
    }
    return row;
}

}  // namespace

progress value_resource::begin(exchange& with) {
    if (with.found().revision == values_.revision()) {
        return answer(with, with.found().tag);
    }
    decode_buffer buffer;
    const auto path = percent_decode(with.parameter(), plus_sign::literal, buffer);
    if (!path) {
        return with.refuse(outcome::invalid, with.parameter());
    }
    list_parameters parameters;
    if (!with.request().query.empty()) {
        if (const auto fault = read_parameters(with.request().query, {.max_age = true},
                                               with.limits(), parameters)) {
            return with.refuse(*fault);
        }
    }
    const call context = with.context();
    tag_handle tag;
    const outcome found = values_.find(context, *path, tag);
    if (found != outcome::done) {
        return with.refuse(found, *path);
    }
    if (parameters.max_age) {
        const outcome refreshed = values_.refresh(context, {&tag, 1}, *parameters.max_age);
        if (refreshed == outcome::deferred) {
            with.make_state<tag_handle>(tag);
            return progress::waiting;
        }
        if (refreshed != outcome::done) {
            return with.refuse(refreshed, *path);
        }
    } else {
        with.found() = {values_.revision(), tag};
    }
    return answer(with, tag);
}

progress value_resource::resumed(exchange& with, std::uint32_t result) {
    const auto how = static_cast<outcome>(result);
    return how == outcome::done ? answer(with, with.state<tag_handle>()) : with.refuse(how);
}

void value_resource::abandoned(exchange& with) noexcept {
    const call context = with.context();
    values_.cancel_refresh(*context.sink, context.token);
}

progress value_resource::answer(exchange& with, tag_handle tag) {
    value_row row;
    const outcome read = values_.read(with.context(), tag, scratch_, row);
    if (read != outcome::done) {
        return with.refuse(read);
    }
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    put_json_row(with.out(), row);
    if (!with.out().ok()) {
        return with.refuse(outcome::busy);
    }
    return progress::finished;
}

progress values_resource::begin(exchange& with) {
    if (!with.retain()) {
        return with.refuse(outcome::busy);
    }
    list_parameters parameters;
    if (const auto fault = read_parameters(
            with.request().query, {.filter = true, .tags = true, .page = true, .max_age = true},
            with.limits(), parameters)) {
        return with.refuse(*fault);
    }
    auto& state = with.make_state<list_state>();
    state.position = parameters.cursor;
    state.by_name = parameters.tags != 0;
    state.remaining = state.by_name ? parameters.tags : parameters.limit;
    state.filter = parameters.filter;
    if (parameters.max_age) {
        const outcome refreshed = refresh(with, *parameters.max_age);
        if (refreshed == outcome::deferred) {
            return progress::waiting;
        }
        if (refreshed != outcome::done) {
            return with.refuse(refreshed);
        }
    }
    return advance(with);
}

progress values_resource::resumed(exchange& with, std::uint32_t result) {
    const auto how = static_cast<outcome>(result);
    return how == outcome::done ? advance(with) : with.refuse(how);
}

void values_resource::abandoned(exchange& with) noexcept {
    const call context = with.context();
    values_.cancel_refresh(*context.sink, context.token);
}

// Names that are not found are left to the answer's rows.
outcome values_resource::refresh(exchange& with, transport::duration max_age) {
    std::array<tag_handle, values::max_refresh_tags> tags;
    std::size_t count = 0;
    const call context = with.context();
    query_reader reader(with.request().query);
    decode_buffer buffer;
    while (const auto path = next_tag(reader, buffer)) {
        if (count == tags.size()) {
            return outcome::invalid;
        }
        if (values_.find(context, *path, tags[count]) == outcome::done) {
            ++count;
        }
    }
    return count == 0 ? outcome::done
                      : values_.refresh(context, std::span(tags).first(count), max_age);
}

outcome values_resource::put_next(exchange& with, list_state& state) {
    if (state.by_name) {
        return put_named(with, state);
    }
    decode_buffer buffer;
    const auto pattern = percent_decode(state.filter, plus_sign::space, buffer);
    tag_row tag;
    const outcome found =
        values_.next(with.context(), pattern.value_or(std::string_view()), state.position, tag);
    return found == outcome::done ? put_row(with, state, tag.handle) : found;
}

outcome values_resource::put_named(exchange& with, list_state& state) {
    query_reader reader(with.request().query, state.query_position);
    decode_buffer buffer;
    const auto path = next_tag(reader, buffer);
    if (!path) {
        return outcome::end;
    }
    state.query_position = reader.position();
    tag_handle tag;
    const outcome found = values_.find(with.context(), *path, tag);
    if (found == outcome::done) {
        return put_row(with, state, tag);
    }
    put_json_row(with.out(), absent_row(found, *path));
    return outcome::done;
}

outcome values_resource::put_row(exchange& with, list_state& state, tag_handle tag) {
    value_row row;
    const outcome read = values_.read(with.context(), tag, scratch_, row);
    if (read != outcome::done) {
        row = absent_row(read, row.path);
    }
    if (state.oversized) {
        row.value = {};
        row.has_last_good = false;
        row.status = bad_encoding_limits_exceeded;
        row.status_name = "BadEncodingLimitsExceeded";
        row.reason = "The value is too large for an answer.";
    }
    put_json_row(with.out(), row);
    return outcome::done;
}

}  // namespace tagferry::web
