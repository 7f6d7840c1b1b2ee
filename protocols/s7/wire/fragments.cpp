#include "protocols/s7/wire/fragments.hpp"

#include <algorithm>
#include <cstring>

namespace tagferry::s7 {

fragment_joiner::outcome fragment_joiner::add(const cotp_tpdu& tpdu) noexcept {
    // An empty data TPDU acknowledges, whatever its end bit says, and ends no PDU.
    if (tpdu.payload.empty()) {
        return outcome::ignored;
    }
    if (fragments_ == 0 && tpdu.end_of_tsdu) {
        if (tpdu.payload.size() > limits_.max_pdu) {
            return outcome::too_large;
        }
        pdu_ = tpdu.payload;
        return outcome::complete;
    }
    if (fragments_ == limits_.max_fragments || tpdu.payload.size() > limits_.max_pdu - filled_) {
        return outcome::too_large;
    }
    std::memcpy(buffer_.data() + filled_, tpdu.payload.data(), tpdu.payload.size());
    filled_ += tpdu.payload.size();
    ++fragments_;
    if (!tpdu.end_of_tsdu) {
        return outcome::incomplete;
    }
    pdu_ = buffer_.first(filled_);
    filled_ = 0;
    fragments_ = 0;
    return outcome::complete;
}

void fragment_joiner::reset() noexcept {
    filled_ = 0;
    fragments_ = 0;
    pdu_ = {};
}

void fragment_cutter::set_tpdu_size(std::size_t tpdu_size) noexcept {
    capacity_ = fragment_capacity(tpdu_size);
    put_data_header(full_header_, capacity_, false);
}

bool fragment_cutter::add(transport::send_batch& batch,
                          std::span<std::byte> message) const noexcept {
    const std::span<std::byte> pdu = message.subspan(envelope_size);
    const auto own_header = message.first<envelope_size>();
    if (pdu.size() <= capacity_) {
        put_data_header(own_header, pdu.size(), true);
        return batch.add(message);
    }
    // At the largest PDU and the smallest TPDU these are 17 pairs of header and payload.
    std::array<std::span<const std::byte>, transport::send_batch::max_segments> segments;
    std::size_t count = 0;
    std::span<const std::byte> rest = pdu;
    while (rest.size() > capacity_) {
        segments[count++] = full_header_;
        segments[count++] = rest.first(capacity_);
        rest = rest.subspan(capacity_);
    }
    put_data_header(own_header, rest.size(), true);
    segments[count++] = own_header;
    segments[count++] = rest;
    return batch.add(std::span{segments.data(), count});
}

}  // namespace tagferry::s7
