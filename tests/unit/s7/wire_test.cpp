// The wire's decoders at their edges; the conversations of golden_test.cpp are the middle.
#include "protocols/s7/wire/codes.hpp"
#include "protocols/s7/wire/cotp.hpp"
#include "protocols/s7/wire/fragments.hpp"
#include "protocols/s7/wire/message.hpp"
#include "protocols/s7/wire/tpkt.hpp"
#include "protocols/s7/wire/variables.hpp"
#include "tests/unit/s7/scripted_peer.hpp"

#include <gtest/gtest.h>

namespace tagferry::s7::test {
namespace {

TEST(s7_tpkt, the_header_is_judged_before_the_body_is_waited_for) {
    EXPECT_EQ(find_tpkt_frame({}, 247).state, frame_state::incomplete);
    EXPECT_EQ(find_tpkt_frame(hex("04"), 247).state, frame_state::malformed);
    EXPECT_EQ(find_tpkt_frame(hex("030000"), 247).state, frame_state::incomplete);
    EXPECT_EQ(find_tpkt_frame(hex("030000"), 247).size, 0U);
    EXPECT_EQ(find_tpkt_frame(hex("03000006"), 247).state, frame_state::malformed);
    EXPECT_EQ(find_tpkt_frame(hex("030000f8"), 247).state, frame_state::malformed);
    const auto begun = find_tpkt_frame(hex("030000f7"), 247);
    EXPECT_EQ(begun.state, frame_state::incomplete);
    EXPECT_EQ(begun.size, 247U);
    const auto whole = find_tpkt_frame(hex("0300000702f08003"), 247);
    EXPECT_EQ(whole.state, frame_state::complete);
    EXPECT_EQ(whole.size, 7U);
}

TEST(s7_cotp, malformed_tpdus_are_refused) {
    cotp_tpdu tpdu;
    for (const std::string_view text : {
             "",                        // nothing
             "00",                      // no type
             "02f0",                    // shorter than it says
             "03f08000",                // a data header has two bytes behind its length
             "01f0",                    //
             "06e00000000100ff",        // well formed, see below
             "05e000000001",            // no class
             "08e00000000100c002",      // a parameter longer than the header
             "09e00000000100c00106",    // TPDU size under 128
             "09e00000000100c0010e",    // and over 8192
             "0ae00000000100c0020a0a",  // of two bytes
             "0280ff",                  // disconnect without a reason
             "01a0",                    // a type that class 0 does not have
         }) {
        EXPECT_EQ(decode_cotp(hex(text), tpdu), text == "06e00000000100ff") << text;
    }
    bytes long_tsap = hex("2be00000000100c223");
    long_tsap.resize(44);
    EXPECT_FALSE(decode_cotp(long_tsap, tpdu)) << "a TSAP of 35 bytes";
}

TEST(s7_cotp, fields_of_every_type) {
    cotp_tpdu tpdu;
    ASSERT_TRUE(decode_cotp(hex("06800001000385"), tpdu));
    EXPECT_EQ(tpdu.type, cotp_type::disconnect_request);
    EXPECT_EQ(tpdu.reason, 0x85);
    ASSERT_TRUE(decode_cotp(hex("05c000010003"), tpdu));
    EXPECT_EQ(tpdu.type, cotp_type::disconnect_confirm);
    ASSERT_TRUE(decode_cotp(hex("0470000102"), tpdu));
    EXPECT_EQ(tpdu.type, cotp_type::error);
    EXPECT_EQ(tpdu.reason, 2);
    const bytes numbered = hex("02f08a3201");
    ASSERT_TRUE(decode_cotp(numbered, tpdu));
    EXPECT_TRUE(tpdu.end_of_tsdu) << "whatever number the TPDU has";
    EXPECT_EQ(to_hex(tpdu.payload), "3201");
    ASSERT_TRUE(decode_cotp(hex("02f00a32"), tpdu));
    EXPECT_FALSE(tpdu.end_of_tsdu);
    bytes room(11);
    EXPECT_EQ(encode_cotp_disconnect(room, 1, 3, 0x80), 11U);
    EXPECT_EQ(to_hex(room), "0300000b06800001000380");
    EXPECT_EQ(encode_cotp_disconnect(std::span(room).first(10), 1, 3, 0x80), 0U);
}

TEST(s7_cotp, the_called_tsap_of_a_cpu) {
    EXPECT_EQ(tsap_of(1, 0, 2), 0x0102);
    EXPECT_EQ(tsap_of(2, 0, 1), 0x0201);
    EXPECT_EQ(tsap_of(3, 1, 3), 0x0323);
    EXPECT_EQ(tsap_of(2, 7, 31), 0x02FF);
}

TEST(s7_message_header, sizes_have_to_add_up_exactly) {
    s7_message message;
    EXPECT_TRUE(decode_message(hex("32010000000100020000 f000"), message));
    EXPECT_FALSE(decode_message(hex("32010000000100020000 f0"), message));
    EXPECT_FALSE(decode_message(hex("32010000000100020000 f00000"), message));
    EXPECT_FALSE(decode_message(hex("32010000000100020001 f000"), message));
    EXPECT_FALSE(decode_message(hex("320100000001ffffffff f000"), message));
    EXPECT_FALSE(decode_message(hex("32040000000100020000 f000"), message));
    EXPECT_FALSE(decode_message(hex("72010000000100020000 f000"), message));
    EXPECT_FALSE(decode_message(hex("320300000001000000000000 00"), message));
    ASSERT_TRUE(decode_message(hex("320200000102000000008500"), message));
    EXPECT_EQ(message.reference, 0x0102);
    EXPECT_EQ(message.error, 0x8500);
    EXPECT_EQ(message.function(), 0);
    ASSERT_TRUE(decode_message(hex("32070000000000000000"), message));
    EXPECT_EQ(message.type, message_type::userdata);
}

TEST(s7_message_header, setup_takes_its_eight_bytes_and_no_other) {
    setup_parameters setup;
    EXPECT_TRUE(decode_setup(hex("f000000800030400"), setup));
    EXPECT_EQ(setup.calling_jobs, 8);
    EXPECT_EQ(setup.called_jobs, 3);
    EXPECT_EQ(setup.pdu_size, 1024);
    EXPECT_FALSE(decode_setup(hex("f0000008000304"), setup));
    EXPECT_FALSE(decode_setup(hex("f00000080003040000"), setup));
    EXPECT_FALSE(decode_setup(hex("0400000800030400"), setup));
    bytes small(17);
    EXPECT_EQ(encode_setup_request(small, 1, setup), 0U);
    EXPECT_EQ(encode_ack(std::span(small).first(11), 1, 0x8500), 0U);
}

TEST(s7_variables, encoders_write_nothing_that_does_not_fit) {
    const std::vector items(3, byte_variable(area::data_block, 4, 2, 5));
    bytes room(read_request_size(3));
    EXPECT_EQ(encode_read_request(room, 1, items), room.size());
    EXPECT_EQ(encode_read_request(std::span(room).first(room.size() - 1), 1, items), 0U);
    EXPECT_EQ(encode_read_request(room, 1, {}), 0U);
    bytes large(4096);
    EXPECT_EQ(encode_read_request(large, 1, std::vector(256, items[0])), 0U);
    const bytes value(5);
    const std::vector writes(3, write_item{items[0], value});
    // Fill bytes behind the first and the second item, none behind the last.
    bytes exact(write_request_size(3, 5 + 1 + 5 + 1 + 5));
    EXPECT_EQ(encode_write_request(exact, 1, writes), exact.size());
    EXPECT_EQ(encode_write_request(std::span(exact).first(exact.size() - 1), 1, writes), 0U);
    EXPECT_EQ(encode_write_request(exact, 1, {}), 0U);
    EXPECT_EQ(encode_write_reply(exact, 1, {}), 0U);
}

TEST(s7_variables, a_bit_is_addressed_by_byte_and_bit) {
    const auto bit = bit_variable(area::output, 0, 0x1234, 5);
    EXPECT_EQ(bit.start_byte(), 0x1234U);
    EXPECT_EQ(bit.start_bit(), 5);
    EXPECT_EQ(bit.data_size(), 1U);
    bytes room(64);
    room.resize(encode_read_request(room, 7, std::array{bit}));
    EXPECT_EQ(to_hex(std::span(room).last(12)), "120a100100010000820091a5");
}

TEST(s7_variables, a_request_whose_count_does_not_fit_its_bytes_is_malformed) {
    EXPECT_FALSE(request_items(hex("04")).ok());
    EXPECT_FALSE(request_items(hex("0400")).ok());
    EXPECT_FALSE(request_items(hex("0401")).ok());
    EXPECT_FALSE(request_items(hex("0401120a1002000100008300000000")).ok()) << "a byte too many";
    EXPECT_FALSE(request_items(hex("0402120a10020001000083000000")).ok());
    EXPECT_FALSE(request_items(hex("0401130a10020001000083000000")).ok());
    EXPECT_TRUE(request_items(hex("0401120a10020001000083000000")).ok());
}

TEST(s7_variables, items_of_another_syntax_are_passed_and_marked) {
    // A symbolic item of eight bytes, then one that is understood.
    const bytes parameters = hex("0402 1208b201020304050607 120a10020001000083000008");
    request_items items(parameters);
    ASSERT_TRUE(items.ok());
    variable item;
    bool supported = true;
    ASSERT_TRUE(items.next(item, supported));
    EXPECT_FALSE(supported);
    ASSERT_TRUE(items.next(item, supported));
    EXPECT_TRUE(supported);
    EXPECT_EQ(item.start_byte(), 1U);
    EXPECT_FALSE(items.next(item, supported));
}

TEST(s7_variables, lengths_are_in_bits_or_bytes_by_their_type) {
    const auto first = [](std::string_view text) {
        const bytes data = hex(text);
        data_items items(data, 1, data_items::kind::read_reply);
        data_item item;
        return items.next(item) ? item.bytes.size() : 999U;
    };
    EXPECT_EQ(first("ff03000101"), 1U);
    EXPECT_EQ(first("ff040010a5b8"), 2U);
    EXPECT_EQ(first("ff0400090102"), 2U) << "nine bits take two bytes";
    EXPECT_EQ(first("ff050010f688"), 2U);
    EXPECT_EQ(first("ff07000440490fdc"), 4U);
    EXPECT_EQ(first("ff0900020077"), 2U);
    EXPECT_EQ(first("ff060004f18c9f48"), 4U);
    EXPECT_EQ(first("0a000004"), 0U) << "a failed item brings nothing, whatever it says";
    EXPECT_EQ(first("ff040018a5b8"), 999U);
    EXPECT_EQ(first("ff0400"), 999U);
}

TEST(s7_variables, fill_bytes_stand_between_items_only) {
    const bytes data = hex("ff0400082a00 ff0400082b");
    data_items items(data, 2, data_items::kind::read_reply);
    data_item item;
    ASSERT_TRUE(items.next(item));
    EXPECT_EQ(to_hex(item.bytes), "2a");
    ASSERT_TRUE(items.next(item));
    EXPECT_EQ(to_hex(item.bytes), "2b");
    EXPECT_TRUE(items.finished());
    const bytes filled = hex("ff0400082b00");
    data_items tolerated(filled, 1, data_items::kind::read_reply);
    ASSERT_TRUE(tolerated.next(item));
    EXPECT_TRUE(tolerated.finished()) << "some servers fill the last item too";
    const bytes more = hex("ff0400082b0000");
    data_items refused(more, 1, data_items::kind::read_reply);
    ASSERT_TRUE(refused.next(item));
    EXPECT_FALSE(refused.finished());
}

TEST(s7_variables, a_reply_takes_what_fits_and_fails_the_rest) {
    bytes room(reply_header_size + 2 + 4 + 3 + 1 + 4);
    read_reply_builder builder(room, 9, 2);
    EXPECT_EQ(builder.succeed(byte_variable(area::memory, 0, 0, 3)).size(), 3U);
    EXPECT_TRUE(builder.succeed(byte_variable(area::memory, 0, 0, 1)).empty());
    builder.fail(item_code::access_denied);
    EXPECT_EQ(builder.finish(), room.size());
    EXPECT_EQ(to_hex(std::span(room).last(12)),
              "ff040018000000"
              "00"
              "03000000");
    read_reply_builder overfull(room, 9, 3);
    for (int i = 0; i < 4; ++i) {
        overfull.fail(item_code::out_of_range);
    }
    EXPECT_EQ(overfull.finish(), 0U);
}

cotp_tpdu data_tpdu(bool end_of_tsdu, std::span<const std::byte> payload) {
    cotp_tpdu tpdu;
    tpdu.end_of_tsdu = end_of_tsdu;
    tpdu.payload = payload;
    return tpdu;
}

TEST(s7_fragments, joins_up_to_its_limits) {
    bytes buffer(100);
    fragment_joiner joiner(buffer, {.max_pdu = 100, .max_fragments = 3});
    const bytes part(40);
    const cotp_tpdu first = data_tpdu(false, part);
    const cotp_tpdu last = data_tpdu(true, part);
    EXPECT_EQ(joiner.add(first), fragment_joiner::outcome::incomplete);
    EXPECT_TRUE(joiner.pending());
    EXPECT_EQ(joiner.add(last), fragment_joiner::outcome::complete);
    EXPECT_EQ(joiner.pdu().size(), 80U);
    EXPECT_FALSE(joiner.pending());
    joiner.add(first);
    joiner.add(first);
    EXPECT_EQ(joiner.add(last), fragment_joiner::outcome::too_large) << "120 bytes";
    joiner.reset();
    const bytes little(1);
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(joiner.add(data_tpdu(false, little)), fragment_joiner::outcome::incomplete);
    }
    EXPECT_EQ(joiner.add(data_tpdu(true, little)), fragment_joiner::outcome::too_large)
        << "a fourth fragment";
    joiner.reset();
    const bytes whole(101);
    EXPECT_EQ(joiner.add(data_tpdu(true, whole)), fragment_joiner::outcome::too_large);
}

TEST(s7_fragments, what_is_cut_joins_to_the_same) {
    for (const std::size_t tpdu_size : {128U, 256U, 1024U}) {
        for (std::size_t size = 1; size < 800; size += 13) {
            bytes message(envelope_size);
            for (std::size_t i = 0; i < size; ++i) {
                message.push_back(static_cast<std::byte>(i));
            }
            const bytes pdu(message.begin() + envelope_size, message.end());
            fragment_cutter cutter;
            cutter.set_tpdu_size(tpdu_size);
            transport::send_batch batch;
            ASSERT_TRUE(cutter.add(batch, message));
            ASSERT_EQ(batch.message_sizes().size(), 1U);
            bytes sent;
            for (const auto segment : batch.segments()) {
                sent.insert(sent.end(), segment.begin(), segment.end());
            }
            const auto pdus = pdus_in(sent);
            ASSERT_EQ(pdus.size(), 1U);
            ASSERT_EQ(pdus[0], pdu);
        }
    }
}

TEST(s7_codes, every_known_code_has_words) {
    for (const auto code :
         {item_code::success, item_code::never_executed, item_code::hardware_fault,
          item_code::access_denied, item_code::out_of_range, item_code::not_supported,
          item_code::type_mismatch, item_code::object_missing}) {
        EXPECT_NE(words_of(code), words_of(static_cast<item_code>(0x42)));
    }
    EXPECT_EQ(words_of_job_error(0x8500), "the request is over the PLC's PDU size");
    EXPECT_EQ(words_of_job_error(0xD807), "the PLC is overloaded");
    EXPECT_EQ(words_of_job_error(0x0110), "invalid block number");
    EXPECT_EQ(words_of_job_error(0x4242), "unknown error");
}

}  // namespace
}  // namespace tagferry::s7::test
