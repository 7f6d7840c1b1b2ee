#include "gateway/simulation/memory_dump.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <span>
#include <string_view>

namespace tagferry::gateway {

namespace {

std::string in_hexadecimal(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(bytes.size() * 2);
    for (const std::byte byte : bytes) {
        text += digits[std::to_integer<std::size_t>(byte >> 4)];
        text += digits[std::to_integer<std::size_t>(byte & std::byte{15})];
    }
    return text;
}

}  // namespace

std::string counters_as_json(const s7::simulator_counters& counters) {
    const nlohmann::ordered_json made = {
        {"connections", counters.connections},
        {"connections_refused", counters.connections_refused},
        {"jobs", counters.jobs},
        {"read_jobs", counters.read_jobs},
        {"write_jobs", counters.write_jobs},
        {"items_read", counters.items_read},
        {"items_failed", counters.items_failed},
        {"most_in_flight", counters.most_in_flight},
    };
    return made.dump();
}

std::string memory_as_json(s7::plc_memory& memory) {
    nlohmann::ordered_json made;
    made["I"] = in_hexadecimal(memory.bytes(s7::area::input, 0));
    made["Q"] = in_hexadecimal(memory.bytes(s7::area::output, 0));
    made["M"] = in_hexadecimal(memory.bytes(s7::area::memory, 0));
    for (const std::uint16_t block : memory.data_blocks()) {
        made["DB" + std::to_string(block)] =
            in_hexadecimal(memory.bytes(s7::area::data_block, block));
    }
    return made.dump();
}

}  // namespace tagferry::gateway
