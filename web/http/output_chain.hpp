// The bytes one connection has produced and not yet sent, in slots of the shared pool. Written
// at the back, sent from the front; responses to pipelined requests share slots.
#pragma once

#include "transport/engine.hpp"
#include "transport/memory/pinned_pool.hpp"
#include "web/http/limits.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tagferry::web {

/// Append only, with a sticky error when no slot is to be had: whoever writes goes back to a
/// mark then and tries again later.
class output_chain {
  public:
    enum class shortage : std::uint8_t {
        none,
        pool,  ///< the pool is empty: other connections hold its slots
        cap,   ///< this connection holds all it may
    };

    /// A place in the output. Valid until the slot it lies in has been sent.
    struct mark {
        std::uint32_t slot = 0;  ///< counted from the first slot ever used
        std::uint32_t offset = 0;

        /// The place `size` bytes further in the same slot.
        mark behind(std::size_t size) const noexcept {
            return {slot, offset + static_cast<std::uint32_t>(size)};
        }
    };

    /// Bytes at the end of each slot that only framing may use: a chunk header moved in front of
    /// the body and what ends a chunked body.
    static constexpr std::size_t framing_reserve = 32;

    /// @param pool slots of at least 2 KiB.
    /// @param slot_cap most slots held at once, 1 to `max_connection_output_slots`.
    output_chain(transport::pinned_pool& pool, std::size_t slot_cap) noexcept
        : pool_(pool), slot_cap_(static_cast<std::uint32_t>(slot_cap)) {}

    /// Makes `size` contiguous bytes ready for `claim` or `put`. False: a shortage.
    bool open(std::size_t size) noexcept { return remaining() >= size || (ok() && next_slot()); }

    /// Exactly `size` contiguous bytes, at most 1 KiB, to be filled by the caller; what it does
    /// not need is given back with `unclaim`. Null in a shortage.
    char* claim(std::size_t size) noexcept {
        if (!open(size)) {
            return nullptr;
        }
        char* const at = at_;
        at_ += size;
        return at;
    }
    void unclaim(std::size_t size) noexcept { at_ -= size; }

    void put(char byte) noexcept {
        if (at_ != end_ || open(1)) {
            *at_++ = byte;
        }
    }
    void put(std::string_view text) noexcept {
        if (text.size() <= remaining() && !text.empty()) {
            std::memcpy(at_, text.data(), text.size());
            at_ += text.size();
        } else {
            put_across(text);
        }
    }

    /// As `put`, into the bytes kept for framing; the text must fit what is left of them.
    void put_framing(std::string_view text) noexcept;

    shortage short_of() const noexcept { return shortage_; }
    bool ok() const noexcept { return shortage_ == shortage::none; }
    /// Forgets a shortage that lost no byte: an `open` that failed and was given up.
    void forget_shortage() noexcept { shortage_ = shortage::none; }

    mark position() const noexcept;
    /// Gives up everything written at and after `to`, and clears a shortage.
    void rollback(mark to) noexcept;
    /// Bytes written since `from`.
    std::size_t size_since(mark from) const noexcept;
    /// The bytes at `at`, to be patched in place.
    char* address(mark at) noexcept { return slot_at(at.slot).data + at.offset; }
    /// Makes room of `size` bytes at `at` by moving what follows in its slot, into the bytes kept
    /// for framing.
    char* insert_framing(mark at, std::size_t size) noexcept;

    /// Hands over what was written and not yet pulled.
    void pull(transport::send_batch& batch) noexcept;
    /// `size` further bytes of what was pulled have left; slots sent whole go back to the pool.
    void written(std::size_t size) noexcept;

    /// No slot is held.
    bool idle() const noexcept { return first_ == next_; }
    /// Bytes wait to be pulled or to leave.
    bool sending() const noexcept { return !idle() && slot_at(first_).sent != filled(first_); }
    std::size_t slots_held() const noexcept { return next_ - first_; }

    /// Gives every slot back. Nothing pulled may be outstanding.
    void clear() noexcept;

  private:
    struct slot {
        transport::pooled_buffer buffer;
        char* data = nullptr;
        std::uint32_t filled = 0;  // of all but the last; `at_` says it for the last
        std::uint32_t pulled = 0;
        std::uint32_t sent = 0;
    };

    slot& slot_at(std::uint32_t number) noexcept {
        return slots_[number % max_connection_output_slots];
    }
    const slot& slot_at(std::uint32_t number) const noexcept {
        return slots_[number % max_connection_output_slots];
    }
    std::size_t remaining() const noexcept { return static_cast<std::size_t>(end_ - at_); }
    std::uint32_t filled(std::uint32_t number) const noexcept;
    bool next_slot() noexcept;
    void release_front() noexcept;
    void put_across(std::string_view text) noexcept;

    transport::pinned_pool& pool_;
    std::uint32_t slot_cap_;
    // Slots `first_` up to, not including, `next_` are held; the last of them is written to.
    std::uint32_t first_ = 0;
    std::uint32_t next_ = 0;
    char* at_ = nullptr;
    char* end_ = nullptr;  // of the last slot, before the bytes kept for framing
    shortage shortage_ = shortage::none;
    std::array<slot, max_connection_output_slots> slots_;
};

}  // namespace tagferry::web
