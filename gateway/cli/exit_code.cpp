#include "gateway/cli/exit_code.hpp"

#include <array>

namespace tagferry::gateway::cli {

std::span<const exit_code_description> all_exit_codes() noexcept {
    using enum exit_code;
    static constexpr std::array<exit_code_description, 11> all = {{
        {success, "done"},
        {failure, "failed while running"},
        {usage, "the command line is wrong"},
        {bad_data, "a value, a tag or a file that was given is wrong"},
        {unavailable, "the gateway or PLC that was asked does not answer"},
        {cannot_create, "a port, file or folder cannot be made"},
        {outcome_unknown, "a write was sent, and its outcome is unknown"},
        {temporary, "would work later: try again"},
        {partly_written, "a write was carried out in part"},
        {no_permission, "not allowed"},
        {bad_configuration, "the configuration is invalid"},
    }};
    return all;
}

}  // namespace tagferry::gateway::cli
