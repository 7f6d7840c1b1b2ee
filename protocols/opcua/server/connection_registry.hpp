// The connections of the server, for eviction and for numbering channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tagferry::opcua {

class connection_engine;

class connection_registry {
  public:
    /// @param first_channel_id where numbering starts; ids are not reused while the process runs.
    connection_registry(std::size_t capacity, std::uint32_t first_channel_id);

    void add(connection_engine& made);
    void remove(connection_engine& gone) noexcept;
    std::size_t size() const noexcept { return connections_.size(); }
    std::uint32_t next_channel_id() noexcept;

    /// Oldest first.
    const std::vector<connection_engine*>& all() const noexcept { return connections_; }

  private:
    std::vector<connection_engine*> connections_;
    std::uint32_t last_channel_id_;
};

}  // namespace tagferry::opcua
