#include "protocols/s7/simulator/memory.hpp"

namespace tagferry::s7 {

namespace {

std::uint32_t key_of(std::uint8_t area_code, std::uint16_t block) noexcept {
    return static_cast<std::uint32_t>(area_code) << 16 | block;
}

bool has_blocks(std::uint8_t area_code) noexcept {
    return area_code == static_cast<std::uint8_t>(area::data_block);
}

bool is_known(std::uint8_t area_code) noexcept {
    return has_blocks(area_code) || area_code == static_cast<std::uint8_t>(area::input) ||
           area_code == static_cast<std::uint8_t>(area::output) ||
           area_code == static_cast<std::uint8_t>(area::memory);
}

}  // namespace

void plc_memory::define(area where, std::uint16_t block, std::size_t size) {
    areas_[key_of(static_cast<std::uint8_t>(where), block)].assign(size, std::byte{0});
}

void plc_memory::remove(std::uint16_t block) {
    areas_.erase(key_of(static_cast<std::uint8_t>(area::data_block), block));
}

std::span<std::byte> plc_memory::find(const variable& item, item_code& code) noexcept {
    const std::size_t size = item.data_size();
    if (!is_known(item.area_code) || size == 0 ||
        (item.type == request_type::bit && item.count != 1)) {
        code = item_code::not_supported;
        return {};
    }
    const std::uint16_t block = has_blocks(item.area_code) ? item.block : std::uint16_t{0};
    const auto found = areas_.find(key_of(item.area_code, block));
    if (found == areas_.end()) {
        code = item_code::object_missing;
        return {};
    }
    const std::span<std::byte> whole = found->second;
    if (item.start_byte() > whole.size() || size > whole.size() - item.start_byte()) {
        code = item_code::out_of_range;
        return {};
    }
    code = item_code::success;
    return whole.subspan(item.start_byte(), size);
}

std::vector<std::uint16_t> plc_memory::data_blocks() const {
    std::vector<std::uint16_t> numbers;
    for (const auto& [key, bytes] : areas_) {
        if (has_blocks(static_cast<std::uint8_t>(key >> 16))) {
            numbers.push_back(static_cast<std::uint16_t>(key));
        }
    }
    return numbers;
}

std::span<std::byte> plc_memory::bytes(area where, std::uint16_t block) noexcept {
    const auto found = areas_.find(key_of(static_cast<std::uint8_t>(where), block));
    return found == areas_.end() ? std::span<std::byte>{} : std::span<std::byte>(found->second);
}

}  // namespace tagferry::s7
