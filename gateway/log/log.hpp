// The log: events with typed fields, written by the storage thread.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/log/event.hpp"
#include "gateway/log/line.hpp"
#include "gateway/log/repeat_limit.hpp"
#include "transport/threads/storage_thread.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

namespace tagferry::gateway::log {

/// The storage thread's record kinds of this process.
inline constexpr transport::record_kind log_record{0};
inline constexpr transport::record_kind audit_record{1};

/// Where finished lines go. Must be callable from any thread, without a lock or an allocation.
class line_output {
  public:
    /// @param record one byte, the level, then the line without its end. @return false when it
    /// was dropped.
    virtual bool offer(std::span<const std::byte> record) noexcept = 0;

  protected:
    ~line_output() = default;
};

/// The product's output: the storage thread's ring. Drops are counted there.
class storage_output final : public line_output {
  public:
    explicit storage_output(transport::storage_thread& storage) noexcept : storage_(storage) {}
    bool offer(std::span<const std::byte> record) noexcept override {
        return storage_.offer(log_record, record);
    }

  private:
    transport::storage_thread& storage_;
};

struct log_statistics {
    std::array<std::uint64_t, 4> lines{};  ///< handed on, by level
    std::uint64_t held_back = 0;           ///< repeats not written
    std::uint64_t dropped = 0;             ///< the output had no room
    std::uint64_t dropped_writes = 0;      ///< of these, lines that tell of a write
};

/// One for the process, handed to whoever logs. Callable from any thread, shards included: makes
/// no allocation, takes no lock, waits for nothing.
class logger {
  public:
    /// @param output, clock outlive this object.
    logger(const config::log_section& options, line_output& output,
           const transport::clock& clock) noexcept;

    /// Writes an event unless its level is below the configured one or it repeats too often;
    /// those with `every_one` are written however often they repeat.
    /// Repeats are told apart by the event and the value of the first text field: name the
    /// subject first (`{"connection", name}`).
    void write(event code, std::initializer_list<field> fields = {}) noexcept;

    /// Whether write() would consider the event: for callers whose fields cost something.
    bool enabled(event code) const noexcept { return describe(code).importance >= level_; }

    log_statistics statistics() const noexcept;

  private:
    const level level_;
    const config::log_format format_;
    line_output& output_;
    const transport::clock& clock_;
    repeat_limit repeats_;
    std::array<std::atomic<std::uint64_t>, 4> lines_{};
    std::atomic<std::uint64_t> held_back_{0};
    std::atomic<std::uint64_t> dropped_{0};
    std::atomic<std::uint64_t> dropped_writes_{0};
};

}  // namespace tagferry::gateway::log
