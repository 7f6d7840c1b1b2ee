// The pre-made job slots of one client connection: their states, their two queues and the window.
#pragma once

#include "protocols/s7/wire/limits.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tagferry::s7 {

enum class job_kind : std::uint8_t { read, write };

enum class job_state : std::uint8_t {
    free,
    queued,     ///< accepted, not handed to the driver yet
    sent,       ///< counts against the window
    done,       ///< finished, but its message is not reported written: the buffer must stay
    abandoned,  ///< given up; counts against the window until a late reply or a new link
};

struct job_slot {
    job_state state = job_state::free;
    job_kind kind = job_kind::read;
    std::uint16_t reference = 0;
    std::uint16_t item_count = 0;
    bool write_pending = false;    ///< handed to the driver, `written` not reported yet
    std::uint32_t next = 0;        ///< in the queue it stands in
    std::size_t request_size = 0;  ///< PDU bytes behind the envelope
    std::uint64_t tag = 0;
    transport::time_point sent{};
    transport::pooled_buffer buffer;  ///< envelope, then the request PDU

    std::span<std::byte> message() const noexcept {
        return buffer.bytes().first(envelope_size + request_size);
    }
    std::span<std::byte> pdu_room() const noexcept { return buffer.bytes().subspan(envelope_size); }
    std::span<const std::byte> request() const noexcept {
        return buffer.bytes().subspan(envelope_size, request_size);
    }
};

/// All slots are made at construction. References are unique among jobs that are not free, and a
/// reference is not used again while a reply to it may still come.
class job_table {
  public:
    static constexpr std::size_t max_window = 32;
    static constexpr std::size_t max_slots = 96;

    /// Rents `slots` buffers. Throws std::length_error when the pool does not have them.
    job_table(std::size_t slots, transport::pinned_pool& pool);

    /// How many jobs may be in flight, 1 to `max_window`.
    void set_window(std::size_t window) noexcept { window_ = window; }
    std::size_t window() const noexcept { return window_; }

    /// Takes a free slot and gives it a reference; nothing when all are taken. The slot is not
    /// in any queue until `enqueue`; `release` gives it back.
    std::optional<std::size_t> acquire() noexcept;
    void enqueue(std::size_t index) noexcept;
    /// Makes a slot free, or `done` while its message is still with the driver.
    void release(std::size_t index) noexcept;

    /// The queued job that may be sent next, by the rules of priority; nothing when the window is
    /// full or nothing waits. It stays queued until `mark_sent`.
    std::optional<std::size_t> next_to_send() const noexcept;
    void mark_sent(std::size_t index, transport::time_point now) noexcept;
    /// The job's message is in the kernel's hands, or will never be.
    void mark_written(std::size_t index) noexcept;
    /// Gives a sent job up; it keeps its place in the window.
    void abandon(std::size_t index) noexcept;

    /// The job in flight, sent or abandoned, that bears this reference.
    std::optional<std::size_t> find(std::uint16_t reference) const noexcept;
    /// Slots in flight, oldest first.
    std::span<const std::uint8_t> in_flight() const noexcept {
        return {in_flight_.data(), in_flight_count_};
    }
    std::size_t in_flight_abandoned() const noexcept { return abandoned_count_; }

    job_slot& slot(std::size_t index) noexcept { return slots_[index]; }
    const job_slot& slot(std::size_t index) const noexcept { return slots_[index]; }
    std::size_t slot_count() const noexcept { return slots_.size(); }
    std::size_t free_count() const noexcept { return free_count_; }
    std::size_t queued_count() const noexcept { return reads_.count + writes_.count; }

    /// The oldest queued job, writes first, taken out of its queue: how a lost link empties it.
    std::optional<std::size_t> take_queued() noexcept;

  private:
    struct queue {
        std::uint32_t head = 0;
        std::uint32_t tail = 0;
        std::size_t count = 0;
    };
    void remove_from_flight(std::size_t index) noexcept;
    void pop(queue& from) noexcept;

    std::vector<job_slot> slots_;
    queue reads_;
    queue writes_;
    std::array<std::uint8_t, max_window> in_flight_{};
    std::size_t in_flight_count_ = 0;
    std::size_t writes_in_flight_ = 0;  ///< and not given up
    std::size_t abandoned_count_ = 0;
    std::size_t free_count_ = 0;
    std::size_t window_ = 1;
    std::uint16_t last_reference_ = 0;
    bool last_was_write_ = false;
};

}  // namespace tagferry::s7
