#include "gateway/cli/command.hpp"

#include <array>

namespace tagferry::gateway::cli {

std::span<const registration> all_commands() noexcept {
    static constexpr std::array table = {
        &register_run,  &register_check, &register_config,
        &register_demo, &register_sim,   &register_version,
    };
    return table;
}

}  // namespace tagferry::gateway::cli
