// The queues of monitored items (Part 4 §5.13.1.5), in one store of bounded memory.
#pragma once

#include "protocols/opcua/encoding/encoder.hpp"
#include "protocols/opcua/subscription/block_store.hpp"
#include "protocols/opcua/subscription/monitored_item.hpp"

#include <cstddef>
#include <cstdint>

namespace tagferry::opcua {

/// A DataValue with its value encoded; an empty `variant` is no value.
struct encoded_value {
    bytes_view variant{};
    status_code status = 0;
    transport::wall_time_ns source_time = 0;
    transport::wall_time_ns server_time = 0;
};

class value_queues {
  public:
    /// @param bytes limit of all queues together.
    explicit value_queues(std::size_t bytes) : store_(block_size, bytes) {}

    /// Adds a value at the end. A queue that is full discards its oldest or its newest value, as
    /// the item says, and the Overflow bit tells so on the value next to what is missing; not with
    /// a queue of one (E47). Out of memory, older values of the same item make room, and without
    /// any the sample is lost: the next one tells.
    /// @return false when something was discarded that the bit tells of.
    bool push(monitored_item& item, const encoded_value& value) noexcept;

    /// The oldest value: without its Variant, which `write_variant` writes. Not of an empty queue.
    encoded_value front(const monitored_item& item, std::size_t& variant_size) noexcept;
    void write_variant(const monitored_item& item, std::size_t size, encoder& out) noexcept;
    void pop(monitored_item& item) noexcept;
    void clear(monitored_item& item) noexcept;

    /// Sets another queue size; what does not fit any more is discarded.
    /// @return values discarded.
    std::uint32_t resize(monitored_item& item, std::uint32_t size) noexcept;

    /// Keeps the Variant that the item's next sample is compared with. False: no memory.
    bool set_compared(monitored_item& item, bytes_view variant) noexcept;
    /// That Variant. @param scratch as long as it; the view may point there.
    bytes_view compared(const monitored_item& item, std::span<std::byte> scratch) noexcept;
    void clear_compared(monitored_item& item) noexcept;

    /// Any thread.
    std::uint64_t used_bytes() const noexcept { return store_.used_bytes(); }

  private:
    // A number with everything around it is one block.
    static constexpr std::size_t block_size = 64;

    struct head {
        transport::wall_time_ns source_time = 0;
        transport::wall_time_ns server_time = 0;
        status_code status = 0;
        std::uint32_t size = 0;  // of the Variant behind it
        std::uint32_t next = 0;  // the value after it
        std::uint32_t reserved = 0;
    };
    static_assert(sizeof(head) == 32);

    head head_of(std::uint32_t value) noexcept;
    void set_head(std::uint32_t value, const head& to) noexcept;
    bool replace_newest(monitored_item& item, const encoded_value& value) noexcept;
    std::uint32_t store(const encoded_value& value) noexcept;
    void mark_overflow(std::uint32_t value) noexcept;
    void drop_newest(monitored_item& item, std::uint32_t size) noexcept;

    block_store store_;
};

}  // namespace tagferry::opcua
