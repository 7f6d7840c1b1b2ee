// Which source keeps which connection, and on which shard it lives. Filled before the shards
// start, unchanged while they run.
#pragma once

#include "gateway/sources/source.hpp"
#include "gateway/tags/tag_model.hpp"
#include "transport/threads/shard.hpp"

#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tagferry::gateway {

struct source_place {
    tagferry::gateway::source* source = nullptr;
    transport::shard* shard = nullptr;
    tag_table::owner_id owner = 0;
    std::string name;      ///< of the connection
    std::string endpoint;  ///< host and port
};

class source_directory {
  public:
    void add(source_place place) { places_.push_back(std::move(place)); }

    std::span<const source_place> all() const noexcept { return places_; }
    /// Null when no source keeps the tags of this owner.
    const source_place* find(tag_table::owner_id owner) const noexcept {
        for (const source_place& place : places_) {
            if (place.owner == owner) {
                return &place;
            }
        }
        return nullptr;
    }
    /// Null for a source that is not in it.
    const source_place* find(const source& which) const noexcept {
        for (const source_place& place : places_) {
            if (place.source == &which) {
                return &place;
            }
        }
        return nullptr;
    }

  private:
    std::vector<source_place> places_;
};

/// The model in force on the shard that asks; the same object until the turn ends.
class model_access {
  public:
    virtual const tag_model& model() const noexcept = 0;

  protected:
    ~model_access() = default;
};

}  // namespace tagferry::gateway
