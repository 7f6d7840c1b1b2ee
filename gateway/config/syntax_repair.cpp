#include "gateway/config/syntax_repair.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace tagferry::gateway::config {

namespace {

bool is_space(char character) noexcept {
    return character == ' ' || character == '\t' || character == '\n' || character == '\r';
}

bool is_line_end(char character) noexcept {
    return character == '\n' || character == '\r';
}

bool is_word(char character) noexcept {
    const auto byte = static_cast<unsigned char>(character);
    return std::isalnum(byte) != 0 || character == '_' || character == '-' || character == '.' ||
           character == '+' || byte >= 0x80;
}

// Past a comment that begins at `offset`, or `offset` when none begins there or it has no end.
std::size_t past_comment(std::string_view text, std::size_t offset) noexcept {
    if (text.substr(offset, 2) == "//") {
        const std::size_t end = text.find_first_of("\r\n", offset);
        return end == std::string_view::npos ? text.size() : end;
    }
    if (text.substr(offset, 2) == "/*") {
        const std::size_t end = text.find("*/", offset + 2);
        return end == std::string_view::npos ? offset : end + 2;
    }
    return offset;
}

// Past the closing quote; without one the line's end.
std::size_t past_string(std::string_view text, std::size_t offset) noexcept {
    for (std::size_t walk = offset + 1; walk < text.size(); ++walk) {
        if (text[walk] == '\\') {
            ++walk;
        } else if (text[walk] == '"') {
            return walk + 1;
        } else if (is_line_end(text[walk])) {
            return walk;
        }
    }
    return text.size();
}

std::size_t past_digits(const source_text& text, std::size_t offset) noexcept {
    while (text.at(offset) >= '0' && text.at(offset) <= '9') {
        ++offset;
    }
    return offset;
}

// Past a number the parser has accepted (RFC 8259 §6): it ends a number where the grammar does.
std::size_t past_number(const source_text& text, std::size_t offset) noexcept {
    offset += text.at(offset) == '-' ? 1U : 0U;
    offset = text.at(offset) == '0' ? offset + 1 : past_digits(text, offset);
    if (text.at(offset) == '.') {
        offset = past_digits(text, offset + 1);
    }
    if (text.at(offset) == 'e' || text.at(offset) == 'E') {
        const char sign = text.at(offset + 1);
        offset = past_digits(text, offset + (sign == '+' || sign == '-' ? 2U : 1U));
    }
    return offset;
}

std::size_t past_word(const source_text& text, std::size_t offset) noexcept {
    while (offset < text.size() && is_word(text.at(offset))) {
        ++offset;
    }
    return offset;
}

// The code unit of the `\\uXXXX` at `offset`, or -1.
int unicode_escape(std::string_view text, std::size_t offset) noexcept {
    if (offset + 6 > text.size() || text.substr(offset, 2) != "\\u") {
        return -1;
    }
    int unit = 0;
    for (std::size_t index = offset + 2; index < offset + 6; ++index) {
        const auto digit = static_cast<unsigned char>(text[index]);
        if (std::isxdigit(digit) == 0) {
            return -1;
        }
        unit = unit * 16 + (std::isdigit(digit) != 0 ? digit - '0' : (digit | 0x20) - 'a' + 10);
    }
    return unit;
}

// Length of the valid escape (or surrogate pair of escapes) at `offset`, 0 when it is none.
std::size_t escape_length(std::string_view text, std::size_t offset) noexcept {
    const int unit = unicode_escape(text, offset);
    if (unit >= 0xD800 && unit <= 0xDBFF) {
        const int low = unicode_escape(text, offset + 6);
        return low >= 0xDC00 && low <= 0xDFFF ? 12 : 0;
    }
    if (unit >= 0) {
        return unit >= 0xDC00 && unit <= 0xDFFF ? 0 : 6;
    }
    const bool known = offset + 1 < text.size() && std::string_view{"\"\\/bfnrt"}.find(
                                                       text[offset + 1]) != std::string_view::npos;
    return known ? 2 : 0;
}

// One attempt at one error: says what is wrong and changes the text so that the parser gets past.
class repairer {
  public:
    repairer(source_text& text, const parse_position& position, diagnostics& found)
        : text_(text), position_(position), found_(found) {}

    bool run();

  private:
    bool in_object() const noexcept {
        return !position_.open.empty() && position_.open.back().object;
    }
    bool at_end(std::size_t offset) const noexcept { return offset >= text_.size(); }
    std::size_t skip(std::size_t offset) const noexcept {
        return skip_filler(text_, offset, false);
    }
    void say(std::size_t offset, std::string text, std::string hint = {}) {
        found_.error(text_.location_of(offset), std::move(text), std::move(hint));
    }

    bool after_opening(std::size_t place);
    bool after_key(std::size_t place);
    bool after_value(std::size_t place);
    bool after_comma(std::size_t comma);
    bool after_document(std::size_t place);
    bool value(std::size_t place);
    bool key(std::size_t place);
    bool string(std::size_t place);
    bool escape(std::size_t place, std::size_t string_begin);
    bool unclosed_string(std::size_t place, std::size_t line_end);
    bool number(std::size_t place);
    bool word(std::size_t place);
    bool single_quotes(std::size_t place);
    bool comment(std::size_t place);
    bool missing_value(std::size_t place);
    bool wrong_closing(std::size_t place);
    bool unclosed();
    bool stray_text(std::size_t place);
    bool unexpected(std::size_t place);

    source_text& text_;
    const parse_position& position_;
    diagnostics& found_;
};

bool repairer::run() {
    const std::size_t place = skip(position_.token_end);
    const char first = text_.at(place);
    if (!at_end(place) && (first == '/' || first == '#')) {
        return comment(place);
    }
    switch (position_.last) {
        case last_understood::opening:
            return after_opening(place);
        case last_understood::key:
            return after_key(place);
        case last_understood::value:
            return position_.open.empty() ? after_document(place) : after_value(place);
        case last_understood::nothing:
            break;
    }
    if (at_end(place)) {
        say(0, "the file is empty", "the smallest configuration is {}");
        return false;
    }
    return value(place);
}

bool repairer::after_opening(std::size_t place) {
    const char first = text_.at(place);
    if (at_end(place)) {
        return unclosed();
    }
    if (first == ',') {
        say(place, "a value is missing before ','", "remove the comma");
        text_.blank(place, place + 1);
        return true;
    }
    if (first == '}' || first == ']') {
        return wrong_closing(place);
    }
    return in_object() ? key(place) : value(place);
}

bool repairer::after_key(std::size_t place) {
    const char first = text_.at(place);
    if (first == ':') {
        const std::size_t after = skip(place + 1);
        const char found = text_.at(after);
        if (!at_end(after) && (found == '/' || found == '#')) {
            return comment(after);
        }
        if (found == ':') {
            say(after, "unexpected ':'");
            text_.blank(after, after + 1);
            return true;
        }
        const bool missing = at_end(after) || found == ',' || found == '}' || found == ']';
        return missing ? missing_value(place + 1) : value(after);
    }
    if (first == '=') {
        say(place, "':' is expected after a key, not '='");
        text_.overwrite(place, ':');
        return true;
    }
    if (at_end(place) || first == ',' || first == '}' || first == ']') {
        say(position_.token_end, "':' and a value are missing after the key");
        text_.insert(position_.token_end, ':');
        text_.insert(position_.token_end + 1, '0');
        text_.poison(position_.token_end + 1);
        return true;
    }
    if (place == position_.token_end) {
        return stray_text(place);
    }
    say(position_.token_end, "':' is missing after the key");
    text_.insert(position_.token_end, ':');
    return true;
}

bool repairer::after_value(std::size_t place) {
    const char first = text_.at(place);
    if (at_end(place)) {
        return unclosed();
    }
    if (first == ',') {
        return after_comma(place);
    }
    if (first == '}' || first == ']') {
        return wrong_closing(place);
    }
    if (first == ';') {
        say(place, "',' is expected between values, not ';'");
        text_.overwrite(place, ',');
        return true;
    }
    const bool next_begins =
        first == '"' || first == '\'' || first == '{' || first == '[' || is_word(first);
    if (next_begins && place > position_.token_end) {
        say(position_.token_end, "',' is missing after the value", "add a comma here");
        text_.insert(position_.token_end, ',');
        return true;
    }
    if (first == '"' || first == '{' || first == '[') {
        say(place, "',' is missing before this");
        text_.insert(place, ',');
        return true;
    }
    if (!is_word(first)) {
        return unexpected(place);
    }
    // A number or constant ends where the grammar says: `007` and `10 ms` without the space get
    // here as a value with something behind it.
    const char begin = text_.at(position_.token_begin);
    if (begin == '-' || (begin >= '0' && begin <= '9')) {
        return number(position_.token_begin);
    }
    return begin == '"' || begin == '}' || begin == ']' ? stray_text(place)
                                                        : word(position_.token_begin);
}

bool repairer::after_comma(std::size_t comma) {
    const std::size_t place = skip(comma + 1);
    const char first = text_.at(place);
    if (!at_end(place) && (first == '/' || first == '#')) {
        return comment(place);
    }
    if (at_end(place)) {
        text_.blank(comma, comma + 1);
        return unclosed();
    }
    const bool closes = first == (in_object() ? '}' : ']');
    if (closes || first == ',') {
        say(comma, closes ? "a comma after the last element" : "two commas in a row", "remove it");
        text_.blank(comma, comma + 1);
        return true;
    }
    if (first == '}' || first == ']') {
        return wrong_closing(place);
    }
    return in_object() ? key(place) : value(place);
}

bool repairer::after_document(std::size_t place) {
    say(place, "text after the end of the configuration",
        "is there a closing bracket too many before it?");
    text_.truncate(position_.token_end);
    return true;
}

bool repairer::value(std::size_t place) {
    const char first = text_.at(place);
    if (first == '"') {
        return string(place);
    }
    if (first == '\'') {
        return single_quotes(place);
    }
    const bool numeric =
        (first >= '0' && first <= '9') || first == '-' || first == '+' || first == '.';
    if (numeric) {
        return number(place);
    }
    if (is_word(first) && utf8_character_length(text_.text(), place) != 0) {
        return word(place);
    }
    if (first == '}' || first == ']') {
        return wrong_closing(place);
    }
    return unexpected(place);
}

bool repairer::key(std::size_t place) {
    const char first = text_.at(place);
    if (first == '"') {
        return string(place);
    }
    if (first == '\'') {
        return single_quotes(place);
    }
    const std::size_t end = past_word(text_, place);
    if (end == place || utf8_character_length(text_.text(), place) == 0) {
        return unexpected(place);
    }
    say(place, "a key needs double quotes",
        "write \"" + std::string{text_.text().substr(place, end - place)} + "\"");
    text_.insert(end, '"');
    text_.insert(place, '"');
    return true;
}

bool repairer::string(std::size_t place) {
    for (std::size_t walk = place + 1; walk < text_.size();) {
        const char now = text_.at(walk);
        if (now == '"') {
            break;
        }
        if (is_line_end(now)) {
            return unclosed_string(place, walk);
        }
        if (now == '\\') {
            const std::size_t length = escape_length(text_.text(), walk);
            if (length == 0) {
                return escape(walk, place);
            }
            walk += length;
            continue;
        }
        const std::size_t length = utf8_character_length(text_.text(), walk);
        if (length == 0 || static_cast<unsigned char>(now) < 0x20) {
            say(walk, length == 0 ? "not UTF-8 text" : "a control character in a text",
                length == 0 ? "save the file as UTF-8" : "write tabs as \\t");
            text_.overwrite(walk, '?');
            text_.poison(place);
            return true;
        }
        walk += length;
    }
    return unclosed_string(place, text_.size());
}

bool repairer::escape(std::size_t place, std::size_t string_begin) {
    if (text_.at(place + 1) == 'u') {
        say(place, "a \\u escape that is no character",
            "four hexadecimal digits follow \\u; UTF-8 text needs no escapes");
    } else {
        say(place, "an unknown escape in a text", "a backslash is written as \\\\");
    }
    text_.overwrite(place, '?');
    text_.poison(string_begin);
    return true;
}

bool repairer::unclosed_string(std::size_t place, std::size_t line_end) {
    say(place, "the text has no closing quote", "close it with \" in the same line");
    std::size_t end = line_end;
    while (end > place + 1 && is_space(text_.at(end - 1))) {
        --end;
    }
    if (end > place + 1 && text_.at(end - 1) == ',') {
        --end;
    }
    text_.insert(end, '"');
    text_.poison(place);
    return true;
}

bool repairer::number(std::size_t place) {
    const std::size_t end = past_word(text_, place);
    const std::string written{text_.text().substr(place, end - place)};
    std::string hint = "write a decimal number";
    if (written.starts_with("0x") || written.starts_with("0X")) {
        hint = "hexadecimal numbers are not known here, write it decimal";
    } else if (written.size() > 1 && written.front() == '0') {
        hint = "a number has no leading zeros";
    } else if (written.find_first_not_of("+-.0123456789eE") != std::string::npos) {
        hint = "a text needs double quotes, a number no unit";
    }
    say(place, "\"" + written + "\" is no number", hint);
    text_.blank(place, end);
    text_.overwrite(place, '0');
    text_.poison(place);
    return true;
}

bool repairer::word(std::size_t place) {
    const std::size_t end = past_word(text_, place);
    const std::string written{text_.text().substr(place, end - place)};
    std::string lower = written;
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    const bool constant = lower == "true" || lower == "false" || lower == "null";
    say(place, "\"" + written + "\" is no value",
        constant ? "write " + lower : "a text needs double quotes: \"" + written + "\"");
    text_.insert(end, '"');
    text_.insert(place, '"');
    text_.poison(place);
    return true;
}

bool repairer::single_quotes(std::size_t place) {
    say(place, "a text in single quotes", "use double quotes");
    text_.overwrite(place, '"');
    for (std::size_t walk = place + 1; walk < text_.size() && !is_line_end(text_.at(walk));
         ++walk) {
        if (text_.at(walk) == '\'') {
            text_.overwrite(walk, '"');
            break;
        }
    }
    return true;
}

bool repairer::comment(std::size_t place) {
    if (text_.at(place) == '/' && text_.at(place + 1) == '*') {
        say(place, "the comment has no end", "close it with */");
    } else {
        say(place, "a comment begins with //");
    }
    const std::size_t end = text_.text().find_first_of("\r\n", place);
    text_.blank(place, end == std::string_view::npos ? text_.size() : end);
    return true;
}

bool repairer::missing_value(std::size_t place) {
    say(place, "the value is missing after ':'");
    text_.insert(place, '0');
    text_.poison(place);
    return true;
}

bool repairer::wrong_closing(std::size_t place) {
    const char closing = text_.at(place);
    const bool closes_outer =
        std::any_of(position_.open.begin(), position_.open.end(),
                    [&](const open_container& open) { return open.object == (closing == '}'); });
    const char expected = in_object() ? '}' : ']';
    if (!closes_outer) {
        say(place, std::string{"unexpected '"} + closing + "'", "nothing is open that it closes");
        text_.blank(place, place + 1);
        return true;
    }
    const location opened = text_.location_of(position_.open.back().offset);
    say(place, std::string{"'"} + expected + "' is expected here, not '" + closing + "'",
        std::string{"it closes the '"} + (in_object() ? '{' : '[') + "' of line " +
            std::to_string(opened.line));
    if (position_.last == last_understood::value && text_.at(skip(position_.token_end)) == ',') {
        const std::size_t comma = skip(position_.token_end);
        text_.blank(comma, comma + 1);
    }
    text_.insert(place, expected);
    return true;
}

bool repairer::unclosed() {
    const open_container& open = position_.open.back();
    say(open.offset, std::string{"'"} + (open.object ? '{' : '[') + "' is never closed",
        std::string{"the file ends before its '"} + (open.object ? '}' : ']') + "'");
    std::string closing;
    for (auto walk = position_.open.rbegin(); walk != position_.open.rend(); ++walk) {
        closing += walk->object ? '}' : ']';
    }
    const bool in_comment = text_.text().rfind("//") != std::string_view::npos;
    text_.insert(text_.size(), in_comment ? '\n' : ' ');
    for (const char character : closing) {
        text_.insert(text_.size(), character);
    }
    return true;
}

bool repairer::stray_text(std::size_t place) {
    say(place, "unexpected text directly behind a text or number",
        "is a quote missing in this line?");
    std::size_t end = text_.text().find_first_of("\r\n", place);
    end = end == std::string_view::npos ? text_.size() : end;
    while (end > place && is_space(text_.at(end - 1))) {
        --end;
    }
    if (end > place && text_.at(end - 1) == ',') {
        --end;
    }
    text_.blank(place, end);
    text_.poison(position_.token_begin);
    if (position_.last == last_understood::key) {
        text_.insert(position_.token_end, ':');
        text_.insert(position_.token_end + 1, '0');
        text_.poison(position_.token_end + 1);
    }
    return true;
}

bool repairer::unexpected(std::size_t place) {
    const std::size_t length = utf8_character_length(text_.text(), place);
    if (length == 0) {
        say(place, "not UTF-8 text", "save the file as UTF-8");
    } else if (static_cast<unsigned char>(text_.at(place)) < 0x20) {
        say(place, "unexpected control character");
    } else {
        say(place, "unexpected '" + std::string{text_.text().substr(place, length)} + "'");
    }
    text_.blank(place, place + std::max<std::size_t>(length, 1));
    return true;
}

}  // namespace

std::size_t skip_filler(const source_text& text, std::size_t offset, bool separators) noexcept {
    while (offset < text.size()) {
        const char now = text.at(offset);
        if (is_space(now) || (separators && (now == ',' || now == ':'))) {
            ++offset;
            continue;
        }
        const std::size_t past = past_comment(text.text(), offset);
        if (past == offset) {
            break;
        }
        offset = past;
    }
    return offset;
}

std::size_t token_end(const source_text& text, std::size_t offset) noexcept {
    switch (text.at(offset)) {
        case '"':
            return past_string(text.text(), offset);
        case 't':
        case 'n':
            return offset + 4;
        case 'f':
            return offset + 5;
        case '{':
        case '[':
        case '}':
        case ']':
            return offset + 1;
        default:
            return past_number(text, offset);
    }
}

bool repair(source_text& text, const parse_position& position, diagnostics& found) {
    return repairer{text, position, found}.run();
}

}  // namespace tagferry::gateway::config
