// Every decoder of the wire on any bytes: TPKT, COTP, joined fragments, S7 header, setup, items.
// What decodes to something our encoders can say is said again and must be the same bytes.
#include "protocols/s7/wire/codes.hpp"
#include "protocols/s7/wire/cotp.hpp"
#include "protocols/s7/wire/fragments.hpp"
#include "protocols/s7/wire/message.hpp"
#include "protocols/s7/wire/tpkt.hpp"
#include "protocols/s7/wire/variables.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

namespace {

using namespace tagferry::s7;

void require(bool held) {
    if (!held) {
        std::abort();
    }
}

void walk_request(std::span<const std::byte> pdu, const s7_message& message) {
    request_items items(message.parameters);
    std::vector<variable> all;
    bool all_supported = items.ok();
    variable item;
    bool supported = false;
    std::size_t count = 0;
    while (items.next(item, supported)) {
        ++count;
        all_supported = all_supported && supported;
        if (supported) {
            all.push_back(item);
        }
    }
    require(!items.ok() || count == items.count());
    if (all_supported && message.data.empty() && message.function() == 0x04 &&
        message.type == message_type::job) {
        std::vector<std::byte> again(pdu.size());
        require(encode_read_request(again, message.reference, all) == pdu.size());
        require(std::equal(again.begin() + 4, again.end(), pdu.begin() + 4));
    }
    data_items values(message.data, count, data_items::kind::write_request);
    data_item value;
    std::size_t bytes = 0;
    while (values.next(value)) {
        bytes += value.bytes.size();
    }
    require(bytes <= message.data.size());
}

void walk_reply(const s7_message& message) {
    const std::size_t count =
        message.parameters.size() > 1 ? std::to_integer<std::size_t>(message.parameters[1]) : 0;
    data_items values(message.data, count, data_items::kind::read_reply);
    data_item value;
    std::size_t walked = 0;
    while (values.next(value)) {
        ++walked;
        require(value.code == item_code::success || value.bytes.empty());
        require(!words_of(value.code).empty());
    }
    require(!values.finished() || walked == count);
    require(!words_of_job_error(message.error).empty());
}

void walk(std::span<const std::byte> pdu) {
    s7_message message;
    if (!decode_message(pdu, message)) {
        return;
    }
    setup_parameters setup;
    if (decode_setup(message.parameters, setup)) {
        std::array<std::byte, 32> again{};
        require(encode_setup_request(again, message.reference, setup) == 18);
    }
    walk_request(pdu, message);
    walk_reply(message);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::span<const std::byte> rest = std::as_bytes(std::span(data, size));
    std::vector<std::byte> buffer(480);
    fragment_joiner joiner(buffer, {.max_pdu = buffer.size()});
    walk(rest);
    while (true) {
        const auto frame = find_tpkt_frame(rest, 2055);
        if (frame.state != frame_state::complete) {
            break;
        }
        require(frame.size >= envelope_size && frame.size <= rest.size());
        cotp_tpdu tpdu;
        if (!decode_cotp(rest.subspan(tpkt_header_size, frame.size - tpkt_header_size), tpdu)) {
            break;
        }
        if (tpdu.type == cotp_type::data) {
            const auto outcome = joiner.add(tpdu);
            if (outcome == fragment_joiner::outcome::too_large) {
                break;
            }
            if (outcome == fragment_joiner::outcome::complete) {
                require(!joiner.pdu().empty() && joiner.pdu().size() <= buffer.size());
                walk(joiner.pdu());
            }
        }
        rest = rest.subspan(frame.size);
    }
    return 0;
}
