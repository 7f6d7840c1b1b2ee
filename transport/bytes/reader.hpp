// A bounded cursor over received bytes. The first read past the end sets a sticky error and
// every later read returns zero, so a decoder checks once per message, not once per field.
#pragma once

#include "transport/bytes/endian.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tagferry::transport {

/// Does not own the bytes. Order is a property of the protocol: S7 reads big-endian, OPC UA
/// little-endian.
template <std::endian Order>
class basic_reader {
  public:
    explicit basic_reader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

    /// The next sizeof(T) bytes as a T; zero once the reader has failed.
    template <wire_scalar T>
    T read() noexcept {
        if (sizeof(T) > remaining()) {
            fail();
            return T{};
        }
        const T value = load<T>(bytes_.data() + position_, Order);
        position_ += sizeof(T);
        return value;
    }

    std::uint8_t u8() noexcept { return read<std::uint8_t>(); }
    std::uint16_t u16() noexcept { return read<std::uint16_t>(); }
    std::uint32_t u32() noexcept { return read<std::uint32_t>(); }
    std::uint64_t u64() noexcept { return read<std::uint64_t>(); }
    std::int32_t i32() noexcept { return read<std::int32_t>(); }
    std::int64_t i64() noexcept { return read<std::int64_t>(); }

    /// The next `count` bytes as a view into the input; empty once the reader has failed.
    std::span<const std::byte> bytes(std::size_t count) noexcept {
        if (count > remaining()) {
            fail();
            return {};
        }
        const auto view = bytes_.subspan(position_, count);
        position_ += count;
        return view;
    }

    /// What has not been read, as a view; does not move on.
    std::span<const std::byte> rest() const noexcept { return bytes_.subspan(position_); }

    void skip(std::size_t count) noexcept { static_cast<void>(bytes(count)); }

    /// Marks the input as malformed; everything left is given up.
    void fail() noexcept {
        failed_ = true;
        position_ = bytes_.size();
    }

    bool ok() const noexcept { return !failed_; }
    /// True when nothing failed and every byte was read: how a message decoder ends.
    bool finished() const noexcept { return !failed_ && position_ == bytes_.size(); }
    std::size_t remaining() const noexcept { return bytes_.size() - position_; }
    /// Offset of the next byte from the start of the input; the end once the reader has failed.
    std::size_t position() const noexcept { return position_; }

  private:
    std::span<const std::byte> bytes_;
    std::size_t position_ = 0;
    bool failed_ = false;
};

using big_endian_reader = basic_reader<std::endian::big>;
using little_endian_reader = basic_reader<std::endian::little>;

}  // namespace tagferry::transport
