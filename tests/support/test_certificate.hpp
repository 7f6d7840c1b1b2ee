// A self-signed certificate with a fresh key, made when the test runs.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <stdexcept>
#include <string>

namespace tagferry::testing {

class test_certificate {
  public:
    /// @param name the subject's common name and its DNS name.
    explicit test_certificate(const std::string& name) {
        const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
            EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), &EVP_PKEY_free);
        const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), &X509_free);
        if (!key || !certificate) {
            throw std::runtime_error("no test certificate");
        }
        X509_set_version(certificate.get(), 2);
        ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
        X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
        X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400);
        X509_set_pubkey(certificate.get(), key.get());
        X509_NAME* const subject = X509_get_subject_name(certificate.get());
        const void* const text = name.c_str();
        X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                                   static_cast<const unsigned char*>(text), -1, -1, 0);
        X509_set_issuer_name(certificate.get(), subject);
        const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> names(
            X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + name).c_str()),
            &X509_EXTENSION_free);
        X509_add_ext(certificate.get(), names.get(), -1);
        X509_sign(certificate.get(), key.get(), EVP_sha256());
        certificate_pem = text_of([&](BIO* to) { PEM_write_bio_X509(to, certificate.get()); });
        key_pem = text_of([&](BIO* to) {
            PEM_write_bio_PrivateKey(to, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
        });
    }

    std::string certificate_pem;
    std::string key_pem;

  private:
    template <class Write>
    static std::string text_of(Write&& write) {
        const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), &BIO_free);
        write(memory.get());
        std::string text(BIO_ctrl_pending(memory.get()), '\0');
        BIO_read(memory.get(), text.data(), static_cast<int>(text.size()));
        return text;
    }
};

}  // namespace tagferry::testing
