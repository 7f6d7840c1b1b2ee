// Reads on request of one S7 connection: which jobs each of them still waits for. Jobs are numbered
// over all scan sets; reads of the same block share one job.
#pragma once

#include "gateway/sources/source.hpp"
#include "transport/memory/shown_number.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tagferry::gateway {

class device_reads {
  public:
    /// @param most outstanding at once.
    explicit device_reads(std::size_t most) : reads_(most) {}

    /// Forgets which jobs are wanted, for another numbering; reads that are outstanding stay so.
    /// Allocates.
    void set_job_count(std::size_t jobs);

    /// Begins a read. Nothing when as many as may be are outstanding.
    std::optional<std::size_t> begin(std::uint64_t ticket, device_read_listener& listener) noexcept;
    /// The read waits for this job.
    void want(std::size_t read, std::size_t job) noexcept;
    /// The job is to be sent, and nobody waits for it.
    void want(std::size_t job) noexcept;

    /// A job that a read waits for.
    struct wanted_job {
        std::size_t read = 0;
        std::size_t job = 0;
    };
    /// All of them, sent or not. Allocates.
    std::vector<wanted_job> wanted() const;

    /// Any thread.
    std::uint64_t outstanding() const noexcept { return outstanding_.value(); }
    bool any() const noexcept { return outstanding() != 0; }

    /// The job that was wanted first of those for which `may_go(job)` holds; none when there is no
    /// such job.
    template <class Condition>
    std::optional<std::size_t> next_job(Condition&& may_go) const {
        for (std::size_t i = 0; i < queue_count_; ++i) {
            const std::size_t job = queue_[(queue_head_ + i) % queue_.size()];
            if (may_go(job)) {
                return job;
            }
        }
        return std::nullopt;
    }

    /// The job is being sent, for whatever purpose: it serves every read that wants it by now.
    void job_sent(std::size_t job) noexcept;
    /// The job has ended; tells the listeners of reads that wait for nothing more.
    void job_ended(std::size_t job);
    /// Ends every read, e.g. when the link is lost.
    void end_all(device_read_result result);
    /// Ends reads that wait for nothing.
    void end_empty();

  private:
    struct pending {
        bool active = false;
        std::uint64_t ticket = 0;
        device_read_listener* listener = nullptr;
        std::size_t waiting_for = 0;
        std::vector<std::uint64_t> unsent;  // bit by job: wanted, and not sent since
        std::vector<std::uint64_t> in_flight;
    };

    void finish(pending& read, device_read_result result);

    std::vector<pending> reads_;
    transport::shown_number outstanding_;
    std::vector<std::uint32_t> queue_;  // ring of wanted jobs, each at most once
    std::vector<std::uint8_t> queued_;
    std::size_t queue_head_ = 0;
    std::size_t queue_count_ = 0;
};

}  // namespace tagferry::gateway
