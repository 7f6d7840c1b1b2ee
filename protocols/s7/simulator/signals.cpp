#include "protocols/s7/simulator/signals.hpp"

#include "protocols/s7/simulator/tagged_value.hpp"
#include "protocols/s7/types/code_page.hpp"
#include "transport/bytes/endian.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <tuple>

namespace tagferry::s7 {

namespace {

using transport::duration;

constexpr int array_phases = 10;
constexpr std::size_t string_header_size = 2;

[[noreturn]] void refuse(const signal_config& signal, std::string_view reason) {
    throw std::invalid_argument("signal at " + to_string(signal.where) + ": " +
                                std::string(reason));
}

std::size_t bytes_of(const signal_config& signal) noexcept {
    return plc_size(signal.type, signal.where.bit);
}

auto place_of(const signal_config& signal) noexcept {
    return std::tuple(signal.where.where, signal.where.block, signal.where.byte, signal.where.bit);
}

void check(const signal_config& signal, plc_memory& memory) {
    if (const auto error = check_fit(signal.where, signal.type)) {
        refuse(signal, error.text);
    }
    if (signal.period <= duration::zero()) {
        refuse(signal, "the period must be over 0");
    }
    const bool is_string = signal.type.base == base_type::string;
    const bool is_general =
        signal.kind == signal_kind::tagged || (is_string && signal.kind == signal_kind::constant);
    if (is_string != (signal.kind == signal_kind::text) && !is_general) {
        refuse(signal, "this kind of signal does not go with the type");
    }
    const auto area_bytes = memory.bytes(signal.where.where, signal.where.block);
    if (area_bytes.size() < signal.where.byte + bytes_of(signal)) {
        refuse(signal, "the memory it lies in does not exist or is too short");
    }
}

/// Configured text is UTF-8; the PLC's is its code page.
void encode_text(signal_config& signal) {
    std::string encoded(signal.text.size(), '\0');
    bool too_long = false;
    const auto size =
        from_utf8(std::as_bytes(std::span(signal.text)), std::as_writable_bytes(std::span(encoded)),
                  code_page::windows_1252, too_long);
    if (!size) {
        refuse(signal, "the text has a character that a PLC string does not have");
    }
    encoded.resize(*size);
    signal.text = encoded;
}

bool overlap(const signal_config& first, const signal_config& second) noexcept {
    if (first.where.where != second.where.where || first.where.block != second.where.block) {
        return false;
    }
    const bool bits =
        first.type.base == base_type::boolean && second.type.base == base_type::boolean;
    if (bits) {
        return first.where.byte * 8 + first.where.bit + first.type.elements >
               second.where.byte * 8 + second.where.bit;
    }
    return first.where.byte + bytes_of(first) > second.where.byte;
}

double value_at(const signal_config& signal, duration elapsed) noexcept {
    const auto steps = static_cast<double>(elapsed / signal.period);
    const double phase = static_cast<double>((elapsed % signal.period).count()) /
                         static_cast<double>(signal.period.count());
    const double range = signal.maximum - signal.minimum;
    switch (signal.kind) {
        case signal_kind::ramp:
            return signal.minimum + range * phase;
        case signal_kind::sine:
            return signal.minimum + range * (0.5 + 0.5 * std::sin(2 * std::numbers::pi * phase));
        case signal_kind::counter:
            return signal.minimum + std::fmod(steps, range + 1);
        case signal_kind::toggle:
            return std::fmod(steps, 2) == 0 ? signal.minimum : signal.maximum;
        case signal_kind::constant:
        case signal_kind::text:
        case signal_kind::tagged:
            break;
    }
    return signal.minimum;
}

template <class T>
void put_integer(std::byte* to, double value) noexcept {
    // Beyond 2^53 a double and the type's limits do not meet exactly, so that the limits are
    // compared first and the conversion is always in range.
    const double low = static_cast<double>(std::numeric_limits<T>::min());
    const double high = static_cast<double>(std::numeric_limits<T>::max());
    const double rounded = std::nearbyint(value);
    T result{};
    if (rounded >= high) {
        result = std::numeric_limits<T>::max();
    } else if (rounded > low) {
        result = static_cast<T>(rounded);
    } else {
        result = std::numeric_limits<T>::min();
    }
    transport::store(to, result, std::endian::big);
}

void put_element(base_type type, std::byte* to, double value) noexcept {
    switch (type) {
        case base_type::short_integer:
            return put_integer<std::int8_t>(to, value);
        case base_type::byte:
        case base_type::character:
        case base_type::unsigned_short_integer:
            return put_integer<std::uint8_t>(to, value);
        case base_type::integer:
            return put_integer<std::int16_t>(to, value);
        case base_type::word:
        case base_type::unsigned_integer:
            return put_integer<std::uint16_t>(to, value);
        case base_type::double_integer:
            return put_integer<std::int32_t>(to, value);
        case base_type::double_word:
        case base_type::unsigned_double_integer:
            return put_integer<std::uint32_t>(to, value);
        case base_type::long_integer:
            return put_integer<std::int64_t>(to, value);
        case base_type::long_word:
        case base_type::unsigned_long_integer:
            return put_integer<std::uint64_t>(to, value);
        case base_type::real:
            return transport::store(to, static_cast<float>(value), std::endian::big);
        case base_type::long_real:
            return transport::store(to, value, std::endian::big);
        case base_type::boolean:
        case base_type::string:
            break;  // neither is a number of whole bytes
    }
}

void put_bit(std::byte* to, std::size_t bit, bool value) noexcept {
    std::byte& byte = to[bit / 8];
    const std::byte mask = std::byte{1} << (bit % 8);
    byte = value ? byte | mask : byte & ~mask;
}

/// A tagged value of a type that is not text.
void put_tagged(base_type type, std::byte* to, std::size_t bit,
                const tagged_value& value) noexcept {
    const std::uint64_t bits = join_tagged(type, value);
    switch (type) {
        case base_type::boolean:
            return put_bit(to, bit, bits != 0);
        case base_type::real:
            return transport::store(to, static_cast<float>(bits), std::endian::big);
        case base_type::long_real:
            return transport::store(to, static_cast<double>(bits), std::endian::big);
        default:
            break;
    }
    const std::size_t size = plc_element_size({.base = type});
    for (std::size_t i = 0; i < size; ++i) {
        to[i] = static_cast<std::byte>(bits >> (8 * (size - 1 - i)));
    }
}

void put_tagged_text(std::uint8_t capacity, std::byte* to, const tagged_value& value) noexcept {
    constexpr std::size_t digits = 20;  // of the largest of either
    std::array<char, 2 * digits + 1> text{};
    char* const colon = std::to_chars(text.data(), text.data() + digits, value.number).ptr;
    *colon = ':';
    const char* const last = std::to_chars(colon + 1, colon + 1 + digits, value.counter).ptr;
    const auto size = std::min<std::size_t>(capacity, static_cast<std::size_t>(last - text.data()));
    to[0] = static_cast<std::byte>(capacity);
    to[1] = static_cast<std::byte>(size);
    std::memcpy(to + string_header_size, text.data(), size);
}

void put_tagged_signal(const signal_config& signal, std::byte* to, duration elapsed) noexcept {
    const auto counter = static_cast<std::uint64_t>(elapsed / signal.period);
    for (std::size_t i = 0; i < signal.type.elements; ++i) {
        const tagged_value value{signal.number + i, counter};
        if (signal.type.base == base_type::boolean) {
            put_tagged(signal.type.base, to, signal.where.bit + i, value);
            continue;
        }
        std::byte* const element = to + i * plc_element_stride(signal.type);
        if (signal.type.base == base_type::string) {
            put_tagged_text(signal.type.string_length, element, value);
        } else {
            put_tagged(signal.type.base, element, 0, value);
        }
    }
}

void put_string(const signal_config& signal, std::byte* to, duration elapsed) noexcept {
    std::array<char, 24> number{};
    std::size_t digits = 0;
    if (signal.kind == signal_kind::text) {
        number[0] = ' ';
        const auto end = std::to_chars(number.data() + 1, number.data() + number.size(),
                                       static_cast<std::int64_t>(elapsed / signal.period));
        digits = static_cast<std::size_t>(end.ptr - number.data());
    }
    const std::size_t capacity = signal.type.string_length;
    const std::size_t text = std::min(signal.text.size(), capacity);
    const std::size_t counter = std::min(digits, capacity - text);
    to[0] = static_cast<std::byte>(capacity);
    to[1] = static_cast<std::byte>(text + counter);
    std::memcpy(to + string_header_size, signal.text.data(), text);
    std::memcpy(to + string_header_size + text, number.data(), counter);
}

void put_signal(const signal_config& signal, std::byte* to, duration elapsed) noexcept {
    if (signal.kind == signal_kind::tagged) {
        return put_tagged_signal(signal, to, elapsed);
    }
    for (std::size_t i = 0; i < signal.type.elements; ++i) {
        const duration at =
            elapsed + signal.period * static_cast<duration::rep>(i % array_phases) / array_phases;
        if (signal.type.base == base_type::string) {
            put_string(signal, to + i * plc_element_stride(signal.type), at);
        } else if (signal.type.base == base_type::boolean) {
            put_bit(to, signal.where.bit + i, value_at(signal, at) >= 0.5);
        } else {
            put_element(signal.type.base, to + i * plc_element_stride(signal.type),
                        value_at(signal, at));
        }
    }
}

}  // namespace

signal_set::signal_set(std::vector<signal_config> signals, plc_memory& memory)
    : signals_(std::move(signals)) {
    for (signal_config& signal : signals_) {
        check(signal, memory);
        encode_text(signal);
        longest_ = std::max(longest_, bytes_of(signal));
    }
    std::sort(signals_.begin(), signals_.end(), [](const signal_config& a, const signal_config& b) {
        return place_of(a) < place_of(b);
    });
    for (std::size_t i = 1; i < signals_.size(); ++i) {
        if (overlap(signals_[i - 1], signals_[i])) {
            refuse(signals_[i], "it overlaps the signal before it");
        }
    }
}

void signal_set::evaluate(area where, std::uint16_t block, std::uint32_t start, std::size_t length,
                          plc_memory& memory, duration elapsed) noexcept {
    const auto bytes = memory.bytes(where, block);
    const std::size_t back = std::min<std::size_t>(start, longest_ - 1);
    const auto first_byte = static_cast<std::uint32_t>(start - back);
    auto next = std::lower_bound(
        signals_.begin(), signals_.end(), std::tuple(where, block, first_byte, std::uint8_t{0}),
        [](const signal_config& signal, const auto& place) { return place_of(signal) < place; });
    for (; next != signals_.end() && next->where.where == where && next->where.block == block &&
           next->where.byte < start + length;
         ++next) {
        const std::size_t size = bytes_of(*next);
        // A block that was made shorter meanwhile has lost its signals.
        if (next->where.byte + size > start && next->where.byte + size <= bytes.size()) {
            put_signal(*next, bytes.data() + next->where.byte, elapsed);
        }
    }
}

}  // namespace tagferry::s7
