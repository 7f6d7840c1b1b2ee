// What RegisterNodes hands out: numbers that resolve to a tree node without any text.
#pragma once

#include "protocols/opcua/limits.hpp"
#include "protocols/opcua/nodes/address_space.hpp"
#include "protocols/opcua/session/session.hpp"
#include "transport/memory/shown_number.hpp"

#include <cstdint>
#include <vector>

namespace tagferry::opcua {

/// A number is place and generation in one, so that a number given back names nothing, even when
/// its place is used again; and it means something to the session it was given to only.
/// Memory grows with what is registered, up to the limit (`control`).
class registered_nodes {
  public:
    explicit registered_nodes(std::uint32_t capacity) : capacity_(capacity) {}

    /// @return the number, or 0 when as many are registered as allowed.
    std::uint32_t add(session& owner, tree_handle node);

    /// Constant time. False: not a number of this session.
    bool find(const session& owner, std::uint32_t number, tree_handle& out) const noexcept {
        const place* const found = live(owner, number);
        if (found == nullptr) {
            return false;
        }
        out = found->node;
        return true;
    }

    /// Forgets one number; a number that is none of this session's is ignored.
    void remove(session& owner, std::uint32_t number) noexcept;
    /// Forgets all of a session that ends.
    void remove_all(session& owner) noexcept;

    /// Any thread.
    std::size_t size() const noexcept { return used_.value(); }

  private:
    static constexpr unsigned index_bits = 18;
    static_assert(most_registered_nodes == 1U << index_bits);
    static constexpr std::uint32_t index_mask = (1U << index_bits) - 1;

    // Places of one session are linked both ways from `session::first_registered`; links are
    // place + 1, so that 0 is none.
    struct place {
        tree_handle node{};
        std::uint32_t session_number = 0;  // 0: free
        std::uint32_t generation = 1;
        std::uint32_t next = 0;
        std::uint32_t previous = 0;
    };
    const place* live(const session& owner, std::uint32_t number) const noexcept {
        const std::uint32_t index = number & index_mask;
        if (index >= places_.size()) {
            return nullptr;
        }
        const place& found = places_[index];
        return found.session_number == owner.number && found.generation == number >> index_bits
                   ? &found
                   : nullptr;
    }
    void unlink(session& owner, std::uint32_t index) noexcept;

    std::uint32_t capacity_;
    std::vector<place> places_;
    std::uint32_t first_free_ = 0;
    transport::shown_number used_;
};

}  // namespace tagferry::opcua
