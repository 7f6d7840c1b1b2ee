// Where a piece of configuration was written, and what is said about it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tagferry::gateway::config {

/// A place in a source. `line` and `column` begin at 1; a column counts characters (UTF-8 code
/// points), not bytes. Line 0 means the source as a whole: an environment variable, a flag, a
/// missing file. Source 0 with line 0 is "nowhere": the value is a default.
struct location {
    std::uint32_t source = 0;
    std::uint32_t line = 0;
    std::uint32_t column = 0;
    friend constexpr bool operator==(const location&, const location&) = default;
};

enum class severity : std::uint8_t { error, warning };

/// One finding. `text` says what is wrong, `hint` what to write instead (may be empty).
struct diagnostic {
    severity level = severity::error;
    location where;
    std::string text;
    std::string hint;
};

/// Collects findings of all sources, so that all of them are shown at once. Not thread-safe.
class diagnostics {
  public:
    /// Past this many findings further ones are only counted.
    static constexpr std::size_t max_kept = 1'000;

    /// Registers a source (a file's path as the user wrote it, `environment NAME`, `--set KEY`)
    /// and returns the number locations refer to it by. Numbers begin at 1.
    std::uint32_t add_source(std::string_view name);
    /// The name given to add_source; "tagferry" for 0.
    std::string_view source_name(std::uint32_t source) const;

    void error(location where, std::string text, std::string hint = {});
    void warning(location where, std::string text, std::string hint = {});

    /// All findings kept, in order of source, line and column once sorted.
    const std::vector<diagnostic>& findings() const noexcept { return findings_; }
    void sort();
    std::size_t error_count() const noexcept { return errors_; }
    std::size_t warning_count() const noexcept { return warnings_; }
    bool ok() const noexcept { return errors_ == 0; }

    /// `file:line:col: error: text (hint)`, without line end. Parts that do not apply are left out.
    std::string render(const diagnostic& finding) const;

  private:
    void add(diagnostic finding);

    std::vector<std::string> sources_;
    std::vector<diagnostic> findings_;
    std::size_t errors_ = 0;
    std::size_t warnings_ = 0;
};

}  // namespace tagferry::gateway::config
