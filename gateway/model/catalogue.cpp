#include "gateway/model/catalogue.hpp"

#include <array>
#include <cstddef>

namespace tagferry::gateway {
namespace {

using enum status_code;

constexpr std::array catalogue = {
    reason_entry{reason_id::none, "none", "the PLC delivered the value", "", good, 200, -1},
    reason_entry{reason_id::never_read, "never_read", "not read from the PLC yet",
                 "wait for the first scan; if it stays, look at the connection's state",
                 bad_waiting_for_initial_data, 503, -1},
    reason_entry{reason_id::link_down, "link_down", "no connection to the PLC",
                 "check cable, power, address, rack and slot; the gateway keeps trying",
                 bad_no_communication, 503, -1},
    reason_entry{reason_id::link_down_last_value, "link_down_last_value",
                 "no connection to the PLC; this is the last value it delivered",
                 "check cable, power, address, rack and slot; the gateway keeps trying",
                 uncertain_no_communication_last_usable_value, 503, -1},
    reason_entry{reason_id::stale, "stale", "the last value is older than the tag allows",
                 "scans come late: use a longer scan interval, fewer tags or more jobs in flight",
                 uncertain_last_usable_value, 503, -1},
    reason_entry{reason_id::s7_hardware_fault, "s7_hardware_fault",
                 "the PLC reports a hardware fault for this address (item code 01)",
                 "check the module or periphery behind the address", bad_device_failure, 502, 0x01},
    reason_entry{reason_id::s7_not_readable, "s7_not_readable",
                 "the PLC does not allow reading this address (item code 03)",
                 "allow PUT/GET access in the PLC and switch off optimised access of the block",
                 bad_not_readable, 502, 0x03},
    reason_entry{reason_id::s7_not_writable, "s7_not_writable",
                 "the PLC does not allow writing this address (item code 03)",
                 "allow PUT/GET access and writing in the PLC's protection settings",
                 bad_not_writable, 502, 0x03},
    reason_entry{reason_id::s7_address_out_of_range, "s7_address_out_of_range",
                 "the address lies outside the block or area (item code 05)",
                 "compare the tag's address and type with the length of the block",
                 bad_configuration_error, 502, 0x05},
    reason_entry{reason_id::s7_type_not_supported, "s7_type_not_supported",
                 "the PLC does not support this kind of access (item code 06)",
                 "choose another type for the tag", bad_not_supported, 502, 0x06},
    reason_entry{reason_id::s7_length_mismatch, "s7_length_mismatch",
                 "type or length do not match what lies at the address (item code 07)",
                 "compare the tag's type and length with the PLC's program", bad_type_mismatch, 502,
                 0x07},
    reason_entry{reason_id::s7_object_missing, "s7_object_missing",
                 "the block does not exist in the PLC (item code 0A)",
                 "load the block or correct its number; optimised blocks look missing too",
                 bad_not_found, 502, 0x0A},
    reason_entry{reason_id::s7_other_item_code, "s7_other_item_code",
                 "the PLC answered with an item code outside the documented ones",
                 "the log line of this connection holds the code", bad_unexpected_error, 502, -1},
    reason_entry{reason_id::job_refused, "job_refused", "the PLC refused the whole job",
                 "the log line of this connection holds error class and code", bad_device_failure,
                 502, -1},
    reason_entry{reason_id::reply_unusable, "reply_unusable",
                 "the PLC's reply contradicts the request",
                 "the log line of this connection says where; send us a capture",
                 bad_communication_error, 502, -1},
    reason_entry{reason_id::job_timed_out, "job_timed_out", "the PLC did not answer in time",
                 "check the PLC's load and the network; a longer job timeout is possible",
                 bad_communication_error, 504, -1},
    reason_entry{reason_id::invalid_date, "invalid_date", "the PLC holds no valid date here",
                 "set the date in the PLC's program", uncertain_substitute_value, 200, -1},
    reason_entry{reason_id::uninitialised_string, "uninitialised_string",
                 "the PLC's string was never initialised",
                 "give the string a start value in the PLC's program", uncertain_substitute_value,
                 200, -1},
    reason_entry{reason_id::plc_in_stop, "plc_in_stop", "the PLC is in STOP",
                 "switch the PLC to RUN, or configure that STOP is ignored", bad_out_of_service,
                 503, -1},
    reason_entry{reason_id::item_too_large, "item_too_large",
                 "the item does not fit into any job of this PLC",
                 "split the tag into smaller ones", bad_configuration_error, 502, -1},
    reason_entry{reason_id::write_accepted, "write_accepted", "the PLC accepted the write", "",
                 good, 200, 0xFF},
    reason_entry{reason_id::write_not_sent, "write_not_sent",
                 "the write was not sent: no connection to the PLC",
                 "write again when the connection is up; nothing is replayed", bad_no_communication,
                 503, -1},
    reason_entry{reason_id::write_outcome_unknown_timeout, "write_outcome_unknown_timeout",
                 "the write was sent and not answered in time: it may or may not have happened",
                 "read the value back before writing again", bad_timeout, 504, -1},
    reason_entry{reason_id::write_outcome_unknown_link_lost, "write_outcome_unknown_link_lost",
                 "the connection broke after the write was sent: it may or may not have happened",
                 "read the value back before writing again", bad_communication_error, 504, -1},
    reason_entry{reason_id::write_partly_written, "write_partly_written",
                 "only a part of the value was written",
                 "read the value back; it needs several jobs and one of them failed",
                 bad_communication_error, 502, -1},
    reason_entry{reason_id::write_read_only, "write_read_only", "the tag is read-only",
                 "set writable in the tag's configuration", bad_not_writable, 409, -1},
    reason_entry{reason_id::write_type_mismatch, "write_type_mismatch",
                 "the value's type is not the tag's", "send the type that the tag row states",
                 bad_type_mismatch, 422, -1},
    reason_entry{reason_id::write_out_of_range, "write_out_of_range",
                 "the value is outside the range of the tag's type", "", bad_out_of_range, 422, -1},
    reason_entry{reason_id::write_too_long, "write_too_long",
                 "the text or array is longer than the tag takes", "", bad_out_of_range, 422, -1},
    reason_entry{reason_id::write_not_allowed, "write_not_allowed", "this user may not write",
                 "sign in with the role operator", bad_user_access_denied, 403, -1},
    reason_entry{reason_id::busy, "busy", "too many operations are waiting",
                 "try again; the limit is named in the configuration reference",
                 bad_resource_unavailable, 503, -1},
    reason_entry{reason_id::tag_removed, "tag_removed", "the tag does not exist any more",
                 "browse again", bad_node_id_unknown, 404, -1},
    reason_entry{reason_id::shutting_down, "shutting_down", "the gateway is stopping", "",
                 bad_shutdown, 503, -1},
    reason_entry{reason_id::deadline_passed, "deadline_passed",
                 "the request's own time limit passed first", "allow more time", bad_timeout, 504,
                 -1},
    reason_entry{reason_id::write_text_differs, "write_text_differs",
                 "the PLC's string is longer than the tag's, or was never initialised",
                 "give the tag the PLC's length, or the string a start value in the PLC's program",
                 bad_configuration_error, 409, -1},
};

constexpr bool ids_are_positions() {
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
        if (static_cast<std::size_t>(catalogue[i].id) != i) {
            return false;
        }
    }
    return true;
}
static_assert(ids_are_positions());

}  // namespace

std::span<const reason_entry> reason_catalogue() noexcept {
    return catalogue;
}

const reason_entry& describe(reason_id id) noexcept {
    const auto position = static_cast<std::size_t>(id);
    return position < catalogue.size()
               ? catalogue[position]
               : catalogue[static_cast<std::size_t>(reason_id::s7_other_item_code)];
}

bool came_from_device(reason_id id) noexcept {
    switch (id) {
        case reason_id::never_read:
        case reason_id::link_down:
        case reason_id::job_timed_out:
        case reason_id::item_too_large:
        case reason_id::tag_removed:
        case reason_id::shutting_down:
            return false;
        default:
            return true;
    }
}

reason_id reason_of_s7_read_code(std::uint8_t code) noexcept {
    switch (code) {
        case 0x01:
            return reason_id::s7_hardware_fault;
        case 0x03:
            return reason_id::s7_not_readable;
        case 0x05:
            return reason_id::s7_address_out_of_range;
        case 0x06:
            return reason_id::s7_type_not_supported;
        case 0x07:
            return reason_id::s7_length_mismatch;
        case 0x0A:
            return reason_id::s7_object_missing;
        default:
            return reason_id::s7_other_item_code;
    }
}

reason_id reason_of_s7_write_code(std::uint8_t code) noexcept {
    return code == 0x03 ? reason_id::s7_not_writable : reason_of_s7_read_code(code);
}

}  // namespace tagferry::gateway
