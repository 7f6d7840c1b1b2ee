// Both ends of an HTTP connection in memory, for gates and benches: what is measured is the engine.
#pragma once

#include "transport/engine.hpp"
#include "web/server.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

namespace tagferry::support {

/// The driver's part and the peer's, on buffers that were there before: allocates nothing itself.
class http_peer final : public transport::engine_host {
  public:
    http_peer(web::server& server, transport::time_point now)
        : engine_(server.make_engine("127.0.0.1:50000", web::channel_security::loopback)) {
        engine_->opened(*this, now);
    }
    ~http_peer() { engine_->closed({transport::close_reason::shutting_down, {}}, {}); }

    /// Sends `request` in pieces of `piece` bytes; gives how many bytes came back.
    std::size_t send(std::string_view request, std::size_t piece, transport::time_point now) {
        std::size_t answered = 0;
        while (!request.empty()) {
            const std::size_t size = std::min(piece, request.size());
            std::memcpy(input_.data() + held_, request.data(), size);
            held_ += size;
            request.remove_prefix(size);
            const auto result = engine_->receive(std::span(input_).first(held_), now);
            held_ -= result.consumed;
            std::memmove(input_.data(), input_.data() + result.consumed, held_);
            answered += flush(now);
        }
        return answered;
    }

    /// A turn without input; gives how many bytes came.
    std::size_t turn(transport::time_point now) { return flush(now); }

    void output_ready() noexcept override {}
    void close_after_flush(transport::close_reason) noexcept override { closing_ = true; }
    void abort(transport::close_reason) noexcept override { closing_ = true; }
    bool closing() const { return closing_; }

  private:
    std::size_t flush(transport::time_point now) {
        std::size_t bytes = 0;
        for (;;) {
            transport::send_batch batch;
            engine_->pull(batch, now);
            if (batch.empty()) {
                return bytes;
            }
            bytes += batch.bytes();
            for (const std::size_t size : batch.message_sizes()) {
                engine_->written({size, {}});
            }
        }
    }

    std::unique_ptr<transport::engine> engine_;
    std::array<std::byte, 8192> input_{};
    std::size_t held_ = 0;
    bool closing_ = false;
};

}  // namespace tagferry::support
