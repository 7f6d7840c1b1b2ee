#include "gateway/expose/web/connections.hpp"

namespace tagferry::gateway {

void web_connections::fill(const source_place& place, web::connection_row& row) const noexcept {
    const source_status status = place.source->status();
    row = {};
    row.name = place.name;
    row.protocol = place.source->protocol();
    row.endpoint = place.endpoint;
    row.state = name_of(status.state);
    row.reason = status.reason;
    row.up = status.state == source_state::up;
    row.since = status.since;
    row.next_attempt = status.next_attempt;
    row.connects = status.connects;
    row.connect_failures = status.connect_failures;
    row.requests = status.requests;
    row.request_failures = status.request_failures;
    row.overruns = status.overruns;
    row.pdu_size = status.pdu_size;
    row.window = status.window;
    const auto count = [&](quality value) {
        return static_cast<std::uint32_t>(table_.count(place.owner, value));
    };
    row.tags_good = count(quality::good);
    row.tags_uncertain = count(quality::uncertain);
    row.tags_bad = count(quality::bad);
    row.tags = row.tags_good + row.tags_uncertain + row.tags_bad;
}

web::outcome web_connections::next(const web::call& context, std::uint64_t& position,
                                   web::connection_row& row) {
    if (position >= sources_.all().size() || context.who.role < web::role::viewer) {
        return web::outcome::end;
    }
    fill(sources_.all()[position++], row);
    return web::outcome::done;
}

web::outcome web_connections::find(const web::call& context, std::string_view name,
                                   web::connection_row& row) {
    for (const source_place& place : sources_.all()) {
        if (place.name == name) {
            if (context.who.role < web::role::viewer) {
                return web::outcome::forbidden;
            }
            fill(place, row);
            return web::outcome::done;
        }
    }
    return web::outcome::not_found;
}

}  // namespace tagferry::gateway
