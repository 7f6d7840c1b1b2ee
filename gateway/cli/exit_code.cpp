#include "gateway/cli/exit_code.hpp"

#include <array>

namespace tagferry::gateway::cli {

std::span<const exit_code_description> all_exit_codes() noexcept {
    using enum exit_code;
    static constexpr std::array<exit_code_description, 9> all = {{
        {success, "done"},
        {failure, "failed while running"},
        {usage, "the command line is wrong"},
        {bad_data, "what was to be imported is wrong"},
        {unavailable, "the gateway or PLC that was asked does not answer"},
        {cannot_create, "a port, file or folder cannot be made"},
        {temporary, "would work later: try again"},
        {no_permission, "not allowed"},
        {bad_configuration, "the configuration is invalid"},
    }};
    return all;
}

}  // namespace tagferry::gateway::cli
