// Work that takes longer than a turn may: private-key operations, password hashes, serialisation
// of metrics, imports. A few threads at lower priority than the shards.
#pragma once

#include "transport/engine.hpp"
#include "transport/threads/shard.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace tagferry::transport {

/// A function, the object it works on and a few plain values, copied into a ring.
struct job {
    using payload_type = std::array<std::byte, 32>;

    /// Called on a worker thread. Its answer becomes the completion's result; an exception becomes
    /// `worker_pool::result_failed`.
    std::uint32_t (*run)(void* object, payload_type& payload) = nullptr;
    void* object = nullptr;
    payload_type payload{};
    shard* owner = nullptr;           ///< where the completion goes; outlives the pool's stop
    completion_sink* sink = nullptr;  ///< null: nobody wants to know
    completion_token token{};
};

struct worker_pool_options {
    std::string_view name;             ///< of the threads, at most 13 bytes are shown
    std::size_t threads = 1;           ///< over 0
    std::size_t queue_capacity = 256;  ///< jobs waiting, over 0; rounded up to a power of two
    int nice = 10;                     ///< of the threads, 0 to 19: never less than the process's
    fault_hook on_fault{};
};

struct worker_pool_statistics {
    std::uint64_t run = 0;
    std::uint64_t refused = 0;    ///< submissions answered with false
    std::uint64_t cancelled = 0;  ///< completed with `result_cancelled`
    std::uint64_t lost = 0;       ///< completions whose owner had ended already
    std::uint64_t faults = 0;     ///< exceptions contained
};

class worker_pool {
  public:
    /// Results the pool gives itself; functions must not answer with them.
    static constexpr std::uint32_t result_cancelled = 0xFFFF'FFFF;
    static constexpr std::uint32_t result_failed = 0xFFFF'FFFE;

    explicit worker_pool(const worker_pool_options& options);
    ~worker_pool();
    worker_pool(const worker_pool&) = delete;
    worker_pool& operator=(const worker_pool&) = delete;

    /// Starts the threads. Once; nothing after `stop`. Throws std::system_error when there is no
    /// thread to be had.
    void start();

    /// Queues a job, without a lock and without allocating. From any thread, before the start too.
    /// For every accepted job with a sink `sink->resume(token, result, now)` is called exactly
    /// once on the owner's thread, as long as the owner runs.
    /// @return false when the queue is full or the pool has stopped: nothing will happen.
    bool submit(const job& work) noexcept;

    /// Lets the jobs that are running finish, completes those still queued with
    /// `result_cancelled`, and joins the threads. Any number of times, before `start` too. From a
    /// control thread, not from a worker nor from a shard: it waits while an owner's mailbox is
    /// full. Stop the pool before its owners, and every completion arrives.
    void stop();

    /// True from the first `stop` on.
    bool stopping() const noexcept;

    worker_pool_statistics statistics() const noexcept;

  private:
    struct machinery;
    std::unique_ptr<machinery> machinery_;
};

}  // namespace tagferry::transport
