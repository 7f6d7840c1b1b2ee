// The way in: from files, environment and flags to a checked configuration, or to everything that
// is wrong with them, at once.
#pragma once

#include "gateway/config/address_checker.hpp"
#include "gateway/config/configuration.hpp"
#include "gateway/config/location.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tagferry::gateway::config {

/// A value that stands over the file's: `{"opcua.listen", "127.0.0.1:0"}`. Lists are separated by
/// commas.
using assignment = std::pair<std::string, std::string>;

struct load_options {
    /// The configuration file; empty: no file, only defaults and what stands over them.
    std::string file;
    /// Flags: `--set key=value`, and flags that are short for one. The last one of a key counts.
    std::vector<assignment> flags;
    /// `TAGFERRY_SECTION__KEY` variables of the process, e.g. from environment_of_process().
    std::vector<assignment> environment;
    /// Who judges addresses and types; the S7 source's checker when null.
    const address_checker* addresses = nullptr;
};

struct load_result {
    configuration value;  ///< meaningful only when `found.ok()`
    diagnostics found;    ///< sorted
};

/// Reads the file and its side files and checks everything. Precedence: flag, environment, file,
/// default. Never throws for what is wrong in the input. Reads files, so not for a shard.
load_result load(const load_options& options);

/// The same for a text that is already in memory. `name` is what locations call it; side files
/// are looked up in `folder`, and are errors when it is empty.
load_result load_text(std::string_view text, std::string_view name, std::string_view folder,
                      const load_options& options = {});

/// All variables of this process that begin with `TAGFERRY_`, as {name, value}.
std::vector<assignment> environment_of_process();

/// `{"$schema": …}`: the JSON Schema (2020-12) of the configuration file, indented, made from the
/// description. It describes strict JSON; comments are outside a schema's reach.
std::string json_schema();

/// REFERENCE.md, made from the description.
std::string reference_page();

}  // namespace tagferry::gateway::config
