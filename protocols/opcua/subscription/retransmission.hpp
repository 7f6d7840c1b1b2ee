// NotificationMessages kept until they are acknowledged, for Republish (Part 4 §5.14.1.1).
#pragma once

#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/subscription/block_store.hpp"
#include "protocols/opcua/subscription/slab.hpp"

#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// The messages of one subscription, oldest first, by number in the store.
struct retransmission_list {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t count = 0;
};

class retransmission_store {
  public:
    /// @param messages kept at most, of all subscriptions. @param bytes of all of them together.
    retransmission_store(std::size_t messages, std::size_t bytes)
        : messages_(messages), store_(block_size, bytes) {}

    /// A message on its way in, piece by piece.
    class writer {
      public:
        explicit writer(retransmission_store& store) noexcept : bytes_(store.store_) {}
        void append(bytes_view piece) noexcept {
            whole_ = whole_ && bytes_.append(piece);
            size_ += piece.size();
        }

      private:
        friend class retransmission_store;
        block_store::writer bytes_;
        bool whole_ = true;
        std::size_t size_ = 0;
    };

    /// Keeps a message behind those of the list, of which the oldest go when there are over `most`.
    /// @return false when there is no memory for it: make room and write it again.
    bool keep(retransmission_list& list, std::uint32_t sequence, writer& message,
              std::uint32_t most) noexcept;
    /// Forgets the oldest message. False: there is none.
    bool drop_oldest(retransmission_list& list) noexcept;
    /// Forgets an acknowledged message. False: no such one.
    bool acknowledge(retransmission_list& list, std::uint32_t sequence) noexcept;
    /// Writes the message of this number. False: no such one.
    bool write(const retransmission_list& list, std::uint32_t sequence, encoder& out) noexcept;
    void clear(retransmission_list& list) noexcept;

    /// Calls `visit(sequence)` for every message of a list, oldest first.
    template <typename Visit>
    void for_each(const retransmission_list& list, Visit&& visit) noexcept {
        for (std::uint32_t at = list.first; at != 0; at = messages_[at].next) {
            visit(messages_[at].sequence);
        }
    }

    /// Any thread.
    std::uint64_t used_bytes() const noexcept { return store_.used_bytes(); }

  private:
    static constexpr std::size_t block_size = 1024;

    struct kept_message {
        std::uint32_t sequence = 0;
        std::uint32_t size = 0;
        std::uint32_t bytes = 0;
        std::uint32_t next = 0;
        std::uint32_t next_free = 0;
    };

    std::uint32_t find(const retransmission_list& list, std::uint32_t sequence,
                       std::uint32_t& before) noexcept;
    void unlink(retransmission_list& list, std::uint32_t gone, std::uint32_t before) noexcept;

    slab<kept_message> messages_;
    block_store store_;
};

}  // namespace tagferry::opcua
