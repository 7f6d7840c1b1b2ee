#include "protocols/opcua/server/connection_registry.hpp"

#include <algorithm>

namespace tagferry::opcua {

connection_registry::connection_registry(std::size_t capacity, std::uint32_t first_channel_id)
    : last_channel_id_(first_channel_id) {
    connections_.reserve(capacity);
}

void connection_registry::add(connection_engine& made) {
    connections_.push_back(&made);
}

void connection_registry::remove(connection_engine& gone) noexcept {
    connections_.erase(std::remove(connections_.begin(), connections_.end(), &gone),
                       connections_.end());
}

std::uint32_t connection_registry::next_channel_id() noexcept {
    ++last_channel_id_;
    if (last_channel_id_ == 0) {
        last_channel_id_ = 1;  // 0 means "no channel yet" on the wire
    }
    return last_channel_id_;
}

}  // namespace tagferry::opcua
