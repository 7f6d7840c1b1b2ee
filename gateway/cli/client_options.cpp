#include "gateway/cli/client_options.hpp"

#include "gateway/config/tokens.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <cctype>
#include <cstdlib>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::string{} : std::string{value};
}

std::string first_of(const std::string& flag, const char* name) {
    return flag.empty() ? variable(name) : flag;
}

exit_code code_of(unsigned status) {
    switch (status) {
        case 401:
        case 403:
            return exit_code::no_permission;
        case 400:
        case 404:
        case 409:
        case 413:
        case 414:
        case 422:
            return exit_code::bad_data;
        case 429:
        case 503:
        case 504:
            return exit_code::temporary;
        default:
            return exit_code::failure;
    }
}

}  // namespace

void add_client_options(CLI::App& command, client_options& options) {
    command
        .add_option("--url", options.url,
                    "The gateway. Default: $TAGFERRY_URL, else http://127.0.0.1:8080")
        ->type_name("URL");
    command
        .add_option("--token-file", options.token_file,
                    "File with the token. Default: $TAGFERRY_TOKEN_FILE, $TAGFERRY_TOKEN")
        ->type_name("FILE");
    command.add_flag("--json", options.json, "Print JSON");
}

void add_direct_options(CLI::App& command, client_options& options) {
    command
        .add_option("--direct", options.direct.host,
                    "Ask this PLC, without a gateway; tags are ADDRESS:TYPE")
        ->type_name("HOST[:PORT]");
    command.add_option("--rack", options.direct.rack, "Of the PLC's CPU, with --direct")
        ->capture_default_str()
        ->type_name("N")
        ->check(CLI::Range(0, 7));
    command.add_option("--slot", options.direct.slot, "Of the PLC's CPU; an S7-300 has it in 2")
        ->capture_default_str()
        ->type_name("N")
        ->check(CLI::Range(0, 31));
}

gateway_address gateway_of(const client_options& options) {
    const std::string url = first_of(options.url, "TAGFERRY_URL");
    gateway_address made = gateway_address_of(url.empty() ? "http://127.0.0.1:8080" : url);
    const std::string file = first_of(options.token_file, "TAGFERRY_TOKEN_FILE");
    if (file.empty()) {
        made.token = variable("TAGFERRY_TOKEN");
        return made;
    }
    config::token_text read = config::read_token_file(file);
    if (!read.fault.empty()) {
        throw client_fault(exit_code::no_permission, "the token file " + file + " " + read.fault);
    }
    made.token = std::move(read.token);
    return made;
}

client_fault fault_of(const http_answer& answer) {
    std::string words;
    const auto problem = nlohmann::json::parse(answer.body, nullptr, false);
    if (problem.is_object()) {
        words = problem.value("detail", problem.value("title", std::string{}));
        const std::string subject = problem.value("subject", std::string{});
        if (!subject.empty()) {
            words = subject + ": " + words;
        }
        const std::string hint = problem.value("hint", std::string{});
        if (!hint.empty()) {
            words += (words.ends_with('.') ? " " : ". ") + hint;
        }
    }
    if (words.empty()) {
        words = "the gateway answered HTTP " + std::to_string(answer.status);
    }
    return {code_of(answer.status), words};
}

void run_client(command_context& context, const std::function<void()>& work) {
    try {
        work();
    } catch (const client_fault& fault) {
        context.out.flush();
        context.err << "tagferry: " << fault.what() << "\n";
        context.result = fault.code();
    } catch (const nlohmann::json::exception&) {
        context.err << "tagferry: the answer is not what a Tagferry gateway would say; is --url "
                       "right?\n";
        context.result = exit_code::unavailable;
    }
}

std::string url_encoded(std::string_view text, bool keep_slashes) {
    constexpr std::string_view digits = "0123456789ABCDEF";
    std::string made;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool plain = byte < 0x80 && (std::isalnum(byte) != 0 || letter == '-' ||
                                           letter == '_' || letter == '.' || letter == '~');
        if (plain || (letter == '/' && keep_slashes)) {
            made += letter;
        } else {
            made += '%';
            made += digits[byte >> 4U];
            made += digits[byte & 15U];
        }
    }
    return made;
}

}  // namespace tagferry::gateway::cli
