#include "gateway/sources/s7/write_job.hpp"

#include "protocols/s7/types/codec.hpp"

namespace tagferry::gateway {
namespace {

reason_id reason_of(s7::encode_result result) noexcept {
    switch (result) {
        case s7::encode_result::good:
            return reason_id::none;
        case s7::encode_result::too_long:
            return reason_id::write_too_long;
        case s7::encode_result::not_mappable:
            return reason_id::write_out_of_range;
        case s7::encode_result::bad_format:
            break;
    }
    return reason_id::item_too_large;
}

reason_id text_items(const scan_set::entry& tag, std::span<const std::byte> plc,
                     write_job& to) noexcept {
    if (tag.type.elements > write_job::max_items) {
        return reason_id::item_too_large;
    }
    const std::size_t stride = s7::plc_element_stride(tag.type);
    for (std::size_t i = 0; i < tag.type.elements; ++i) {
        const std::size_t length_at = i * stride + 1;
        const auto size = std::size_t{1} + std::to_integer<std::size_t>(plc[length_at]);
        to.items[to.count++] = {
            s7::byte_variable(tag.where.where, tag.where.block,
                              tag.where.byte + static_cast<std::uint32_t>(length_at),
                              static_cast<std::uint16_t>(size)),
            plc.subspan(length_at, size)};
    }
    return reason_id::none;
}

write_outcome outcome_of_items(std::span<const s7::item_result> items,
                               const write_sizes& sizes) noexcept {
    std::uint32_t written = 0;
    const s7::item_result* failed = nullptr;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (items[i].code == s7::item_code::success) {
            written += sizes[i];
        } else if (failed == nullptr) {
            failed = &items[i];
        }
    }
    if (failed == nullptr) {
        return {reason_id::write_accepted, 0};
    }
    if (written != 0) {
        return {reason_id::write_partly_written, written};
    }
    return {reason_of_s7_write_code(static_cast<std::uint8_t>(failed->code)), 0};
}

}  // namespace

reason_id encode_write(const scan_set::entry& tag, std::span<const std::byte> value,
                       std::span<std::byte> room, write_job& to) noexcept {
    to.count = 0;
    if (value.size() != tag.slot_bytes) {
        return reason_id::write_type_mismatch;
    }
    // Bits of an array would be written with the bytes they share.
    const bool bits = tag.type.base == s7::base_type::boolean;
    if (bits && tag.type.array) {
        return reason_id::s7_type_not_supported;
    }
    if (tag.plc_bytes > room.size()) {
        return reason_id::item_too_large;
    }
    std::size_t used = 0;
    const reason_id refused = reason_of(s7::encode_value(tag.type, value, room, used));
    if (refused != reason_id::none) {
        return refused;
    }
    if (tag.type.base == s7::base_type::string) {
        return text_items(tag, room, to);
    }
    to.items[to.count++] = {
        bits ? s7::bit_variable(tag.where.where, tag.where.block, tag.where.byte, tag.where.bit)
             : s7::byte_variable(tag.where.where, tag.where.block, tag.where.byte,
                                 static_cast<std::uint16_t>(used)),
        room.first(used)};
    return reason_id::none;
}

write_outcome outcome_of(const s7::job_result& result, const write_sizes& sizes) noexcept {
    switch (result.outcome) {
        case s7::job_outcome::answered:
            return outcome_of_items(result.items, sizes);
        case s7::job_outcome::refused:
            return {reason_id::job_refused, 0};
        case s7::job_outcome::timed_out:
            return {reason_id::write_outcome_unknown_timeout, 0};
        case s7::job_outcome::reply_unusable:
        case s7::job_outcome::link_lost:
            return {reason_id::write_outcome_unknown_link_lost, 0};
        case s7::job_outcome::not_sent:
            break;
    }
    return {reason_id::write_not_sent, 0};
}

}  // namespace tagferry::gateway
