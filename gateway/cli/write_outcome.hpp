// What became of a write, from REST's answer to words and an exit code.
#pragma once

#include "gateway/cli/gateway_client.hpp"

#include <string>
#include <string_view>

namespace tagferry::gateway::cli {

struct write_outcome_said {
    exit_code code = exit_code::success;
    std::string_view word;  ///< written, refused, not_sent, unknown or partly_written
    std::string detail;     ///< why; empty when written
    std::string hint;       ///< what to do; may be empty
};

/// Takes the outcome the answer states; where it states none, the HTTP status decides.
write_outcome_said outcome_of(const http_answer& answer);

/// One sentence for people. @param value as it was written.
std::string words_of(const write_outcome_said& said, const std::string& value);

}  // namespace tagferry::gateway::cli
