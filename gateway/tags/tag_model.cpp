#include "gateway/tags/tag_model.hpp"

#include <array>
#include <bit>
#include <cstring>

namespace tagferry::gateway {
namespace {

std::uint64_t mix(std::uint64_t left, std::uint64_t right) noexcept {
    __extension__ using wide = unsigned __int128;
    const wide product = static_cast<wide>(left) * right;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64U);
}

}  // namespace

// Paths come from the configuration: nobody chooses them to collide.
std::uint64_t path_index::hash_of(std::string_view path) noexcept {
    constexpr std::uint64_t first = 0x9E37'79B9'7F4A'7C15;
    constexpr std::uint64_t second = 0xD6E8'FEB8'6659'FD93;
    std::uint64_t hash = path.size() * first;
    std::uint64_t word = 0;
    if (path.size() < sizeof word) {
        for (const char each : path) {
            word = word << 8U | static_cast<unsigned char>(each);
        }
        return mix(hash ^ word, first);
    }
    const char* at = path.data();
    const char* const last = at + path.size() - sizeof word;
    for (; at < last; at += sizeof word) {
        std::memcpy(&word, at, sizeof word);
        hash = mix(hash ^ word, second);
    }
    // The last eight bytes, some of them for the second time.
    std::memcpy(&word, last, sizeof word);
    return mix(hash ^ word, first);
}

void path_index::build(std::span<const model_node> nodes) {
    places_.assign(std::bit_ceil(nodes.size() * 2 + 1), {});
    const std::size_t mask = places_.size() - 1;
    for (model_position node = 0; node < nodes.size(); ++node) {
        const std::uint64_t hash = hash_of(nodes[node].path);
        std::size_t at = hash & mask;
        while (places_[at].node != no_position) {
            at = (at + 1) & mask;
        }
        places_[at] = {static_cast<std::uint32_t>(hash >> 32U), node};
    }
}

model_position path_index::find(std::span<const model_node> nodes, std::string_view path,
                                std::uint64_t hash) const noexcept {
    const std::size_t mask = places_.size() - 1;
    const auto upper = static_cast<std::uint32_t>(hash >> 32U);
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
        const auto& [kept, node] = places_[at];
        if (node == no_position || (kept == upper && nodes[node].path == path)) {
            return node;
        }
    }
}

void path_index::find_each(std::span<const model_node> nodes,
                           std::span<const std::string_view> paths,
                           std::span<model_position> into) const noexcept {
    std::array<std::uint64_t, most_at_once> hashes;
    for (std::size_t at = 0; at < paths.size(); ++at) {
        hashes[at] = hash_of(paths[at]);
        __builtin_prefetch(&places_[hashes[at] & (places_.size() - 1)]);
    }
    for (std::size_t at = 0; at < paths.size(); ++at) {
        into[at] = find(nodes, paths[at], hashes[at]);
    }
}

const model_node* tag_model::find(std::string_view path) const noexcept {
    const model_position found = by_path_.find(nodes_, path);
    return found == no_position ? nullptr : &nodes_[found];
}

const model_node* tag_model::find(node_id id) const noexcept {
    if (id.index >= by_id_.size() || by_id_[id.index] == no_position) {
        return nullptr;
    }
    const model_node& node = nodes_[by_id_[id.index]];
    return node.id == id ? &node : nullptr;
}

const tag_definition* tag_model::find(tag_handle handle) const noexcept {
    if (handle.index >= by_index_.size() || by_index_[handle.index] == no_position) {
        return nullptr;
    }
    const tag_definition& tag = tags_[by_index_[handle.index]];
    return tag.handle == handle ? &tag : nullptr;
}

const tag_definition* tag_model::at_or_after(std::uint32_t index) const noexcept {
    for (std::size_t at = index; at < by_index_.size(); ++at) {
        if (by_index_[at] != no_position) {
            return &tags_[by_index_[at]];
        }
    }
    return nullptr;
}

const connection_definition* tag_model::find_connection(std::string_view name) const noexcept {
    for (const connection_definition& connection : connections_) {
        if (connection.settings.name == name) {
            return &connection;
        }
    }
    return nullptr;
}

}  // namespace tagferry::gateway
