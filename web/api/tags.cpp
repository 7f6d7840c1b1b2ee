#include "web/api/tags.hpp"

#include "web/api/parameters.hpp"
#include "web/api/value_json.hpp"

namespace tagferry::web {

progress tag_resource::begin(exchange& with) {
    decode_buffer buffer;
    const auto path = percent_decode(with.parameter(), plus_sign::literal, buffer);
    if (!path) {
        return with.refuse(outcome::invalid, with.parameter());
    }
    list_parameters none;
    if (const auto fault = read_parameters(with.request().query, {}, with.limits(), none)) {
        return with.refuse(*fault);
    }
    tag_handle tag;
    tag_row row;
    outcome how = values_.find(with.context(), *path, tag);
    if (how == outcome::done) {
        how = values_.describe(with.context(), tag, row);
    }
    if (how != outcome::done) {
        return with.refuse(how, *path);
    }
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    put_json_row(with.out(), row);
    return with.out().ok() ? progress::finished : with.refuse(outcome::busy);
}

progress tags_resource::begin(exchange& with) {
    if (!with.retain()) {
        return with.refuse(outcome::busy);
    }
    list_parameters parameters;
    if (const auto fault = read_parameters(with.request().query, {.filter = true, .page = true},
                                           with.limits(), parameters)) {
        return with.refuse(*fault);
    }
    const std::uint64_t revision = values_.revision();
    if (answer_unchanged(with, revision)) {
        return progress::finished;
    }
    auto& state = with.make_state<list_state>();
    state.revision = revision;
    state.position = parameters.cursor;
    state.remaining = parameters.limit;
    state.filter = parameters.filter;
    return advance(with);
}

outcome tags_resource::put_next(exchange& with, list_state& state) {
    decode_buffer buffer;
    const auto pattern = percent_decode(state.filter, plus_sign::space, buffer);
    tag_row row;
    const outcome found =
        values_.next(with.context(), pattern.value_or(std::string_view()), state.position, row);
    if (found == outcome::done) {
        put_json_row(with.out(), row);
    }
    return found;
}

}  // namespace tagferry::web
