// Bytes of any length in chains of small blocks, up to a limit of memory, which is taken only as
// far as it was ever in use: queued values, and messages kept for retransmission.
#pragma once

#include "protocols/opcua/encoding/views.hpp"
#include "transport/memory/reserved_region.hpp"
#include "transport/memory/shown_number.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tagferry::opcua {

/// A chain is named by its first block; 0 is none. One thread.
class block_store {
  public:
    /// @param block_size bytes of a block, a multiple of 8 and over 32, of which 8 are the store's.
    /// @param bytes limit of all blocks together. Throws std::system_error without address space.
    block_store(std::size_t block_size, std::size_t bytes);

    /// A chain that is being written. Without `finish` everything it took goes back.
    class writer {
      public:
        explicit writer(block_store& store) noexcept : store_(store) {}
        /// Writes over a chain that exists and keeps its first block.
        writer(block_store& store, std::uint32_t chain) noexcept;
        ~writer() { store_.release(first_); }
        writer(const writer&) = delete;
        writer& operator=(const writer&) = delete;

        /// False: the store is full; the writer is of no use any more.
        bool append(bytes_view bytes) noexcept;
        /// The chain, which is the caller's from here on; 0 when nothing was written.
        std::uint32_t finish() noexcept;

      private:
        block_store& store_;
        std::uint32_t first_ = 0;
        std::uint32_t last_ = 0;
        std::size_t used_ = 0;  // of the last block
    };

    void release(std::uint32_t chain) noexcept;

    /// What one block holds. The first block of a chain has all of a head of that size.
    std::size_t payload_size() const noexcept { return block_size_ - link_size; }
    std::byte* payload(std::uint32_t block) noexcept { return block_at(block); }

    /// Shows `size` bytes of a chain from `offset` on, piece by piece: `visit(bytes_view)`.
    template <typename Visit>
    void visit(std::uint32_t chain, std::size_t offset, std::size_t size, Visit&& visit) {
        while (size != 0 && chain != 0) {
            if (offset < payload_size()) {
                const std::size_t part = std::min(size, payload_size() - offset);
                visit(bytes_view{block_at(chain) + offset, part});
                size -= part;
                offset = 0;
            } else {
                offset -= payload_size();
            }
            chain = next(chain);
        }
    }

    /// Bytes of blocks in use. Any thread.
    std::uint64_t used_bytes() const noexcept { return used_.value() * block_size_; }

  private:
    static constexpr std::size_t link_size = 8;

    std::byte* block_at(std::uint32_t block) const noexcept {
        return memory_.data() + (block - std::size_t{1}) * block_size_;
    }
    std::uint32_t next(std::uint32_t block) const noexcept {
        std::uint32_t number = 0;
        std::memcpy(&number, block_at(block) + payload_size(), sizeof number);
        return number;
    }
    void set_next(std::uint32_t block, std::uint32_t number) noexcept {
        std::memcpy(block_at(block) + payload_size(), &number, sizeof number);
    }
    std::uint32_t take() noexcept;

    std::size_t block_size_;
    std::size_t capacity_;  // blocks
    transport::reserved_region memory_;
    std::size_t made_ = 0;
    std::uint32_t first_free_ = 0;
    transport::shown_number used_;
};

}  // namespace tagferry::opcua
