// How a bug of our own ends the process, and the marks that memory checkers understand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#if defined(__SANITIZE_ADDRESS__)
#define TAGFERRY_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TAGFERRY_ADDRESS_SANITIZER 1
#endif
#endif
#ifdef TAGFERRY_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#endif

namespace tagferry::transport {

/// Whether poison, generations and ownership are checked at run time.
#ifdef TAGFERRY_DEBUG_CHECKS
inline constexpr bool debug_checks = true;
#else
inline constexpr bool debug_checks = false;
#endif

/// Writes "tagferry: <what>, <name> <number>" to standard error and aborts. Only ever for bugs of
/// our own, never for what a peer sent. Allocates nothing.
[[noreturn]] void die(std::string_view what, std::string_view name, std::uint64_t number) noexcept;

/// Tells AddressSanitizer that nobody may touch these bytes; nothing in other builds.
inline void forbid_access([[maybe_unused]] const void* from,
                          [[maybe_unused]] std::size_t size) noexcept {
#ifdef TAGFERRY_ADDRESS_SANITIZER
    __asan_poison_memory_region(from, size);
#endif
}

/// Takes `forbid_access` back.
inline void allow_access([[maybe_unused]] const void* from,
                         [[maybe_unused]] std::size_t size) noexcept {
#ifdef TAGFERRY_ADDRESS_SANITIZER
    __asan_unpoison_memory_region(from, size);
#endif
}

}  // namespace tagferry::transport
