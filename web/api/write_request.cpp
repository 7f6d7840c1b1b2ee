#include "web/api/write_request.hpp"

namespace tagferry::web {
namespace {

problem malformed(std::string_view detail, std::string_view pointer = {}) noexcept {
    return {.status = http_status::bad_request,
            .code = "malformed_body",
            .detail = detail,
            .hint =
                "The body is {\"value\":…} for one tag, {\"items\":[{\"path\":…,\"value\":…}]} "
                "for several; a reason may be beside it.",
            .pointer = pointer};
}

/// Reads past the value that `token` begins and gives its text.
std::optional<std::string_view> value_text(json_reader& reader, std::string_view whole,
                                           json_token token) noexcept {
    // A token ends where reading stands; it begins so many bytes before.
    std::size_t first = reader.offset() - 1;
    if (token == json_token::string) {
        first = reader.offset() - reader.text().size() - 2;
    } else if (token != json_token::begin_object && token != json_token::begin_array) {
        first = reader.offset() - reader.text().size();
    }
    if (!reader.skip(token)) {
        return std::nullopt;
    }
    return whole.substr(first, reader.offset() - first);
}

/// The members of an object at whose `{` the reader is: `member(name, token)` reads one past its
/// value and says whether all is well with it.
template <typename Member>
bool read_members(json_reader& reader, Member&& member) noexcept {
    json_token token = reader.next();
    for (; token == json_token::name; token = reader.next()) {
        const std::string_view name = reader.text();
        if (!member(name, reader.next())) {
            return false;
        }
    }
    return token == json_token::end_object;
}

bool read_item(json_reader& reader, std::string_view whole, write_items::item& into) noexcept {
    into = {};
    bool has_path = false;
    const bool whole_object =
        read_members(reader, [&](std::string_view name, json_token token) noexcept {
            if (json_is(name, "path") && token == json_token::string && !has_path) {
                has_path = true;
                into.path = reader.text();
                return true;
            }
            const bool is_value = json_is(name, "value") && into.value.empty();
            const auto text = value_text(reader, whole, token);
            if (is_value && text) {
                into.value = *text;
            }
            return text.has_value() &&
                   (is_value || (!json_is(name, "value") && !json_is(name, "path")));
        });
    return whole_object && has_path && !into.value.empty();
}

std::optional<problem> read_items(json_reader& reader, std::string_view text, std::size_t most,
                                  write_body& body) noexcept {
    const std::size_t first = reader.offset() - 1;
    for (json_token token = reader.next(); token != json_token::end_array; token = reader.next()) {
        write_items::item item;
        if (token != json_token::begin_object || !read_item(reader, text, item)) {
            return malformed("An item is not an object of one path and one value.", "/items");
        }
        if (++body.count > most) {
            return problem{.status = http_status::bad_request,
                           .code = "too_many_items",
                           .detail = "There are too many items in one request.",
                           .hint = "Send them in several requests of at most 128.",
                           .pointer = "/items"};
        }
    }
    body.items = text.substr(first, reader.offset() - first);
    return std::nullopt;
}

/// The text of `reason` is taken; false when it is none.
bool read_reason(json_reader& reader, json_token token, write_body& body) noexcept {
    if (token == json_token::string) {
        body.reason = reader.text();
    }
    return token == json_token::string || token == json_token::null;
}

}  // namespace

std::optional<problem> read_write(std::string_view text, write_body& body) noexcept {
    json_reader reader(text);
    body = {};
    if (reader.next() != json_token::begin_object) {
        return malformed("The body is not a JSON object.");
    }
    std::string_view wrong;
    const bool whole = read_members(reader, [&](std::string_view name, json_token token) noexcept {
        if (json_is(name, "reason")) {
            wrong = read_reason(reader, token, body) ? wrong : "/reason";
            return reader.skip(token);
        }
        const auto value = value_text(reader, text, token);
        if (value && json_is(name, "value")) {
            wrong = body.value.empty() ? wrong : "/value";
            body.value = *value;
        } else if (wrong.empty()) {
            wrong = "/";
        }
        return value.has_value();
    });
    if (!whole || reader.next() != json_token::end) {
        return malformed("The body is not JSON.");
    }
    if (!wrong.empty()) {
        return malformed("A member is unknown, there twice, or of the wrong type.", wrong);
    }
    if (body.value.empty()) {
        return malformed("The body has no value.", "/value");
    }
    return std::nullopt;
}

std::optional<problem> read_writes(std::string_view text, std::size_t most,
                                   write_body& body) noexcept {
    json_reader reader(text);
    body = {};
    if (reader.next() != json_token::begin_object) {
        return malformed("The body is not a JSON object.");
    }
    std::optional<problem> fault;
    std::string_view wrong;
    const bool whole = read_members(reader, [&](std::string_view name, json_token token) noexcept {
        if (json_is(name, "reason")) {
            wrong = read_reason(reader, token, body) ? wrong : "/reason";
            return reader.skip(token);
        }
        if (json_is(name, "items") && token == json_token::begin_array && body.items.empty()) {
            fault = read_items(reader, text, most, body);
            return !fault.has_value();
        }
        wrong = json_is(name, "items") ? "/items" : "/";
        return reader.skip(token);
    });
    if (fault) {
        return fault;
    }
    if (!whole || reader.next() != json_token::end) {
        return malformed("The body is not JSON.");
    }
    if (!wrong.empty()) {
        return malformed("A member is unknown, there twice, or of the wrong type.", wrong);
    }
    if (body.count == 0) {
        return malformed("There are no items.", "/items");
    }
    return std::nullopt;
}

std::optional<write_items::item> write_items::next() noexcept {
    item found;
    if (reader_.next() != json_token::begin_object || !read_item(reader_, text_, found)) {
        return std::nullopt;
    }
    return found;
}

}  // namespace tagferry::web
