// What happened to channels and sessions, for the log.
#pragma once

#include "protocols/opcua/backend/value_view.hpp"

#include <cstdint>
#include <string_view>

namespace tagferry::opcua {

enum class server_event : std::uint8_t {
    channel_opened,
    channel_closed,
    session_created,
    session_activated,  ///< for the first time, again, or on another channel
    session_closed,     ///< by its client
    session_timed_out,
    protocol_error,  ///< the client was told `result` in an Error message and disconnected
};

/// Views live as long as the call. What does not apply is empty.
struct event_facts {
    std::string_view peer{};  ///< the client's address as text; empty when it is gone
    std::uint32_t channel_id = 0;
    std::uint32_t session_id = 0;     ///< identifier of the SessionId
    std::string_view session_name{};  ///< as the client named it; untrusted text
    std::string_view client_uri{};    ///< likewise: its ApplicationUri
    std::string_view user{};          ///< empty for anonymous
    status_code result = 0;
};

/// Not deferring, not blocking; on the OPC UA shard.
class events_backend {
  public:
    virtual void happened(server_event event, const event_facts& facts) noexcept = 0;

  protected:
    ~events_backend() = default;
};

}  // namespace tagferry::opcua
