// tagferry completion: what a shell may complete, made from the commands themselves.
#include "gateway/cli/command.hpp"

#include <CLI/CLI.hpp>

#include <ostream>
#include <string>

namespace tagferry::gateway::cli {

namespace {

/// Every word that may follow a command: subcommands and flags.
std::string words_after(const CLI::App& command) {
    std::string words;
    for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; })) {
        words += each->get_name() + " ";
    }
    for (const CLI::Option* option : command.get_options()) {
        for (const std::string& name : option->get_lnames()) {
            words += "--" + name + " ";
        }
    }
    if (!words.empty()) {
        words.pop_back();
    }
    return words;
}

void print_cases(const CLI::App& command, const std::string& path, std::ostream& out) {
    out << "        '" << path << "') words='" << words_after(command) << "' ;;\n";
    for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; })) {
        print_cases(*each, path + " " + each->get_name(), out);
    }
}

void print_bash(const CLI::App& root, std::ostream& out) {
    out << "# bash completion of tagferry: source it, or save it as\n"
           "# /usr/share/bash-completion/completions/tagferry\n"
           "_tagferry() {\n"
           "    local current=${COMP_WORDS[COMP_CWORD]} command=tagferry words= word i\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        word=${COMP_WORDS[i]}\n"
           "        case $word in\n"
           "            -c|--config|--token-file|--plc)\n"
           "                ((i + 1 == COMP_CWORD)) && { compopt -o default; COMPREPLY=(); return; "
           "}\n"
           "                ((i++)) ;;\n"
           "            -*) ;;\n"
           "            *) command+=\" $word\" ;;\n"
           "        esac\n"
           "    done\n"
           "    while :; do\n"
           "        case $command in\n";
    print_cases(root, root.get_name(), out);
    out << "        *) [[ $command == *' '* ]] && { command=${command% *}; continue; } ;;\n"
           "        esac\n"
           "        break\n"
           "    done\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
           "}\n"
           "complete -F _tagferry tagferry\n";
}

}  // namespace

void register_completion(CLI::App& root, command_context& context) {
    CLI::App* command =
        root.add_subcommand("completion", "Prints the completion script of a shell");
    command->require_subcommand(1);
    command->footer(
        "\nExamples:\n"
        "  source <(tagferry completion bash)\n"
        "  tagferry completion bash > /usr/share/bash-completion/completions/tagferry\n");
    CLI::App* bash = command->add_subcommand("bash", "For bash");
    bash->footer(
        "\nExamples:\n"
        "  source <(tagferry completion bash)\n"
        "  tagferry completion bash > /usr/share/bash-completion/completions/tagferry\n");
    bash->callback([&root, &context] { print_bash(root, context.out); });
}

}  // namespace tagferry::gateway::cli
