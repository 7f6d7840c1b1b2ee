#include "gateway/sources/s7/write_job.hpp"

#include "protocols/s7/types/codec.hpp"

#include <algorithm>

namespace tagferry::gateway {
namespace {

constexpr std::array bit_values{std::byte{0}, std::byte{1}};

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

/// Fills a job item by item while its request and its reply fit.
class job_filler {
  public:
    job_filler(const s7::address& where, const write_limits& limits, write_job& to) noexcept
        : where_(where),
          most_items_(std::min(limits.max_items, write_job::max_items)),
          pdu_size_(limits.pdu_size),
          job_(to) {
        job_.count = 0;
    }

    bool empty() const noexcept { return job_.count == 0; }
    /// Payload bytes the next item may have; 0: none.
    std::size_t room() const noexcept {
        const std::size_t used = s7::write_request_size(job_.count + 1, padded());
        const bool full = job_.count == most_items_ || used >= pdu_size_ ||
                          s7::write_reply_size(job_.count + 1) > pdu_size_;
        return full ? 0 : pdu_size_ - used;
    }
    void add_bytes(std::size_t at, std::span<const std::byte> bytes) noexcept {
        add({s7::byte_variable(where_.where, where_.block,
                               where_.byte + static_cast<std::uint32_t>(at),
                               static_cast<std::uint16_t>(bytes.size())),
             bytes});
    }
    void add_bit(std::size_t bit, bool on) noexcept {
        add({s7::bit_variable(where_.where, where_.block,
                              where_.byte + static_cast<std::uint32_t>(bit / 8),
                              static_cast<std::uint8_t>(bit % 8)),
             std::span(bit_values).subspan(on ? 1 : 0, 1)});
    }

  private:
    std::size_t padded() const noexcept { return data_ + data_ % 2; }
    void add(const s7::write_item& item) noexcept {
        data_ = padded() + item.bytes.size();
        job_.items[job_.count++] = item;
    }

    const s7::address& where_;
    std::size_t most_items_;
    std::size_t pdu_size_;
    write_job& job_;
    std::size_t data_ = 0;
};

void fill_texts(const s7::data_type& type, std::span<const std::byte> plc, job_filler& job,
                write_cursor& at) noexcept {
    const std::size_t stride = s7::plc_element_stride(type);
    for (; at.element < type.elements; ++at.element, at.offset = 0) {
        const std::size_t element_at = at.element * stride;
        const std::size_t length_at = element_at + 1;
        const std::size_t begin = plc[element_at] != std::byte{0} ? element_at : length_at;
        const std::size_t end = length_at + 1 + std::to_integer<std::size_t>(plc[length_at]);
        const std::size_t rest = end - begin - at.offset;
        const std::size_t room = job.room();
        // A text is cut only when it does not fit a job of its own.
        if (room == 0 || (room < rest && !job.empty())) {
            return;
        }
        const std::size_t size = std::min(rest, room);
        job.add_bytes(begin + at.offset, plc.subspan(begin + at.offset, size));
        if (size < rest) {
            at.offset += static_cast<std::uint32_t>(size);
            return;
        }
    }
}

void fill_bits(const s7::address& where, const s7::data_type& type, std::span<const std::byte> plc,
               job_filler& job, write_cursor& at) noexcept {
    // Bytes that hold nothing but bits of this array are written as such.
    const std::size_t whole_bytes = where.bit == 0 ? type.elements / 8 : 0;
    if (at.element / 8 < whole_bytes) {
        const std::size_t first = at.element / 8;
        const std::size_t size = std::min(whole_bytes - first, job.room());
        job.add_bytes(first, plc.subspan(first, size));
        at.element += static_cast<std::uint32_t>(size * 8);
    }
    for (; at.element < type.elements && at.element / 8 >= whole_bytes && job.room() != 0;
         ++at.element) {
        const auto bit = (plc[at.element / 8] >> (at.element % 8)) & std::byte{1};
        job.add_bit(where.bit + std::size_t{at.element}, bit != std::byte{0});
    }
}

void fill_bytes(const s7::data_type& type, std::span<const std::byte> plc, job_filler& job,
                write_cursor& at) noexcept {
    const std::size_t rest = plc.size() - at.offset;
    const std::size_t room = job.room();
    const std::size_t size = rest <= room ? rest : room - room % s7::plc_granule(type);
    job.add_bytes(at.offset, plc.subspan(at.offset, size));
    at.offset += static_cast<std::uint32_t>(size);
}

/// Leaves the maximum to be written only in texts that have none in the PLC.
reason_id fit_maxima(const s7::data_type& type, std::span<const std::uint8_t> text_maxima,
                     std::span<std::byte> plc) noexcept {
    const std::size_t stride = s7::plc_element_stride(type);
    for (std::size_t i = 0; i < text_maxima.size(); ++i) {
        const std::uint8_t maximum = text_maxima[i];
        if (maximum > type.string_length) {
            return reason_id::write_text_differs;
        }
        if (maximum != 0 && std::to_integer<std::uint8_t>(plc[i * stride + 1]) > maximum) {
            return reason_id::write_too_long;
        }
        if (maximum != 0) {
            plc[i * stride] = std::byte{0};
        }
    }
    return reason_id::none;
}

}  // namespace

bool find_target(const scan_set::entry& tag, std::span<const std::uint8_t> text_maxima,
                 const source_write& write, write_target& to) noexcept {
    to = {tag.where, tag.type, tag.plc_bytes, tag.slot_bytes, text_maxima};
    if (write.elements == 0) {
        return true;
    }
    if (!tag.type.array || write.first_element >= tag.type.elements ||
        write.elements > tag.type.elements - write.first_element) {
        return false;
    }
    to.type.elements = write.elements;
    if (tag.type.base == s7::base_type::boolean) {
        const std::uint32_t bit = tag.where.bit + write.first_element;
        to.where.byte += bit / 8;
        to.where.bit = static_cast<std::uint8_t>(bit % 8);
    } else {
        to.where.byte +=
            write.first_element * static_cast<std::uint32_t>(s7::plc_element_stride(tag.type));
    }
    to.plc_bytes = static_cast<std::uint32_t>(s7::plc_size(to.type, to.where.bit));
    to.slot_bytes = static_cast<std::uint32_t>(s7::slot_size(to.type));
    if (!text_maxima.empty()) {
        to.text_maxima = text_maxima.subspan(write.first_element, write.elements);
    }
    return true;
}

reason_id encode_write(const write_target& target, std::span<const std::byte> value,
                       std::span<std::byte> room) noexcept {
    if (value.size() != target.slot_bytes) {
        return reason_id::write_type_mismatch;
    }
    std::size_t used = 0;
    const reason_id refused = reason_of(s7::encode_value(target.type, value, room, used));
    return refused == reason_id::none ? fit_maxima(target.type, target.text_maxima, room) : refused;
}

void next_write_job(const s7::address& where, const s7::data_type& type,
                    std::span<const std::byte> plc, const write_limits& limits,
                    const write_cursor& from, write_job& to) noexcept {
    job_filler job(where, limits, to);
    to.next = from;
    if (type.base == s7::base_type::string) {
        fill_texts(type, plc, job, to.next);
        to.last = to.next.element == type.elements;
    } else if (type.base == s7::base_type::boolean) {
        fill_bits(where, type, plc, job, to.next);
        to.last = to.next.element == type.elements;
    } else {
        fill_bytes(type, plc, job, to.next);
        to.last = to.next.offset == plc.size();
    }
}

write_step step_of(const s7::job_result& result, const write_sizes& sizes, bool last,
                   std::uint32_t before) noexcept {
    write_step step;
    step.ended = true;
    reason_id reason = reason_id::write_not_sent;
    switch (result.outcome) {
        case s7::job_outcome::answered: {
            reason = reason_id::write_accepted;
            for (std::size_t i = 0; i < result.items.size(); ++i) {
                const auto code = static_cast<std::uint8_t>(result.items[i].code);
                if (result.items[i].code == s7::item_code::success) {
                    step.bytes += sizes[i];
                } else if (reason == reason_id::write_accepted) {
                    reason = reason_of_s7_write_code(code);
                    step.outcome.device_code = code;
                }
            }
            step.ended = last || reason != reason_id::write_accepted;
            break;
        }
        case s7::job_outcome::refused:
            reason = reason_id::job_refused;
            step.outcome.device_code = result.error;
            break;
        case s7::job_outcome::timed_out:
            reason = reason_id::write_outcome_unknown_timeout;
            break;
        case s7::job_outcome::reply_unusable:
        case s7::job_outcome::link_lost:
            reason = reason_id::write_outcome_unknown_link_lost;
            break;
        case s7::job_outcome::not_sent:
            break;
    }
    const bool known = reason != reason_id::write_outcome_unknown_timeout &&
                       reason != reason_id::write_outcome_unknown_link_lost;
    step.outcome.bytes_written = before + step.bytes;
    step.outcome.reason =
        known && reason != reason_id::write_accepted && step.outcome.bytes_written != 0
            ? reason_id::write_partly_written
            : reason;
    return step;
}

}  // namespace tagferry::gateway
