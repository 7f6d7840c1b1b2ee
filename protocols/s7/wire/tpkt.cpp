#include "protocols/s7/wire/tpkt.hpp"

#include "transport/bytes/endian.hpp"

#include <bit>

namespace tagferry::s7 {

namespace {
constexpr std::byte tpkt_version{3};
}  // namespace

tpkt_frame find_tpkt_frame(std::span<const std::byte> bytes, std::size_t max_size) noexcept {
    if (bytes.empty()) {
        return {};
    }
    if (bytes[0] != tpkt_version) {
        return {frame_state::malformed, 0};
    }
    if (bytes.size() < tpkt_header_size) {
        return {};
    }
    const std::size_t size = transport::load<std::uint16_t>(bytes.data() + 2, std::endian::big);
    if (size < envelope_size || size > max_size) {
        return {frame_state::malformed, 0};
    }
    return {bytes.size() < size ? frame_state::incomplete : frame_state::complete, size};
}

void put_tpkt_header(std::span<std::byte, tpkt_header_size> to, std::size_t size) noexcept {
    to[0] = tpkt_version;
    to[1] = std::byte{0};
    transport::store(to.data() + 2, static_cast<std::uint16_t>(size), std::endian::big);
}

}  // namespace tagferry::s7
