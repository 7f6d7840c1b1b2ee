// Who is asked to act around a turn. A turn is the handling of one receive, one wake-up or one
// timer tick; all calls below are made on the shard's thread.
#pragma once

#include "transport/time/clock.hpp"
#include "transport/time/intrusive_list.hpp"

namespace tagferry::transport {

/// Acts once at the end of a turn in which it was marked with `shard::at_turn_end` (a driver:
/// pull from its engine and flush). Taken out of the list before it is called, so it may mark
/// itself again or be destroyed inside the call. Unmarked by destruction.
class turn_participant : public list_hook<turn_participant> {
  public:
    virtual void end_turn(time_point now) = 0;

  protected:
    ~turn_participant() = default;
};

/// Acts after all participants of the turn have acted (a driver: deliver `engine::written`
/// reports). May mark participants again: both lists are worked off, within the turn's limits,
/// until they are empty. Unmarked by destruction.
class after_turn_participant : public list_hook<after_turn_participant> {
  public:
    virtual void after_turn(time_point now) = 0;

  protected:
    ~after_turn_participant() = default;
};

/// Acts at the beginning of a later turn, without waiting for any other event: how one that has
/// used up its turn goes on (RX13). Unmarked by destruction.
class next_turn_participant : public list_hook<next_turn_participant> {
  public:
    virtual void next_turn(time_point now) = 0;

  protected:
    ~next_turn_participant() = default;
};

/// Acts before anything else in the first turn after `shard::announce` (a snapshot reader: take
/// over what was published).
class turn_start_listener : public list_hook<turn_start_listener> {
  public:
    virtual void turn_starts() noexcept = 0;

  protected:
    ~turn_start_listener() = default;
};

}  // namespace tagferry::transport
