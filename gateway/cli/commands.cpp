#include "gateway/cli/command.hpp"

#include <array>

namespace tagferry::gateway::cli {

std::span<const registration> all_commands() noexcept {
    static constexpr std::array table = {
        &register_run,     &register_check, &register_demo,        &register_read,
        &register_write,   &register_watch, &register_status,      &register_token,
        &register_config,  &register_sim,   &register_healthcheck, &register_completion,
        &register_version,
    };
    return table;
}

}  // namespace tagferry::gateway::cli
