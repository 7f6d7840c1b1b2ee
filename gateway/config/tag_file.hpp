// Side files with tags.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/config/location.hpp"

#include <cstdint>
#include <string>

namespace tagferry::gateway::config {

/// Appends the tags of a side file to the connection. What the file is, its content says: JSON
/// (a list of tag objects, or `{"tags": […]}`) when it begins with a bracket, else CSV.
///
/// CSV: UTF-8, the first line names the columns as the tag's fields are named, in any order; the
/// separator is the one of `,` `;` and tab that occurs in that line. RFC 4180 quotes; a cell ends
/// in its line. Empty cells take the default, empty lines are skipped.
/// @param source the number `found` gave the file.
void read_tag_file(std::string text, std::uint32_t source, connection& owner, diagnostics& found);

}  // namespace tagferry::gateway::config
