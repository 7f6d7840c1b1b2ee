#include "gateway/sources/s7/device_reads.hpp"

#include <algorithm>

namespace tagferry::gateway {
namespace {

std::uint64_t bit_of(std::size_t job) noexcept {
    return std::uint64_t{1} << (job % 64);
}

}  // namespace

void device_reads::set_job_count(std::size_t jobs) {
    for (pending& read : reads_) {
        read.waiting_for = 0;
        read.unsent.assign((jobs + 63) / 64, 0);
        read.in_flight.assign((jobs + 63) / 64, 0);
    }
    queue_.assign(jobs, 0);
    queued_.assign(jobs, 0);
    queue_head_ = 0;
    queue_count_ = 0;
}

std::optional<std::size_t> device_reads::begin(std::uint64_t ticket,
                                               device_read_listener& listener) noexcept {
    for (std::size_t i = 0; i < reads_.size(); ++i) {
        pending& read = reads_[i];
        if (!read.active) {
            read.active = true;
            read.ticket = ticket;
            read.listener = &listener;
            read.waiting_for = 0;
            outstanding_.add(1);
            return i;
        }
    }
    return std::nullopt;
}

void device_reads::want(std::size_t read, std::size_t job) noexcept {
    std::uint64_t& word = reads_[read].unsent[job / 64];
    if ((word & bit_of(job)) != 0) {
        return;
    }
    word |= bit_of(job);
    ++reads_[read].waiting_for;
    want(job);
}

void device_reads::want(std::size_t job) noexcept {
    if (queued_[job] == 0) {
        queued_[job] = 1;
        queue_[(queue_head_ + queue_count_++) % queue_.size()] = static_cast<std::uint32_t>(job);
    }
}

std::vector<device_reads::wanted_job> device_reads::wanted() const {
    std::vector<wanted_job> found;
    for (std::size_t i = 0; i < reads_.size(); ++i) {
        for (std::size_t job = 0; reads_[i].active && job < queued_.size(); ++job) {
            const std::uint64_t words = reads_[i].unsent[job / 64] | reads_[i].in_flight[job / 64];
            if ((words & bit_of(job)) != 0) {
                found.push_back({i, job});
            }
        }
    }
    return found;
}

void device_reads::job_sent(std::size_t job) noexcept {
    if (queued_[job] == 0) {
        return;
    }
    for (pending& read : reads_) {
        if (read.active && (read.unsent[job / 64] & bit_of(job)) != 0) {
            read.unsent[job / 64] &= ~bit_of(job);
            read.in_flight[job / 64] |= bit_of(job);
        }
    }
    queued_[job] = 0;
    if (queue_[queue_head_] == job) {
        queue_head_ = (queue_head_ + 1) % queue_.size();
        --queue_count_;
        return;
    }
    // Not the first. Rare and short: the queue holds what waits for a free place only.
    std::size_t kept = 0;
    for (std::size_t i = 0; i < queue_count_; ++i) {
        const std::uint32_t other = queue_[(queue_head_ + i) % queue_.size()];
        if (other != job) {
            queue_[(queue_head_ + kept++) % queue_.size()] = other;
        }
    }
    queue_count_ = kept;
}

void device_reads::job_ended(std::size_t job) {
    if (!any()) {
        return;
    }
    for (pending& read : reads_) {
        if (read.active && (read.in_flight[job / 64] & bit_of(job)) != 0) {
            read.in_flight[job / 64] &= ~bit_of(job);
            if (--read.waiting_for == 0) {
                finish(read, device_read_result::completed);
            }
        }
    }
}

void device_reads::end_empty() {
    for (pending& read : reads_) {
        if (read.active && read.waiting_for == 0) {
            finish(read, device_read_result::completed);
        }
    }
}

void device_reads::end_all(device_read_result result) {
    for (pending& read : reads_) {
        if (read.active) {
            std::ranges::fill(read.unsent, std::uint64_t{0});
            std::ranges::fill(read.in_flight, std::uint64_t{0});
            finish(read, result);
        }
    }
    std::ranges::fill(queued_, std::uint8_t{0});
    queue_count_ = 0;
}

void device_reads::finish(pending& read, device_read_result result) {
    read.active = false;
    outstanding_.subtract(1);
    read.listener->device_read_finished(read.ticket, result);
}

}  // namespace tagferry::gateway
