// One outgoing message, encoded whole into pooled chunk buffers, then numbered and queued.
#pragma once

#include "protocols/opcua/channel/frame.hpp"
#include "protocols/opcua/channel/hello.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/limits.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// A chunk ready for the wire, or on its way to be.
struct out_chunk {
    transport::pooled_buffer buffer{};
    std::uint32_t size = 0;  ///< bytes of it that are sent
};

/// Header, channel id, token id, sequence number, request id (Part 6 §6.7.2).
inline constexpr std::size_t symmetric_head_size = 24;

/// The caps are what the Hello negotiated: the client's or ours, whichever is smaller. Over them
/// the encoder fails with BadResponseTooLarge (E15); an empty pool fails it with
/// BadTcpNotEnoughResources. The first chunk is rented on admission, so that at least a
/// ServiceFault can always be sent.
class response_writer final : public chunk_source {
  public:
    response_writer() noexcept : out_({}, this) {}
    response_writer(const response_writer&) = delete;
    response_writer& operator=(const response_writer&) = delete;

    /// Takes the first chunk. False: the pool is empty.
    bool open(transport::pinned_pool& pool) noexcept;
    /// Sets the caps and begins the body of the first chunk.
    /// @param message_cap largest whole message in bytes, 0: none.
    /// @param chunk_cap most chunks, 1 to `most_response_chunks`.
    void begin(std::uint32_t chunk_size, std::uint32_t message_cap,
               std::uint32_t chunk_cap) noexcept;
    /// Gives up what was written but keeps the first chunk, for another body.
    void restart() noexcept;
    /// Ends the body: fixes the size of every chunk.
    void finish() noexcept;
    /// Returns every chunk.
    void close() noexcept;

    encoder& out() noexcept { return out_; }
    bool is_open() const noexcept { return count_ != 0; }
    std::span<out_chunk> chunks() noexcept { return {chunks_.data(), count_}; }

    status_code next_chunk(std::size_t used, std::span<std::byte>& next) override;

  private:
    std::span<std::byte> body_of(std::size_t index) noexcept;

    transport::pinned_pool* pool_ = nullptr;
    std::array<out_chunk, most_response_chunks> chunks_{};
    std::size_t count_ = 0;
    std::size_t body_size_ = 0;  // room for a body in one chunk
    std::size_t written_ = 0;    // bytes of body in the chunks before the last
    std::size_t body_cap_ = 0;
    std::size_t chunk_cap_ = 0;
    encoder out_;
};

}  // namespace tagferry::opcua
