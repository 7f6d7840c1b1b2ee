// Lines of the log about OPC UA channels and sessions.
#pragma once

#include "gateway/log/log.hpp"
#include "protocols/opcua/backend/events.hpp"

namespace tagferry::gateway {

class opcua_events final : public opcua::events_backend {
  public:
    explicit opcua_events(log::logger& logger) noexcept : logger_(logger) {}

    /// Repeats are told apart by the client's host, so that one that comes again and again from
    /// ever new ports does not fill the log.
    void happened(opcua::server_event event, const opcua::event_facts& facts) noexcept override;

  private:
    log::logger& logger_;
};

}  // namespace tagferry::gateway
