// Every type, alone and as an array, in every area: encoded, written through client and simulator,
// read back and decoded to the same value.
#include "protocols/s7/types/codec.hpp"
#include "tests/unit/s7/engine_pair.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace tagferry::s7::test {
namespace {

constexpr std::array<const char*, 17> type_names = {
    "BOOL", "BYTE",  "WORD", "DWORD", "LWORD", "SINT",  "USINT", "INT",       "UINT",
    "DINT", "UDINT", "LINT", "ULINT", "REAL",  "LREAL", "CHAR",  "STRING[20]"};

/// A value of the type in the form of a slot; of strings one that fits.
bytes some_value(const data_type& type, std::mt19937& random) {
    bytes slot(slot_size(type));
    if (type.base != base_type::string) {
        for (std::byte& one : slot) {
            one = static_cast<std::byte>(random());
            one = type.base == base_type::boolean ? one & std::byte{1} : one;
        }
        return slot;
    }
    for (std::size_t i = 0; i < type.elements; ++i) {
        const std::string text = "Größe " + std::to_string(random() % 1000);
        const std::span<std::byte> to = std::span(slot).subspan(i * slot_element_size(type));
        transport::store(to.data(), static_cast<std::uint16_t>(text.size()), std::endian::native);
        std::memcpy(to.data() + 2, text.data(), text.size());
    }
    return slot;
}

/// Writes the value as bytes (a single bit as a bit) and gives what a read of it then brings.
bytes through_the_plc(engine_pair& both, const address& where, const data_type& type,
                      const bytes& slot) {
    bytes plc(plc_size(type));
    std::size_t used = 0;
    EXPECT_EQ(encode_value(type, slot, plc, used), encode_result::good);
    const bool bit = type.base == base_type::boolean && !type.array;
    const auto target =
        bit ? bit_variable(where.where, where.block, where.byte, where.bit)
            : byte_variable(where.where, where.block, where.byte, static_cast<std::uint16_t>(used));
    EXPECT_TRUE(
        both.client.submit_write(1, std::array{write_item{target, std::span(plc).first(used)}}));
    const auto length = static_cast<std::uint16_t>(plc_size(type, where.bit));
    EXPECT_TRUE(both.client.submit_read(
        2, std::array{byte_variable(where.where, where.block, where.byte, length)}));
    both.run();
    EXPECT_EQ(both.observer.jobs[1].codes, std::vector{item_code::success});
    EXPECT_EQ(both.observer.jobs[2].codes, std::vector{item_code::success});
    bytes back(slot_size(type));
    EXPECT_EQ(decode_value(type, where.bit, both.observer.jobs[2].values.at(0), back),
              decode_result::good);
    both.observer.jobs.clear();
    return back;
}

TEST(s7_types_in_areas, every_value_comes_back) {
    std::mt19937 random(7);
    engine_pair both(plc_config("s7-1500"), options_of(960, 8));
    both.open();
    std::size_t checked = 0;
    for (const area where : {area::data_block, area::memory, area::input, area::output}) {
        for (const char* const name : type_names) {
            for (const std::string& text :
                 {std::string(name), "ARRAY[0..4] OF " + std::string(name)}) {
                data_type type;
                ASSERT_FALSE(parse_data_type(text, type)) << text;
                const bool one_bit = type.base == base_type::boolean && !type.array;
                const std::uint16_t block = where == area::data_block ? 1 : 0;
                const address at{where, block, 40, static_cast<std::uint8_t>(one_bit ? 5 : 0),
                                 type.base == base_type::boolean};
                ASSERT_FALSE(check_fit(at, type)) << text;
                const bytes slot = some_value(type, random);
                EXPECT_EQ(to_hex(through_the_plc(both, at, type, slot)), to_hex(slot))
                    << text << " in area " << static_cast<int>(where);
                ++checked;
            }
        }
    }
    EXPECT_EQ(checked, 4U * 2U * type_names.size());
}

}  // namespace
}  // namespace tagferry::s7::test
