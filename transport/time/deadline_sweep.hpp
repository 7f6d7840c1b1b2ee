// Timeouts that need no timer: each is a field of its owner, looked at every 100 ms.
#pragma once

#include "transport/time/clock.hpp"
#include "transport/time/intrusive_list.hpp"
#include "transport/time/turn_budget.hpp"

namespace tagferry::transport {

inline constexpr duration sweep_interval = std::chrono::milliseconds{100};

/// Has one deadline, moved freely without telling anyone. Leaves the sweep when destroyed.
class sweep_participant : public list_hook<sweep_participant> {
  public:
    /// `time_point::max()` is never.
    virtual time_point deadline() const noexcept = 0;
    /// Called when a sweep finds the deadline passed: up to 100 ms late, and again in every sweep
    /// while it stays passed. May add, remove and destroy any participant, itself included.
    virtual void expire(time_point now) = 0;

  protected:
    ~sweep_participant() = default;
};

/// The participants of one thread. All calls on that thread.
class deadline_sweep {
  public:
    /// Adds; nothing when it is in already. First looked at in the next sweep.
    void add(sweep_participant& participant) noexcept;
    /// Removes; nothing when it is not in.
    void remove(sweep_participant& participant) noexcept;
    bool empty() const noexcept { return waiting_.empty() && swept_.empty(); }

    /// Looks at every participant once and expires those that are due; goes on where it stopped
    /// when the last call ran out of budget.
    /// @return true when the sweep is complete. An exception from `expire` passes through and
    ///   leaves the sweep to be gone on with.
    bool run(time_point now, turn_budget& budget);

  private:
    using list = intrusive_list<sweep_participant, sweep_participant>;

    list waiting_;  ///< not looked at yet in the current sweep
    list swept_;    ///< looked at, and those added meanwhile
    bool in_progress_ = false;
};

}  // namespace tagferry::transport
