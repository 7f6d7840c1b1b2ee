// A bounded cursor that fills a buffer of the caller's. The first write past the end sets a
// sticky error and writes nothing from then on. Headers whose sizes are known last are reserved
// and patched.
#pragma once

#include "transport/bytes/endian.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace tagferry::transport {

/// Does not own the buffer.
template <std::endian Order>
class basic_writer {
  public:
    explicit basic_writer(std::span<std::byte> buffer) noexcept : buffer_(buffer) {}

    template <wire_scalar T>
    void write(T value) noexcept {
        if (std::byte* const to = claim(sizeof(T))) {
            store<T>(to, value, Order);
        }
    }

    void u8(std::uint8_t value) noexcept { write(value); }
    void u16(std::uint16_t value) noexcept { write(value); }
    void u32(std::uint32_t value) noexcept { write(value); }
    void u64(std::uint64_t value) noexcept { write(value); }
    void i32(std::int32_t value) noexcept { write(value); }
    void i64(std::int64_t value) noexcept { write(value); }

    void bytes(std::span<const std::byte> source) noexcept {
        std::byte* const to = claim(source.size());
        if (to != nullptr && !source.empty()) {
            std::memcpy(to, source.data(), source.size());
        }
    }

    void zeros(std::size_t count) noexcept {
        std::byte* const to = claim(count);
        if (to != nullptr && count != 0) {
            std::memset(to, 0, count);
        }
    }

    /// Leaves `count` bytes unwritten, to be patched or filled in place. Empty on overflow.
    std::span<std::byte> reserve(std::size_t count) noexcept {
        std::byte* const to = claim(count);
        return to == nullptr ? std::span<std::byte>{} : std::span<std::byte>{to, count};
    }

    /// Overwrites the sizeof(T) bytes at `position`, which must have been written or reserved.
    template <wire_scalar T>
    void patch(std::size_t position, T value) noexcept {
        if (failed_ || position > position_ || sizeof(T) > position_ - position) {
            fail();
            return;
        }
        store<T>(buffer_.data() + position, value, Order);
    }

    /// Gives up everything written at and after `position`, and clears no error.
    void truncate(std::size_t position) noexcept {
        if (!failed_ && position <= position_) {
            position_ = position;
        } else {
            fail();
        }
    }

    void fail() noexcept { failed_ = true; }
    bool ok() const noexcept { return !failed_; }
    std::size_t position() const noexcept { return position_; }
    std::size_t remaining() const noexcept { return failed_ ? 0 : buffer_.size() - position_; }
    std::span<std::byte> written() const noexcept { return buffer_.first(position_); }

  private:
    std::byte* claim(std::size_t count) noexcept {
        if (failed_ || count > buffer_.size() - position_) {
            failed_ = true;
            return nullptr;
        }
        std::byte* const to = buffer_.data() + position_;
        position_ += count;
        return to;
    }

    std::span<std::byte> buffer_;
    std::size_t position_ = 0;
    bool failed_ = false;
};

using big_endian_writer = basic_writer<std::endian::big>;
using little_endian_writer = basic_writer<std::endian::little>;

}  // namespace tagferry::transport
