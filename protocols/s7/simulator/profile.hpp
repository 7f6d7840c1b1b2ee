// What families of PLCs grant a client in setup communication.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::s7 {

struct plc_profile {
    std::string_view name;           ///< as in the configuration: "s7-300" …
    std::uint16_t pdu_size = 240;    ///< largest granted, bytes
    std::uint16_t calling_jobs = 1;  ///< largest granted to the client
    std::uint16_t called_jobs = 1;   ///< granted the other way
};

/// All profiles, smallest family first. Static storage.
std::span<const plc_profile> plc_profiles() noexcept;
/// Null when there is no profile of this name.
const plc_profile* find_plc_profile(std::string_view name) noexcept;

}  // namespace tagferry::s7
