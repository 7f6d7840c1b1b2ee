#include "gateway/config/location.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

namespace tagferry::gateway::config {

std::uint32_t diagnostics::add_source(std::string_view name) {
    sources_.emplace_back(name);
    return static_cast<std::uint32_t>(sources_.size());
}

std::string_view diagnostics::source_name(std::uint32_t source) const {
    if (source == 0 || source > sources_.size()) {
        return "tagferry";
    }
    return sources_[source - 1];
}

void diagnostics::error(location where, std::string text, std::string hint) {
    ++errors_;
    add({severity::error, where, std::move(text), std::move(hint)});
}

void diagnostics::warning(location where, std::string text, std::string hint) {
    ++warnings_;
    add({severity::warning, where, std::move(text), std::move(hint)});
}

void diagnostics::add(diagnostic finding) {
    if (findings_.size() < max_kept) {
        findings_.push_back(std::move(finding));
    }
}

void diagnostics::sort() {
    // Findings of one place stay in the order they were made.
    std::vector<std::size_t> order(findings_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(), [this](std::size_t left, std::size_t right) {
        const location& a = findings_[left].where;
        const location& b = findings_[right].where;
        return std::tie(a.source, a.line, a.column, left) <
               std::tie(b.source, b.line, b.column, right);
    });
    std::vector<diagnostic> sorted;
    sorted.reserve(order.size());
    for (const std::size_t index : order) {
        sorted.push_back(std::move(findings_[index]));
    }
    findings_ = std::move(sorted);
}

std::string diagnostics::render(const diagnostic& finding) const {
    std::string line{source_name(finding.where.source)};
    if (finding.where.line != 0) {
        line += ':' + std::to_string(finding.where.line);
        line += ':' + std::to_string(finding.where.column);
    }
    line += finding.level == severity::error ? ": error: " : ": warning: ";
    line += finding.text;
    if (!finding.hint.empty()) {
        line += " (" + finding.hint + ")";
    }
    return line;
}

}  // namespace tagferry::gateway::config
