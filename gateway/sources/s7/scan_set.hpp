// The tags of one scan class of one S7 connection: what is read for them in which jobs, and what
// the replies mean for each of them.
#pragma once

#include "gateway/tags/tag_writer.hpp"
#include "protocols/s7/client_engine.hpp"
#include "protocols/s7/session/read_plan.hpp"
#include "protocols/s7/types/address.hpp"
#include "protocols/s7/types/data_type.hpp"
#include "transport/time/clock.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tagferry::gateway {

/// Hears of tags that the PLC refuses: once, until it delivers them or refuses them otherwise.
class tag_failure_listener {
  public:
    virtual void tag_failed(tag_handle tag, reason_id reason, int device_code) = 0;

  protected:
    ~tag_failure_listener() = default;
};

/// What a reply is published with.
struct publication {
    tag_writer& writer;
    tag_failure_listener& failures;
    transport::time_point arrived{};           ///< of the reply
    transport::wall_time_ns arrived_wall = 0;  ///< the same moment by the wall clock
    transport::wall_time_ns now_wall = 0;
    std::uint64_t* item_errors = nullptr;  ///< counted up; never null
    std::uint64_t* bytes_read = nullptr;   ///< likewise
};

class scan_set {
  public:
    struct entry {
        tag_handle handle{};
        s7::address where{};
        s7::data_type type{};
        std::uint32_t plc_bytes = 0;
        std::uint32_t slot_bytes = 0;
        transport::duration stale_after{};
        bool writable = false;
        transport::time_point last_arrival{};  ///< while it is settled, the job's last answer
        /// The last reply held a value: the tag can become stale.
        bool delivered = false;
        bool stale = false;
        /// Read in a request item of its own: the PLC refused a shared one that it was part of.
        bool alone = false;
        /// Alone to find out which of those in a refused item is at fault.
        bool suspect = false;
        reason_id failed = reason_id::none;  ///< why the last reply held no value for it
        std::uint32_t first_text = 0;        ///< of a text: into the maxima
        // Where its bytes come from; set by `plan`.
        std::uint32_t first_job = 0;
        std::uint32_t last_job = 0;
        std::uint32_t placement = 0;  ///< the only one, when it has one part
        std::uint32_t parts = 0;
        std::uint32_t parts_seen = 0;
        std::uint32_t first_part = 0;       ///< into the marks of parts seen
        std::uint32_t assembly_offset = 0;  ///< of the value's bytes while parts are missing
    };

    explicit scan_set(transport::duration interval) noexcept : interval_(interval) {}

    transport::duration interval() const noexcept { return interval_; }

    /// Adds a tag; before `plan`. @param known what another set knew about it; may be null.
    void add(tag_handle handle, const s7::address& where, const s7::data_type& type,
             transport::duration stale_after, bool writable, const entry* known);

    std::span<const entry> entries() const noexcept { return entries_; }
    std::size_t size() const noexcept { return entries_.size(); }

    /// What the PLC said last of the most characters each element of a text takes (its first byte);
    /// the declared length before it said anything. Empty for other types.
    std::span<const std::uint8_t> text_maxima(const entry& tag) const noexcept {
        const bool is_text = tag.type.base == s7::base_type::string;
        return std::span(text_maxima_).subspan(tag.first_text, is_text ? tag.type.elements : 0);
    }

    /// Makes the jobs for a negotiated PDU. Allocates. Tags keep what is known about them; none
    /// may be in flight.
    void plan(const s7::read_plan_options& options, transport::time_point now);
    /// Some tags were told apart since: `plan` should be called when nothing is in flight.
    bool wants_new_plan() const noexcept { return wants_new_plan_; }
    std::size_t job_count() const noexcept { return plan_.job_count(); }
    std::span<const s7::variable> job_items(std::size_t job) const noexcept {
        return plan_.job(job).items;
    }

    /// Brings the times of arrival up to date, before another set is told what this one knows.
    void note_arrivals() noexcept;

    /// The entries a job brings bytes of; one that needs several request items is in it as often.
    std::vector<std::uint32_t> entries_of(std::size_t job) const;

    /// A job of this set has ended. Publishes for every tag in it what the reply says, or that
    /// there was none in time; nothing for a job that the link's end took: its loss says that.
    void take(std::size_t job, const s7::job_result& result, const publication& to);

    /// Gives every tag of `first` to `first + count` that status without a value; for the loss of
    /// a link. @return false when there are no more tags after these.
    bool mark(std::size_t first, std::size_t count, reason_id reason, bool keep_value,
              const publication& to);

    /// Marks the tags stale whose last value is older than they allow.
    void mark_stale(const publication& to);

    /// When the job was answered last that waits longest; the maximum without a plan.
    transport::time_point oldest_answer() const noexcept;

    /// Forgets parts of values that a lost link left incomplete.
    void forget_parts() noexcept;

  private:
    /// How a value goes from a reply into the table.
    enum class route : std::uint8_t {
        checked,  ///< with a look at its entry: it is no number, or its last reply held no value
        bit,
        byte,
        two_bytes,
        four_bytes,
        eight_bytes,
    };
    /// All that a number needs of its placement and its entry while the PLC delivers it: nothing
    /// else is touched in a scan. It is settled while it is not `checked`, and was then published
    /// from the last answer of its job.
    struct routed_value {
        tag_handle tag{};
        std::uint16_t offset = 0;  ///< in the request item
        std::uint8_t bit = 0;
        route by = route::checked;
    };
    static constexpr std::size_t numbers_at_once = 64;

    static route route_of(const s7::data_type& type) noexcept;
    static std::uint64_t number_in(std::span<const std::byte> item,
                                   const routed_value& which) noexcept;
    /// Takes the settled numbers at the front. @return how many.
    std::size_t take_numbers(std::span<const routed_value> routed, std::span<const std::byte> item,
                             const publication& to) noexcept;
    void publish_numbers(const publication& to) noexcept;
    void settle(entry& tag) noexcept;
    void unsettle(entry& tag) noexcept;
    bool is_settled(const entry& tag) const noexcept;
    transport::time_point arrival_of(const entry& tag) const noexcept;
    void fail(const s7::planned_job& job, reason_id reason, int device_code, const publication& to);
    void take_item(const s7::planned_job& job, std::size_t item, const s7::item_result& result,
                   const publication& to);
    void take_part(const s7::placement& part, std::span<const std::byte> bytes,
                   const publication& to);
    void publish_value(entry& tag, std::span<const std::byte> plc, const publication& to);
    void publish_failure(entry& tag, reason_id reason, int device_code, const publication& to);
    void separate(std::span<const s7::placement> placements);
    void number_parts();

    transport::duration interval_;
    std::vector<entry> entries_;
    s7::read_plan plan_;
    const s7::placement* first_placement_ = nullptr;
    std::vector<routed_value> routes_;                     // by placement
    std::array<number_value, numbers_at_once> numbers_{};  // of one reply, not published yet
    std::size_t number_count_ = 0;
    std::vector<std::uint32_t> part_numbers_;  // by placement
    std::vector<std::uint8_t> part_marks_;
    std::vector<std::byte> assembly_;
    std::vector<std::uint8_t> text_maxima_;
    std::vector<std::byte> slot_;                      // room for the largest value
    std::vector<transport::time_point> last_answers_;  // by job
    std::vector<transport::duration> shortest_stale_;  // by job
    std::size_t suspects_ = 0;
    bool wants_new_plan_ = false;
};

}  // namespace tagferry::gateway
