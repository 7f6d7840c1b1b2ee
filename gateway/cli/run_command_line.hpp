// The command line as a whole.
#pragma once

#include <iosfwd>

namespace tagferry::gateway::cli {

/// Parses the arguments, runs the command and returns the process's exit code (exit_code.hpp).
/// An unknown command or flag is exit code 64 with a hint on `err`.
int run_command_line(int argument_count, const char* const* arguments, std::ostream& out,
                     std::ostream& err);

}  // namespace tagferry::gateway::cli
