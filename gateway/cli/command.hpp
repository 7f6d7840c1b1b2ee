// What a command is: one file with one registration function, listed in commands.cpp.
#pragma once

#include "gateway/cli/exit_code.hpp"

#include <iosfwd>
#include <span>

namespace CLI {
class App;
}

namespace tagferry::gateway::cli {

/// What a command works with. Data goes to `out`, everything else to `err`.
struct command_context {
    std::ostream& out;
    std::ostream& err;
    /// How the command that ran has ended; set by its callback.
    exit_code result = exit_code::success;
};

/// Adds one subcommand to `root`: options, two examples in the footer, and a callback that does
/// the work and sets `context.result`. Both outlive the parsing; option values must live in the
/// callback (a shared_ptr), since the function returns before it runs.
using registration = void (*)(CLI::App& root, command_context& context);

/// Stands before a word in brackets, which the parser would take apart into several words: it is
/// put there before parsing and taken away by commands whose words may begin so.
inline constexpr char mark_of_brackets = '\x01';

/// The command table, in the order of `--help`.
std::span<const registration> all_commands() noexcept;

void register_check(CLI::App& root, command_context& context);
void register_completion(CLI::App& root, command_context& context);
void register_config(CLI::App& root, command_context& context);
void register_demo(CLI::App& root, command_context& context);
void register_healthcheck(CLI::App& root, command_context& context);
void register_read(CLI::App& root, command_context& context);
void register_run(CLI::App& root, command_context& context);
void register_sim(CLI::App& root, command_context& context);
void register_status(CLI::App& root, command_context& context);
void register_token(CLI::App& root, command_context& context);
void register_version(CLI::App& root, command_context& context);
void register_watch(CLI::App& root, command_context& context);
void register_write(CLI::App& root, command_context& context);

}  // namespace tagferry::gateway::cli
