#include "protocols/s7/simulator/tagged_value.hpp"

#include <charconv>

namespace tagferry::s7 {

namespace {

constexpr std::uint64_t low_bits(unsigned count) noexcept {
    return (std::uint64_t{1} << count) - 1;
}

bool take_number(std::string_view text, std::uint64_t& out) noexcept {
    const auto end = std::from_chars(text.data(), text.data() + text.size(), out);
    return end.ec == std::errc{} && end.ptr == text.data() + text.size();
}

}  // namespace

tagged_bits tagged_bits_of(base_type type) noexcept {
    switch (type) {
        case base_type::boolean:
            return {0, 1};
        case base_type::byte:
        case base_type::character:
        case base_type::short_integer:
        case base_type::unsigned_short_integer:
            return {3, 5};
        case base_type::word:
        case base_type::integer:
        case base_type::unsigned_integer:
            return {6, 10};
        case base_type::double_word:
        case base_type::double_integer:
        case base_type::unsigned_double_integer:
            return {14, 18};
        case base_type::long_word:
        case base_type::long_integer:
        case base_type::unsigned_long_integer:
            return {24, 40};
        case base_type::real:
            return {10, 14};
        case base_type::long_real:
            return {20, 32};
        case base_type::string:
            break;
    }
    return {};
}

std::uint64_t join_tagged(base_type type, const tagged_value& value) noexcept {
    const tagged_bits bits = tagged_bits_of(type);
    const std::uint64_t counter = value.counter & low_bits(bits.counter);
    if (type == base_type::boolean) {
        return counter ^ (value.number & 1);
    }
    return (value.number & low_bits(bits.number)) << bits.counter | counter;
}

tagged_value split_tagged(base_type type, std::uint64_t bits) noexcept {
    const tagged_bits form = tagged_bits_of(type);
    return {bits >> form.counter & low_bits(form.number), bits & low_bits(form.counter)};
}

std::string tagged_text(const tagged_value& value) {
    return std::to_string(value.number) + ":" + std::to_string(value.counter);
}

std::optional<tagged_value> split_tagged_text(std::string_view text) noexcept {
    const std::size_t colon = text.find(':');
    tagged_value out;
    if (colon == std::string_view::npos || !take_number(text.substr(0, colon), out.number) ||
        !take_number(text.substr(colon + 1), out.counter)) {
        return std::nullopt;
    }
    return out;
}

}  // namespace tagferry::s7
