// The S7 source: one connection to one PLC, kept up for ever, its tags read by scan class.
#pragma once

#include "gateway/sources/s7/device_reads.hpp"
#include "gateway/sources/s7/scan_set.hpp"
#include "gateway/sources/s7/write_queue.hpp"
#include "gateway/sources/source.hpp"
#include "protocols/s7/client_engine.hpp"
#include "transport/memory/shown_number.hpp"
#include "transport/net/client_link.hpp"
#include "transport/threads/shard.hpp"
#include "transport/time/timing_wheel.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tagferry::gateway {

struct s7_source_options {
    s7::client_options client;
    transport::client_link_options link;
    std::size_t pending_writes = 32;        ///< at once, 1 to `config::most_pending_writes`
    std::size_t pending_device_reads = 16;  ///< at once
    bool keep_value_on_link_loss = false;   ///< UncertainNoCommunicationLastUsableValue
    source_observer* observer = nullptr;    ///< may be null; outlives the source
};

/// Why an attempt ended before the PLC was reached.
enum class connect_failure : std::uint8_t {
    none,
    unknown_name,
    silent_name_server,
    refused,
    unreachable,
    timed_out,
    not_possible,  ///< on this machine
};

/// Jobs handed to the engine beyond what the PLC takes at once, so that it never waits for us.
inline constexpr std::size_t jobs_ahead = 2;
static_assert(config::most_pending_writes + jobs_ahead <= s7::max_queued_jobs);

/// What a source of a connection's settings needs; throws std::invalid_argument when they make no
/// sense.
/// @param counters of the shard's S7 traffic; outlives the source.
s7_source_options s7_options_of(const config::connection& settings,
                                const config::process_limits& limits, transport::traffic& counters);

/// Slots a source takes of the S7 pool of its shard.
std::size_t s7_pool_slots(const s7::client_options& options) noexcept;

class s7_source final : public source,
                        private s7::client_observer,
                        private tag_failure_listener,
                        private transport::link_observer,
                        private transport::sweep_participant,
                        private transport::next_turn_participant {
  public:
    /// @param owner,resolver,pool,table outlive the source; see `s7::client_engine` for the pool.
    /// @param owner_id whose tags they are in the table.
    /// Throws as the engine does.
    s7_source(transport::shard& owner, transport::worker_pool& resolver,
              transport::pinned_pool& pool, tag_table& table, tag_table::owner_id owner_id,
              const s7_source_options& options);
    ~s7_source() override;

    std::string_view protocol() const noexcept override { return "s7"; }
    void apply(const tag_model& model, const connection_definition& connection) override;
    void start() override;
    void stop() override;
    bool stopped() const noexcept override;
    bool read(std::span<const tag_handle> tags, std::uint64_t ticket,
              device_read_listener& listener) override;
    reason_id write(const source_write& write, std::uint64_t ticket,
                    write_listener& listener) override;
    bool browse(std::string_view address, browse_listener& listener) override;
    source_status status() const noexcept override;

  private:
    /// The schedule of one scan class and where its present cycle stands.
    struct scan final : transport::wheel_timer {
        scan(s7_source& source, std::string of, transport::duration interval)
            : owner(source), name(std::move(of)), set(interval) {}
        void fire(transport::time_point now) override { owner.begin_scan(*this, now); }

        s7_source& owner;
        std::string name;
        scan_set set;
        std::uint16_t epoch = 0;    ///< of its plan: jobs of an older one are not its own
        std::size_t first_job = 0;  ///< in the numbering of `device_reads`
        std::size_t next_job = 0;   ///< of the cycle; all sent when it is `set.job_count()`
        std::size_t in_flight = 0;  ///< scan and device-read jobs of this set
        std::vector<std::uint8_t> is_in_flight;  ///< by job
        std::uint32_t cycle = 0;                 ///< number of the present one
        std::vector<std::uint32_t> sent_in;      ///< by job: the cycle in which it was sent last
        bool cycling = false;
        transport::time_point began_due{};  ///< when the cycle was due
        transport::duration lag{};          ///< how far it is, or was, over its interval
    };
    /// A tag that a read on request waits for.
    struct wanted_tag {
        std::size_t read = 0;
        tag_handle tag{};
    };
    /// Tags given a new status in one turn when the link is lost.
    static constexpr std::size_t marks_per_turn = 256;

    void link_changed(const s7::link_event& event) override;
    void job_finished(const s7::job_result& result) override;
    void capacity_available() override { pump(); }
    void link_changed(const transport::link_status& status) override;
    transport::time_point deadline() const noexcept override { return next_sweep_; }
    void expire(transport::time_point now) override;
    void next_turn(transport::time_point now) override;

    void came_up(const s7::link_event& event);
    void went_down();
    void begin_marking(reason_id reason);
    void mark_some();
    void plan(scan& which);
    void plan_all(std::span<const wanted_tag> asked_for);
    void number_jobs();
    std::vector<wanted_tag> wanted_tags() const;
    void want_again(std::span<const wanted_tag> asked_for);
    scan* scan_of(std::size_t job) const noexcept;
    void begin_scan(scan& which, transport::time_point now);
    void begin_cycle(scan& which);
    static void skip_read_jobs(scan& which) noexcept;
    void end_cycle_if_done(scan& which);
    void show_lateness(scan& which, transport::time_point now) noexcept;
    void show_oldest() noexcept;
    void pump();
    bool submit(scan& which, std::size_t job, std::uint64_t purpose);
    bool submit_device_read();
    bool submit_scan();
    void job_alarm_rings(transport::time_point now);
    void write_job_finished(const s7::job_result& result);
    void tell(const source_event& what);
    void tell_of_failure(const s7::job_result& result);
    void tag_failed(tag_handle tag, reason_id reason, int device_code) override;
    publication publication_at(transport::time_point arrived) noexcept;
    const scan_set::entry* find(tag_handle tag, std::size_t& scan_index) const noexcept;
    void set_state(source_state state) noexcept;

    transport::shard& shard_;
    s7_source_options options_;
    tag_writer writer_;
    s7::client_engine engine_;
    std::vector<std::unique_ptr<scan>> scans_;
    std::unordered_map<std::uint32_t, std::uint64_t> places_;  // table index -> scan and entry
    device_reads reads_;
    write_queue writes_;
    const tag_model* model_ = nullptr;
    std::size_t device_jobs_in_flight_ = 0;
    std::size_t next_scan_ = 0;  // whose turn it is to send
    bool scan_is_next_ = false;  // before a read on request
    transport::member_timer<s7_source, &s7_source::job_alarm_rings> job_alarm_{*this};
    transport::time_point next_sweep_ = transport::time_point::max();
    // Marking all tags after a loss, some in each turn.
    bool marking_ = false;
    bool marked_down_ = false;
    std::size_t mark_scan_ = 0;
    std::size_t mark_entry_ = 0;
    reason_id mark_reason_ = reason_id::link_down;
    bool opened_ = false;  ///< the attempt under way has got as far as the engine
    bool running_ = false;
    std::uint16_t epochs_ = 0;

    // Written here, read by anyone.
    struct shown_status {
        std::atomic<source_state> state{source_state::stopped};
        std::atomic<std::uint8_t> s7_reason{0};
        std::atomic<connect_failure> failure{connect_failure::none};
        std::atomic<transport::wall_time_ns> since{0};
        std::atomic<transport::wall_time_ns> next_attempt{0};
        std::atomic<std::uint64_t> connects{0};
        std::atomic<std::uint64_t> connect_failures{0};
        std::atomic<std::uint64_t> requests{0};
        std::array<transport::shown_number, request_failure_count> failures{};
        std::atomic<std::uint64_t> item_errors{0};
        std::atomic<std::uint64_t> scans{0};
        std::atomic<std::uint64_t> overruns{0};
        std::atomic<std::uint64_t> bytes_read{0};
        std::atomic<transport::duration> lag{transport::duration{}};
        std::atomic<transport::time_point> oldest{transport::time_point{}};  ///< unset: no tags
        std::atomic<std::uint32_t> pdu_size{0};
        std::atomic<std::uint32_t> window{0};
    };
    shown_status shown_;
    std::uint64_t item_errors_ = 0;
    std::uint64_t bytes_read_ = 0;
    transport::client_link link_;  ///< the last: an open connection ends with calls into the others
};

}  // namespace tagferry::gateway
