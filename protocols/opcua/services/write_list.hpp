// The items of one Write, from when they were checked until the gateway has told what became of
// each. They lie in one pooled buffer, one array after the other.
#pragma once

#include "protocols/opcua/backend/writes.hpp"
#include "transport/memory/pinned_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

namespace tagferry::opcua {

class write_list {
  public:
    /// Bytes that a Write of so many items needs.
    static constexpr std::size_t bytes_for(std::size_t items) noexcept {
        return items * (sizeof(write_item) + 2 * sizeof(status_code));
    }

    /// Begins a list.
    /// @param memory at least `bytes_for(items)`. @param items of the request.
    void open(transport::pooled_buffer memory, std::uint32_t items) noexcept {
        memory_ = std::move(memory);
        capacity_ = items;
        checked_ = 0;
        sent_ = 0;
    }
    void close() noexcept { memory_.reset(); }

    /// The next item is answered with this and not sent to any device.
    void refuse(status_code why) noexcept { result(checked_++) = why; }
    /// The next item goes to its device.
    void send(const write_item& item) noexcept {
        result(checked_++) = is_sent;
        std::construct_at(item_memory() + sent_++, item);
    }

    std::span<const write_item> items() const noexcept { return {item_memory(), sent_}; }
    /// One for each of `items()`.
    std::span<status_code> outcomes() const noexcept { return {code_memory(), sent_}; }
    std::uint32_t checked() const noexcept { return checked_; }

    /// Calls `visit(status_code)` for every item of the request in order, once all were checked
    /// and the outcomes are known.
    template <typename Visit>
    void for_each_result(Visit&& visit) const {
        std::size_t next_outcome = 0;
        for (std::uint32_t at = 0; at < checked_; ++at) {
            const status_code own = result(at);
            visit(own == is_sent ? outcomes()[next_outcome++] : own);
        }
    }

  private:
    /// No item is ever answered with this.
    static constexpr status_code is_sent = 0xFFFF'FFFF;

    write_item* item_memory() const noexcept {
        return reinterpret_cast<write_item*>(memory_.bytes().data());
    }
    status_code* code_memory() const noexcept {
        return reinterpret_cast<status_code*>(item_memory() + capacity_);
    }
    status_code& result(std::size_t at) const noexcept { return code_memory()[capacity_ + at]; }

    transport::pooled_buffer memory_{};
    std::uint32_t capacity_ = 0;
    std::uint32_t checked_ = 0;
    std::uint32_t sent_ = 0;
};

}  // namespace tagferry::opcua
