#include "transport/net/tls_filter.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <array>
#include <stdexcept>

namespace tagferry::transport {
namespace {

[[noreturn]] void refuse(const char* what) {
    const unsigned long code = ERR_get_error();
    std::array<char, 256> text{};
    ERR_error_string_n(code, text.data(), text.size());
    ERR_clear_error();
    throw std::runtime_error(std::string(what) + ": " + (code != 0 ? text.data() : "no reason"));
}

using owned_bio = std::unique_ptr<BIO, decltype(&BIO_free)>;

owned_bio bio_of(const std::string& text) {
    return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free};
}

using owned_certificate = std::unique_ptr<X509, decltype(&X509_free)>;

owned_certificate next_certificate(BIO* from) {
    return {PEM_read_bio_X509(from, nullptr, nullptr, nullptr), &X509_free};
}

void use_certificate(SSL_CTX* context, const std::string& certificate_pem) {
    const owned_bio source = bio_of(certificate_pem);
    const owned_certificate own = next_certificate(source.get());
    if (!own || SSL_CTX_use_certificate(context, own.get()) != 1) {
        refuse("certificate");
    }
    while (owned_certificate issuer = next_certificate(source.get())) {
        if (SSL_CTX_add1_chain_cert(context, issuer.get()) != 1) {
            refuse("certificate chain");
        }
    }
    ERR_clear_error();  // the end of the text counts as an error
}

void use_key(SSL_CTX* context, const std::string& private_key_pem) {
    const owned_bio source = bio_of(private_key_pem);
    const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
        PEM_read_bio_PrivateKey(source.get(), nullptr, nullptr, nullptr), &EVP_PKEY_free);
    if (!key || SSL_CTX_use_PrivateKey(context, key.get()) != 1 ||
        SSL_CTX_check_private_key(context) != 1) {
        refuse("private key");
    }
}

void trust(SSL_CTX* context, const std::string& trusted_pem) {
    const owned_bio source = bio_of(trusted_pem);
    X509_STORE* const store = SSL_CTX_get_cert_store(context);
    std::size_t count = 0;
    for (owned_certificate each = next_certificate(source.get()); each;
         each = next_certificate(source.get())) {
        if (X509_STORE_add_cert(store, each.get()) != 1) {
            refuse("trusted certificate");
        }
        ++count;
    }
    if (count == 0) {
        refuse("trusted certificates");
    }
    ERR_clear_error();
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

}  // namespace

tls_context::tls_context(role side, const std::string& certificate_pem,
                         const std::string& private_key_pem, const std::string& trusted_pem)
    : side_(side) {
    std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> made(
        SSL_CTX_new(side == role::server ? TLS_server_method() : TLS_client_method()),
        &SSL_CTX_free);
    if (!made || SSL_CTX_set_min_proto_version(made.get(), TLS1_3_VERSION) != 1) {
        refuse("TLS context");
    }
    SSL_CTX_set_mode(made.get(), SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_num_tickets(made.get(), 0);
    SSL_CTX_set_session_cache_mode(made.get(), SSL_SESS_CACHE_OFF);
    if (!certificate_pem.empty() || side == role::server) {
        use_certificate(made.get(), certificate_pem);
        use_key(made.get(), private_key_pem);
    }
    if (!trusted_pem.empty()) {
        trust(made.get(), trusted_pem);
    }
    native_ = made.release();
}

tls_context::~tls_context() {
    SSL_CTX_free(native_);
}

}  // namespace tagferry::transport
