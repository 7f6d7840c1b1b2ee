#include "protocols/s7/wire/codes.hpp"

#include <algorithm>
#include <array>

namespace tagferry::s7 {

namespace {

struct job_error_words {
    std::uint16_t error;
    std::string_view words;
};

// Ascending by code.
constexpr std::array job_errors = {
    job_error_words{0x0110, "invalid block number"},
    job_error_words{0x0112, "invalid parameter"},
    job_error_words{0x011A, "the PLC has no resource left for programming devices"},
    job_error_words{0x011B, "the PLC has no resource left"},
    job_error_words{0x011C, "protocol error seen by the PLC"},
    job_error_words{0x0141, "request error seen by the PLC"},
    job_error_words{0x01C0, "wrong protocol version"},
    job_error_words{0x8000, "the function is already occupied"},
    job_error_words{0x8001, "not allowed in the PLC's operating mode"},
    job_error_words{0x8101, "hardware fault"},
    job_error_words{0x8103, "access denied"},
    job_error_words{0x8104, "the PLC does not implement this service"},
    job_error_words{0x8105, "invalid address"},
    job_error_words{0x8106, "data type not supported"},
    job_error_words{0x8107, "data type and length do not fit"},
    job_error_words{0x810A, "the object does not exist"},
    job_error_words{0x8301, "not enough memory in the PLC"},
    job_error_words{0x8402, "the PLC is already in that mode"},
    job_error_words{0x8404, "serious error in the PLC"},
    job_error_words{0x8500, "the request is over the PLC's PDU size"},
    job_error_words{0x8702, "invalid address"},
    job_error_words{0xD0A1, "refused by the protection level: allow PUT/GET access"},
    job_error_words{0xD201, "syntax error in the block name"},
    job_error_words{0xD209, "the block does not exist"},
    job_error_words{0xD20C, "the block does not exist"},
    job_error_words{0xD240, "another transfer is running"},
    job_error_words{0xD241, "refused by the protection level: allow PUT/GET access"},
    job_error_words{0xD404, "too many users at the same time"},
    job_error_words{0xD602, "wrong password"},
    job_error_words{0xD604, "no password is set"},
    job_error_words{0xD805, "the PLC takes no more cyclic jobs"},
    job_error_words{0xD807, "the PLC is overloaded"},
};

}  // namespace

std::string_view words_of(item_code code) noexcept {
    switch (code) {
        case item_code::success:
            return "success";
        case item_code::never_executed:
            return "the PLC did not execute this item";
        case item_code::hardware_fault:
            return "hardware fault: module or periphery missing";
        case item_code::access_denied:
            return "access denied: allow PUT/GET, and switch off optimised access of the block";
        case item_code::out_of_range:
            return "the address lies outside its block or area";
        case item_code::not_supported:
            return "the PLC does not support this type here";
        case item_code::type_mismatch:
            return "type and length do not fit what the PLC has there";
        case item_code::object_missing:
            return "no such block, or one with optimised access";
    }
    return "unknown item code";
}

std::string_view words_of_job_error(std::uint16_t error) noexcept {
    const auto found = std::lower_bound(
        job_errors.begin(), job_errors.end(), error,
        [](const job_error_words& entry, std::uint16_t wanted) { return entry.error < wanted; });
    return found != job_errors.end() && found->error == error ? found->words : "unknown error";
}

}  // namespace tagferry::s7
