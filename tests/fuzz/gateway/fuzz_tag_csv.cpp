// A side file of tags, CSV or JSON by its content.
#include "gateway/config/tag_file.hpp"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace config = tagferry::gateway::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    config::connection owner;
    config::diagnostics found;
    const std::uint32_t source = found.add_source("f");
    config::read_tag_file({reinterpret_cast<const char*>(data), size}, source, owner, found);
    found.sort();
    for (const auto& finding : found.findings()) {
        if (finding.where.line == 0 || found.render(finding).empty()) {
            std::abort();
        }
    }
    for (const auto& tag : owner.tags) {
        const bool complete = !tag.path.empty() && !tag.address.empty() && !tag.type.empty();
        if (found.ok() && !complete) {
            std::abort();
        }
    }
    return 0;
}
