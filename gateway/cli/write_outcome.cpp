#include "gateway/cli/write_outcome.hpp"

#include <nlohmann/json.hpp>

namespace tagferry::gateway::cli {

namespace {

using nlohmann::json;

std::string text_at(const json& answer, const char* key) {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_string() ? found->get<std::string>() : std::string{};
}

/// The words of `web::write_ending` and of this command, or by the status of HTTP.
std::string_view word_of(const std::string& outcome, unsigned status) {
    if (outcome == "not_sent") {
        return "not_sent";
    }
    if (outcome == "unknown") {
        return "unknown";
    }
    if (outcome == "partial" || outcome == "partly_written") {
        return "partly_written";
    }
    if (status / 100 == 2) {
        return "written";
    }
    if (!outcome.empty()) {
        return "refused";
    }
    return status == 503 ? "not_sent" : status == 504 ? "unknown" : "refused";
}

exit_code code_of(std::string_view word, const std::string& outcome, unsigned status) {
    if (word == "written") {
        return exit_code::success;
    }
    if (word == "not_sent") {
        return exit_code::temporary;
    }
    if (word == "unknown") {
        return exit_code::outcome_unknown;
    }
    if (word == "partly_written") {
        return exit_code::partly_written;
    }
    // 409 is a tag that is read-only.
    if (status == 401 || status == 403 || status == 409) {
        return exit_code::no_permission;
    }
    const bool by_the_device = outcome == "answered" || status / 100 == 5;
    return by_the_device ? exit_code::failure : exit_code::bad_data;
}

}  // namespace

write_outcome_said outcome_of(const http_answer& answer) {
    const json said = json::parse(answer.body, nullptr, false);
    const json object = said.is_object() ? said : json::object();
    const std::string outcome = text_at(object, "outcome");
    write_outcome_said made;
    made.word = word_of(outcome, answer.status);
    made.code = code_of(made.word, outcome, answer.status);
    if (made.code == exit_code::success) {
        return made;
    }
    made.detail = text_at(object, "detail");
    if (made.detail.empty()) {
        made.detail = text_at(object, "reason");
    }
    if (made.detail.empty()) {
        made.detail = "the gateway answered HTTP " + std::to_string(answer.status);
    }
    made.hint = text_at(object, "hint");
    return made;
}

std::string words_of(const write_outcome_said& said, const std::string& value) {
    std::string words = said.word == "written"    ? "written: " + value
                        : said.word == "refused"  ? "refused, nothing was changed: "
                        : said.word == "not_sent" ? "not sent, nothing was changed: "
                        : said.word == "unknown"  ? "sent, and nobody knows what became of it: "
                                                  : "written in part: ";
    words += said.detail;
    if (!said.hint.empty()) {
        words += (words.ends_with('.') ? " " : ". ") + said.hint;
    }
    if (said.word == "unknown") {
        words += (words.ends_with('.') ? " " : ". ");
        words += "Read the tag before writing again";
    }
    return words;
}

}  // namespace tagferry::gateway::cli
