// What a connection speaks after `101 Switching Protocols`. The engine that took the request keeps
// socket and output, and hands on what comes in.
#pragma once

#include "transport/engine.hpp"
#include "web/http/output_chain.hpp"

#include <cstddef>
#include <span>

namespace tagferry::web {

/// The connection as the new protocol sees it.
class upgrade_carrier {
  public:
    /// Where everything to be sent is written, from inside `produce` only.
    virtual output_chain& out() noexcept = 0;
    /// Has `produce` called at the end of this turn.
    virtual void produce_soon() noexcept = 0;
    /// Has `produce` called when the pool of output slots is not empty any more.
    virtual void produce_with_next_slot() noexcept = 0;
    /// Sends what is written, then closes. Nothing but `closed` is called after this.
    virtual void close_after_flush(transport::close_reason why) noexcept = 0;
    /// Closes at once.
    virtual void abort(transport::close_reason why) noexcept = 0;

  protected:
    ~upgrade_carrier() = default;
};

/// Called as an engine is (transport/engine.hpp); destroyed by the carrier after `closed`.
class upgraded_protocol {
  public:
    virtual ~upgraded_protocol() = default;

    /// The answer 101 is written. @param carrier valid until `closed` returns.
    virtual void opened(upgrade_carrier& carrier, transport::time_point now) = 0;
    virtual transport::receive_result receive(std::span<std::byte> bytes,
                                              transport::time_point now) = 0;
    virtual bool wants_input() const noexcept = 0;
    virtual void produce(transport::time_point now) = 0;
    /// Some of what was written has left.
    virtual void sent() = 0;
    virtual transport::time_point deadline() const noexcept = 0;
    virtual void expire(transport::time_point now) = 0;
    virtual void closed() noexcept = 0;
};

}  // namespace tagferry::web
