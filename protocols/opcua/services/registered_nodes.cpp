#include "protocols/opcua/services/registered_nodes.hpp"

namespace tagferry::opcua {

std::uint32_t registered_nodes::add(session& owner, tree_handle node) {
    std::uint32_t index = 0;
    if (first_free_ != 0) {
        index = first_free_ - 1;
        first_free_ = places_[index].next;
    } else if (places_.size() < capacity_ && places_.size() <= index_mask) {
        index = static_cast<std::uint32_t>(places_.size());
        places_.emplace_back();
    } else {
        return 0;
    }
    place& taken = places_[index];
    taken.node = node;
    taken.session_number = owner.number;
    taken.previous = 0;
    taken.next = owner.first_registered;
    if (taken.next != 0) {
        places_[taken.next - 1].previous = index + 1;
    }
    owner.first_registered = index + 1;
    used_.add(1);
    return taken.generation << index_bits | index;
}

void registered_nodes::unlink(session& owner, std::uint32_t index) noexcept {
    place& gone = places_[index];
    if (gone.next != 0) {
        places_[gone.next - 1].previous = gone.previous;
    }
    if (gone.previous != 0) {
        places_[gone.previous - 1].next = gone.next;
    } else {
        owner.first_registered = gone.next;
    }
    gone.session_number = 0;
    gone.generation = (gone.generation + 1) & ((1U << (32 - index_bits)) - 1);
    if (gone.generation == 0) {
        gone.generation = 1;  // a number is never below 2^18, so it never looks like a small id
    }
    gone.next = first_free_;
    first_free_ = index + 1;
    used_.subtract(1);
}

void registered_nodes::remove(session& owner, std::uint32_t number) noexcept {
    if (live(owner, number) != nullptr) {
        unlink(owner, number & index_mask);
    }
}

void registered_nodes::remove_all(session& owner) noexcept {
    while (owner.first_registered != 0) {
        unlink(owner, owner.first_registered - 1);
    }
}

}  // namespace tagferry::opcua
