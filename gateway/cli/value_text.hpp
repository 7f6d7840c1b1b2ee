// Values between JSON, as REST has them, and text, as people have them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <string_view>

namespace tagferry::gateway::cli {

/// A value for people and for lines: texts as they are, arrays as `[1, 2, 3]`, no value as `-`.
std::string value_text(const nlohmann::json& value);

/// The JSON that REST wants for what was typed, by the tag's type as the configuration writes it.
///
/// BOOL: true, false, on, off, 1, 0. Whole numbers: decimal, `0x1F`, `16#1F` and `2#1010`, those
/// of 64 bits become JSON strings. REAL and LREAL: a number, NaN, Infinity, -Infinity. Texts: as
/// typed. Arrays: elements with commas between them, or a JSON array (texts that hold commas).
/// Whether a number fits is for the gateway to judge. Throws client_fault (bad_data) with what the
/// type takes.
nlohmann::json value_of_text(std::string_view text, std::string_view type);

}  // namespace tagferry::gateway::cli
