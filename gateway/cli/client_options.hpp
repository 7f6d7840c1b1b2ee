// The flags by which a client command finds its gateway, and what its failures become.
#pragma once

#include "gateway/cli/command.hpp"
#include "gateway/cli/direct_gateway.hpp"
#include "gateway/cli/gateway_client.hpp"

#include <functional>
#include <string>

namespace tagferry::gateway::cli {

/// What the flags were given. Must outlive the parsing.
struct client_options {
    std::string url;
    std::string token_file;
    bool json = false;
    direct_options direct;
};

/// Adds `--url`, `--token-file` and `--json`.
void add_client_options(CLI::App& command, client_options& options);

/// Adds `--direct`, `--rack` and `--slot`.
void add_direct_options(CLI::App& command, client_options& options);

/// The gateway of the flags, else of TAGFERRY_URL, else http://127.0.0.1:8080; with the token of
/// the flag's file, else of TAGFERRY_TOKEN_FILE, else TAGFERRY_TOKEN. Throws client_fault.
gateway_address gateway_of(const client_options& options);

/// What an answer that is no success means for the command: the words of its problem+json, with
/// the hint, and the exit code that goes with its status.
client_fault fault_of(const http_answer& answer);

/// Calls `work`; a client_fault becomes a line on `err` and the command's result.
void run_client(command_context& context, const std::function<void()>& work);

/// Percent-encodes for a URL's path; slashes stay when `keep_slashes`, for a query they go too.
std::string url_encoded(std::string_view text, bool keep_slashes);

}  // namespace tagferry::gateway::cli
