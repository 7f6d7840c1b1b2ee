// The one thread that waits for disks: log, audit, configuration revisions, durable state. Others
// hand it records, byte strings with a kind, through bounded rings and never wait for it.
#pragma once

#include "transport/threads/shard.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

namespace tagferry::transport {

/// Which sink a record goes to. The rooms above give the numbers their meaning; 0 to 15.
enum class record_kind : std::uint8_t {};
inline constexpr std::size_t max_record_kinds = 16;

/// Takes the records of one or more kinds. All calls on the storage thread (the last ones, of
/// `storage_thread::stop`, on the thread that stops it when it never started).
class storage_sink {
  public:
    /// @param record valid until return.
    virtual void write(record_kind kind, std::span<const std::byte> record) = 0;
    /// Called when the rings have run dry after one or more writes, and at the stop.
    virtual void flush() = 0;
    /// Called before the next record of a droppable kind when some were dropped since the last
    /// call. @param records how many.
    virtual void dropped(record_kind kind, std::uint64_t records) {
        static_cast<void>(kind);
        static_cast<void>(records);
    }

  protected:
    ~storage_sink() = default;
};

struct storage_options {
    std::string_view name = "storage";
    std::size_t droppable_capacity = std::size_t{1} << 20;  ///< bytes of the ring of log lines
    std::size_t kept_capacity = std::size_t{1} << 20;       ///< bytes of the ring of kept records
    fault_hook on_fault{};
};

struct storage_statistics {
    std::uint64_t written = 0;  ///< records given to their sink
    std::uint64_t dropped = 0;  ///< droppable records that found no room
    std::uint64_t refused = 0;  ///< kept records answered with false: the producer holds them
    std::uint64_t faults = 0;   ///< exceptions out of sinks
};

class storage_thread {
  public:
    /// Both capacities are rounded up to a power of two, 4 KiB at least.
    explicit storage_thread(const storage_options& options);
    /// Stops.
    ~storage_thread();
    storage_thread(const storage_thread&) = delete;
    storage_thread& operator=(const storage_thread&) = delete;

    /// Says who takes the records of `kind`. Before `start` only. Records of a kind without a
    /// sink are discarded.
    /// @param sink outlives this object's stop.
    void set_sink(record_kind kind, storage_sink& sink) noexcept;

    /// Starts the thread. Once; nothing after `stop`. Records accepted before wait in the rings
    /// until then. Throws std::system_error when there is no thread to be had.
    void start();

    /// Queues a record that may be lost: a log line. From any thread, lock-free, no allocation.
    /// @return false when it was dropped for want of room or after the stop; it is counted.
    bool offer(record_kind kind, std::span<const std::byte> record) noexcept;

    /// Queues a record that must not be lost: an audit event. From any thread, lock-free, no
    /// allocation. @return false when there is no room or after the stop: the producer keeps the
    /// record and holds back whatever caused it until there is.
    bool keep(record_kind kind, std::span<const std::byte> record) noexcept;

    /// Largest record the rings take, in bytes: a quarter of the smaller ring.
    std::size_t max_record_size() const noexcept;

    /// Waits until everything accepted before the call has been written and flushed. Not on the
    /// storage thread; returns at once when the thread does not run.
    void flush();

    /// Writes and flushes what was accepted, and ends the thread. From any thread but its own, in
    /// any state, any number of times. Offers made meanwhile are refused.
    void stop();

    storage_statistics statistics() const noexcept;

  private:
    struct machinery;
    std::unique_ptr<machinery> machinery_;
};

}  // namespace tagferry::transport
