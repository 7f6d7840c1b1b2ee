#include "transport/memory/openssl_memory.hpp"

#include "transport/memory/operations.hpp"

#include <gtest/gtest.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <cstring>
#include <string_view>
#include <thread>
#include <vector>

namespace tagferry::transport {
namespace {

// Before any test of this program can touch OpenSSL.
const bool installed = install_openssl_memory();

std::uint64_t allocations_of_all_kinds() {
    std::uint64_t sum = 0;
    for (const operation_totals& totals : operation_totals_now()) {
        sum += totals.allocations;
    }
    return sum;
}

std::vector<unsigned char> message_of(std::size_t size) {
    return std::vector<unsigned char>(size, 0x42);
}

TEST(openssl_memory, is_installed_and_says_so) {
    EXPECT_TRUE(installed);
    EXPECT_TRUE(install_openssl_memory());
    EXPECT_TRUE(openssl_memory_statistics_now().installed);
}

class reused_hmac {
  public:
    reused_hmac() {
        EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
        context_ = EVP_MAC_CTX_new(algorithm);
        EVP_MAC_free(algorithm);
        std::string digest = "SHA256";
        const std::array<OSSL_PARAM, 2> parameters{
            OSSL_PARAM_construct_utf8_string("digest", digest.data(), 0),
            OSSL_PARAM_construct_end()};
        const std::array<unsigned char, 4> key{'J', 'e', 'f', 'e'};
        EXPECT_EQ(EVP_MAC_init(context_, key.data(), key.size(), parameters.data()), 1);
    }
    ~reused_hmac() { EVP_MAC_CTX_free(context_); }
    reused_hmac(const reused_hmac&) = delete;
    reused_hmac& operator=(const reused_hmac&) = delete;

    std::array<unsigned char, 32> sign(std::string_view message) {
        std::array<unsigned char, 32> signature{};
        std::size_t size = 0;
        EXPECT_EQ(EVP_MAC_init(context_, nullptr, 0, nullptr), 1);
        EXPECT_EQ(EVP_MAC_update(context_, reinterpret_cast<const unsigned char*>(message.data()),
                                 message.size()),
                  1);
        EXPECT_EQ(EVP_MAC_final(context_, signature.data(), &size, signature.size()), 1);
        EXPECT_EQ(size, signature.size());
        return signature;
    }

  private:
    EVP_MAC_CTX* context_ = nullptr;
};

TEST(openssl_memory, reused_hmac_allocates_nothing_in_steady_state) {
    reused_hmac hmac;
    // RFC 4231, test case 2.
    const std::array<unsigned char, 4> expected{0x5b, 0xdc, 0xc1, 0x46};
    const auto signature = hmac.sign("what do ya want for nothing?");
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), signature.begin()));
    const std::uint64_t before = allocations_of_all_kinds();
    const openssl_memory_statistics pool_before = openssl_memory_statistics_now();
    for (int round = 0; round < 1000; ++round) {
        ASSERT_EQ(hmac.sign("what do ya want for nothing?"), signature);
    }
    EXPECT_EQ(allocations_of_all_kinds(), before);
    EXPECT_EQ(openssl_memory_statistics_now().refills, pool_before.refills);
    EXPECT_EQ(openssl_memory_statistics_now().large_blocks, pool_before.large_blocks);
}

TEST(openssl_memory, reused_aes_cbc_allocates_nothing_in_steady_state) {
    EVP_CIPHER_CTX* const context = EVP_CIPHER_CTX_new();
    const std::array<unsigned char, 32> key{1, 2, 3};
    const std::array<unsigned char, 16> iv{4, 5, 6};
    ASSERT_EQ(EVP_EncryptInit_ex2(context, EVP_aes_256_cbc(), key.data(), iv.data(), nullptr), 1);
    const auto message = message_of(256);
    std::array<unsigned char, 272> encrypted{};
    const auto encrypt = [&] {
        int size = 0;
        EXPECT_EQ(EVP_EncryptInit_ex2(context, nullptr, nullptr, iv.data(), nullptr), 1);
        EVP_CIPHER_CTX_set_padding(context, 0);
        EXPECT_EQ(EVP_EncryptUpdate(context, encrypted.data(), &size, message.data(), 256), 1);
        EXPECT_EQ(size, 256);
    };
    encrypt();
    const auto first = encrypted;
    const std::uint64_t before = allocations_of_all_kinds();
    for (int round = 0; round < 1000; ++round) {
        encrypt();
    }
    EXPECT_EQ(encrypted, first);
    EXPECT_EQ(allocations_of_all_kinds(), before);
    EVP_CIPHER_CTX_free(context);
}

TEST(openssl_memory, refills_count_as_allocations_of_whoever_ran) {
    const operation_kind kind = register_operation_kind("test_openssl_refill");
    const auto before = operation_totals_now()[kind.index()];
    std::vector<void*> taken;
    {
        const operation_scope scope(kind);
        for (int number = 0; number < 200; ++number) {
            taken.push_back(OPENSSL_malloc(100));
        }
    }
    for (void* const block : taken) {
        OPENSSL_free(block);
    }
    const auto after = operation_totals_now()[kind.index()];
    EXPECT_GT(after.allocations, before.allocations);
    EXPECT_GE(after.allocated_bytes - before.allocated_bytes, 100u * 100u);
}

TEST(openssl_memory, blocks_of_every_size_are_apart_aligned_and_whole) {
    for (const std::size_t size :
         {1U, 47U, 48U, 49U, 80U, 81U, 112U, 1000U, 4096U, 16368U, 16369U, 100000U}) {
        std::vector<unsigned char*> taken;
        for (unsigned number = 0; number < 20; ++number) {
            auto* const block = static_cast<unsigned char*>(OPENSSL_malloc(size));
            ASSERT_NE(block, nullptr);
            EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % 16, 0u);
            std::memset(block, static_cast<int>(number), size);
            taken.push_back(block);
        }
        for (unsigned number = 0; number < 20; ++number) {
            for (std::size_t index = 0; index < size; ++index) {
                ASSERT_EQ(taken[number][index], number);
            }
            OPENSSL_free(taken[number]);
        }
    }
}

TEST(openssl_memory, grows_and_shrinks_blocks_with_their_content) {
    auto* block = static_cast<unsigned char*>(OPENSSL_realloc(nullptr, 1));
    *block = 7;
    for (std::size_t size = 2; size < 70000; size = size * 3 / 2 + 1) {
        block = static_cast<unsigned char*>(OPENSSL_realloc(block, size));
        ASSERT_NE(block, nullptr);
        ASSERT_EQ(block[0], 7);
        std::memset(block, 7, size);
    }
    block = static_cast<unsigned char*>(OPENSSL_realloc(block, 10));
    for (int index = 0; index < 10; ++index) {
        EXPECT_EQ(block[index], 7);
    }
    OPENSSL_free(block);
    EXPECT_EQ(OPENSSL_malloc(0), nullptr);
}

TEST(openssl_memory, too_much_is_refused) {
    EXPECT_EQ(OPENSSL_malloc(SIZE_MAX - 4), nullptr);
}

TEST(openssl_memory, blocks_may_be_freed_on_another_thread) {
    constexpr int rounds = 100;
    const auto churn = [&] {
        for (int round = 0; round < rounds; ++round) {
            std::vector<void*> taken;
            for (std::size_t number = 0; number < 200; ++number) {
                void* const block = OPENSSL_malloc(1 + number);
                std::memset(block, 1, 1 + number);
                taken.push_back(block);
            }
            std::thread([&] {
                for (void* const block : taken) {
                    OPENSSL_free(block);
                }
            }).join();
        }
    };
    churn();
    const std::uint64_t reserved = openssl_memory_statistics_now().reserved_bytes;
    churn();
    EXPECT_EQ(openssl_memory_statistics_now().reserved_bytes, reserved) << "handed back, not lost";
}

TEST(openssl_memory, threads_at_once_share_what_they_hand_back) {
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < 4; ++thread) {
        running.emplace_back([thread] {
            std::array<unsigned char*, 300> taken{};
            for (int round = 0; round < 50; ++round) {
                for (unsigned char*& block : taken) {
                    block = static_cast<unsigned char*>(OPENSSL_malloc(150));
                    std::memset(block, static_cast<int>(thread), 150);
                }
                for (unsigned char* const block : taken) {
                    EXPECT_EQ(block[0], thread);
                    EXPECT_EQ(block[149], thread);
                    OPENSSL_free(block);
                }
            }
        });
    }
    for (std::thread& thread : running) {
        thread.join();
    }
}

}  // namespace
}  // namespace tagferry::transport
