// Descriptions of this server and its endpoints (Part 4 §7.2, §7.14).
#pragma once

#include "protocols/opcua/services/service.hpp"

namespace tagferry::opcua {

/// ApplicationDescription. @param dialled the URL the client used; written first among the
///   discovery URLs when it is one that a client could use again.
void write_application(service_context& context, text_view dialled);

/// An array of EndpointDescription: one for the URL the client dialled, when usable, and one for
/// each other URL of this server.
void write_endpoints(service_context& context, text_view dialled);

/// An empty array of EndpointDescription is written as one zero.
inline constexpr text_view binary_transport_profile =
    "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary";

/// `opc.tcp://host[:port][/path]` with a host that is no wildcard, and nothing odd in it (E31).
bool is_usable_url(text_view url, const limits& bounds) noexcept;

}  // namespace tagferry::opcua
