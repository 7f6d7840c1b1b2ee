// What the tests of this room share: bytes from hex, a driver in memory that joins two engines
// or plays the peer of one, and a client's observer that remembers.
#pragma once

#include "protocols/s7/client_engine.hpp"
#include "transport/engine.hpp"
#include "transport/time/manual_clock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::s7::test {

using bytes = std::vector<std::byte>;

/// Hex digits in pairs, blanks ignored.
inline bytes hex(std::string_view text) {
    bytes out;
    int high = -1;
    for (const char c : text) {
        const int digit = c >= '0' && c <= '9'   ? c - '0'
                          : c >= 'a' && c <= 'f' ? c - 'a' + 10
                          : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                 : -1;
        if (digit < 0) {
            continue;
        }
        if (high < 0) {
            high = digit;
        } else {
            out.push_back(static_cast<std::byte>(high * 16 + digit));
            high = -1;
        }
    }
    return out;
}

inline std::string to_hex(std::span<const std::byte> from) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const std::byte byte : from) {
        text += digits[std::to_integer<std::size_t>(byte >> 4)];
        text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return text;
}

/// The driver of one engine, without a socket: keeps the input the engine did not consume, what
/// it sent, and when it was told that a message is written.
class fake_driver final : public transport::engine_host {
  public:
    fake_driver(transport::engine& engine, const transport::clock& clock)
        : engine_(engine), clock_(clock) {
        input_.reserve(64 * 1024);
        sent.reserve(64 * 1024);
    }

    void open() {
        open_ = true;
        close_wanted_.reset();
        input_.clear();
        engine_.opened(*this, clock_.now());
        turn();
    }

    /// Shows bytes to the engine in one receive, then ends the turn.
    void receive(std::span<const std::byte> bytes_received) {
        if (!open_) {
            return;
        }
        input_.insert(input_.end(), bytes_received.begin(), bytes_received.end());
        show();
        turn();
    }

    /// The end of a turn: what is queued leaves; reports follow unless they are held back.
    void turn() {
        while (open_ && !close_wanted_) {
            transport::send_batch batch(message_limit);
            engine_.pull(batch, clock_.now());
            if (batch.empty()) {
                break;
            }
            for (const auto segment : batch.segments()) {
                sent.insert(sent.end(), segment.begin(), segment.end());
            }
            for (const std::size_t size : batch.message_sizes()) {
                unreported_.push_back(size);
            }
            messages_sent += batch.message_sizes().size();
            if (!hold_reports) {
                report_all();
            }
        }
        settle();
    }

    void report_all() {
        for (std::size_t i = 0; i < unreported_.size(); ++i) {
            engine_.written({unreported_[i], {}});
        }
        unreported_.clear();
        if (open_ && !close_wanted_ && !input_.empty() && engine_.wants_input().wanted) {
            show();
        }
    }

    void expire() {
        if (open_ && engine_.deadline() <= clock_.now()) {
            engine_.expire(clock_.now());
            turn();
        }
    }

    void close(transport::close_reason reason) {
        if (!open_) {
            return;
        }
        for (const std::size_t size : unreported_) {
            static_cast<void>(size);
            engine_.written({0, std::make_error_code(std::errc::connection_reset)});
        }
        unreported_.clear();
        open_ = false;
        engine_.closed({reason, {}}, clock_.now());
    }

    bool is_open() const { return open_; }
    std::optional<transport::close_reason> close_wanted() const { return close_wanted_; }
    std::size_t unconsumed() const { return input_.size(); }
    bytes take_sent() {
        bytes out;
        out.swap(sent);
        sent.reserve(64 * 1024);
        return out;
    }

    void output_ready() noexcept override { ready = true; }
    void close_after_flush(transport::close_reason reason) noexcept override {
        close_wanted_ = reason;
    }
    void abort(transport::close_reason reason) noexcept override { close_wanted_ = reason; }

    bytes sent;
    std::size_t messages_sent = 0;
    std::size_t message_limit = transport::send_batch::max_messages;
    bool hold_reports = false;
    bool ready = false;

  private:
    void show() {
        bool more = true;
        while (more && open_ && !close_wanted_ && engine_.wants_input().wanted) {
            const auto result = engine_.receive(input_, clock_.now());
            input_.erase(input_.begin(),
                         input_.begin() + static_cast<std::ptrdiff_t>(result.consumed));
            more = result.more;
        }
    }

    void settle() {
        if (close_wanted_ && open_) {
            close(*close_wanted_);
        }
    }

    transport::engine& engine_;
    const transport::clock& clock_;
    bytes input_;
    std::vector<std::size_t> unreported_;
    std::optional<transport::close_reason> close_wanted_;
    bool open_ = false;
};

/// Remembers how every job ended, and that none ended twice.
class recording_observer final : public client_observer {
  public:
    struct finished {
        job_outcome outcome{};
        std::uint16_t error = 0;
        std::vector<item_code> codes;
        std::vector<bytes> values;
        std::size_t times = 0;
    };

    void link_changed(const link_event& event) override { events.push_back(event); }
    void job_finished(const job_result& result) override {
        finished& one = jobs[result.tag];
        ++one.times;
        one.outcome = result.outcome;
        one.error = result.error;
        for (const item_result& item : result.items) {
            one.codes.push_back(item.code);
            one.values.emplace_back(item.bytes.begin(), item.bytes.end());
        }
        order.push_back(result.tag);
    }
    void capacity_available() override { ++capacity_offers; }

    std::vector<link_event> events;
    std::map<std::uint64_t, finished> jobs;
    std::vector<std::uint64_t> order;
    int capacity_offers = 0;
};

}  // namespace tagferry::s7::test
