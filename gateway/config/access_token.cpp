#include "gateway/config/access_token.hpp"

#include "transport/memory/random.hpp"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <span>
#include <stdexcept>

namespace tagferry::gateway::config {

namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

// The value of a hexadecimal digit, 16 for anything else.
unsigned value_of(char digit) noexcept {
    if (digit >= '0' && digit <= '9') {
        return static_cast<unsigned>(digit - '0');
    }
    const char lower = static_cast<char>(digit | 0x20);
    return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10U : 16U;
}

}  // namespace

std::string make_token() {
    std::array<unsigned char, 32> random{};
    transport::fill_random(std::as_writable_bytes(std::span{random}));
    // Base64 of 32 bytes: 43 characters, one `=` and the end of the C string.
    std::array<unsigned char, 45> text{};
    EVP_EncodeBlock(text.data(), random.data(), static_cast<int>(random.size()));
    std::string token = "tagferry_";
    for (std::size_t i = 0; i < 43; ++i) {
        const char letter = static_cast<char>(text[i]);
        token += letter == '+' ? '-' : letter == '/' ? '_' : letter;
    }
    return token;
}

std::string to_hex(const token_digest& digest) {
    std::string text;
    for (const std::byte each : digest) {
        text += hex_digits[std::to_integer<std::size_t>(each) >> 4U];
        text += hex_digits[std::to_integer<std::size_t>(each) & 15U];
    }
    return text;
}

std::optional<token_digest> parse_token_digest(std::string_view text) noexcept {
    token_digest made{};
    if (text.size() != 2 * made.size()) {
        return std::nullopt;
    }
    for (std::size_t i = 0; i < made.size(); ++i) {
        const unsigned high = value_of(text[2 * i]);
        const unsigned low = value_of(text[2 * i + 1]);
        if (high > 15 || low > 15) {
            return std::nullopt;
        }
        made[i] = static_cast<std::byte>(high << 4U | low);
    }
    return made;
}

token_hasher::token_hasher()
    : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    if (algorithm_ == nullptr || context_ == nullptr) {
        EVP_MD_free(algorithm_);
        EVP_MD_CTX_free(context_);
        throw std::runtime_error("OpenSSL has no SHA-256");
    }
}

token_hasher::~token_hasher() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
}

bool token_hasher::digest(std::string_view text, token_digest& made) noexcept {
    return EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1 &&
           EVP_DigestUpdate(context_, text.data(), text.size()) == 1 &&
           EVP_DigestFinal_ex(context_, reinterpret_cast<unsigned char*>(made.data()), nullptr) ==
               1;
}

bool same_digest(const token_digest& one, const token_digest& other) noexcept {
    return CRYPTO_memcmp(one.data(), other.data(), one.size()) == 0;
}

}  // namespace tagferry::gateway::config
