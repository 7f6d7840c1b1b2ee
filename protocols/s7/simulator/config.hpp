// What a simulated PLC is made of.
#pragma once

#include "protocols/s7/types/address.hpp"
#include "protocols/s7/types/data_type.hpp"
#include "transport/time/clock.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tagferry::s7 {

/// How a signal moves; the time is since the PLC was made.
enum class signal_kind : std::uint8_t {
    constant,  ///< `minimum`; a string: `text`
    ramp,      ///< from minimum to maximum in one period, then again
    sine,      ///< between minimum and maximum, one wave a period
    counter,   ///< minimum, one more each period, from minimum again past maximum
    toggle,    ///< minimum for one period, maximum for the next
    text,      ///< strings: `text`, a blank and a counter that goes up each period
    tagged,    ///< `number` and a counter that goes up each period: tagged_value.hpp
};

/// One value that moves by itself. It is evaluated when it is read: two reads at the same time
/// see the same. Elements of an array move alike, each a tenth of the period ahead of the one
/// before it; those of a tagged one all have the same counter, and numbers one after the other.
struct signal_config {
    address where;
    data_type type;
    signal_kind kind = signal_kind::constant;
    double minimum = 0;
    double maximum = 1;
    transport::duration period = std::chrono::seconds(1);  ///< over 0
    std::string text;
    std::uint32_t number = 0;  ///< of the tag, where the signal is tagged
};

struct data_block_config {
    std::uint16_t number = 1;
    std::uint32_t size = 0;  ///< bytes, 1 to 65,536
};

struct simulator_config {
    std::string profile = "s7-1500";
    std::uint16_t pdu_size = 0;      ///< 0: as the profile says
    std::uint16_t calling_jobs = 0;  ///< 0: as the profile says
    std::uint32_t input_bytes = 1024;
    std::uint32_t output_bytes = 1024;
    std::uint32_t memory_bytes = 4096;
    std::vector<data_block_config> data_blocks;
    std::vector<signal_config> signals;
    /// Time from a job's arrival to its answer.
    transport::duration latency{0};
    /// Jobs of a connection are worked on one after the other, so that their latencies add up;
    /// otherwise at the same time.
    bool serial = false;
    /// Largest TPDU confirmed to a client, a power of two from 128 to 2048 bytes; 0: what it asks.
    /// Answers over it leave in fragments, as those of small PLCs do.
    std::size_t tpdu_size = 0;
    /// Connections served at the same time; more are refused as a CPU without resources does.
    std::size_t max_connections = 32;
};

}  // namespace tagferry::s7
