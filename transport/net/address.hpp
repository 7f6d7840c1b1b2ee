// A numeric IPv4 or IPv6 address with its port, as a plain value.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tagferry::transport {

/// Compared and hashed bytewise; IPv4 addresses mapped into IPv6 are stored as IPv4, so that one
/// peer is one address whichever socket it came in by.
struct address {
    bool is_v6 = false;
    std::array<std::uint8_t, 16> bytes{};  ///< network order; the first 4 for IPv4
    std::uint32_t scope = 0;               ///< interface index of a link-local IPv6 address
    std::uint16_t port = 0;

    friend bool operator==(const address&, const address&) = default;

    /// Same host, whatever the port.
    bool same_host(const address& other) const noexcept {
        return is_v6 == other.is_v6 && scope == other.scope && bytes == other.bytes;
    }
};

/// Reads `192.0.2.1:4840`, `[2001:db8::1]:4840` or `[fe80::1%eth0]:4840`. Port 0 to 65535 is
/// required. Empty when the text is anything else; host names are not resolved here.
std::optional<address> parse_address(std::string_view text);

/// The numeric host alone, without port and brackets: `192.0.2.1`, `2001:db8::1`.
std::optional<address> parse_host(std::string_view text, std::uint16_t port);

/// The form `parse_address` reads.
std::string to_text(const address& value);

}  // namespace tagferry::transport
