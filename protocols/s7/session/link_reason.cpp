#include "protocols/s7/session/link_reason.hpp"

namespace tagferry::s7 {

std::string_view words_of(link_reason reason) noexcept {
    switch (reason) {
        case link_reason::none:
            return "connected";
        case link_reason::handshake_timeout:
            return "the PLC did not answer the connection request in time: check address and port";
        case link_reason::connection_refused:
            return "the PLC refused the connection: check rack, slot and connection type, and "
                   "whether it has a free connection";
        case link_reason::closed_in_handshake:
            return "the PLC closed the connection before it was set up: check whether it has a "
                   "free connection";
        case link_reason::setup_refused:
            return "the PLC refused the setup of the connection: check that it allows PUT/GET "
                   "access";
        case link_reason::setup_unusable:
            return "the PLC offered a connection that cannot be used: check family and PDU size";
        case link_reason::peer_closed:
            return "the PLC, or a device between, closed the connection: check both and the cable";
        case link_reason::transport_error:
            return "the network connection failed: check cable and switches";
        case link_reason::disconnected:
            return "the PLC ended the connection: check whether it was restarted";
        case link_reason::protocol_error:
            return "what answers is not an S7 PLC, or one without PUT/GET access";
        case link_reason::job_timeouts:
            return "the PLC stopped answering: check its power, and cable and switches";
        case link_reason::requested:
            return "closed by this side";
    }
    return "unknown reason";
}

}  // namespace tagferry::s7
