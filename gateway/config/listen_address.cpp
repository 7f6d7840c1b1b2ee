#include "gateway/config/listen_address.hpp"

#include <arpa/inet.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <string>

namespace tagferry::gateway::config {

namespace {

constexpr std::string_view expected_form = "write address:port, e.g. 127.0.0.1:4840";

// Nothing when the text is no numeric address, else whether it is loopback.
std::optional<bool> numeric_loopback(const std::string& host, bool v6) {
    std::array<unsigned char, 16> bytes{};
    if (inet_pton(v6 ? AF_INET6 : AF_INET, host.c_str(), bytes.data()) != 1) {
        return std::nullopt;
    }
    if (!v6) {
        return bytes[0] == 127;
    }
    std::array<unsigned char, 16> loopback{};
    loopback[15] = 1;
    return bytes == loopback;
}

}  // namespace

std::optional<text_fault> parse_listen_address(std::string_view text, listen_address& address) {
    const bool bracketed = text.starts_with('[');
    const std::size_t colon = text.rfind(':');
    const bool several = !bracketed && text.find(':') != colon;
    if (several) {
        return text_fault{0, "an IPv6 address needs brackets", "e.g. [::1]:4840"};
    }
    if (colon == std::string_view::npos || (bracketed && text.rfind(']') + 1 != colon)) {
        return text_fault{0, "the port is missing", std::string{expected_form}};
    }
    const std::string_view port = text.substr(colon + 1);
    unsigned value = 0;
    const auto [end, fault] = std::from_chars(port.data(), port.data() + port.size(), value);
    if (fault != std::errc{} || end != port.data() + port.size() || value > 65'535) {
        return text_fault{colon + 1, "\"" + std::string{port} + "\" is no port",
                          "0 to 65535, 0 for any free one"};
    }
    std::string host{bracketed ? text.substr(1, colon - 2) : text.substr(0, colon)};
    if (host == "localhost") {
        host = "127.0.0.1";
    }
    const std::optional<bool> loopback = numeric_loopback(host, bracketed);
    if (!loopback) {
        return text_fault{0, "\"" + host + "\" is no numeric address", std::string{expected_form}};
    }
    if (!*loopback) {
        return text_fault{0, "\"" + host + "\" is not a loopback address",
                          "this version has no users and no encryption yet and listens on "
                          "127.0.0.1 or [::1] only"};
    }
    address.host = std::move(host);
    address.port = static_cast<std::uint16_t>(value);
    return std::nullopt;
}

}  // namespace tagferry::gateway::config
