#include "gateway/config/tokens.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace tagferry::gateway::config {

namespace {

constexpr std::string_view white_space = " \t\r\n";

class token_reader {
  public:
    token_reader(configuration& value, std::string_view folder, diagnostics& found)
        : value_(value), folder_(folder), found_(found) {}

    void run() {
        auto& tokens = value_.web.tokens;
        const std::size_t most = value_.limits.web_tokens;
        if (tokens.size() > most) {
            found_.error(tokens[most].at, std::to_string(tokens.size()) + " tokens",
                         "limits.web_tokens is " + std::to_string(most));
        }
        for (web_token& each : tokens) {
            if (read(each)) {
                compare_with_others(each);
            }
            names(each);
        }
    }

  private:
    bool read(web_token& token) {
        if (token.sha256.empty() == token.token_file.empty()) {
            found_.error(token.at,
                         token.sha256.empty()
                             ? "the token has neither \"sha256\" nor \"token_file\""
                             : "the token has both \"sha256\" and \"token_file\"",
                         "`tagferry token new` makes a token and prints the line for it");
            return false;
        }
        return token.sha256.empty() ? read_file(token) : read_digest(token);
    }

    bool read_digest(web_token& token) {
        const auto digest = parse_token_digest(token.sha256);
        if (!digest) {
            found_.error(token.sha256_at, "\"sha256\" is not 64 hexadecimal digits",
                         "the digest of the token, not the token itself");
            return false;
        }
        token.digest = *digest;
        return true;
    }

    bool read_file(web_token& token) {
        const std::filesystem::path file = std::filesystem::path{folder_} / token.token_file;
        const token_text read = read_token_file(file.string());
        if (!read.fault.empty()) {
            found_.error(token.token_file_at, "\"" + token.token_file + "\" " + read.fault,
                         "looked for " + file.string());
            return false;
        }
        if (read.is_open) {
            found_.warning(token.token_file_at,
                           "everyone on this machine may read \"" + token.token_file + "\"",
                           "chmod 600");
        }
        return token_hasher{}.digest(read.token, token.digest);
    }

    void compare_with_others(const web_token& token) {
        for (const web_token* other = value_.web.tokens.data(); other != &token; ++other) {
            if (other->digest == token.digest) {
                found_.error(
                    token.at,
                    "\"" + token.name + "\" and \"" + other->name + "\" have the same token",
                    "each needs one of its own");
                return;
            }
        }
    }

    void names(const web_token& token) {
        for (const web_token* other = value_.web.tokens.data(); other != &token; ++other) {
            if (!token.name.empty() && other->name == token.name) {
                found_.error(token.name_at, "the token name \"" + token.name + "\" is given twice");
                return;
            }
        }
    }

    configuration& value_;
    std::string_view folder_;
    diagnostics& found_;
};

}  // namespace

token_text read_token_file(const std::string& file) {
    token_text made;
    std::error_code fault;
    const auto status = std::filesystem::status(file, fault);
    if (std::filesystem::is_directory(status)) {
        made.fault = "is a folder";
        return made;
    }
    using std::filesystem::perms;
    made.is_open = std::filesystem::is_regular_file(status) &&
                   (status.permissions() & perms::others_read) != perms::none;
    errno = 0;
    std::ifstream stream{file, std::ios::binary};
    if (!stream) {
        made.fault = "cannot be read: " + std::generic_category().message(errno != 0 ? errno : EIO);
        return made;
    }
    // A line longer than any token needs not be read to its end.
    std::array<char, max_token_size + 64> line{};
    stream.getline(line.data(), line.size());
    const std::string_view text = line.data();
    const std::size_t first = std::min(text.find_first_not_of(white_space), text.size());
    const std::size_t last = text.find_last_not_of(white_space);
    made.token = text.substr(first, last == std::string_view::npos ? 0 : last + 1 - first);
    if (made.token.size() < min_token_size || made.token.size() > max_token_size) {
        made.token.clear();
        made.fault = "holds no token: its first line has to have " +
                     std::to_string(min_token_size) + " to " + std::to_string(max_token_size) +
                     " characters";
    }
    return made;
}

void read_tokens(configuration& value, std::string_view folder, diagnostics& found) {
    token_reader{value, folder, found}.run();
}

}  // namespace tagferry::gateway::config
