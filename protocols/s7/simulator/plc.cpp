#include "protocols/s7/simulator/plc.hpp"

#include "protocols/s7/simulator/server_engine.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

namespace tagferry::s7 {

namespace {

plc_profile profile_of(const simulator_config& config) {
    const plc_profile* const found = find_plc_profile(config.profile);
    if (found == nullptr) {
        throw std::invalid_argument("there is no PLC profile \"" + config.profile + "\"");
    }
    plc_profile profile = *found;
    profile.pdu_size = config.pdu_size == 0 ? profile.pdu_size : config.pdu_size;
    if (config.calling_jobs != 0) {
        profile.calling_jobs = config.calling_jobs;
        profile.called_jobs = std::max(profile.called_jobs, config.calling_jobs);
    }
    constexpr std::size_t most_jobs = 64;
    if (profile.pdu_size < smallest_pdu || profile.pdu_size > largest_pdu ||
        profile.calling_jobs > most_jobs) {
        throw std::invalid_argument("PDU size or jobs of the simulated PLC are out of range");
    }
    const std::size_t tpdu = config.tpdu_size;
    if (tpdu != 0 && (!std::has_single_bit(tpdu) || tpdu < default_tpdu_size || tpdu > 2048)) {
        throw std::invalid_argument("the TPDU size must be a power of two from 128 to 2048");
    }
    return profile;
}

plc_memory memory_of(const simulator_config& config) {
    constexpr std::uint32_t largest = 65536;
    plc_memory memory;
    memory.define(area::input, 0, std::min(config.input_bytes, largest));
    memory.define(area::output, 0, std::min(config.output_bytes, largest));
    memory.define(area::memory, 0, std::min(config.memory_bytes, largest));
    for (const data_block_config& block : config.data_blocks) {
        if (block.number == 0 || block.size == 0 || block.size > largest) {
            throw std::invalid_argument("data block " + std::to_string(block.number) +
                                        ": number and size must be from 1 to 65535 and 65536");
        }
        memory.define(area::data_block, block.number, block.size);
    }
    return memory;
}

}  // namespace

simulated_plc::simulated_plc(const simulator_config& config, const transport::clock& clock,
                             fault_hook* faults, transport::timing_wheel* wheel)
    : config_(config),
      profile_(profile_of(config)),
      clock_(clock),
      started_(clock.now()),
      faults_(faults),
      wheel_(wheel),
      memory_(memory_of(config)),
      signals_(config.signals, memory_) {
    engines_.reserve(config.max_connections);
}

simulated_plc::~simulated_plc() = default;

void simulated_plc::drop_connections() noexcept {
    // Backwards, because a closed engine takes itself out of the list.
    for (std::size_t i = engines_.size(); i-- > 0;) {
        engines_[i]->drop();
    }
}

std::span<std::byte> simulated_plc::find(const variable& item, item_code& code) noexcept {
    const auto bytes = memory_.find(item, code);
    const bool in_block = item.area_code == static_cast<std::uint8_t>(area::data_block);
    if (in_block && code != item_code::not_supported && faults_ != nullptr &&
        !faults_->block_exists(item.block, clock_.now())) {
        code = item_code::object_missing;
        return {};
    }
    return bytes;
}

void simulated_plc::count(const s7_message& job) noexcept {
    const auto is = [&](function_code code) {
        return job.type == message_type::job && job.function() == static_cast<std::uint8_t>(code);
    };
    const bool reads = is(function_code::read_variable);
    const bool writes = is(function_code::write_variable);
    counters_.read_jobs += reads ? 1U : 0U;
    counters_.write_jobs += writes ? 1U : 0U;
    counters_.jobs += reads || writes ? 1U : 0U;
}

void simulated_plc::item_was_read(const variable& item, std::span<const std::byte> bytes) {
    ++counters_.items_read;
    if (observer_ != nullptr) {
        observer_->item_read(item, bytes, clock_.now());
    }
}

transport::duration simulated_plc::time_in_run() noexcept {
    const transport::time_point now = clock_.now();
    const auto stopped =
        faults_ != nullptr ? faults_->time_in_stop(now) : transport::duration::zero();
    return now - started_ - stopped;
}

std::span<const std::byte> simulated_plc::read(const variable& item, item_code& code) noexcept {
    std::span<const std::byte> bytes = find(item, code);
    if (bytes.empty()) {
        return {};
    }
    const auto where = static_cast<area>(item.area_code);
    const std::uint16_t block = where == area::data_block ? item.block : std::uint16_t{0};
    signals_.evaluate(where, block, item.start_byte(), bytes.size(), memory_, time_in_run());
    if (item.type == request_type::bit) {
        bit_ = (bytes[0] >> item.start_bit()) & std::byte{1};
        bytes = {&bit_, 1};
    }
    return bytes;
}

item_code simulated_plc::write(const variable& item, std::span<const std::byte> bytes) noexcept {
    item_code code = item_code::success;
    const auto to = find(item, code);
    if (code != item_code::success) {
        return code;
    }
    if (bytes.size() != to.size()) {
        return item_code::type_mismatch;
    }
    if (item.type == request_type::bit) {
        const std::byte mask = std::byte{1} << item.start_bit();
        to[0] = (bytes[0] & std::byte{1}) != std::byte{0} ? to[0] | mask : to[0] & ~mask;
    } else {
        std::copy(bytes.begin(), bytes.end(), to.begin());
    }
    if (observer_ != nullptr) {
        observer_->item_written(item, bytes, clock_.now());
    }
    return code;
}

}  // namespace tagferry::s7
