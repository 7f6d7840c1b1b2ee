// tagferry write: values to devices, each with what became of it.
#include "gateway/cli/client_options.hpp"
#include "gateway/cli/client_session.hpp"
#include "gateway/cli/command.hpp"
#include "gateway/cli/terminal.hpp"
#include "gateway/cli/value_rows.hpp"
#include "gateway/cli/value_text.hpp"
#include "gateway/cli/write_outcome.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <iostream>
#include <iterator>
#include <memory>
#include <ostream>

namespace tagferry::gateway::cli {

namespace {

struct options {
    client_options client;
    std::vector<std::string> words;  ///< tag, value, tag, value …
};

/// `-` is all of standard input, without the line end it ends with.
std::string text_of(const std::string& word) {
    if (word != "-") {
        return word.starts_with(mark_of_brackets) ? word.substr(1) : word;
    }
    std::string text{std::istreambuf_iterator<char>{std::cin}, {}};
    if (text.ends_with('\n')) {
        text.pop_back();
    }
    return text;
}

std::string type_of(gateway_client& client, const std::string& tag) {
    const http_answer answer = client.request("GET", "/api/v1/tags/" + url_encoded(tag, true));
    if (answer.status == 404) {
        throw client_fault(exit_code::bad_data, "there is no tag \"" + printable(tag) +
                                                    "\"; `tagferry read '**'` shows all");
    }
    if (answer.status != 200) {
        throw fault_of(answer);
    }
    return nlohmann::json::parse(answer.body).at("type").get<std::string>();
}

void print(const std::string& tag, const nlohmann::json& value, const write_outcome_said& said,
           bool json, command_context& context) {
    if (json) {
        const nlohmann::ordered_json row = {{"path", tag},
                                            {"value", value},
                                            {"outcome", said.word},
                                            {"detail", said.detail},
                                            {"hint", said.hint}};
        context.out << row.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
        return;
    }
    const std::string line = printable(tag) + ": " + words_of(said, value_text(value));
    if (said.code == exit_code::success) {
        context.out << line << "\n";
    } else {
        context.err << line << "\n";
    }
}

void run(const options& given, command_context& context) {
    if (given.words.size() % 2 != 0) {
        context.err << "tagferry: no value for \"" << printable(given.words.back())
                    << "\": write takes pairs of TAG and VALUE\n";
        context.result = exit_code::usage;
        return;
    }
    run_client(context, [&] {
        std::vector<std::string> tags;
        for (std::size_t i = 0; i < given.words.size(); i += 2) {
            tags.push_back(given.words[i]);
        }
        client_session session(given.client, tags);
        gateway_client& client = session.client();
        // All values are understood before the first one is sent.
        std::vector<nlohmann::json> values;
        for (std::size_t i = 0; i < tags.size(); ++i) {
            values.push_back(
                value_of_text(text_of(given.words[2 * i + 1]), type_of(client, session.tags()[i])));
        }
        for (std::size_t i = 0; i < values.size(); ++i) {
            const nlohmann::json body = {{"value", values[i]}};
            const std::string path = url_encoded(session.tags()[i], true);
            const write_outcome_said said =
                outcome_of(client.request("PUT", "/api/v1/values/" + path, body.dump()));
            print(tags[i], values[i], said, given.client.json, context);
            if (said.code != exit_code::success && context.result == exit_code::success) {
                context.result = said.code;
            }
        }
    });
}

}  // namespace

void register_write(CLI::App& root, command_context& context) {
    auto given = std::make_shared<options>();
    CLI::App* command = root.add_subcommand("write", "Writes values to tags");
    command
        ->add_option("tag value", given->words,
                     "A path and a value, any number of times; the value - is standard input")
        ->type_name("")
        ->required();
    add_client_options(*command, given->client);
    add_direct_options(*command, given->client);
    command->footer(
        "\nValues go by the tag's type: true, -12, 16#1F, 3.5, a text, 1,2,3 or [1,2,3]. Needs a\n"
        "token of an operator (`tagferry token`). Exit codes, of the first that was not written:\n"
        "   1  the PLC refused it              75  not sent: safe to try again\n"
        "  65  it does not fit the tag         76  written in part\n"
        "  74  sent, outcome unknown           77  not allowed, or the tag is read-only\n"
        "\nExamples:\n"
        "  tagferry write press/recipe/setpoint 950 --token-file ~/operator.token\n"
        "  tagferry write press/recipe/name Flansch press/recipe/profile 1,2,3,4,5,6,7,8,9,10\n");
    command->callback([given, &context] { run(*given, context); });
}

}  // namespace tagferry::gateway::cli
