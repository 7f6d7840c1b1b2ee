// A whole text: located tree, repairs, configuration, checks. Every finding must lie inside the
// text and can be rendered.
#include "gateway/config/listen_address.hpp"
#include "gateway/config/load.hpp"
#include "gateway/config/located_tree.hpp"
#include "gateway/model/tag_path.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace config = tagferry::gateway::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const auto lines = static_cast<std::size_t>(
        std::count_if(text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }));
    const config::load_result result = config::load_text(text, "f", "");
    for (const auto& finding : result.found.findings()) {
        const bool has_place = finding.where.line == 0 ||
                               (finding.where.line <= lines + 1 && finding.where.column >= 1 &&
                                finding.where.column <= size + 2);
        if (!has_place || result.found.render(finding).empty()) {
            std::abort();
        }
    }
    // A text without findings has a configuration that names every tag by a readable path.
    for (const auto& link : result.value.connections) {
        for (const auto& tag : link.tags) {
            if (result.found.ok() && !tagferry::gateway::parse_path(tag.path)) {
                std::abort();
            }
        }
    }
    config::listen_address address;
    static_cast<void>(config::parse_listen_address(text, address));
    return 0;
}
