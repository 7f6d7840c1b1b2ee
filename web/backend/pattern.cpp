#include "web/backend/pattern.hpp"

#include <cstddef>

namespace tagferry::web {
namespace {

constexpr bool continues_character(char byte) noexcept {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

// A wildcard that was passed, to come back to when what follows does not match.
struct resume_point {
    std::size_t pattern = std::string_view::npos;
    std::size_t path = 0;
};

}  // namespace

bool matches(std::string_view pattern, std::string_view path) noexcept {
    if (pattern.empty()) {
        return true;
    }
    resume_point within_part;   // after the last `*`
    resume_point across_parts;  // after the last `**`
    std::size_t p = 0;
    std::size_t i = 0;
    for (;;) {
        if (p < pattern.size() && pattern[p] == '*') {
            const bool doubled = p + 1 < pattern.size() && pattern[p + 1] == '*';
            p += doubled ? 2 : 1;
            if (doubled) {
                across_parts = {p, i};
                within_part = {};
            } else {
                within_part = {p, i};
            }
            continue;
        }
        if (p == pattern.size() && i == path.size()) {
            return true;
        }
        if (p < pattern.size() && i < path.size()) {
            if (pattern[p] == '?' && path[i] != '/') {
                ++p;
                ++i;
                while (i < path.size() && continues_character(path[i])) {
                    ++i;
                }
                continue;
            }
            if (pattern[p] == path[i]) {
                ++p;
                ++i;
                continue;
            }
        }
        // Give the nearest wildcard one byte more; a single star may not take a slash.
        if (within_part.pattern != std::string_view::npos && within_part.path < path.size() &&
            path[within_part.path] != '/') {
            i = ++within_part.path;
            p = within_part.pattern;
            continue;
        }
        within_part = {};
        if (across_parts.pattern != std::string_view::npos && across_parts.path < path.size()) {
            i = ++across_parts.path;
            p = across_parts.pattern;
            continue;
        }
        return false;
    }
}

std::string_view literal_prefix(std::string_view pattern) noexcept {
    return pattern.substr(0, pattern.find_first_of("*?"));
}

}  // namespace tagferry::web
