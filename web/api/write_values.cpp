#include "web/api/write_values.hpp"

#include "web/api/parameters.hpp"
#include "web/api/value_from_json.hpp"
#include "web/http/field_list.hpp"
#include "web/http/json_writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tagferry::web {
namespace {

std::string_view text_of(std::span<const std::byte> bytes) noexcept {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

write_refusal refusal_of(conversion how) noexcept {
    switch (how) {
        case conversion::out_of_range:
            return write_refusal::out_of_range;
        case conversion::too_long:
            return write_refusal::too_long;
        case conversion::no_room:
            return write_refusal::too_much;
        case conversion::done:
        case conversion::type_mismatch:
        case conversion::malformed:
            break;
    }
    return write_refusal::type_mismatch;
}

/// A body that says it is something else is refused: a form of another site's page may send such
/// bodies without asking, JSON it may not.
std::optional<problem> check_media_type(const http_request& request) noexcept {
    const std::string_view field = request.field(request_field::content_type);
    const std::string_view type = trimmed(field.substr(0, field.find(';')));
    if (type.empty() || equals_ignoring_case(type, "application/json")) {
        return std::nullopt;
    }
    return problem{.status = http_status::unsupported_media_type,
                   .code = "unsupported_media_type",
                   .detail = "The body is not announced as JSON.",
                   .hint = "Send the field Content-Type: application/json.",
                   .subject = field};
}

http_status status_of(const write_result& result) noexcept {
    const auto wanted = static_cast<http_status>(result.http_status);
    return std::ranges::find(all_statuses, wanted) == all_statuses.end()
               ? http_status::internal_error
               : wanted;
}

/// Two hexadecimal digits and more, as the field's manuals write return codes.
std::string_view device_code_text(int code, std::span<char> buffer) noexcept {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto value = static_cast<unsigned>(code);
    const std::size_t count = value > 0xFF ? 4 : 2;
    std::size_t size = std::string_view("0x").copy(buffer.data(), buffer.size());
    for (std::size_t i = count; i-- > 0;) {
        buffer[size++] = digits[value >> (4 * i) & 0xFU];
    }
    return {buffer.data(), size};
}

/// What a problem says besides: which of the outcomes it is, and the device's words on it.
class outcome_members {
  public:
    explicit outcome_members(const write_result& result) noexcept {
        put(R"(,"outcome":")");
        put(name_of(result.ending));
        put(R"(","opcua_status":")");
        put(result.status_name);
        put("\"");
        if (result.device_code >= 0) {
            std::array<char, 8> code{};
            put(R"(,"device_code":")");
            put(device_code_text(result.device_code, code));
            put("\"");
        }
        if (result.ending == write_ending::partial) {
            std::array<char, 12> number{};
            const auto end =
                std::to_chars(number.data(), number.data() + number.size(), result.bytes_written)
                    .ptr;
            put(R"(,"bytes_written":)");
            put({number.data(), static_cast<std::size_t>(end - number.data())});
        }
    }
    std::string_view text() const noexcept { return {text_.data(), size_}; }

  private:
    void put(std::string_view part) noexcept {
        size_ += part.copy(text_.data() + size_, text_.size() - size_);
    }

    std::array<char, 256> text_{};
    std::size_t size_ = 0;
};

struct one_state {
    write_result result;
};

struct many_state {
    std::string_view items;  // what is left of the body's array is found by counting
    std::size_t count = 0;
    std::size_t written = 0;
    bool started = false;
};

std::span<write_result> results_of(exchange& with) noexcept {
    const std::span<std::byte> place = with.retained_extra();
    return {reinterpret_cast<write_result*>(place.data()), writes::max_items};
}

}  // namespace

bool value_writer::prepare(const call& context, std::string_view path, std::string_view value,
                           write_item& item, write_result& result) {
    const auto refuse = [&](write_refusal why) {
        result = writes_.refuse(context, path, value, why);
        return false;
    };
    tag_row tag;
    if (values_.find(context, path, item.tag) != outcome::done ||
        values_.describe(context, item.tag, tag) != outcome::done) {
        return refuse(write_refusal::unknown_tag);
    }
    if (!tag.writable) {
        return refuse(write_refusal::read_only);
    }
    const value_shape shape{tag.element, tag.array_length, tag.capacity};
    json_reader reader(value);
    const auto room = std::span(scratch_).subspan(used_);
    std::size_t size = 0;
    const conversion how = read_json_value(reader, reader.next(), shape, room, size);
    if (how != conversion::done) {
        return refuse(refusal_of(how));
    }
    used_ += size;
    item.path = path;
    item.value = {shape.type, shape.array_length, room.first(size)};
    item.text = value;
    item.result = &result;
    return true;
}

void put_json_result(output_chain& out, std::string_view path,
                     const write_result& result) noexcept {
    out.put("{\"path\":");
    put_json_string(out, path);
    out.put(",\"ok\":");
    put_json_boolean(out, result.ok());
    out.put(",\"outcome\":\"");
    out.put(name_of(result.ending));
    out.put("\",\"status\":\"");
    out.put(result.status_name);
    out.put("\",\"code\":\"");
    out.put(result.code);
    out.put("\",\"reason\":");
    put_json_string_or_null(out, result.reason);
    out.put(",\"remedy\":");
    put_json_string_or_null(out, result.remedy);
    if (result.device_code >= 0) {
        std::array<char, 8> code{};
        out.put(",\"device_code\":\"");
        out.put(device_code_text(result.device_code, code));
        out.put('"');
    }
    if (result.ending == write_ending::partial) {
        out.put(",\"bytes_written\":");
        put_json_number(out, result.bytes_written);
    }
    out.put('}');
}

progress write_value_resource::begin(exchange& with) {
    if (const auto fault = check_media_type(with.request())) {
        return with.refuse(*fault);
    }
    write_body body;
    if (const auto fault = read_write(text_of(with.request().body), body)) {
        return with.refuse(*fault);
    }
    decode_buffer buffer;
    const auto path = percent_decode(with.parameter(), plus_sign::literal, buffer);
    if (!path) {
        return with.refuse(outcome::invalid, with.parameter());
    }
    const call context = with.context();
    write_item item;
    auto& state = with.make_state<one_state>();
    writer_.clear();
    if (!writer_.prepare(context, *path, body.value, item, state.result)) {
        return answer(with, state.result);
    }
    std::array<char, 256> reason;
    const auto plain = json_unescape(body.reason.substr(0, reason.size()), reason);
    const outcome how = writer_.target().write(context, {&item, 1}, plain.value_or(""));
    if (how == outcome::deferred) {
        return progress::waiting;
    }
    return how == outcome::done ? answer(with, state.result) : with.refuse(how);
}

progress write_value_resource::resumed(exchange& with, std::uint32_t) {
    return answer(with, with.state<one_state>().result);
}

void write_value_resource::abandoned(exchange& with) noexcept {
    const call context = with.context();
    writer_.target().abandon(*context.sink, context.token);
}

progress write_value_resource::answer(exchange& with, const write_result& result) {
    decode_buffer buffer;
    const auto path = percent_decode(with.parameter(), plus_sign::literal, buffer);
    if (!result.ok()) {
        const outcome_members members(result);
        const http_status status = status_of(result);
        const bool value_is_wrong = status == http_status::unprocessable_content;
        return with.refuse(
            {.status = status,
             .code = result.code,
             .detail = result.reason,
             .hint = result.remedy,
             .subject = path.value_or(""),
             .pointer = value_is_wrong ? std::string_view("/value") : std::string_view(),
             .members = members.text(),
             .retry = status == http_status::service_unavailable});
    }
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    put_json_result(with.out(), path.value_or(""), result);
    return progress::finished;
}

progress write_values_resource::begin(exchange& with) {
    if (const auto fault = check_media_type(with.request())) {
        return with.refuse(*fault);
    }
    write_body body;
    if (const auto fault = read_writes(text_of(with.request().body), writes::max_items, body)) {
        return with.refuse(*fault);
    }
    const call context = with.context();
    with.make_state<many_state>(many_state{body.items, body.count, 0, false});
    const std::span<write_result> results = results_of(with);
    std::array<write_item, writes::max_items> items;
    std::size_t prepared = 0;
    std::span<char> room(paths_);
    writer_.clear();
    write_items walk(body.items);
    for (std::size_t i = 0; i < body.count; ++i) {
        const auto item = walk.next();
        const std::string_view path = json_unescape(item->path, room).value_or("");
        room = room.subspan(path.size());
        std::construct_at(&results[i]);
        prepared += writer_.prepare(context, path, item->value, items[prepared], results[i]);
    }
    if (prepared == 0) {
        return advance(with);
    }
    std::array<char, 256> reason;
    const auto plain = json_unescape(body.reason.substr(0, reason.size()), reason);
    const outcome how =
        writer_.target().write(context, std::span(items).first(prepared), plain.value_or(""));
    if (how == outcome::deferred) {
        return progress::waiting;
    }
    return how == outcome::done ? advance(with) : with.refuse(how);
}

progress write_values_resource::resumed(exchange& with, std::uint32_t) {
    return advance(with);
}

void write_values_resource::abandoned(exchange& with) noexcept {
    const call context = with.context();
    writer_.target().abandon(*context.sink, context.token);
}

/// Writes results as long as there is room: the writes have been carried out, so the answer must
/// not be lost for want of a slot.
progress write_values_resource::advance(exchange& with) {
    auto& state = with.state<many_state>();
    output_chain& out = with.out();
    if (!state.started) {
        if (!with.answer.begin(http_status::ok, "application/json")) {
            return with.refuse(outcome::busy);
        }
        out.put("{\"results\":[");
        state.started = true;
    }
    write_items walk(state.items);
    for (std::size_t i = 0; i < state.count; ++i) {
        const auto item = walk.next();
        if (i < state.written) {
            continue;
        }
        if (out.slots_held() >= with.limits().output_high_water_slots) {
            return progress::more;
        }
        const output_chain::mark before = out.position();
        out.put(i == 0 ? "" : ",");
        const std::string_view path = json_unescape(item->path, paths_).value_or("");
        put_json_result(out, path, results_of(with)[i]);
        out.put(i + 1 == state.count ? "]}" : "");
        if (!out.ok()) {
            out.rollback(before);
            return progress::more;
        }
        ++state.written;
    }
    return progress::finished;
}

}  // namespace tagferry::web
