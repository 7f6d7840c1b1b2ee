// One outgoing message, encoded whole into pooled chunk buffers, then numbered and queued.
#pragma once

#include "protocols/opcua/channel/frame.hpp"
#include "protocols/opcua/channel/hello.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/limits.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <algorithm>
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

    /// After every chunk of `chunks` was moved from.
    void taken() noexcept { count_ = 0; }

    encoder& out() noexcept { return out_; }

    /// Bytes of body written so far, in all chunks.
    std::size_t position() const noexcept { return written_ + out_.used(); }
    /// Bytes that can be written for certain: under the caps, with the chunks that are free now.
    std::size_t room() const noexcept;
    /// Writes over a number written before. @param at what `position` said before it was written;
    ///   numbers are never split over two chunks.
    void overwrite(std::size_t at, std::uint32_t value) noexcept;
    /// After `finish`: shows the body from `begin` to `end`, piece by piece: `visit(bytes_view)`.
    template <typename Visit>
    void visit(std::size_t begin, std::size_t end, Visit&& visit) const {
        std::size_t at = 0;  // where the chunk's body begins
        for (std::size_t index = 0; index < count_ && at < end; ++index) {
            const std::size_t size = chunks_[index].size - symmetric_head_size;
            const std::size_t from = begin > at ? begin - at : 0;
            const std::size_t to = std::min(size, end - at);
            if (from < to) {
                visit(bytes_view{
                    chunks_[index].buffer.bytes().subspan(symmetric_head_size + from, to - from)});
            }
            at += size;
        }
    }

    bool is_open() const noexcept { return count_ != 0; }
    std::span<out_chunk> chunks() noexcept { return {chunks_.data(), count_}; }

    status_code next_chunk(std::size_t used, std::span<std::byte>& next) override;

  private:
    std::span<std::byte> body_of(std::size_t index) noexcept {
        return chunks_[index].buffer.bytes().subspan(symmetric_head_size, body_size_);
    }

    transport::pinned_pool* pool_ = nullptr;
    std::size_t count_ = 0;
    std::size_t body_size_ = 0;  // room for a body in one chunk
    std::size_t written_ = 0;    // bytes of body in the chunks before the last
    std::size_t body_cap_ = 0;
    std::size_t chunk_cap_ = 0;
    encoder out_;
    // Behind the rest, since nearly every message is in the first of them.
    std::array<out_chunk, most_response_chunks> chunks_{};
};

}  // namespace tagferry::opcua
