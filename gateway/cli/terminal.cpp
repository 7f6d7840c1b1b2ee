#include "gateway/cli/terminal.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>

namespace tagferry::gateway::cli {

namespace {

std::string_view sequence_of(colour how) {
    switch (how) {
        case colour::plain:
            return "";
        case colour::dim:
            return "\033[2m";
        case colour::bold:
            return "\033[1m";
        case colour::green:
            return "\033[32m";
        case colour::yellow:
            return "\033[33m";
        case colour::red:
            return "\033[31m";
    }
    return "";
}

bool colours_forbidden() {
    const char* const no_color = std::getenv("NO_COLOR");
    const char* const terminal = std::getenv("TERM");
    return (no_color != nullptr && *no_color != '\0') ||
           (terminal != nullptr && std::string_view{terminal} == "dumb");
}

}  // namespace

output_style style_of(const std::ostream& out) {
    output_style made;
    made.terminal = &out == &std::cout && isatty(STDOUT_FILENO) != 0;
    made.colour = made.terminal && !colours_forbidden();
    return made;
}

std::string painted(const output_style& style, colour how, std::string_view text) {
    const std::string_view sequence = sequence_of(how);
    if (!style.colour || sequence.empty()) {
        return std::string{text};
    }
    return std::string{sequence} + std::string{text} + "\033[0m";
}

colour colour_of_status(std::string_view status) {
    return status.starts_with("Good")        ? colour::green
           : status.starts_with("Uncertain") ? colour::yellow
                                             : colour::red;
}

std::size_t columns_of(std::string_view text) noexcept {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char letter) {
        return (static_cast<unsigned char>(letter) & 0xC0U) != 0x80U;
    }));
}

std::string printable(std::string_view text) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string made;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (letter == '\t') {
            made += "\\t";
        } else if (letter == '\n') {
            made += "\\n";
        } else if (byte < 0x20 || byte == 0x7F) {
            made += "\\x";
            made += digits[byte >> 4U];
            made += digits[byte & 15U];
        } else {
            made += letter;
        }
    }
    return made;
}

void print_table(std::ostream& out, const output_style& style, const std::vector<table_row>& rows) {
    std::vector<std::size_t> widths;
    for (const table_row& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) {
            widths[i] = std::max(widths[i], columns_of(row[i].text));
        }
    }
    for (const table_row& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            const colour how = &row == &rows.front() ? colour::bold : row[i].how;
            out << painted(style, how, row[i].text);
            if (i + 1 < row.size()) {
                out << std::string(widths[i] + 2 - columns_of(row[i].text), ' ');
            }
        }
        out << "\n";
    }
}

}  // namespace tagferry::gateway::cli
