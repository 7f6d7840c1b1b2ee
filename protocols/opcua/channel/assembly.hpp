// A message of several chunks on its way in (Part 6 §6.7.2).
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/spec/generated/status_codes.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "transport/time/clock.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tagferry::opcua {

/// Holds a pooled buffer only while a message is incomplete or being handled.
class assembly {
  public:
    bool active() const noexcept { return chunks_ != 0; }
    transport::time_point deadline() const noexcept {
        return active() ? deadline_ : transport::time_point::max();
    }
    bytes_view body() const noexcept { return buffer_.bytes().first(size_); }

    /// Adds the body of one chunk.
    /// @return Good; BadTcpNotEnoughResources (no buffer free); BadTcpMessageTooLarge (over the
    ///   limit of chunks or bytes); BadDecodingError (a chunk of another request in between).
    status_code add(bytes_view body, std::uint32_t request_id, transport::pinned_pool& pool,
                    const limits& bounds, transport::time_point now) noexcept {
        if (!active()) {
            buffer_ = pool.rent();
            if (!buffer_) {
                return status::bad_tcp_not_enough_resources;
            }
            request_id_ = request_id;
            size_ = 0;
            deadline_ = now + std::chrono::milliseconds{bounds.message_timeout_ms};
        }
        ++chunks_;
        if (request_id != request_id_) {
            return status::bad_decoding_error;
        }
        if (chunks_ > bounds.max_request_chunks || body.size() > bounds.max_request_size - size_) {
            return status::bad_tcp_message_too_large;
        }
        if (!body.empty()) {
            std::memcpy(buffer_.bytes().data() + size_, body.data(), body.size());
        }
        size_ += body.size();
        return status::good;
    }

    /// Drops what is there: an abort chunk, or the message is handled.
    void clear() noexcept {
        buffer_.reset();
        chunks_ = 0;
        size_ = 0;
    }

    /// Hands the buffer of a complete message over; the assembly is empty after it.
    transport::pooled_buffer take() noexcept {
        transport::pooled_buffer taken = std::move(buffer_);
        clear();
        return taken;
    }

  private:
    transport::pooled_buffer buffer_{};
    std::size_t size_ = 0;
    std::uint32_t chunks_ = 0;
    std::uint32_t request_id_ = 0;
    transport::time_point deadline_{};
};

}  // namespace tagferry::opcua
