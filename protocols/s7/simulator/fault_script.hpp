// Faults by name and by the clock: what `tagferry sim --fault` and a PLC file ask for. The
// catalogue is the list of all of them, so that a test over every fault cannot miss one.
#pragma once

#include "protocols/s7/simulator/faults.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tagferry::s7 {

enum class fault_kind : std::uint8_t {
    dropped_reply,
    late_reply,
    duplicate_reply,
    wrong_reference,
    two_replies,
    dribble,
    fragments,
    item_error,
    job_error,
    data_block_gone,
    reset,
    refused_connection,
    silence,
    stop,
    smaller_pdu,
};
inline constexpr std::size_t fault_kind_count = 15;

/// One line of a script: which fault, when, and how often. Members a kind does not use are
/// ignored; `fault_description::uses` tells.
struct scripted_fault {
    fault_kind kind = fault_kind::dropped_reply;
    transport::duration start{0};   ///< since the script began
    transport::duration length{0};  ///< how long it is on; 0: for ever
    transport::duration period{0};  ///< over 0, and not under `length`: on again each period
    /// Of the reads and writes that arrive while it is on, each `every`th is hit: 1 or more.
    std::uint32_t every = 1;
    std::uint16_t code = 0;   ///< of an item, or class and code of a job
    std::uint16_t block = 0;  ///< the data block that is gone; 0: all
    transport::duration delay{0};
};

/// What a fault is called, and how it is when nothing else is said: often enough to be met within
/// seconds, seldom enough that values come through between.
struct fault_description {
    std::string_view name;   ///< as in files and on the command line: "dropped_reply" …
    std::string_view words;  ///< one line for `--help`
    scripted_fault usual;
};

/// Every fault there is, by `fault_kind`. Static storage.
std::span<const fault_description> fault_catalogue() noexcept;
/// Null when there is no fault of this name.
const fault_description* find_fault(std::string_view name) noexcept;

/// A script that runs. Where two of its faults meet one job, the first one in it that ends the
/// job counts; those that only spoil the answer add up.
class scripted_faults final : public fault_hook {
  public:
    /// @param script at most one `stop` counts, the first.
    /// @param begin what the times of the script count from.
    scripted_faults(std::span<const scripted_fault> script, transport::time_point begin);

    /// Jobs, connections, items or setups that a kind of fault has met.
    std::uint64_t hits(fault_kind kind) const noexcept {
        return hits_[static_cast<std::size_t>(kind)];
    }

    connection_fate accept_connection(transport::time_point now) override;
    job_fate judge(const s7_message& job, transport::time_point now) override;
    bool block_exists(std::uint16_t block, transport::time_point now) override;
    std::size_t pdu_limit(transport::time_point now) override;
    transport::duration time_in_stop(transport::time_point now) override;

  private:
    struct running_fault {
        scripted_fault fault;
        std::uint64_t jobs = 0;  // that arrived while it was on
        std::uint64_t hits = 0;
    };

    bool is_on(const scripted_fault& fault, transport::time_point now) const noexcept;
    const running_fault* first_on(fault_kind kind, transport::time_point now) const noexcept;
    bool meets(running_fault& one, const s7_message& job, transport::time_point now) noexcept;
    void hit(fault_kind kind) noexcept { ++hits_[static_cast<std::size_t>(kind)]; }

    std::vector<running_fault> script_;
    transport::time_point begin_;
    std::array<std::uint64_t, fault_kind_count> hits_{};
};

}  // namespace tagferry::s7
