#include "gateway/expose/web/overview.hpp"

#include "protocols/s7/client_engine.hpp"
#include "transport/memory/operations.hpp"

namespace tagferry::gateway {

web::outcome web_overview::describe(const web::call& context, web::overview_row& row) {
    if (context.who.role < web::role::viewer) {
        return web::outcome::forbidden;
    }
    row = {};
    row.now = clock_.wall_now();
    row.revision = models_.model().revision();
    for (const source_place& place : sources_.all()) {
        row.connections += 1;
        row.connections_up += place.source->status().state == source_state::up ? 1U : 0U;
        row.tags_good += table_.count(place.owner, quality::good);
        row.tags_uncertain += table_.count(place.owner, quality::uncertain);
        row.tags_bad += table_.count(place.owner, quality::bad);
    }
    row.opcua_endpoints = endpoints_;
    row.opcua_sessions = opcua_.statistics().sessions;
    row.reads = transport::operation_totals_now()[s7::s7_read.index()];
    return web::outcome::done;
}

}  // namespace tagferry::gateway
