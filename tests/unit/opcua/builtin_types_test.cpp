// Every built-in type there and back: alone, in a Variant, in arrays and matrices, within limits.
#include "protocols/opcua/encoding/decoder.hpp"
#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/limits.hpp"
#include "tests/support/opcua/raw_client.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>

namespace tagferry::opcua::test {
namespace {

const limits bounds;

bytes of(std::initializer_list<int> values) {
    bytes out;
    for (const int each : values) {
        out.push_back(static_cast<std::byte>(each));
    }
    return out;
}

template <typename T>
std::vector<bytes> numbers() {
    std::vector<bytes> out;
    for (const T value :
         {std::numeric_limits<T>::lowest(), T{}, T{1}, std::numeric_limits<T>::max()}) {
        out.push_back(encoded([&](encoder& to) { to.write(value); }));
    }
    return out;
}

std::vector<bytes> texts() {
    return {of({0xFF, 0xFF, 0xFF, 0xFF}), of({0, 0, 0, 0}), of({2, 0, 0, 0, 0xC3, 0xA4})};
}

// Encodings of each type: null and empty ones, the ends of each range, every form of an id.
const std::map<builtin_type, std::vector<bytes>>& samples() {
    static const std::map<builtin_type, std::vector<bytes>> all = [] {
        using type = builtin_type;
        const bytes variant = of({7, 1, 2, 3, 4});
        std::map<builtin_type, std::vector<bytes>> made;
        made[type::boolean] = {of({0}), of({1})};
        made[type::sbyte] = numbers<std::int8_t>();
        made[type::byte] = numbers<std::uint8_t>();
        made[type::int16] = numbers<std::int16_t>();
        made[type::uint16] = numbers<std::uint16_t>();
        made[type::int32] = numbers<std::int32_t>();
        made[type::uint32] = made[type::status] = numbers<std::uint32_t>();
        made[type::int64] = made[type::date_time] = numbers<std::int64_t>();
        made[type::uint64] = numbers<std::uint64_t>();
        made[type::float32] = numbers<float>();
        made[type::float32].push_back(of({0, 0, 0xC0, 0x7F}));  // not a number
        made[type::float64] = numbers<double>();
        made[type::string] = made[type::byte_string] = made[type::xml_element] = texts();
        made[type::guid] = {bytes(16, std::byte{0}), bytes(16, std::byte{0xA5})};
        made[type::node_id] = {of({0, 255}),
                               of({1, 7, 0, 1}),
                               of({2, 0, 1, 0, 0, 1, 0}),
                               of({3, 3, 0, 1, 0, 0, 0, 'a'}),
                               of({4, 1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}),
                               of({5, 1, 0, 2, 0, 0, 0, 0, 1})};
        made[type::expanded_node_id] = made[type::node_id];
        made[type::expanded_node_id].push_back(of({0x80, 5, 1, 0, 0, 0, 'u'}));
        made[type::expanded_node_id].push_back(of({0x41, 5, 1, 0, 9, 0, 0, 0}));
        made[type::expanded_node_id].push_back(
            of({0xC3, 0, 0, 1, 0, 0, 0, 'a', 1, 0, 0, 0, 'u', 9, 0, 0, 0}));
        made[type::qualified_name] = {of({3, 0, 1, 0, 0, 0, 'n'}),
                                      of({0, 0, 0xFF, 0xFF, 0xFF, 0xFF})};
        made[type::localized_text] = {of({0}), of({1, 2, 0, 0, 0, 'd', 'e'}),
                                      of({2, 1, 0, 0, 0, 't'}),
                                      of({3, 2, 0, 0, 0, 'd', 'e', 1, 0, 0, 0, 't'})};
        made[type::extension_object] = {of({0, 0, 0}), of({1, 9, 1, 0, 1, 2, 0, 0, 0, 1, 2}),
                                        of({1, 9, 1, 0, 2, 2, 0, 0, 0, '<', '>'})};
        made[type::variant] = {of({0}), variant};
        bytes full = of({0x3F});
        append(full, variant);
        append(full, of({1, 0, 0, 0x80, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0}));
        append(full, of({8, 7, 6, 5, 4, 3, 2, 1, 5, 0}));
        made[type::data_value] = {of({0}), of({1, 1, 1}), of({2, 0, 0, 0, 0x80}), full};
        made[type::diagnostic_info] = {
            of({0}), of({0x01, 1, 0, 0, 0}),
            of({0x7F, 1, 0, 0, 0, 2,   0, 0, 0, 3,    0,    0,    0, 4, 0, 0,
                0,    1, 0, 0, 0, 'x', 0, 0, 1, 0x80, 0x40, 0x20, 0, 0, 2, 0x80})};
        return made;
    }();
    return all;
}

bytes there_and_back(builtin_type type, const bytes& wire) {
    decoder in{wire, bounds};
    bytes out;
    in.element(type,
               [&](const auto& value) { out = encoded([&](encoder& to) { to.element(value); }); });
    EXPECT_TRUE(in.ok()) << static_cast<int>(type);
    EXPECT_EQ(in.remaining(), 0U) << static_cast<int>(type);
    return out;
}

TEST(builtin_types, every_one_comes_back_byte_by_byte) {
    EXPECT_EQ(samples().size(), 25U);
    for (const auto& [type, wires] : samples()) {
        for (const bytes& wire : wires) {
            EXPECT_EQ(there_and_back(type, wire), wire) << static_cast<int>(type);
        }
    }
}

TEST(builtin_types, every_one_is_passed_over_whole) {
    for (const auto& [type, wires] : samples()) {
        for (const bytes& wire : wires) {
            decoder in{wire, bounds};
            in.skip(type);
            EXPECT_TRUE(in.ok());
            EXPECT_EQ(in.remaining(), 0U) << static_cast<int>(type);
        }
    }
}

TEST(builtin_types, none_is_read_past_the_end) {
    for (const auto& [type, wires] : samples()) {
        for (const bytes& wire : wires) {
            for (std::size_t size = 0; size < wire.size(); ++size) {
                const bytes cut(wire.begin(), wire.begin() + static_cast<std::ptrdiff_t>(size));
                decoder in{cut, bounds};
                in.skip(type);
                EXPECT_EQ(in.status(), status::bad_decoding_error)
                    << static_cast<int>(type) << " " << size;
            }
        }
    }
}

bytes variant_of(builtin_type type, unsigned flags, const std::vector<bytes>& elements) {
    bytes wire{static_cast<std::byte>(static_cast<unsigned>(type) | flags)};
    if (flags != 0) {
        append(wire, slot_of(static_cast<std::int32_t>(elements.size())));
    }
    for (const bytes& each : elements) {
        append(wire, each);
    }
    return wire;
}

TEST(builtin_types, every_one_fits_a_variant_alone_and_in_arrays) {
    for (const auto& [type, wires] : samples()) {
        for (const bytes& wire : wires) {
            const bytes alone = variant_of(type, 0, {wire});
            if (type == builtin_type::variant) {
                decoder in{alone, bounds};
                in.variant();
                EXPECT_EQ(in.status(), status::bad_decoding_error) << "only arrays hold Variants";
            } else {
                EXPECT_EQ(there_and_back(builtin_type::variant, alone), alone);
            }
        }
        const bytes array = variant_of(type, 0x80, wires);
        EXPECT_EQ(there_and_back(builtin_type::variant, array), array);
        const bytes empty = variant_of(type, 0x80, {});
        EXPECT_EQ(there_and_back(builtin_type::variant, empty), empty);
        bytes null = variant_of(type, 0x80, {});
        std::fill(null.begin() + 1, null.end(), std::byte{0xFF});
        EXPECT_EQ(there_and_back(builtin_type::variant, null), null);
    }
}

TEST(builtin_types, every_one_fits_a_matrix) {
    for (const auto& [type, wires] : samples()) {
        std::vector<bytes> six;
        for (std::size_t at = 0; at < 6; ++at) {
            six.push_back(wires[at % wires.size()]);
        }
        bytes matrix = variant_of(type, 0xC0, six);
        append(matrix, of({2, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0}));
        EXPECT_EQ(there_and_back(builtin_type::variant, matrix), matrix);
        matrix[matrix.size() - 4] = std::byte{4};
        decoder in{matrix, bounds};
        in.variant();
        EXPECT_EQ(in.status(), status::bad_decoding_error) << static_cast<int>(type);
    }
}

TEST(builtin_types, an_array_over_the_limit_is_refused_whatever_it_holds) {
    limits few;
    few.max_array_length = 3;
    for (const auto& [type, wires] : samples()) {
        const bytes four = variant_of(type, 0x80, std::vector<bytes>(4, wires.front()));
        decoder in{four, few};
        in.variant();
        EXPECT_EQ(in.status(), status::bad_encoding_limits_exceeded) << static_cast<int>(type);
    }
}

TEST(builtin_types, texts_over_the_limit_are_refused_wherever_they_stand) {
    limits small;
    small.max_string_length = small.max_byte_string_length = 0;
    for (const auto& [type, wires] : samples()) {
        if (type < builtin_type::string || type == builtin_type::guid ||
            type == builtin_type::date_time || type == builtin_type::status) {
            continue;
        }
        bool refused = false;
        for (const bytes& wire : wires) {
            decoder in{wire, small};
            in.skip(type);
            refused = refused || in.status() == status::bad_encoding_limits_exceeded;
        }
        const bool has_text = type != builtin_type::variant && type != builtin_type::data_value;
        EXPECT_EQ(refused, has_text) << static_cast<int>(type);
    }
}

TEST(builtin_types, inner_diagnostics_are_bounded) {
    limits shallow;
    shallow.max_nesting_depth = 4;
    const auto nested = [&](std::size_t levels) {
        bytes wire(levels, std::byte{0x40});
        wire.push_back(std::byte{0});
        return wire;
    };
    for (const std::size_t levels : {0U, 3U, 4U, 50U}) {
        const bytes wire = nested(levels);
        decoder in{wire, shallow};
        in.diagnostic_info();
        EXPECT_EQ(in.status(), levels < 4 ? status_code{status::good}
                                          : status_code{status::bad_encoding_limits_exceeded})
            << levels;
    }
}

TEST(builtin_types, what_is_no_type_is_an_error) {
    for (const unsigned number : {26U, 31U, 255U}) {
        const bytes wire(32);
        decoder in{wire, bounds};
        bool called = false;
        in.element(static_cast<builtin_type>(number), [&](const auto&) { called = true; });
        EXPECT_EQ(in.status(), status::bad_decoding_error);
        EXPECT_FALSE(called);
    }
}

}  // namespace
}  // namespace tagferry::opcua::test
