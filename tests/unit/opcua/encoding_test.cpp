#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/encoding/index_range.hpp"
#include "protocols/opcua/encoding/slot_form.hpp"
#include "protocols/opcua/limits.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

namespace tagferry::opcua::test {
namespace {

const limits bounds;

bytes hex(std::string_view text) {
    bytes out;
    unsigned value = 0;
    int digits = 0;
    for (const char each : text) {
        const int digit = each >= '0' && each <= '9'   ? each - '0'
                          : each >= 'A' && each <= 'F' ? each - 'A' + 10
                                                       : -1;
        if (digit < 0) {
            continue;
        }
        value = value * 16 + static_cast<unsigned>(digit);
        if (++digits % 2 == 0) {
            out.push_back(static_cast<std::byte>(value));
            value = 0;
        }
    }
    return out;
}

// Part 6 §5.2.2.9 shows these three NodeIds byte by byte.
TEST(node_id_encoding, is_the_one_the_standard_shows) {
    EXPECT_EQ(encoded([](encoder& out) { out.numeric_id(0, 72); }), hex("00 48"));
    EXPECT_EQ(encoded([](encoder& out) { out.numeric_id(5, 1025); }), hex("01 05 01 04"));
    EXPECT_EQ(encoded([](encoder& out) {
                  out.node_id({1, node_id_kind::string, 0, "Hot\xE6\xB0\xB4"});
              }),
              hex("03 01 00 06 00 00 00 48 6F 74 E6 B0 B4"));
}

TEST(node_id_encoding, reads_back_every_form) {
    const std::vector<node_id_view> ids = {
        {0, node_id_kind::numeric, 255, {}},
        {255, node_id_kind::numeric, 65'535, {}},
        {256, node_id_kind::numeric, 1, {}},
        {0, node_id_kind::numeric, 65'536, {}},
        {3, node_id_kind::string, 0, "press/tank/level"},
        {7, node_id_kind::guid, 0, "0123456789abcdef"},
        {1, node_id_kind::opaque, 0, std::string_view{"\0\1\2", 3}},
    };
    for (const node_id_view& id : ids) {
        const bytes wire = encoded([&](encoder& out) { out.node_id(id); });
        decoder in{wire, bounds};
        const node_id_view back = in.node_id();
        EXPECT_TRUE(in.ok());
        EXPECT_EQ(in.remaining(), 0U);
        EXPECT_EQ(back.namespace_index, id.namespace_index);
        EXPECT_EQ(back.kind, id.kind);
        EXPECT_EQ(back.number, id.number);
        EXPECT_EQ(back.bytes, id.bytes);
    }
}

TEST(expanded_node_id_encoding, reads_uri_and_server_index) {
    const bytes wire = hex("C1 00 0A 00  03 00 00 00 61 62 63  05 00 00 00");
    decoder in{wire, bounds};
    const expanded_node_id_view id = in.expanded_node_id();
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), 0U);
    EXPECT_EQ(id.id.number, 10U);
    EXPECT_EQ(id.namespace_uri, "abc");
    EXPECT_EQ(id.server_index, 5U);
}

TEST(edge_E60, null_and_empty_strings_differ_and_other_negatives_are_refused) {
    const bytes null_text = hex("FF FF FF FF");
    decoder null_in{null_text, bounds};
    EXPECT_EQ(null_in.string().data(), nullptr);
    EXPECT_TRUE(null_in.ok());
    const bytes empty_text = hex("00 00 00 00");
    decoder empty_in{empty_text, bounds};
    EXPECT_NE(empty_in.string().data(), nullptr);
    EXPECT_TRUE(empty_in.ok());
    for (const char* wrong : {"FE FF FF FF", "00 00 00 80"}) {
        const bytes wire = hex(wrong);
        decoder text{wire, bounds};
        text.string();
        EXPECT_EQ(text.status(), status::bad_decoding_error);
        decoder list{wire, bounds};
        list.array_length(1);
        EXPECT_EQ(list.status(), status::bad_decoding_error);
        decoder blob{wire, bounds};
        blob.byte_string();
        EXPECT_EQ(blob.status(), status::bad_decoding_error);
    }
    EXPECT_EQ(encoded([](encoder& out) { out.string({}); }), null_text);
    EXPECT_EQ(encoded([](encoder& out) { out.string(""); }), empty_text);
}

TEST(edge_E59, dimensions_must_multiply_to_the_length) {
    const auto variant_of = [](std::int32_t length, const std::vector<std::int32_t>& sizes) {
        return encoded([&](encoder& out) {
            out.u8(0xC0 | 3);
            out.i32(length);
            for (std::int32_t left = length; left > 0; --left) {
                out.u8(7);
            }
            out.i32(static_cast<std::int32_t>(sizes.size()));
            for (const std::int32_t size : sizes) {
                out.i32(size);
            }
        });
    };
    const auto status_of = [](const bytes& wire) {
        decoder in{wire, bounds};
        in.variant();
        return in.status();
    };
    EXPECT_EQ(status_of(variant_of(6, {2, 3})), status::good);
    EXPECT_EQ(status_of(variant_of(0, {0, 3})), status::good);
    EXPECT_EQ(status_of(variant_of(6, {2, 2})), status::bad_decoding_error);
    EXPECT_EQ(status_of(variant_of(6, {-2, -3})), status::bad_decoding_error);
    // 65,536 to the fourth power is 0 in 64 bits, and 65,536 squared is 0 in 32.
    EXPECT_EQ(status_of(variant_of(0, {65'536, 65'536})), status::bad_decoding_error);
    EXPECT_EQ(status_of(variant_of(0, {65'536, 65'536, 65'536, 65'536})),
              status::bad_decoding_error);
}

TEST(edge_E62, extension_object_of_unknown_type_comes_back_unchanged) {
    const bytes wire = encoded([](encoder& out) {
        out.u8(22);
        out.extension_object({{7, node_id_kind::numeric, 4'711, {}}, 1, hex("01 02 03")});
    });
    decoder in{wire, bounds};
    const variant_view value = in.variant();
    ASSERT_TRUE(in.ok());
    EXPECT_EQ(encoded([&](encoder& out) { out.variant(value); }), wire);
}

// Variants in arrays of Variants, as deep as the bytes allow.
bytes nested_variants(std::size_t depth) {
    bytes wire;
    for (std::size_t level = 0; level < depth; ++level) {
        append(wire, hex("98 01 00 00 00"));
    }
    append(wire, hex("03 07"));
    return wire;
}

TEST(edge_E68, nesting_is_bounded_by_the_limit) {
    limits shallow;
    shallow.max_nesting_depth = 8;
    const bytes allowed = nested_variants(7);
    decoder in{allowed, shallow};
    in.variant();
    EXPECT_EQ(in.status(), status::good);
    const bytes deeper = nested_variants(8);
    decoder deep{deeper, shallow};
    deep.variant();
    EXPECT_EQ(deep.status(), status::bad_encoding_limits_exceeded);
    const bytes hostile = nested_variants(20'000);
    decoder worst{hostile, bounds};
    worst.variant();
    EXPECT_EQ(worst.status(), status::bad_encoding_limits_exceeded);
    const bytes diagnostics(20'000, std::byte{0x40});
    decoder info{diagnostics, bounds};
    info.skip_diagnostic_info();
    EXPECT_EQ(info.status(), status::bad_encoding_limits_exceeded);
}

TEST(variant_encoding, a_variant_in_a_scalar_variant_is_refused) {
    const bytes wire = hex("18 03 07");
    decoder in{wire, bounds};
    in.variant();
    EXPECT_EQ(in.status(), status::bad_decoding_error);
}

TEST(lengths, a_count_that_cannot_be_true_is_refused_before_it_is_used) {
    const bytes wire = hex("00 00 01 00 00 00");
    decoder in{wire, bounds};
    EXPECT_EQ(in.array_length(4), 0U);
    EXPECT_EQ(in.status(), status::bad_decoding_error);
    const bytes huge = hex("FF FF FF 7F");
    decoder over{huge, bounds};
    over.array_length(1);
    EXPECT_EQ(over.status(), status::bad_encoding_limits_exceeded);
}

// One of each built-in type, in an array and alone.
bytes every_type() {
    return encoded([](encoder& out) {
        for (unsigned type = 1; type <= 25; ++type) {
            if (type == 24) {
                continue;
            }
            out.u8(static_cast<std::uint8_t>(type));
            const auto kind = static_cast<builtin_type>(type);
            const std::size_t fixed = slot_element_size(kind);
            if (fixed != 0) {
                out.raw(bytes(fixed, std::byte{1}));
                continue;
            }
            switch (kind) {
                case builtin_type::guid:
                    out.raw(bytes(16, std::byte{9}));
                    break;
                case builtin_type::node_id:
                case builtin_type::expanded_node_id:
                    out.node_id({3, node_id_kind::string, 0, "x"});
                    break;
                case builtin_type::qualified_name:
                    out.qualified_name(1, "q");
                    break;
                case builtin_type::localized_text:
                    out.localized_text("t", "en");
                    break;
                case builtin_type::extension_object:
                    out.extension_object({{0, node_id_kind::numeric, 1, {}}, 1, hex("00")});
                    break;
                case builtin_type::data_value:
                    out.raw(
                        hex("3F 03 07 00 00 00 80 0100000000000000 0200 0300000000000000 0400"));
                    break;
                case builtin_type::diagnostic_info:
                    out.raw(hex("7F 01000000 02000000 03000000 04000000 01000000 61 00000080 00"));
                    break;
                default:
                    out.string("s");
            }
        }
    });
}

TEST(variant_encoding, every_type_reads_and_comes_back_unchanged) {
    const bytes wire = every_type();
    decoder in{wire, bounds};
    bytes back;
    for (int count = 0; count < 24; ++count) {
        const variant_view value = in.variant();
        ASSERT_EQ(in.status(), status::good) << "value " << count;
        append(back, encoded([&](encoder& out) { out.variant(value); }));
    }
    EXPECT_EQ(in.remaining(), 0U);
    EXPECT_EQ(back, wire);
}

TEST(variant_encoding, input_cut_off_at_any_byte_is_an_error_and_nothing_worse) {
    const bytes wire = every_type();
    for (std::size_t length = 0; length < wire.size(); ++length) {
        const bytes cut{wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(length)};
        decoder in{cut, bounds};
        for (int count = 0; count < 24; ++count) {
            in.variant();
        }
        EXPECT_EQ(in.status(), status::bad_decoding_error) << length;
    }
}

TEST(encoder_chunks, no_number_is_split_and_every_byte_arrives) {
    struct pieces final : chunk_source {
        status_code next_chunk(std::size_t used, std::span<std::byte>& next) override {
            append(all, std::span{room}.first(used));
            next = std::span{room}.first(13);
            return status::good;
        }
        std::array<std::byte, 13> room{};
        bytes all{};
    } source;
    encoder out{std::span{source.room}, &source};
    const std::string text(100, 'x');
    out.u32(1);
    out.i64(2);
    out.string(text);
    out.u16(3);
    append(source.all, std::span{source.room}.first(out.used()));
    decoder in{source.all, bounds};
    EXPECT_EQ(in.u32(), 1U);
    EXPECT_EQ(in.i64(), 2);
    EXPECT_EQ(in.string(), text);
    EXPECT_EQ(in.u16(), 3);
    EXPECT_EQ(in.remaining(), 0U);
}

TEST(index_ranges, are_read_as_the_standard_writes_them) {
    index_range range;
    EXPECT_EQ(read_index_range("", range), status::good);
    EXPECT_FALSE(range.present);
    EXPECT_EQ(read_index_range("3", range), status::good);
    EXPECT_EQ(range.first, 3U);
    EXPECT_EQ(range.last, 3U);
    EXPECT_EQ(read_index_range("1:3", range), status::good);
    EXPECT_EQ(range.last, 3U);
    EXPECT_EQ(read_index_range("1:2,0:1", range), status::good);
    EXPECT_EQ(range.dimensions, 2U);
    for (const char* wrong : {"3:1", "2:2", "-1", "0x1", "1-2", "1:", ":1", "1,", ",1", " 1", "a",
                              "4294967296", "1:2:3", "+1"}) {
        EXPECT_EQ(read_index_range(wrong, range), status::bad_index_range_invalid) << wrong;
    }
}

TEST(date_times, no_time_stays_no_time) {
    EXPECT_EQ(date_time_ticks(0), 0);
    EXPECT_EQ(date_time_ticks(1'700'000'000'000'000'000), 133'444'736'000'000'000);
}

TEST(slot_form, a_text_longer_than_it_can_say_is_out_of_range) {
    const std::string most(65'535, 'x');
    bytes memory = encoded([&](encoder& out) { out.string(most); });
    value_view out;
    EXPECT_EQ(variant_to_slot({builtin_type::string, false, -1, memory, {}}, memory, out),
              status::good);
    EXPECT_EQ(bytes(out.bytes.begin(), out.bytes.end()), slot_of_text(most));
    memory = encoded([&](encoder& to) { to.string(most + "x"); });
    EXPECT_EQ(variant_to_slot({builtin_type::string, false, -1, memory, {}}, memory, out),
              status::bad_out_of_range);
}

TEST(slot_form, what_has_none_is_a_type_mismatch) {
    bytes memory(16);
    value_view out;
    for (const builtin_type type :
         {builtin_type::null, builtin_type::guid, builtin_type::node_id, builtin_type::variant}) {
        EXPECT_EQ(variant_to_slot({type, false, -1, memory, {}}, memory, out),
                  status::bad_type_mismatch);
    }
    EXPECT_EQ(variant_to_slot({builtin_type::int16, true, -1, {}, {}}, {}, out),
              status::bad_type_mismatch);
}

}  // namespace
}  // namespace tagferry::opcua::test
