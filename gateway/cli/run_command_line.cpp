#include "gateway/cli/run_command_line.hpp"

#include "gateway/cli/command.hpp"
#include "gateway/config/suggestion.hpp"

#include <CLI/CLI.hpp>

#include <exception>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway::cli {

namespace {

const CLI::App& chosen_command(const CLI::App& root) {
    const CLI::App* chosen = &root;
    while (!chosen->get_subcommands().empty()) {
        chosen = chosen->get_subcommands().front();
    }
    return *chosen;
}

// Everything that could have stood in the place of an argument nobody knows.
std::vector<std::string> possible_words(const CLI::App& command, bool flag) {
    std::vector<std::string> words;
    if (!flag) {
        for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; })) {
            words.push_back(each->get_name());
        }
        return words;
    }
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            words.push_back("--" + name);
        }
    }
    return words;
}

std::string hint_for(const CLI::App& command, const std::string& argument) {
    const bool flag = argument.starts_with('-');
    const std::string bare = argument.substr(0, argument.find('='));
    const std::vector<std::string> words = possible_words(command, flag);
    const std::vector<std::string_view> views{words.begin(), words.end()};
    return config::suggestion(bare, views);
}

int report_usage(const CLI::App& root, const CLI::ParseError& fault, std::ostream& err) {
    const CLI::App& command = chosen_command(root);
    const std::vector<std::string> unknown = root.remaining(true);
    std::string text = fault.what();
    std::string hint;
    if (!unknown.empty()) {
        text = "unknown " + std::string{unknown.front().starts_with('-') ? "flag" : "command"} +
               " \"" + unknown.front() + "\"";
        hint = hint_for(command, unknown.front());
    }
    err << "tagferry: " << text;
    if (!hint.empty()) {
        err << " (" << hint << ")";
    }
    std::string path = command.get_name();
    for (const CLI::App* parent = command.get_parent(); parent != nullptr;
         parent = parent->get_parent()) {
        path = parent->get_name() + " " + path;
    }
    err << "\nTry: " << path << " --help\n";
    return static_cast<int>(exit_code::usage);
}

std::string exit_codes_text() {
    std::string text = "Exit codes:\n";
    for (const exit_code_description& each : all_exit_codes()) {
        const std::string number = std::to_string(static_cast<int>(each.code));
        text +=
            std::string(4 - number.size(), ' ') + number + "  " + std::string{each.words} + "\n";
    }
    return text;
}

// As CLI11 takes them: the last one first. Only words of `write` may begin with a bracket.
std::vector<std::string> words_of(int argument_count, const char* const* arguments) {
    std::vector<std::string> words;
    for (int i = argument_count - 1; i > 0; --i) {
        words.emplace_back(arguments[i]);
        if (std::string_view(arguments[1]) == "write" && words.back().starts_with('[')) {
            words.back().insert(words.back().begin(), mark_of_brackets);
        }
    }
    return words;
}

}  // namespace

bool serves(std::string_view command) noexcept {
    return command == "run" || command == "demo" || command == "sim";
}

int run_command_line(int argument_count, const char* const* arguments, std::ostream& out,
                     std::ostream& err) {
    CLI::App root{"Reads Siemens S7 PLC tags and serves them over OPC UA, REST and metrics.",
                  "tagferry"};
    command_context context{out, err};
    root.require_subcommand(1);
    root.footer("\n" + exit_codes_text());
    for (const registration add : all_commands()) {
        add(root, context);
    }
    try {
        root.parse(words_of(argument_count, arguments));
    } catch (const CLI::Success& asked) {
        // --help of the root or a subcommand.
        root.exit(asked, out, err);
        return static_cast<int>(exit_code::success);
    } catch (const CLI::ParseError& fault) {
        return report_usage(root, fault, err);
    } catch (const std::exception& fault) {
        err << "tagferry: " << fault.what() << "\n";
        return static_cast<int>(exit_code::failure);
    }
    out.flush();
    return static_cast<int>(context.result);
}

}  // namespace tagferry::gateway::cli
