// What the commands print for people, and whether people look at it.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway::cli {

/// How a stream is written to.
struct output_style {
    bool terminal = false;  ///< people read it: tables and words
    bool colour = false;    ///< escape sequences too; NO_COLOR and TERM=dumb forbid them
};
/// Standard output as this process has it; anything else is no terminal.
output_style style_of(const std::ostream& out);

enum class colour { plain, dim, bold, green, yellow, red };
/// The text in that colour where the style has any.
std::string painted(const output_style& style, colour how, std::string_view text);
/// Green, yellow or red for Good, Uncertain or Bad.
colour colour_of_status(std::string_view status);

/// Characters of a UTF-8 text, each counted as one column.
std::size_t columns_of(std::string_view text) noexcept;

/// Printable text: control characters become escapes, so that no value moves the cursor.
std::string printable(std::string_view text);

/// A cell and how it is painted.
struct cell {
    std::string text;
    colour how = colour::plain;
};
using table_row = std::vector<cell>;
/// Columns as wide as their widest cell, two blanks between; the first row is the heading.
void print_table(std::ostream& out, const output_style& style, const std::vector<table_row>& rows);

}  // namespace tagferry::gateway::cli
