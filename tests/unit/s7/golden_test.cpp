// Conversations of real clients with real PLCs, byte by byte: what was asked and answered is what
// we encode, what a PLC answered is what the client decodes, and what a client asked is what the
// simulator answers.
#include "protocols/s7/simulator/server_engine.hpp"
#include "tests/unit/s7/scripted_peer.hpp"

#include <gtest/gtest.h>

#include <fstream>

namespace tagferry::s7::test {
namespace {

using namespace std::chrono_literals;

struct packet_line {
    bool asked = false;
    std::string frame;  ///< its number in the capture
    bytes whole;
};

std::vector<packet_line> conversation(const std::string& name) {
    std::ifstream file("tests/golden/s7/" + name + ".txt");
    EXPECT_TRUE(file) << "run from the root of the sources";
    std::vector<packet_line> out;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('>') || line.starts_with('<')) {
            out.push_back({line[0] == '>', line.substr(2), {}});
        } else if (line.starts_with("  ")) {
            const bytes part = hex(std::string_view(line).substr(0, line.find('|')));
            out.back().whole.insert(out.back().whole.end(), part.begin(), part.end());
        }
    }
    return out;
}

/// The TPDU number does not matter and is 0 in ours.
bytes without_number(bytes packet_bytes) {
    if (packet_bytes[5] == std::byte{0xF0}) {
        packet_bytes[6] &= std::byte{0x80};
    }
    return packet_bytes;
}

cotp_tpdu tpdu_of(const packet_line& line) {
    const auto frame = find_tpkt_frame(line.whole, 4096);
    EXPECT_EQ(frame.state, frame_state::complete);
    EXPECT_EQ(frame.size, line.whole.size());
    cotp_tpdu tpdu;
    EXPECT_TRUE(decode_cotp(std::span(line.whole).subspan(tpkt_header_size), tpdu));
    return tpdu;
}

s7_message message_of(const packet_line& line) {
    s7_message message;
    EXPECT_TRUE(decode_message(tpdu_of(line).payload, message)) << line.frame;
    return message;
}

std::vector<variable> items_of(const s7_message& request) {
    std::vector<variable> out;
    request_items items(request.parameters);
    variable item;
    bool supported = false;
    while (items.next(item, supported)) {
        EXPECT_TRUE(supported);
        out.push_back(item);
    }
    EXPECT_EQ(out.size(), items.count());
    return out;
}

std::vector<data_item> values_of(const s7_message& message, std::size_t count,
                                 data_items::kind kind) {
    std::vector<data_item> out(count);
    data_items items(message.data, count, kind);
    for (data_item& one : out) {
        EXPECT_TRUE(items.next(one));
    }
    EXPECT_TRUE(items.finished());
    return out;
}

bytes encoded_connect(const cotp_tpdu& tpdu) {
    bytes room(64);
    room.resize(encode_cotp_connect(room, tpdu.type,
                                    {.destination_reference = tpdu.destination_reference,
                                     .source_reference = tpdu.source_reference,
                                     .tpdu_size = tpdu.tpdu_size.value(),
                                     .calling_tsap = tpdu.calling_tsap,
                                     .called_tsap = tpdu.called_tsap}));
    return room;
}

bytes encoded_request(const s7_message& message) {
    bytes room(2048);
    setup_parameters setup;
    if (decode_setup(message.parameters, setup)) {
        room.resize(encode_setup_request(room, message.reference, setup));
        return room;
    }
    const auto items = items_of(message);
    if (message.function() == 0x04) {
        room.resize(encode_read_request(room, message.reference, items));
        return room;
    }
    const auto values = values_of(message, items.size(), data_items::kind::write_request);
    std::vector<write_item> writes;
    for (std::size_t i = 0; i < items.size(); ++i) {
        EXPECT_EQ(items[i].data_size(), values[i].bytes.size());
        writes.push_back({items[i], values[i].bytes});
    }
    room.resize(encode_write_request(room, message.reference, writes));
    return room;
}

bytes encoded_answer(const s7_message& message, const s7_message& request) {
    bytes room(2048);
    setup_parameters setup;
    if (decode_setup(message.parameters, setup)) {
        room.resize(encode_setup_reply(room, message.reference, setup));
        return room;
    }
    const auto items = items_of(request);
    if (message.function() == 0x05) {
        std::vector<item_code> codes;
        for (const std::byte code : message.data) {
            codes.push_back(static_cast<item_code>(code));
        }
        room.resize(encode_write_reply(room, message.reference, codes));
        return room;
    }
    read_reply_builder builder(room, message.reference, items.size());
    const auto values = values_of(message, items.size(), data_items::kind::read_reply);
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (values[i].code == item_code::success) {
            const auto to = builder.succeed(items[i]);
            EXPECT_EQ(to.size(), values[i].bytes.size());
            std::copy(values[i].bytes.begin(), values[i].bytes.end(), to.begin());
        } else {
            builder.fail(values[i].code);
        }
    }
    room.resize(builder.finish());
    return room;
}

class s7_golden : public testing::TestWithParam<std::string> {};

TEST_P(s7_golden, what_was_sent_is_what_we_encode) {
    const auto lines = conversation(GetParam());
    ASSERT_GT(lines.size(), 8U);
    s7_message request;
    for (const packet_line& line : lines) {
        const cotp_tpdu tpdu = tpdu_of(line);
        if (tpdu.type != cotp_type::data) {
            EXPECT_EQ(to_hex(encoded_connect(tpdu)), to_hex(line.whole)) << line.frame;
            continue;
        }
        const s7_message message = message_of(line);
        const bytes ours = line.asked ? encoded_request(message) : encoded_answer(message, request);
        EXPECT_EQ(to_hex(packet(ours)), to_hex(without_number(line.whole))) << line.frame;
        if (line.asked) {
            request = message;
        } else {
            EXPECT_EQ(message.reference, request.reference);
        }
    }
}

/// Gives the captured bytes the reference that our client chose.
bytes with_reference(bytes packet_bytes, std::uint16_t reference) {
    constexpr std::size_t at = envelope_size + 4;
    packet_bytes[at] = static_cast<std::byte>(reference >> 8);
    packet_bytes[at + 1] = static_cast<std::byte>(reference);
    return packet_bytes;
}

TEST_P(s7_golden, what_the_plc_answered_is_what_the_client_decodes) {
    auto options = small_options(2, 480);
    scripted one(options);
    one.wire.open();
    one.wire.receive(hex("0300001611d00001000300c00109c1020100c2020102"));
    const auto lines = conversation(GetParam());
    std::uint64_t tag = 0;
    s7_message request;
    for (const packet_line& line : lines) {
        if (tpdu_of(line).type != cotp_type::data) {
            continue;
        }
        const s7_message message = message_of(line);
        setup_parameters setup;
        if (decode_setup(message.parameters, setup)) {
            if (!line.asked) {
                one.wire.receive(with_reference(line.whole, 0xFFFF));
                ASSERT_EQ(one.client.state(), link_state::up);
                ASSERT_EQ(one.client.limits().pdu_size, setup.pdu_size);
                one.wire.take_sent();
            }
            continue;
        }
        if (line.asked) {
            request = message;
            const auto items = items_of(message);
            if (message.function() == 0x04) {
                ASSERT_TRUE(one.client.submit_read(++tag, items));
            } else {
                const auto values =
                    values_of(message, items.size(), data_items::kind::write_request);
                std::vector<write_item> writes;
                for (std::size_t i = 0; i < items.size(); ++i) {
                    writes.push_back({items[i], values[i].bytes});
                }
                ASSERT_TRUE(one.client.submit_write(++tag, writes));
            }
            one.wire.turn();
            const bytes sent = one.wire.take_sent();
            const auto reference =
                transport::load<std::uint16_t>(sent.data() + envelope_size + 4, std::endian::big);
            EXPECT_EQ(to_hex(sent), to_hex(with_reference(without_number(line.whole), reference)));
            continue;
        }
        one.wire.receive(with_reference(line.whole, static_cast<std::uint16_t>(tag)));
        const auto& result = one.observer.jobs.at(tag);
        ASSERT_EQ(result.outcome, job_outcome::answered) << line.frame;
        ASSERT_EQ(result.codes.size(), items_of(request).size());
        if (message.function() == 0x04) {
            const auto values =
                values_of(message, result.codes.size(), data_items::kind::read_reply);
            for (std::size_t i = 0; i < values.size(); ++i) {
                EXPECT_EQ(result.codes[i], values[i].code);
                EXPECT_EQ(to_hex(result.values[i]), to_hex(values[i].bytes));
            }
        } else {
            for (std::size_t i = 0; i < message.data.size(); ++i) {
                EXPECT_EQ(result.codes[i], static_cast<item_code>(message.data[i]));
            }
        }
    }
    EXPECT_GT(tag, 3U);
    EXPECT_EQ(one.client.counters().jobs_answered, tag);
}

bool simulated(std::span<const variable> items) {
    return std::none_of(items.begin(), items.end(), [](const variable& item) {
        return item.area_code == static_cast<std::uint8_t>(area::timer) ||
               item.area_code == static_cast<std::uint8_t>(area::counter);
    });
}

/// Makes the simulated memory what the PLC's was when it answered.
void remember(simulated_plc& plc, const s7_message& request, const packet_line& answer) {
    const auto items = items_of(request);
    const auto values = values_of(message_of(answer), items.size(), data_items::kind::read_reply);
    for (std::size_t i = 0; i < items.size(); ++i) {
        plc.write(items[i], values[i].bytes);
    }
}

TEST_P(s7_golden, what_was_asked_is_what_the_simulator_answers) {
    const auto lines = conversation(GetParam());
    simulator_config config;
    config.profile = GetParam().find("1200") != std::string::npos ? "s7-1200" : "s7-300";
    config.data_blocks = {{1, 256}, {4, 1024}};
    const transport::manual_clock clock;
    simulated_plc plc(config, clock);
    server_engine server(plc);
    fake_driver wire(server, clock);
    wire.open();
    if (tpdu_of(lines[0]).type == cotp_type::data) {
        wire.receive(hex("0300001611e00000000100c1020100c2020102c00109"));
        wire.take_sent();
    }
    // In libnodave's conversation what is read after the first write must follow from what was
    // written, but for MB0, the clock memory that the CPU itself moves. In the others the memory
    // is set to what the PLC held at each read, because its program moved it.
    const bool follows_writes = GetParam().starts_with("libnodave");
    bool written = false;
    std::size_t compared = 0;
    for (std::size_t i = 0; i + 1 < lines.size(); i += 2) {
        ASSERT_TRUE(lines[i].asked);
        ASSERT_FALSE(lines[i + 1].asked);
        const cotp_tpdu tpdu = tpdu_of(lines[i]);
        if (tpdu.type == cotp_type::data) {
            const s7_message request = message_of(lines[i]);
            if (request.function() != 0xF0 && !simulated(items_of(request))) {
                continue;
            }
            written = written || request.function() == 0x05;
            if (request.function() == 0x04 && !(written && follows_writes)) {
                remember(plc, request, lines[i + 1]);
            } else if (request.function() == 0x04) {
                const auto values =
                    values_of(message_of(lines[i + 1]), 1, data_items::kind::read_reply);
                plc.memory().bytes(area::memory, 0)[0] = values[0].bytes[0];
            }
        }
        wire.receive(lines[i].whole);
        EXPECT_EQ(to_hex(wire.take_sent()), to_hex(lines[i + 1].whole)) << lines[i].frame;
        ++compared;
    }
    EXPECT_GE(compared, GetParam().starts_with("snap7") ? 3U : 9U);
    wire.close(transport::close_reason::shutting_down);
}

INSTANTIATE_TEST_SUITE_P(captures, s7_golden,
                         testing::Values("libnodave_s7_300", "plc4x_s7_1200", "snap7_s7_300"),
                         [](const auto& conversation_name) { return conversation_name.param; });

}  // namespace
}  // namespace tagferry::s7::test
