// Takes the place of the TCP socket under a driver: the test decides what each call moves, when
// readiness is told and at which step the network fails.
#pragma once

#include "transport/net/tcp_stream.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <deque>
#include <span>
#include <system_error>
#include <vector>

namespace tagferry::testing {

/// The network behind one scripted stream, held by the test.
struct script {
    static constexpr std::size_t no_limit = SIZE_MAX;

    // What the peer sends.
    std::deque<std::byte> inbound;
    bool peer_ended = false;  ///< the end of the stream follows what is inbound

    // What each call may move.
    std::size_t read_limit = no_limit;     ///< bytes a receive takes at most
    std::deque<std::size_t> write_limits;  ///< for each coming send; 0: would block; then unlimited
    std::size_t fail_at_step = no_limit;   ///< the call with this number fails; all later ones too
    int fail_with = ECONNRESET;

    // What happened.
    std::vector<std::byte> outbound;
    std::size_t steps = 0;  ///< calls made: open, receives and sends
    std::size_t reads = 0;
    std::vector<std::size_t> read_sizes;  ///< asked for by each receive
    std::size_t writes = 0;
    std::size_t most_pieces = 0;  ///< of one send
    bool sending_shut = false;
    bool reset_wanted = false;
    bool closed = false;
    std::size_t unread_at_close = 0;

    transport::descriptor_watcher* watcher = nullptr;
    transport::descriptor_interest interest{};

    void receive(std::span<const std::byte> bytes) {
        inbound.insert(inbound.end(), bytes.begin(), bytes.end());
    }
    bool failed() const noexcept { return steps > fail_at_step; }
    bool readable() const noexcept { return !inbound.empty() || peer_ended || failed(); }
    bool writable() const noexcept {
        return write_limits.empty() || write_limits.front() != 0 || failed();
    }
    /// Counts a call. @return true when it is to fail.
    bool step() noexcept { return steps++ >= fail_at_step; }
};

class scripted_stream {
  public:
    explicit scripted_stream(script& lines) noexcept : script_(lines) {}

    std::error_code open(transport::descriptor_watcher& watcher) noexcept {
        if (script_.step()) {
            return {script_.fail_with, std::system_category()};
        }
        script_.watcher = &watcher;
        script_.interest = {.readable = true, .writable = false};
        return {};
    }

    void set_interest(transport::descriptor_interest interest) noexcept {
        script_.interest = interest;
    }
    transport::descriptor_interest interest() const noexcept { return script_.interest; }

    transport::io_result read_some(std::span<std::byte> into) noexcept {
        using transport::io_status;
        ++script_.reads;
        script_.read_sizes.push_back(into.size());
        if (script_.step()) {
            return {io_status::failed, script_.fail_with, 0};
        }
        if (script_.inbound.empty()) {
            return {script_.peer_ended ? io_status::end : io_status::would_block, 0, 0};
        }
        const std::size_t count =
            std::min({into.size(), script_.read_limit, script_.inbound.size()});
        const auto end = script_.inbound.begin() + static_cast<std::ptrdiff_t>(count);
        std::copy(script_.inbound.begin(), end, into.begin());
        script_.inbound.erase(script_.inbound.begin(), end);
        return {io_status::done, 0, count};
    }

    transport::io_result write_some(std::span<const iovec> pieces) noexcept {
        using transport::io_status;
        ++script_.writes;
        script_.most_pieces = std::max(script_.most_pieces, pieces.size());
        if (script_.step()) {
            return {io_status::failed, script_.fail_with, 0};
        }
        std::size_t left = script::no_limit;
        if (!script_.write_limits.empty()) {
            left = script_.write_limits.front();
            script_.write_limits.pop_front();
        }
        if (left == 0) {
            return {io_status::would_block, 0, 0};
        }
        std::size_t sent = 0;
        for (const iovec& piece : pieces) {
            const std::size_t count = std::min(piece.iov_len, left - sent);
            const auto* const from = static_cast<const std::byte*>(piece.iov_base);
            script_.outbound.insert(script_.outbound.end(), from, from + count);
            sent += count;
        }
        return {io_status::done, 0, sent};
    }

    std::error_code take_error() noexcept { return {script_.fail_with, std::system_category()}; }
    void shutdown_send() noexcept { script_.sending_shut = true; }
    void reset_on_close() noexcept { script_.reset_wanted = true; }
    void close() noexcept {
        if (!script_.closed) {
            script_.unread_at_close = script_.inbound.size();
        }
        script_.closed = true;
        script_.watcher = nullptr;
    }

  private:
    script& script_;
};

}  // namespace tagferry::testing
