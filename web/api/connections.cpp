#include "web/api/connections.hpp"

#include "web/api/parameters.hpp"
#include "web/api/value_json.hpp"

namespace tagferry::web {

progress connection_resource::begin(exchange& with) {
    decode_buffer buffer;
    const auto name = percent_decode(with.parameter(), plus_sign::literal, buffer);
    if (!name) {
        return with.refuse(outcome::invalid, with.parameter());
    }
    list_parameters none;
    if (const auto fault = read_parameters(with.request().query, {}, with.limits(), none)) {
        return with.refuse(*fault);
    }
    connection_row row;
    const outcome found = links_.find(with.context(), *name, row);
    if (found != outcome::done) {
        return with.refuse(found, *name);
    }
    if (!with.answer.begin(http_status::ok, "application/json")) {
        return with.refuse(outcome::busy);
    }
    put_json_row(with.out(), row);
    return with.out().ok() ? progress::finished : with.refuse(outcome::busy);
}

progress connections_resource::begin(exchange& with) {
    list_parameters parameters;
    if (const auto fault =
            read_parameters(with.request().query, {.page = true}, with.limits(), parameters)) {
        return with.refuse(*fault);
    }
    auto& state = with.make_state<list_state>();
    state.position = parameters.cursor;
    state.remaining = parameters.limit;
    return advance(with);
}

outcome connections_resource::put_next(exchange& with, list_state& state) {
    connection_row row;
    const outcome found = links_.next(with.context(), state.position, row);
    if (found == outcome::done) {
        put_json_row(with.out(), row);
    }
    return found;
}

}  // namespace tagferry::web
