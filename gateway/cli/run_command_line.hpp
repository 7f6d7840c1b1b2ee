// The command line as a whole.
#pragma once

#include <iosfwd>
#include <string_view>

namespace tagferry::gateway::cli {

/// Parses the arguments, runs the command and returns the process's exit code (exit_code.hpp).
/// An unknown command or flag is exit code 64 with a hint on `err`.
int run_command_line(int argument_count, const char* const* arguments, std::ostream& out,
                     std::ostream& err);

/// Whether this command serves until a signal comes, which must not be lost while it starts.
bool serves(std::string_view command) noexcept;

}  // namespace tagferry::gateway::cli
