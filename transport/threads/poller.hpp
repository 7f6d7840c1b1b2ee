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
#include <utility>

namespace tagferry::transport {

/// What a descriptor is ready for.
class readiness {
  public:
    /// @param events bits of epoll.
    explicit readiness(std::uint32_t events) noexcept : events_(events) {}

    /// Bytes, a connection to accept, the end of the stream, or an error that a receive tells.
    bool readable() const noexcept { return (events_ & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0; }
    bool writable() const noexcept { return (events_ & EPOLLOUT) != 0; }
    /// An error is pending, or both directions are shut.
    bool broken() const noexcept { return (events_ & (EPOLLHUP | EPOLLERR)) != 0; }

  private:
    std::uint32_t events_;
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

    /// Waits until something is ready, the alarm rings or `wake` is called. Ended early by signals.
    /// @param forever false: only looks.
    void wait(bool forever) noexcept;

    /// Sets the alarm, in place of an earlier setting. A timer of the system, set when the earliest
    /// due time changes, not a timeout of `wait`: that would have the kernel start and stop a timer
    /// for every request.
    /// @param at of the machine's monotonic clock.
    void set_alarm(time_point at) noexcept;

    /// True once after the alarm has rung; known when `next` has given everything.
    bool take_alarm() noexcept { return std::exchange(rang_, false); }

    /// Ends the `wait` under way, or the next one. From any thread.
    void wake() noexcept;

    /// Whether `next` may have something. Ask again after anything else was called.
    bool has_more() const noexcept { return taken_ < count_; }

    /// The next of those that `wait` found and nobody removed since, null when there are no more;
    /// `what` gives what it is ready for.
    descriptor_watcher* next(readiness& what) noexcept {
        while (taken_ < count_) {
            const epoll_event& found = events_[taken_++];
            if (found.data.ptr == this) {
                rang_ = true;
            } else if (found.data.ptr != nullptr) {
                what = readiness(found.events);
                return static_cast<descriptor_watcher*>(found.data.ptr);
            }
        }
        return nullptr;
    }

    /// Calls of `wait` so far. From any thread.
    std::uint64_t waits() const noexcept { return waits_.load(std::memory_order_relaxed); }

  private:
    void close_all() noexcept;

    int descriptor_;
    int wake_descriptor_;
    int alarm_descriptor_;
    bool rang_ = false;
    std::size_t taken_ = 0;
    std::size_t count_ = 0;
    std::atomic<std::uint64_t> waits_{0};
    // Deliberately not initialised: only the first `count_` count.
    std::array<epoll_event, max_events> events_;
};

}  // namespace tagferry::transport
