// Tokens of machines: how they are made, and the digests that are all the gateway keeps of them.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

struct evp_md_ctx_st;
struct evp_md_st;

namespace tagferry::gateway::config {

inline constexpr std::size_t token_digest_size = 32;
/// SHA-256 of a token's text. A token is random, so nothing slower is needed to keep it secret.
using token_digest = std::array<std::byte, token_digest_size>;

/// A token shorter than this can be guessed; a longer one than the other is no token.
inline constexpr std::size_t min_token_size = 16;
inline constexpr std::size_t max_token_size = 256;

/// `tagferry_` and 256 random bits, in letters, digits, `-` and `_`.
std::string make_token();

/// 64 hexadecimal digits, lower case.
std::string to_hex(const token_digest& digest);

/// Nothing when `text` is anything but 64 hexadecimal digits.
std::optional<token_digest> parse_token_digest(std::string_view text) noexcept;

/// Digests one text after the other without an allocation. One thread at a time.
class token_hasher {
  public:
    /// Throws std::runtime_error when OpenSSL has no SHA-256.
    token_hasher();
    ~token_hasher();
    token_hasher(const token_hasher&) = delete;
    token_hasher& operator=(const token_hasher&) = delete;

    /// False when OpenSSL fails; `made` is then not to be used.
    bool digest(std::string_view text, token_digest& made) noexcept;

  private:
    evp_md_st* algorithm_;
    evp_md_ctx_st* context_;
};

/// Whether two digests are equal, in a time that does not depend on where they differ.
bool same_digest(const token_digest& one, const token_digest& other) noexcept;

}  // namespace tagferry::gateway::config
