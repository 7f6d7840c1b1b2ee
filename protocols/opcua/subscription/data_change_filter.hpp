// DataChangeFilter (Part 4 §7.22.2): which samples are worth a notification.
#pragma once

#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/views.hpp"

#include <cstdint>

namespace tagferry::opcua {

struct limits;

/// With its numbers on the wire.
enum class data_change_trigger : std::uint8_t {
    status = 0,
    status_value = 1,
    status_value_timestamp = 2,
};

enum class deadband_type : std::uint8_t { none = 0, absolute = 1, percent = 2 };

struct data_change_filter {
    data_change_trigger trigger = data_change_trigger::status_value;
    deadband_type deadband = deadband_type::none;
    double deadband_value = 0;
};

/// Reads the filter of a request; none at all is the default one.
/// @return Good; BadMonitoredItemFilterUnsupported for event and aggregate filters;
///   BadMonitoredItemFilterInvalid for others, a malformed one or a trigger that does not exist;
///   BadDeadbandFilterInvalid for a deadband type that does not exist or a value that is negative,
///   not finite or not a number (E52).
status_code read_filter(const extension_object_view& from, const limits& bounds,
                        data_change_filter& out) noexcept;

/// Whether a filter may be used with an item.
/// @param is_value it monitors the Value attribute. @param is_numeric of numbers.
/// @return Good; BadFilterNotAllowed for a deadband (and only then, E50) on another attribute or on
///   what is not numeric, and for a percent deadband: no node here has an EURange.
status_code check_filter(const data_change_filter& filter, bool is_value, bool is_numeric) noexcept;

/// Whether values of this type have a distance.
bool is_number(builtin_type type) noexcept;

/// Whether two encoded Variants differ as far as the filter cares. With a deadband a value has
/// changed when one of its elements moved by more than that, or its length or type is another.
/// From one not-a-number to another is no change (E52), from or to a number is one.
bool differs(const data_change_filter& filter, bytes_view before, bytes_view after,
             const limits& bounds) noexcept;

}  // namespace tagferry::opcua
