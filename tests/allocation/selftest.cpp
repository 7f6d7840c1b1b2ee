// Shows that the allocation gate sees what it is there to see. Run once alone and once under the
// outer counter, with which every window must then agree.

#include "tests/allocation/allocation_gate.hpp"
#include "tests/allocation/deliberate.hpp"
#include "transport/memory/openssl_memory.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace tagferry::allocation {
namespace {

// Something allocated before main must be in the totals by the time main runs.
const std::uint64_t before_first = process_allocations();
const std::string* const made_before_main = new std::string(1000, 'x');
const std::uint64_t after_first = process_allocations();

const bool openssl_installed = transport::install_openssl_memory();

const outer_counter& outer() {
    static const outer_counter counter;
    return counter;
}

template <typename Action>
window::result during(Action&& action) {
    const window open(outer());
    action();
    return open.close();
}

template <typename Action>
void expect_allocations(std::uint64_t expected, Action&& action) {
    const window::result seen = during(action);
    EXPECT_EQ(seen.allocations, expected);
    EXPECT_TRUE(seen.outer_agrees);
}

TEST(allocation_gate, counting_is_on_and_the_outer_counter_is_there_if_it_should_be) {
    EXPECT_TRUE(transport::allocation_counting_enabled());
    EXPECT_EQ(outer().present(), std::getenv(counter_file_variable) != nullptr);
}

TEST(allocation_gate, counts_before_main) {
    EXPECT_EQ(after_first - before_first, 2u) << "a string object and its text";
    EXPECT_EQ(made_before_main->size(), 1000u);
}

TEST(allocation_gate, sees_aligned_alloc) {
    expect_allocations(1, [] {
        void* const block = std::aligned_alloc(64, 256);
        use(block);
        std::free(block);
    });
}

TEST(allocation_gate, sees_a_new_hidden_in_a_callee) {
    std::size_t result = 0;
    expect_allocations(1, [&] { result = hidden_new(41); });
    EXPECT_EQ(result, 42u);
}

TEST(allocation_gate, sees_a_realloc_that_grows) {
    void* block = std::malloc(100);
    for (const std::size_t size : {100000U, 100001U}) {
        expect_allocations(1, [&] {
            block = std::realloc(block, size);
            use(block);
        });
    }
    std::free(block);
}

TEST(allocation_gate, sees_every_member_of_the_family_once) {
    const auto expect_one = [](auto&& allocate) {
        void* block = nullptr;
        expect_allocations(1, [&] {
            block = allocate();
            use(block);
        });
        ASSERT_NE(block, nullptr);
        std::memset(block, 1, 100);
        std::free(block);
    };
    expect_one([] { return std::malloc(100); });
    expect_one([] { return std::calloc(10, 10); });
    expect_one([] { return std::realloc(nullptr, 100); });
    expect_one([] { return reallocarray(nullptr, 10, 10); });
    expect_one([] { return std::aligned_alloc(128, 128); });
    expect_one([] { return memalign(128, 100); });
    expect_one([] { return valloc(100); });
    expect_one([] { return pvalloc(100); });
    expect_one([] {
        void* block = nullptr;
        return posix_memalign(&block, 128, 100) == 0 ? block : nullptr;
    });
    // Inside the C library.
    const std::string text(200, 'x');
    expect_one([&] { return strdup(text.c_str()); });
}

TEST(allocation_gate, sees_every_form_of_new_once) {
    expect_allocations(4, [] {
        int* const plain = new int(1);
        int* const array = new int[100];
        int* const nothrow = new (std::nothrow) int(1);
        struct alignas(64) wide {
            char bytes[64];
        };
        wide* const aligned = new wide;
        for (void* const block : {static_cast<void*>(plain), static_cast<void*>(array),
                                  static_cast<void*>(nothrow), static_cast<void*>(aligned)}) {
            use(block);
        }
        delete plain;
        delete[] array;
        delete nothrow;
        delete aligned;
    });
}

TEST(allocation_gate, refused_calls_and_frees_cost_nothing) {
    void* const block = std::malloc(10);
    expect_allocations(0, [&] {
        const volatile std::size_t too_much = SIZE_MAX / 2;
        use(std::malloc(too_much));
        use(std::calloc(too_much, 4));
        use(reallocarray(nullptr, too_much, 4));
        std::free(nullptr);
        std::free(block);
    });
}

TEST(allocation_gate, sees_other_threads_while_they_run_and_after_they_ended) {
    std::atomic<int> stage{0};
    const auto await = [&](int wanted) {
        while (stage.load() < wanted) {
            std::this_thread::yield();
        }
    };
    std::thread other([&] {
        await(1);
        for (int number = 0; number < 10; ++number) {
            hidden_new(1);
        }
        stage.store(2);
        await(3);
    });
    const window open(outer());
    stage.store(1);
    await(2);
    const window::result running = open.close();
    stage.store(3);
    other.join();
    const window::result ended = open.close();
    EXPECT_EQ(running.allocations, 10u);
    EXPECT_TRUE(running.outer_agrees);
    EXPECT_EQ(ended.allocations, 10u);
}

// What threads cost the C library itself is counted too, so no number is expected here: only that
// the kinds still sum to what the outer counter saw.
TEST(allocation_gate, kinds_sum_to_the_process_total_over_many_threads) {
    const auto kind = transport::register_operation_kind("selftest");
    const window::result seen = during([&] {
        std::vector<std::thread> threads;
        for (int thread = 0; thread < 8; ++thread) {
            threads.emplace_back([&] {
                const transport::operation_scope scope(kind);
                for (int number = 0; number < 1000; ++number) {
                    hidden_new(1);
                }
            });
        }
        for (std::thread& thread : threads) {
            thread.join();
        }
    });
    EXPECT_GE(seen.allocations, 8000u);
    EXPECT_TRUE(seen.outer_agrees);
    EXPECT_EQ(transport::operation_totals_now()[kind.index()].allocations, 8000u);
}

TEST(allocation_gate, charges_the_scope_and_the_bytes_asked_for) {
    const auto kind = transport::register_operation_kind("selftest_bytes");
    void* block = nullptr;
    {
        const transport::operation_scope scope(kind);
        block = std::malloc(123);
        use(block);
    }
    std::free(block);
    const auto totals = transport::operation_totals_now()[kind.index()];
    EXPECT_EQ(totals.allocations, 1u);
    EXPECT_EQ(totals.allocated_bytes, 123u);
}

TEST(allocation_gate, passes_what_allocates_nothing) {
    transport::pinned_pool pool({.name = "selftest", .slot_size = 967, .slot_count = 8});
    expect_allocations(0, [&] {
        for (int number = 0; number < 10000; ++number) {
            const transport::pooled_buffer rented = pool.rent();
            use(rented.bytes().data());
        }
    });
}

// The outer counter sees malloc, not a refill from memory that is pooled already; both are faults
// of a gate, so here they may differ.
TEST(allocation_gate, sees_refills_of_the_cache_behind_openssl) {
    ASSERT_TRUE(openssl_installed);
    std::vector<void*> taken(1000);
    const auto take_all = [&] {
        for (void*& block : taken) {
            block = OPENSSL_malloc(100);
        }
    };
    EXPECT_GT(during(take_all).allocations, 0u) << "new memory";
    std::thread([&] {
        for (void* const block : taken) {
            OPENSSL_free(block);
        }
    }).join();
    EXPECT_GT(during(take_all).allocations, 0u) << "memory handed back by another thread";
    for (void* const block : taken) {
        OPENSSL_free(block);
    }
}

TEST(allocation_gate, passes_a_reused_hmac_and_catches_one_made_anew) {
    EVP_MAC* const algorithm = EVP_MAC_fetch(nullptr, "HMAC", nullptr);
    EVP_MAC_CTX* const context = EVP_MAC_CTX_new(algorithm);
    std::string digest = "SHA256";
    const std::array<OSSL_PARAM, 2> parameters{
        OSSL_PARAM_construct_utf8_string("digest", digest.data(), 0), OSSL_PARAM_construct_end()};
    const std::array<unsigned char, 32> key{1, 2, 3};
    ASSERT_EQ(EVP_MAC_init(context, key.data(), key.size(), parameters.data()), 1);
    std::array<unsigned char, 256> message{};
    std::array<unsigned char, 32> signature{};
    std::size_t size = 0;
    const auto sign = [&] {
        EVP_MAC_init(context, nullptr, 0, nullptr);
        EVP_MAC_update(context, message.data(), message.size());
        EVP_MAC_final(context, signature.data(), &size, signature.size());
    };
    sign();
    expect_allocations(0, [&] {
        for (int number = 0; number < 10000; ++number) {
            sign();
        }
    });
    EXPECT_EQ(size, 32u);
    // Kept, not freed: even a pool must be refilled for what is never given back.
    std::vector<EVP_MAC_CTX*> contexts(200);
    const window::result anew = during([&] {
        for (EVP_MAC_CTX*& made : contexts) {
            made = EVP_MAC_CTX_new(algorithm);
        }
    });
    EXPECT_GT(anew.allocations, 0u);
    for (EVP_MAC_CTX* const made : contexts) {
        EVP_MAC_CTX_free(made);
    }
    EVP_MAC_CTX_free(context);
    EVP_MAC_free(algorithm);
}

}  // namespace
}  // namespace tagferry::allocation
