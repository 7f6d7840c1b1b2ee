#include "web/api/browse.hpp"

#include "web/api/parameters.hpp"
#include "web/api/value_json.hpp"

namespace tagferry::web {

progress browse_resource::begin(exchange& with) {
    decode_buffer buffer;
    const auto path = percent_decode(with.parameter(), plus_sign::literal, buffer);
    if (!path) {
        return with.refuse(outcome::invalid, with.parameter());
    }
    list_parameters parameters;
    if (const auto fault =
            read_parameters(with.request().query, {.page = true}, with.limits(), parameters)) {
        return with.refuse(*fault);
    }
    node_row node;
    const outcome found = tree_.node(with.context(), *path, node);
    if (found != outcome::done) {
        return with.refuse(found, *path);
    }
    const std::uint64_t revision = values_.revision();
    if (answer_unchanged(with, revision)) {
        return progress::finished;
    }
    auto& state = with.make_state<list_state>();
    state.revision = revision;
    state.position = parameters.cursor;
    state.remaining = parameters.limit;
    state.parent = node.handle;
    return advance(with);
}

outcome browse_resource::put_next(exchange& with, list_state& state) {
    node_row row;
    const outcome found = tree_.next_child(with.context(), state.parent, state.position, row);
    if (found == outcome::done) {
        put_json_row(with.out(), row);
    }
    return found;
}

}  // namespace tagferry::web
