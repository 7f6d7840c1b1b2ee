#include "protocols/opcua/encoding/message_header.hpp"
#include "protocols/opcua/services/service.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace tagferry::opcua {
namespace {

using need = session_need;

// A service that is known but not offered yet: the session is checked first, as for any other.
constexpr service absent(std::uint32_t request_type, std::string_view name) {
    return {request_type, 0, name, need::activated, nullptr, false, 0, false, nullptr, nullptr};
}

using service_function = step (*)(service_context&);

constexpr service on_items(std::uint32_t request_type, std::uint32_t response_type,
                           std::string_view name, service_function run) {
    return {request_type,
            response_type,
            name,
            need::activated,
            &limits::max_monitored_items_per_call,
            false,
            0,
            false,
            nullptr,
            run};
}

constexpr service on_subscriptions(std::uint32_t request_type, std::uint32_t response_type,
                                   std::string_view name, service_function run) {
    return {
        request_type, response_type, name, need::activated, &limits::max_subscriptions, false, 0,
        false,        nullptr,       run};
}

constexpr auto rows = [] {
    std::array table{
        service{id::find_servers_request_binary, id::find_servers_response_binary, "FindServers",
                need::none, nullptr, false, 0, false, nullptr, find_servers},
        service{id::get_endpoints_request_binary, id::get_endpoints_response_binary, "GetEndpoints",
                need::none, nullptr, false, 0, false, nullptr, get_endpoints},
        service{id::create_session_request_binary, id::create_session_response_binary,
                "CreateSession", need::none, nullptr, false, 0, true, nullptr, create_session},
        service{id::activate_session_request_binary, id::activate_session_response_binary,
                "ActivateSession", need::created, nullptr, false, 0, true, nullptr,
                activate_session},
        service{id::close_session_request_binary, id::close_session_response_binary, "CloseSession",
                need::created, nullptr, false, 0, true, nullptr, close_session},
        service{id::browse_request_binary, id::browse_response_binary, "Browse", need::activated,
                &limits::max_nodes_per_browse, false, 0, false, nullptr, browse},
        service{id::browse_next_request_binary, id::browse_next_response_binary, "BrowseNext",
                need::activated, &limits::max_nodes_per_browse, false, 0, false, nullptr,
                browse_next},
        service{id::translate_browse_paths_to_node_ids_request_binary,
                id::translate_browse_paths_to_node_ids_response_binary,
                "TranslateBrowsePathsToNodeIds", need::activated, &limits::max_nodes_per_translate,
                false, 0, false, nullptr, translate_browse_paths},
        service{id::register_nodes_request_binary, id::register_nodes_response_binary,
                "RegisterNodes", need::activated, &limits::max_nodes_per_register, false, 0, false,
                nullptr, register_nodes},
        service{id::unregister_nodes_request_binary, id::unregister_nodes_response_binary,
                "UnregisterNodes", need::activated, &limits::max_nodes_per_register, false, 0,
                false, nullptr, unregister_nodes},
        service{id::read_request_binary, id::read_response_binary, "Read", need::activated,
                &limits::max_nodes_per_read, true, 0, false, &opcua_read, read},
        service{id::write_request_binary, id::write_response_binary, "Write", need::activated,
                &limits::max_nodes_per_write, true, 0, true, &opcua_write, write},
        service{id::cancel_request_binary, id::cancel_response_binary, "Cancel", need::activated,
                nullptr, false, 0, true, nullptr, cancel},
        absent(id::call_request_binary, "Call"),
        absent(id::history_read_request_binary, "HistoryRead"),
        absent(id::history_update_request_binary, "HistoryUpdate"),
        on_items(id::create_monitored_items_request_binary,
                 id::create_monitored_items_response_binary, "CreateMonitoredItems",
                 create_monitored_items),
        on_items(id::modify_monitored_items_request_binary,
                 id::modify_monitored_items_response_binary, "ModifyMonitoredItems",
                 modify_monitored_items),
        on_items(id::set_monitoring_mode_request_binary, id::set_monitoring_mode_response_binary,
                 "SetMonitoringMode", set_monitoring_mode),
        on_items(id::set_triggering_request_binary, id::set_triggering_response_binary,
                 "SetTriggering", set_triggering),
        on_items(id::delete_monitored_items_request_binary,
                 id::delete_monitored_items_response_binary, "DeleteMonitoredItems",
                 delete_monitored_items),
        on_subscriptions(id::create_subscription_request_binary,
                         id::create_subscription_response_binary, "CreateSubscription",
                         create_subscription),
        on_subscriptions(id::modify_subscription_request_binary,
                         id::modify_subscription_response_binary, "ModifySubscription",
                         modify_subscription),
        on_subscriptions(id::set_publishing_mode_request_binary,
                         id::set_publishing_mode_response_binary, "SetPublishingMode",
                         set_publishing_mode),
        on_subscriptions(id::publish_request_binary, id::publish_response_binary, "Publish",
                         publish),
        on_subscriptions(id::republish_request_binary, id::republish_response_binary, "Republish",
                         republish),
        on_subscriptions(id::transfer_subscriptions_request_binary,
                         id::transfer_subscriptions_response_binary, "TransferSubscriptions",
                         transfer_subscriptions),
        on_subscriptions(id::delete_subscriptions_request_binary,
                         id::delete_subscriptions_response_binary, "DeleteSubscriptions",
                         delete_subscriptions),
    };
    std::sort(table.begin(), table.end(), [](const service& left, const service& right) {
        return left.request_type < right.request_type;
    });
    return table;
}();

// Place in `rows` plus 1 by request type; 0: none.
constexpr auto places = [] {
    std::array<std::uint8_t, rows.back().request_type + 1> made{};
    for (std::size_t at = 0; at < rows.size(); ++at) {
        made[rows[at].request_type] = static_cast<std::uint8_t>(at + 1);
    }
    return made;
}();

}  // namespace

const service* find_service(std::uint32_t request_type) noexcept {
    const std::uint8_t place = request_type < places.size() ? places[request_type] : 0;
    return place == 0 ? nullptr : &rows[place - 1U];
}

std::size_t service_count() noexcept {
    return rows.size();
}

std::size_t service_index(const service& row) noexcept {
    return static_cast<std::size_t>(&row - rows.data());
}

std::span<const service> services() noexcept {
    return rows;
}

void service_context::begin_response() noexcept {
    write_response_header(out, op.which->response_type, op.request_handle, status::good,
                          date_time_ticks(op.wall_now));
    op.begun = true;
}

bool service_context::may_defer() const noexcept {
    return server.pending_count.value() < server.bounds.max_pending_operations &&
           who->pending_operations < server.bounds.max_pending_operations_per_session;
}

status_code service_context::begin_list(std::size_t smallest_item) noexcept {
    op.list = {};
    op.list.count = in.array_length(smallest_item);
    if (!in.ok()) {
        return in.status();
    }
    if (op.list.count == 0) {
        return status::bad_nothing_to_do;
    }
    if (op.which->item_limit != nullptr && op.list.count > server.bounds.*op.which->item_limit) {
        return status::bad_too_many_operations;
    }
    return status::good;
}

status_code resolve(service_context& context, const node_id_view& id, node_key& out) {
    if (id.namespace_index == namespace_tags && id.kind == node_id_kind::numeric &&
        id.number != 0) {
        out = {true, 0, {}};
        return context.who != nullptr &&
                       context.server.registered.find(*context.who, id.number, out.tree)
                   ? status::good
                   : status::bad_node_id_unknown;
    }
    return context.server.space.find(context.caller, id, out);
}

}  // namespace tagferry::opcua
