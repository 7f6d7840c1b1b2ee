// A connection as the publishing of its sessions sees it.
#pragma once

#include "protocols/opcua/channel/response_writer.hpp"
#include "transport/time/clock.hpp"

#include <cstdint>

namespace tagferry::opcua {

class publish_channel {
  public:
    /// Sets the caps of what was agreed with the client on an open writer, and begins its body.
    /// @param max_response_size of the session, 0: none.
    virtual void begin_message(response_writer& message, std::uint32_t max_response_size) = 0;
    /// Numbers and queues a finished message; the writer is closed after it.
    virtual void send_message(response_writer& message, std::uint32_t request_id,
                              transport::time_point now) = 0;
    /// False while the client is slow to take what is queued for it already.
    virtual bool may_publish() const noexcept = 0;
    /// Asks for one call of `subscriptions::channel_ready` when `may_publish` is true again.
    virtual void tell_when_ready() noexcept = 0;

  protected:
    ~publish_channel() = default;
};

}  // namespace tagferry::opcua
