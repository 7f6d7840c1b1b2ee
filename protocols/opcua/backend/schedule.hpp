// When the server acts without being asked: publishing and sampling schedules, and work that goes
// on in a later turn.
#pragma once

#include "transport/time/timing_wheel.hpp"

namespace tagferry::opcua {

/// Work that was cut off at the end of a turn.
class continued_work {
  public:
    virtual void go_on(transport::time_point now) = 0;

  protected:
    ~continued_work() = default;
};

class schedule_backend {
  public:
    /// The wheel of the OPC UA shard. The server's timers are in it until the server is destroyed.
    virtual transport::timing_wheel& wheel() noexcept = 0;

    /// Calls `work.go_on` once at the beginning of a later turn, which comes without any other
    /// event; never on this stack. Asking again before that changes nothing.
    /// @param work always the same object; outlives the implementation or calls `forget`.
    virtual void go_on_next_turn(continued_work& work) noexcept = 0;
    /// Takes the last `go_on_next_turn` back: nothing will be called.
    virtual void forget() noexcept = 0;

  protected:
    ~schedule_backend() = default;
};

}  // namespace tagferry::opcua
