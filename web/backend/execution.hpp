// Work off the shard, and later on it.
#pragma once

#include "transport/engine.hpp"
#include "transport/time/timing_wheel.hpp"

namespace tagferry::web {

/// Something to be run on a worker thread. Owned by who submits it, until it has run.
class job {
  public:
    /// On a worker thread. Contains its own failures.
    virtual void run() noexcept = 0;

  protected:
    ~job() = default;
};

class execution {
  public:
    /// Runs `work` on the worker pool, then resumes `sink` with `token` and result 0 on the shard
    /// thread of the caller. False: the pool's queue is full and nothing will be run. Exactly one
    /// resume for each true, also when the process stops before the job ran (result 1).
    virtual bool submit(job& work, transport::completion_sink& sink,
                        transport::completion_token token) = 0;

    /// Resumes `sink` with result 0 on this shard in a later turn. False: no room; try again
    /// when called next.
    virtual bool later(transport::completion_sink& sink, transport::completion_token token) = 0;

    /// Schedules of this shard.
    virtual transport::timing_wheel& wheel() noexcept = 0;

  protected:
    ~execution() = default;
};

}  // namespace tagferry::web
