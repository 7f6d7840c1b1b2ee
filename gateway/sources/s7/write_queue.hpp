// Writes of one S7 connection, from acceptance to their outcome: in order for each tag, cut into
// as many jobs as the PLC's PDU makes necessary, at most one job of each at a time.
#pragma once

#include "gateway/sources/s7/scan_set.hpp"
#include "gateway/sources/s7/shown_durations.hpp"
#include "gateway/sources/s7/write_job.hpp"
#include "gateway/sources/source.hpp"
#include "protocols/s7/client_engine.hpp"
#include "transport/memory/shown_number.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tagferry::gateway {

class write_queue {
  public:
    /// Bytes of values that may wait, unless one value alone has more.
    static constexpr std::size_t most_bytes = 65'536;

    /// @param most writes at once. @param max_items of a job.
    write_queue(std::size_t most, std::size_t max_items);

    /// Makes room for as many values of this size as may wait, up to `most_bytes`. Allocates.
    void make_room(std::size_t largest_value);

    /// Accepts a write. @param text_maxima of the tag, see `scan_set`. @param now for its duration.
    /// @return `none`, or why it is refused; the listener then hears nothing.
    reason_id accept(const scan_set::entry& tag, std::span<const std::uint8_t> text_maxima,
                     const source_write& write, std::uint64_t ticket, write_listener& listener,
                     transport::time_point now) noexcept;

    /// Hands on the jobs that may go now. @param tag_bits is put into the tag of each job beside
    /// the number of its write. @return jobs handed on.
    std::size_t submit_to(s7::client_engine& engine, std::uint64_t tag_bits,
                          transport::time_point now);

    /// A write that has ended: which tag it was of, and whether the PLC may hold something new.
    struct ended_write {
        tag_handle tag{};
        bool may_have_changed = false;
    };
    /// A job of the write `number` has ended. Tells the listener when the write has.
    std::optional<ended_write> job_finished(std::size_t number, const s7::job_result& result,
                                            transport::time_point now);

    /// Ends all that wait and have no job with the engine: the link is gone.
    void end_all(transport::time_point now);

    bool empty() const noexcept { return order_.empty(); }
    /// Any thread.
    std::uint64_t outstanding() const noexcept { return outstanding_.value(); }
    /// Bytes the PLC confirmed; any thread.
    std::uint64_t bytes_written() const noexcept { return bytes_written_.value(); }
    /// From acceptance to outcome; any thread.
    write_durations durations() const noexcept { return durations_.seen(); }

  private:
    struct pending {
        std::uint64_t ticket = 0;
        write_listener* listener = nullptr;
        transport::time_point accepted{};
        tag_handle tag{};
        s7::address where{};
        s7::data_type type{};
        std::size_t first = 0;  ///< of its bytes
        std::size_t size = 0;
        bool active = false;
        bool started = false;
        bool with_engine = false;
        bool last = false;  ///< the job with the engine is the last one
        write_cursor next{};
        std::uint32_t written = 0;
        write_sizes sizes{};
    };

    bool is_first_of_its_tag(std::size_t position) const noexcept;
    bool submit(s7::client_engine& engine, std::size_t number, std::uint64_t tag_bits);
    ended_write end(std::size_t number, const write_outcome& outcome, transport::time_point now);

    std::size_t max_items_;
    std::vector<pending> writes_;
    std::vector<std::uint32_t> order_;  ///< numbers of active writes, oldest first
    std::vector<std::byte> bytes_;      ///< their values, oldest first, without gaps
    std::size_t used_ = 0;
    transport::shown_number outstanding_;
    transport::shown_number bytes_written_;
    shown_durations durations_;
};

}  // namespace tagferry::gateway
