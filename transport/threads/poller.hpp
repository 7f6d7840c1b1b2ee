// Which descriptors of a shard are ready. One epoll instance, level-triggered: what is not taken
// now is reported again, so one receive per report is enough and nothing is tried in vain.
//
// Asio's reactor is not used for connections: it takes a lock, a queued operation and a trip
// through its scheduler for each receive, which a measurement against a bare epoll loop showed to
// be most of what a gateway's request may cost beyond its system calls (tests/bench/README.md).
#pragma once

#include "transport/time/clock.hpp"

#include <sys/epoll.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <system_error>

namespace tagferry::transport {

/// What a descriptor is ready for.
struct readiness {
    bool readable = false;  ///< bytes, a connection to accept, or the end of the stream
    bool writable = false;
    bool broken = false;  ///< an error is pending, or both directions are shut
};

/// Whoever owns a descriptor. Called inside a turn of the shard.
class descriptor_watcher {
  public:
    /// May add, change and remove any descriptor, and destroy any watcher, itself included.
    virtual void ready(readiness what) = 0;

  protected:
    ~descriptor_watcher() = default;
};

/// What a descriptor is watched for. `broken` is always reported.
struct descriptor_interest {
    bool readable = false;
    bool writable = false;
    friend bool operator==(const descriptor_interest&, const descriptor_interest&) = default;
};

/// All calls but `wake` on the shard's thread, or while the shard does not run.
class poller {
  public:
    /// Descriptors reported by one system call, at most.
    static constexpr std::size_t max_events = 128;

    /// Throws std::system_error when the system gives no descriptor.
    poller();
    ~poller();
    poller(const poller&) = delete;
    poller& operator=(const poller&) = delete;

    /// The descriptor must be non-blocking, and the watcher stay until it is removed.
    std::error_code add(int descriptor, descriptor_interest interest,
                        descriptor_watcher& watcher) noexcept;
    void change(int descriptor, descriptor_interest interest, descriptor_watcher& watcher) noexcept;
    /// Before the descriptor is closed. The watcher is not called any more, not even with what the
    /// current `wait` already found.
    void remove(int descriptor, const descriptor_watcher& watcher) noexcept;

    /// Waits until something is ready or `wake` was called, at most `timeout`
    /// (`duration::max()`: for ever). Ended early by signals.
    /// @return how many are ready now, for `next`; `wake` is not counted.
    std::size_t wait(duration timeout) noexcept;

    /// Ends the `wait` under way, or the next one. From any thread.
    void wake() noexcept;

    struct event {
        descriptor_watcher* watcher = nullptr;
        readiness what;
    };
    /// The next of those that `wait` found and nobody removed since; a null watcher when there
    /// are no more.
    event next() noexcept;

    /// Calls of `wait` so far. From any thread.
    std::uint64_t waits() const noexcept { return waits_.load(std::memory_order_relaxed); }

  private:
    void close_both() noexcept;
    int wait_for_events(duration timeout) noexcept;

    int descriptor_;
    int wake_descriptor_;
    bool waits_in_ns_ = true;
    std::size_t taken_ = 0;
    std::size_t count_ = 0;
    std::atomic<std::uint64_t> waits_{0};
    // Deliberately not initialised: only the first `count_` count.
    std::array<epoll_event, max_events> events_;
};

}  // namespace tagferry::transport
