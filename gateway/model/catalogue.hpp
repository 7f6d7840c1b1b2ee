// The one catalogue of why a value is not Good and how a write ended. Quality, write answers,
// problem+json, log and audit all take their words, codes and remedies from here.
#pragma once

#include "gateway/model/status.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace tagferry::gateway {

/// Stored with every sample and sent to browsers as a number: never renumber, only append.
enum class reason_id : std::uint16_t {
    none = 0,
    never_read = 1,
    link_down = 2,
    link_down_last_value = 3,
    stale = 4,
    s7_hardware_fault = 5,
    s7_not_readable = 6,
    s7_not_writable = 7,
    s7_address_out_of_range = 8,
    s7_type_not_supported = 9,
    s7_length_mismatch = 10,
    s7_object_missing = 11,
    s7_other_item_code = 12,
    job_refused = 13,
    reply_unusable = 14,
    job_timed_out = 15,
    invalid_date = 16,
    uninitialised_string = 17,
    plc_in_stop = 18,
    item_too_large = 19,
    write_accepted = 20,
    write_not_sent = 21,
    write_outcome_unknown_timeout = 22,
    write_outcome_unknown_link_lost = 23,
    write_partly_written = 24,
    write_read_only = 25,
    write_type_mismatch = 26,
    write_out_of_range = 27,
    write_too_long = 28,
    write_not_allowed = 29,
    busy = 30,
    tag_removed = 31,
    shutting_down = 32,
    deadline_passed = 33,
    write_text_differs = 34,
};

/// One line of the catalogue.
struct reason_entry {
    reason_id id{};
    std::string_view name;    ///< stable lower-case word for logs, audit and metric labels
    std::string_view words;   ///< what happened, for people; no full stop
    std::string_view remedy;  ///< what to do about it; empty where there is nothing to do
    status_code status{};     ///< as OPC UA gives it
    /// As REST gives it when the request as a whole ends this way; reading a value that is not
    /// Good is not a failed request and answers 200.
    std::uint16_t http_status = 200;
    int s7_code = -1;  ///< S7 item return code that leads here; -1 when none does
};

/// All entries in order of their id, without gaps: entry i has id i. Static storage.
std::span<const reason_entry> reason_catalogue() noexcept;

/// The entry of `id`; that of `s7_other_item_code` for a number outside the catalogue.
const reason_entry& describe(reason_id id) noexcept;

/// Whether a status of this reason goes with something the device sent: its own refusal, or the
/// value that is still shown. The others arose on this side, from what did not come; a source
/// timestamp then is the time of that, and not the device's.
bool came_from_device(reason_id id) noexcept;

/// What an S7 item return code other than FF (good) means for a read or for a write. Code 03 is
/// the only one that differs: BadNotReadable or BadNotWritable.
reason_id reason_of_s7_read_code(std::uint8_t code) noexcept;
reason_id reason_of_s7_write_code(std::uint8_t code) noexcept;

}  // namespace tagferry::gateway
