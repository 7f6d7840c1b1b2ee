// What this process is and whether it can serve.
#pragma once

#include "transport/time/clock.hpp"

#include <string_view>

namespace tagferry::web {

class identity {
  public:
    /// Semantic version, static storage.
    virtual std::string_view version() const noexcept = 0;
    virtual transport::wall_time_ns started() const noexcept = 0;

    /// True once the configuration is loaded and every listener listens; devices that cannot be
    /// reached do not count. When false, `why_not_ready` says in words what is missing.
    virtual bool ready() const noexcept = 0;
    virtual std::string_view why_not_ready() const noexcept = 0;

    /// False once a shard contained an exception or stopped turning.
    virtual bool healthy() const noexcept = 0;

  protected:
    ~identity() = default;
};

}  // namespace tagferry::web
