// What systemd is told: ready, what is going on, still alive, stopping. Nothing happens when the
// process was not started by it. The protocol is one datagram, specified by sd_notify(3) for
// programs that do without its library, which would map eight others.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tagferry::gateway {

/// Not thread-safe: belongs to the control plane. Each call is one datagram to systemd, which
/// does not block for long, but is a system call: not for a shard.
class service_manager {
  public:
    /// Whether a manager listens (`NOTIFY_SOCKET` is set).
    static bool present() noexcept;

    /// Everything serves. @param status one line in words, shown by `systemctl status`. All return
    /// false when the message could not be sent (event systemd.failed), true without a manager.
    static bool ready(std::string_view status) noexcept;
    /// A change of the words, e.g. `3/4 PLCs, 9812 good, 3 bad`.
    static bool status(std::string_view status) noexcept;
    /// The end has begun.
    static bool stopping() noexcept;

    /// How often alive() must be called at least, half of the unit's `WatchdogSec=`; nothing when
    /// no watchdog is set. The call belongs into the loop that is to be watched, not on a timer
    /// thread of its own.
    static std::optional<std::chrono::microseconds> alive_interval() noexcept;
    static bool alive() noexcept;
};

}  // namespace tagferry::gateway
