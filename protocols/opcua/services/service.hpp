// The services of the server as one table (Part 4), and what a service function works with.
#pragma once

#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/services/operation.hpp"
#include "protocols/opcua/services/server_state.hpp"
#include "transport/time/turn_budget.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tagferry::opcua {

/// The channel a request came by.
struct channel_facts {
    std::uint32_t id = 0;
    security_mode mode = security_mode::none;
    std::string_view endpoint_url{};  ///< of the Hello
    std::string_view peer{};
    publish_channel* publishing = nullptr;  ///< for requests that are answered later
};

/// Everything one step of a service sees. Lives for the step only.
struct service_context {
    server_state& server;
    operation& op;
    decoder& in;  ///< stands at `op.list.position` of the body when a list goes on
    encoder& out;
    transport::turn_budget& budget;
    transport::time_point now;
    session* who;  ///< null for services without a session
    const channel_facts& channel;
    const call& caller;

    /// Ends the request with a ServiceFault.
    step fail(status_code why) noexcept {
        op.fault = why;
        return step::finished;
    }
    /// Writes type and ResponseHeader of a good answer; once, before any of its body.
    void begin_response() noexcept;
    /// Begins a list: checks its length against nothing-to-do and the limit of the service.
    /// @return Good, BadNothingToDo, BadTooManyOperations or the decoder's error.
    status_code begin_list(std::size_t smallest_item) noexcept;
    /// Whether one more request of this session may become a pending operation.
    bool may_defer() const noexcept;
    /// Notes where the list stands and gives the turn up.
    step yield() noexcept {
        op.list.position = in.position();
        return step::yielded;
    }
};

enum class session_need : std::uint8_t {
    none,       ///< discovery: works without one, an authentication token is ignored
    created,    ///< any session of this server, activated or not
    activated,  ///< an activated one on this channel
};

/// One row. A new service is a new row and a function.
struct service {
    std::uint32_t request_type = 0;  ///< binary encoding id
    std::uint32_t response_type = 0;
    std::string_view name{};  ///< label of its counter
    session_need needs = session_need::activated;
    std::uint32_t limits::*item_limit = nullptr;  ///< null: no list
    bool may_defer = false;                       ///< its request may become a pending operation
    std::uint16_t access = 0;  ///< bits of `role`, one of which is needed; 0: anybody
    bool audited = false;      ///< leaves a trace in the audit trail
    const transport::operation_kind* kind = nullptr;  ///< counted as; null: not a hot one
    step (*run)(service_context&) = nullptr;          ///< null: BadServiceUnsupported
};

/// The row of a request type, or null when nothing of that name exists.
const service* find_service(std::uint32_t request_type) noexcept;
std::size_t service_count() noexcept;
/// Position of a row in the table, for its counter.
std::size_t service_index(const service& row) noexcept;
/// The rows in order, for counters and tests.
std::span<const service> services() noexcept;

// One function per service; files are named after the service sets of Part 4 §5.
step find_servers(service_context& context);
step get_endpoints(service_context& context);
step create_session(service_context& context);
step activate_session(service_context& context);
step close_session(service_context& context);
step browse(service_context& context);
step browse_next(service_context& context);
step translate_browse_paths(service_context& context);
step register_nodes(service_context& context);
step unregister_nodes(service_context& context);
step read(service_context& context);
step write(service_context& context);
step cancel(service_context& context);
step create_subscription(service_context& context);
step modify_subscription(service_context& context);
step set_publishing_mode(service_context& context);
step delete_subscriptions(service_context& context);
step transfer_subscriptions(service_context& context);
step publish(service_context& context);
step republish(service_context& context);
step create_monitored_items(service_context& context);
step modify_monitored_items(service_context& context);
step set_monitoring_mode(service_context& context);
step delete_monitored_items(service_context& context);
step set_triggering(service_context& context);

/// Resolves a NodeId of a request, registered numbers included.
status_code resolve(service_context& context, const node_id_view& id, node_key& out);

}  // namespace tagferry::opcua
