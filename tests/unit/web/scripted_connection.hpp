// The driver's part in tests: one engine, in memory, with turns taken by hand.
#pragma once

#include "transport/engine.hpp"
#include "web/backend/call.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace tagferry::web::testing {

/// Calls the engine in the order a driver does: input while it is wanted, then pull, then the
/// reports, until nothing moves.
class scripted_connection final : public transport::engine_host {
  public:
    scripted_connection(std::unique_ptr<transport::engine> engine, transport::time_point now)
        : engine_(std::move(engine)) {
        engine_->opened(*this, now);
    }
    ~scripted_connection() {
        if (!ended_) {
            end(transport::close_reason::shutting_down, {});
        }
    }

    /// Bytes from the peer; a turn is taken.
    void send(std::string_view bytes, transport::time_point now) {
        if (closing_ || ended_) {
            return;
        }
        pending_ += bytes;
        turn(now);
    }

    /// One turn, as after a wake-up.
    void turn(transport::time_point now) {
        for (int round = 0; round < 10'000 && !ended_; ++round) {
            marked_ = false;
            show(now);
            const bool moved = flush(now);
            if (!moved && !marked_) {
                break;
            }
        }
        if (closing_ && !ended_ && unsent_.empty()) {
            end(*closing_, {});
        }
    }

    void tick(transport::time_point now) {
        if (!ended_ && engine_->deadline() <= now) {
            engine_->expire(now);
            turn(now);
        }
    }

    /// The peer vanished; what was not yet sent is reported failed.
    void cut(transport::time_point) { end(transport::close_reason::transport_error, {}); }

    /// With false nothing leaves: the socket is blocked.
    void accept_writes(bool accept) { accept_writes_ = accept; }

    /// Everything the peer received so far, taken.
    std::string take() { return std::exchange(received_, {}); }
    const std::string& received() const { return received_; }
    bool ended() const { return ended_; }
    bool closing() const { return closing_.has_value(); }
    std::optional<transport::close_reason> reason() const { return closing_; }
    transport::engine& engine() { return *engine_; }
    std::size_t writes() const { return writes_; }
    std::size_t unread() const { return pending_.size(); }

    void output_ready() noexcept override { marked_ = true; }
    void close_after_flush(transport::close_reason reason) noexcept override {
        if (!closing_) {
            closing_ = reason;
        }
    }
    void abort(transport::close_reason reason) noexcept override {
        closing_ = reason;
        aborted_ = true;
    }

  private:
    void show(transport::time_point now) {
        if (closing_ || pending_.empty() || !engine_->wants_input().wanted) {
            return;
        }
        // A copy at an address of its own: a view kept into it is caught by the sanitizer.
        const std::size_t size = std::min(pending_.size(), std::size_t{8192});
        const auto copy = std::make_unique<std::byte[]>(size);
        std::transform(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(size),
                       copy.get(), [](char byte) { return static_cast<std::byte>(byte); });
        const auto result = engine_->receive({copy.get(), size}, now);
        pending_.erase(0, result.consumed);
        marked_ = marked_ || result.more || result.consumed != 0;
    }

    bool flush(transport::time_point now) {
        if (aborted_) {
            end(*closing_, {});
            return false;
        }
        if (unsent_.empty()) {
            transport::send_batch batch;
            engine_->pull(batch, now);
            if (aborted_) {
                // What was pulled is reported failed.
                for (std::size_t i = 0; i < batch.message_sizes().size(); ++i) {
                    unsent_.emplace_back();
                }
                return true;
            }
            for (const auto& segment : batch.segments()) {
                unsent_.emplace_back(reinterpret_cast<const char*>(segment.data()), segment.size());
            }
        }
        if (unsent_.empty() || !accept_writes_) {
            return false;
        }
        ++writes_;
        while (!unsent_.empty()) {
            received_ += unsent_.front();
            const std::size_t size = unsent_.front().size();
            unsent_.pop_front();
            engine_->written({size, {}});
        }
        return true;
    }

    void end(transport::close_reason reason, transport::time_point now) {
        while (!unsent_.empty()) {
            unsent_.pop_front();
            engine_->written({0, std::make_error_code(std::errc::connection_reset)});
        }
        ended_ = true;
        if (!closing_) {
            closing_ = reason;
        }
        engine_->closed({reason, {}}, now);
    }

    std::unique_ptr<transport::engine> engine_;
    std::string pending_;
    std::deque<std::string> unsent_;
    std::string received_;
    std::optional<transport::close_reason> closing_;
    bool aborted_ = false;
    bool ended_ = false;
    bool marked_ = false;
    bool accept_writes_ = true;
    std::size_t writes_ = 0;
};

}  // namespace tagferry::web::testing
