#include "protocols/opcua/subscription/data_change_filter.hpp"

#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/spec/generated/node_ids.hpp"
#include "transport/bytes/endian.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tagferry::opcua {
namespace {

// The distance of two integers may not fit their type.
template <typename T>
double distance(T left, T right) noexcept {
    if constexpr (std::is_floating_point_v<T>) {
        return std::fabs(static_cast<double>(left) - static_cast<double>(right));
    } else {
        using wide = std::uint64_t;
        return left > right
                   ? static_cast<double>(static_cast<wide>(left) - static_cast<wide>(right))
                   : static_cast<double>(static_cast<wide>(right) - static_cast<wide>(left));
    }
}

template <typename T>
bool moved(bytes_view before, bytes_view after, double deadband) noexcept {
    for (std::size_t at = 0; at + sizeof(T) <= before.size(); at += sizeof(T)) {
        const T left = transport::load<T>(before.data() + at, std::endian::little);
        const T right = transport::load<T>(after.data() + at, std::endian::little);
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(left) || std::isnan(right)) {
                if (std::isnan(left) != std::isnan(right)) {
                    return true;
                }
                continue;
            }
            if (left == right) {
                continue;  // equal infinities have no distance
            }
        }
        if (distance(left, right) > deadband) {
            return true;
        }
    }
    return false;
}

bool moved(builtin_type type, bytes_view before, bytes_view after, double deadband) noexcept {
    switch (type) {
        case builtin_type::sbyte:
            return moved<std::int8_t>(before, after, deadband);
        case builtin_type::byte:
            return moved<std::uint8_t>(before, after, deadband);
        case builtin_type::int16:
            return moved<std::int16_t>(before, after, deadband);
        case builtin_type::uint16:
            return moved<std::uint16_t>(before, after, deadband);
        case builtin_type::int32:
            return moved<std::int32_t>(before, after, deadband);
        case builtin_type::uint32:
            return moved<std::uint32_t>(before, after, deadband);
        case builtin_type::int64:
            return moved<std::int64_t>(before, after, deadband);
        case builtin_type::uint64:
            return moved<std::uint64_t>(before, after, deadband);
        case builtin_type::float32:
            return moved<float>(before, after, deadband);
        case builtin_type::float64:
            return moved<double>(before, after, deadband);
        default:
            return !std::equal(before.begin(), before.end(), after.begin(), after.end());
    }
}

}  // namespace

status_code read_filter(const extension_object_view& from, const limits& bounds,
                        data_change_filter& out) noexcept {
    out = {};
    if (from.type.is_null()) {
        return status::good;
    }
    const bool is_standard =
        from.type.namespace_index == 0 && from.type.kind == node_id_kind::numeric;
    if (is_standard && (from.type.number == id::event_filter_binary ||
                        from.type.number == id::aggregate_filter_binary)) {
        return status::bad_monitored_item_filter_unsupported;
    }
    if (!is_standard || from.type.number != id::data_change_filter_binary || from.encoding != 1) {
        return status::bad_monitored_item_filter_invalid;
    }
    decoder in{from.body, bounds};
    const std::uint32_t trigger = in.u32();
    const std::uint32_t deadband = in.u32();
    const double value = in.float64();
    if (!in.ok() || trigger > 2) {
        return status::bad_monitored_item_filter_invalid;
    }
    if (deadband > 2 || (deadband != 0 && !(value >= 0 && std::isfinite(value)))) {
        return status::bad_deadband_filter_invalid;
    }
    out.trigger = static_cast<data_change_trigger>(trigger);
    out.deadband = static_cast<deadband_type>(deadband);
    out.deadband_value = value;
    if (out.deadband != deadband_type::none &&
        out.trigger == data_change_trigger::status_value_timestamp) {
        // A new timestamp alone would defeat the deadband (E51).
        out.trigger = data_change_trigger::status_value;
    }
    return status::good;
}

status_code check_filter(const data_change_filter& filter, bool is_value,
                         bool is_numeric) noexcept {
    if (filter.deadband == deadband_type::none) {
        return status::good;
    }
    const bool allowed = is_value && is_numeric && filter.deadband == deadband_type::absolute;
    return allowed ? status::good : status::bad_filter_not_allowed;
}

bool is_number(builtin_type type) noexcept {
    return type >= builtin_type::sbyte && type <= builtin_type::float64;
}

bool differs(const data_change_filter& filter, bytes_view before, bytes_view after,
             const limits& bounds) noexcept {
    if (std::equal(before.begin(), before.end(), after.begin(), after.end())) {
        return false;
    }
    if (before.empty() || after.empty()) {
        return true;
    }
    decoder old_in{before, bounds};
    decoder new_in{after, bounds};
    const variant_view old_value = old_in.variant();
    const variant_view new_value = new_in.variant();
    if (!old_in.ok() || !new_in.ok() || old_value.type != new_value.type ||
        old_value.is_array != new_value.is_array ||
        old_value.elements.size() != new_value.elements.size()) {
        return true;
    }
    const double deadband = filter.deadband == deadband_type::absolute ? filter.deadband_value : 0;
    return moved(old_value.type, old_value.elements, new_value.elements, deadband);
}

}  // namespace tagferry::opcua
