// The OPC UA status codes the gateway itself gives to a sample or an outcome (OPC UA Part 4,
// 7.38 and Part 8, annex A). Numbers are those of the standard's StatusCode list.
#pragma once

#include <cstdint>
#include <string_view>

namespace tagferry::gateway {

enum class status_code : std::uint32_t {
    good = 0x00000000,
    uncertain_no_communication_last_usable_value = 0x408F0000,
    uncertain_last_usable_value = 0x40900000,
    uncertain_substitute_value = 0x40910000,
    bad_unexpected_error = 0x80010000,
    bad_internal_error = 0x80020000,
    bad_resource_unavailable = 0x80040000,
    bad_communication_error = 0x80050000,
    bad_timeout = 0x800A0000,
    bad_shutdown = 0x800C0000,
    bad_user_access_denied = 0x801F0000,
    bad_no_communication = 0x80310000,
    bad_waiting_for_initial_data = 0x80320000,
    bad_node_id_unknown = 0x80340000,
    bad_not_readable = 0x803A0000,
    bad_not_writable = 0x803B0000,
    bad_out_of_range = 0x803C0000,
    bad_not_supported = 0x803D0000,
    bad_not_found = 0x803E0000,
    bad_type_mismatch = 0x80740000,
    bad_configuration_error = 0x80890000,
    bad_device_failure = 0x808B0000,
    bad_out_of_service = 0x808D0000,
};

/// Severity is the top two bits (Part 4, 7.38.1).
enum class quality : std::uint8_t { good, uncertain, bad };

constexpr quality quality_of(status_code status) noexcept {
    switch (static_cast<std::uint32_t>(status) >> 30) {
        case 0:
            return quality::good;
        case 1:
            return quality::uncertain;
        default:
            return quality::bad;
    }
}

/// The standard's name, e.g. "BadNoCommunication"; "Unknown" for a number not listed above.
/// Static storage.
std::string_view name_of(status_code status) noexcept;

/// "good", "uncertain", "bad": the metric label.
std::string_view name_of(quality value) noexcept;

}  // namespace tagferry::gateway
