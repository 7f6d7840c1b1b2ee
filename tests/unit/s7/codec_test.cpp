// PLC bytes to value slots and back.
#include "protocols/s7/types/codec.hpp"

#include "tests/unit/s7/support.hpp"
#include "transport/bytes/endian.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tagferry::s7::test {
namespace {

data_type type_of(std::string_view text) {
    data_type type;
    EXPECT_FALSE(parse_data_type(text, type)) << text;
    return type;
}

template <class T>
T element(const bytes& slot, std::size_t index) {
    return transport::load<T>(slot.data() + index * sizeof(T), std::endian::native);
}

bytes decoded(std::string_view type_text, std::string_view plc,
              decode_result expected = decode_result::good, std::uint8_t bit = 0,
              code_page page = code_page::windows_1252) {
    const data_type type = type_of(type_text);
    bytes slot(slot_size(type));
    EXPECT_EQ(decode_value(type, bit, hex(plc), slot, page), expected) << type_text;
    return slot;
}

std::string text_of(const bytes& slot, std::size_t at = 0) {
    const auto size = transport::load<std::uint16_t>(slot.data() + at, std::endian::native);
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += static_cast<char>(slot[at + 2 + i]);
    }
    return text;
}

/// A text slot of a STRING[n].
bytes text_slot(std::string_view text, const data_type& type) {
    bytes slot(slot_size(type));
    transport::store(slot.data(), static_cast<std::uint16_t>(text.size()), std::endian::native);
    for (std::size_t i = 0; i < text.size() && i + 2 < slot.size(); ++i) {
        slot[i + 2] = static_cast<std::byte>(text[i]);
    }
    return slot;
}

TEST(s7_codec, scalars_of_every_width) {
    EXPECT_EQ(element<std::uint8_t>(decoded("BYTE", "2a"), 0), 0x2A);
    EXPECT_EQ(element<std::int8_t>(decoded("SINT", "d6"), 0), -42);
    EXPECT_EQ(element<std::int16_t>(decoded("INT", "f688"), 0), -2424);
    EXPECT_EQ(element<std::uint16_t>(decoded("WORD", "a5b8"), 0), 42424);
    EXPECT_EQ(element<std::int32_t>(decoded("DINT", "f18c9f48"), 0), -242442424);
    EXPECT_EQ(element<std::uint32_t>(decoded("UDINT", "fcde88b8"), 0), 4242442424U);
    EXPECT_EQ(element<std::int64_t>(decoded("LINT", "8000000000000000"), 0),
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(element<std::uint64_t>(decoded("ULINT", "ffffffffffffffff"), 0),
              std::numeric_limits<std::uint64_t>::max());
    EXPECT_FLOAT_EQ(element<float>(decoded("REAL", "40490fdc"), 0), 3.141593F);
    EXPECT_DOUBLE_EQ(element<double>(decoded("LREAL", "400921fb54442d18"), 0), 3.141592653589793);
}

TEST(s7_codec, not_a_number_survives_with_its_payload) {
    EXPECT_EQ(element<std::uint32_t>(decoded("REAL", "7fc01234"), 0), 0x7FC01234U);
    EXPECT_TRUE(std::isnan(element<double>(decoded("LREAL", "7ff8000000000001"), 0)));
}

TEST(s7_codec, a_bit_is_one_byte_and_only_that_bit) {
    for (std::uint8_t bit = 0; bit < 8; ++bit) {
        EXPECT_EQ(decoded("BOOL", "a4", decode_result::good, bit)[0],
                  (std::byte{0xA4} >> bit) & std::byte{1});
    }
}

TEST(s7_codec, arrays_of_bits_cross_bytes) {
    const auto slot = decoded("ARRAY[0..9] OF BOOL", "8003", decode_result::good, 6);
    EXPECT_EQ(to_hex(slot), "00010101000000000000");
}

TEST(s7_codec, arrays_element_by_element) {
    const auto slot = decoded("ARRAY[0..2] OF INT", "0001fffe7fff");
    EXPECT_EQ(element<std::int16_t>(slot, 0), 1);
    EXPECT_EQ(element<std::int16_t>(slot, 1), -2);
    EXPECT_EQ(element<std::int16_t>(slot, 2), 32767);
}

TEST(s7_codec, strings_come_as_utf8) {
    EXPECT_EQ(text_of(decoded("STRING[10]", "0a046875727a000000000000")), "hurz");
    EXPECT_EQ(text_of(decoded("STRING[4]", "0404e4f6fc80")), "äöü€");
    EXPECT_EQ(text_of(decoded("STRING[1]", "010180", decode_result::good, 0, code_page::latin_1)),
              "\xC2\x80");
    EXPECT_EQ(text_of(decoded("STRING[3]", "0300414243")), "");
}

TEST(s7_codec, an_uninitialised_string_is_flagged_and_shows_what_it_can) {
    constexpr auto flagged = decode_result::uncertain_substitute;
    EXPECT_EQ(text_of(decoded("STRING[4]", "000000000000", flagged)), "");
    EXPECT_EQ(text_of(decoded("STRING[4]", "000441424344", flagged)), "");
    EXPECT_EQ(text_of(decoded("STRING[4]", "020341424344", flagged)), "AB");
    EXPECT_EQ(text_of(decoded("STRING[4]", "fe0541424344", flagged)), "ABCD");
    EXPECT_EQ(text_of(decoded("STRING[4]", "ffff41424344", flagged)), "ABCD");
}

TEST(s7_codec, strings_of_an_array_start_on_even_bytes) {
    const auto slot = decoded("ARRAY[0..1] OF STRING[1]", "010141ff010142");
    EXPECT_EQ(text_of(slot), "A");
    EXPECT_EQ(text_of(slot, 6), "B");
}

TEST(s7_codec, too_few_bytes_write_nothing) {
    const data_type type = type_of("DINT");
    bytes slot(4, std::byte{0x77});
    EXPECT_EQ(decode_value(type, 0, hex("010203"), slot), decode_result::bad_format);
    EXPECT_EQ(decode_value(type, 0, hex("01020304"), std::span(slot).first(3)),
              decode_result::bad_format);
    EXPECT_EQ(to_hex(slot), "77777777");
    const data_type bits = type_of("ARRAY[0..7] OF BOOL");
    bytes bit_slot(8);
    EXPECT_EQ(decode_value(bits, 1, hex("ff"), bit_slot), decode_result::bad_format);
}

TEST(s7_codec, what_was_decoded_encodes_to_the_same_bytes) {
    for (const auto& [type_text, plc] : std::vector<std::pair<std::string, std::string>>{
             {"BYTE", "2a"},
             {"INT", "f688"},
             {"REAL", "7fc01234"},
             {"LINT", "0123456789abcdef"},
             {"ARRAY[0..2] OF DINT", "0000000180000000ffffffff"},
             {"ARRAY[0..9] OF BOOL", "5503"},
             {"STRING[4]", "0404e4f6fc80"}}) {
        const data_type type = type_of(type_text);
        const bytes slot = decoded(type_text, plc);
        bytes back(plc_size(type));
        std::size_t used = 0;
        EXPECT_EQ(encode_value(type, slot, back, used), encode_result::good);
        EXPECT_EQ(used, back.size()) << type_text;
        EXPECT_EQ(to_hex(back), plc) << type_text;
    }
}

TEST(s7_codec, every_plc_character_comes_back_as_its_byte) {
    const data_type type = type_of("STRING[254]");
    for (const auto page : {code_page::windows_1252, code_page::latin_1}) {
        bytes plc(256);
        plc[0] = std::byte{254};
        plc[1] = std::byte{254};
        for (std::size_t i = 2; i < 256; ++i) {
            plc[i] = static_cast<std::byte>(i);
        }
        bytes slot(slot_size(type));
        ASSERT_EQ(decode_value(type, 0, plc, slot, page), decode_result::good);
        bytes back(256);
        std::size_t used = 0;
        ASSERT_EQ(encode_value(type, slot, back, used, page), encode_result::good);
        EXPECT_EQ(back, plc);
    }
}

TEST(s7_codec, a_shorter_text_uses_only_its_own_bytes) {
    const data_type type = type_of("STRING[6]");
    bytes plc(8, std::byte{0x55});
    std::size_t used = 0;
    ASSERT_EQ(encode_value(type, text_slot("AB", type), plc, used), encode_result::good);
    EXPECT_EQ(used, 4U);
    EXPECT_EQ(to_hex(plc), "0602414255555555");
}

TEST(s7_codec, texts_that_do_not_fit_are_refused_with_the_reason) {
    const data_type type = type_of("STRING[3]");
    bytes plc(5);
    std::size_t used = 7;
    EXPECT_EQ(encode_value(type, text_slot("ABCD", type), plc, used), encode_result::too_long);
    EXPECT_EQ(used, 0U);
    EXPECT_EQ(encode_value(type, text_slot("äöü", type), plc, used), encode_result::good);
    EXPECT_EQ(encode_value(type, text_slot("Ω", type), plc, used), encode_result::not_mappable);
    EXPECT_EQ(encode_value(type, text_slot("A\xFF", type), plc, used), encode_result::not_mappable);
    EXPECT_EQ(encode_value(type, text_slot("\xC0\x80", type), plc, used),
              encode_result::not_mappable);
    EXPECT_EQ(encode_value(type, text_slot("\xE2\x82", type), plc, used),
              encode_result::not_mappable);
    EXPECT_EQ(encode_value(type, text_slot("\xE0\x81\x81", type), plc, used),
              encode_result::not_mappable);
    EXPECT_EQ(encode_value(type, text_slot("\xC2\x80", type), plc, used),
              encode_result::not_mappable)
        << "windows 1252 has the euro sign in this place";
    bytes wrong = text_slot("A", type);
    transport::store(wrong.data(), std::uint16_t{500}, std::endian::native);
    EXPECT_EQ(encode_value(type, wrong, plc, used), encode_result::bad_format);
    EXPECT_EQ(encode_value(type, text_slot("A", type), std::span(plc).first(4), used),
              encode_result::bad_format);
}

}  // namespace
}  // namespace tagferry::s7::test
