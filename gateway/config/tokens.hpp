// The tokens of `web.tokens`: from digests and files to what is compared.
#pragma once

#include "gateway/config/configuration.hpp"
#include "gateway/config/location.hpp"

#include <string>
#include <string_view>

namespace tagferry::gateway::config {

/// Fills the digest of each token and reports what is wrong with them: neither or both of
/// `sha256` and `token_file`, no digest, files that cannot be read or hold no token, names or
/// tokens given twice, more than `limits.web_tokens`. Warns of a file everyone may read.
/// @param folder token files are relative to it.
void read_tokens(configuration& value, std::string_view folder, diagnostics& found);

/// The first line of a file that holds a token, without the white space around it.
struct token_text {
    std::string token;     ///< empty: none
    std::string fault;     ///< why not, in words
    bool is_open = false;  ///< everyone on this machine may read the file
};
token_text read_token_file(const std::string& file);

}  // namespace tagferry::gateway::config
