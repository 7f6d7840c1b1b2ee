#include "gateway/config/suggestion.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace tagferry::gateway::config {

namespace {

constexpr std::size_t longest = 64;

char lower(char letter) noexcept {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
}

}  // namespace

std::string quoted(std::string_view text) {
    std::string made = "\"";
    made += text;
    made += '"';
    return made;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
    if (left.size() > longest || right.size() > longest) {
        return std::max(left.size(), right.size());
    }
    // Rows of the usual table: the one being filled and the two before it.
    std::array<std::array<std::size_t, longest + 1>, 3> rows{};
    for (std::size_t column = 0; column <= right.size(); ++column) {
        rows[0][column] = column;
    }
    for (std::size_t row = 1; row <= left.size(); ++row) {
        auto& now = rows[row % 3];
        const auto& above = rows[(row + 2) % 3];
        const auto& twice_above = rows[(row + 1) % 3];
        now[0] = row;
        for (std::size_t column = 1; column <= right.size(); ++column) {
            const char a = lower(left[row - 1]);
            const char b = lower(right[column - 1]);
            now[column] = std::min(
                {above[column] + 1, now[column - 1] + 1, above[column - 1] + (a == b ? 0U : 1U)});
            if (row > 1 && column > 1 && a == lower(right[column - 2]) &&
                b == lower(left[row - 2])) {
                now[column] = std::min(now[column], twice_above[column - 2] + 1);
            }
        }
    }
    return rows[left.size() % 3][right.size()];
}

std::string_view nearest(std::string_view word, std::span<const std::string_view> candidates) {
    std::string_view best;
    std::size_t best_distance = longest;
    for (const std::string_view candidate : candidates) {
        // A beginning of four letters and more is meant to go on.
        const bool beginning = word.size() >= 4 && candidate.starts_with(word);
        const std::size_t distance = beginning ? 1 : edit_distance(word, candidate);
        const std::size_t allowed = std::max<std::size_t>(1, candidate.size() / 3);
        if (distance <= allowed && distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    return best;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> candidates) {
    constexpr std::size_t listed = 10;
    if (const std::string_view near = nearest(word, candidates); !near.empty()) {
        return "did you mean " + quoted(near) + "?";
    }
    if (candidates.empty()) {
        return {};
    }
    std::string text = "one of ";
    for (std::size_t index = 0; index < std::min(listed, candidates.size()); ++index) {
        text += index == 0 ? "" : ", ";
        text += candidates[index];
    }
    return candidates.size() > listed ? text + " …" : text;
}

}  // namespace tagferry::gateway::config
