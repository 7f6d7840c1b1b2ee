#include "gateway/cli/command.hpp"

#include <array>

namespace tagferry::gateway::cli {

std::span<const registration> all_commands() noexcept {
    static constexpr std::array table = {
        &register_check,
        &register_config,
        &register_version,
    };
    return table;
}

}  // namespace tagferry::gateway::cli
