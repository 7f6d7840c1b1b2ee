// How a command ends. The numbers are those of sysexits.h, which systemd and scripts know.
#pragma once

#include <span>
#include <string_view>

namespace tagferry::gateway::cli {

enum class exit_code : int {
    success = 0,
    failure = 1,             ///< failed while running
    usage = 64,              ///< the command line is wrong
    bad_data = 65,           ///< what was given to a command is wrong: a value, a tag, a file
    unavailable = 69,        ///< the gateway or PLC that was asked does not answer
    cannot_create = 73,      ///< a port, file or folder cannot be made
    outcome_unknown = 74,    ///< a write was sent and nobody knows what became of it
    temporary = 75,          ///< would work later: try again
    partly_written = 76,     ///< a write of several jobs stopped in between
    no_permission = 77,      ///< not allowed
    bad_configuration = 78,  ///< the configuration is invalid
};

struct exit_code_description {
    exit_code code;
    std::string_view words;
};

/// All codes with the words of the documentation, in ascending order. Static storage.
std::span<const exit_code_description> all_exit_codes() noexcept;

}  // namespace tagferry::gateway::cli
