// Changes for the stream, from a feed of the web shard.
#pragma once

#include "gateway/tags/tag_feed.hpp"
#include "gateway/tags/tag_model.hpp"
#include "gateway/tags/tag_table.hpp"
#include "transport/threads/shard.hpp"
#include "web/backend/feed.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tagferry::gateway {

class web_feed final : public web::feed,
                       private transport::next_turn_participant,
                       private transport::sweep_participant {
  public:
    /// Adds a feed to the table, so before the first tag is.
    /// @param writers writing shards. Throws std::length_error when the table has no place for
    ///   another feed.
    web_feed(transport::shard& owner, tag_table& table, std::size_t writers);

    bool watch(web::tag_handle tag) override;
    void unwatch(web::tag_handle tag) noexcept override;
    void arm(transport::completion_sink& sink, transport::completion_token token) override;
    std::size_t drain(std::span<std::uint32_t> indexes) override;
    std::uint32_t index_limit() const noexcept override {
        return static_cast<std::uint32_t>(table_.limits().tags);
    }
    std::uint64_t revision() const noexcept override { return revision_; }
    std::span<const web::reason_words> reasons() const noexcept override { return reasons_; }

    /// The shard has taken over this model.
    void model_changed(const tag_model& model);

    const tag_feed& feed() const noexcept { return feed_; }

  private:
    static void wake(void* object);
    static void woken(void* object, std::uint64_t, std::uint64_t);
    void next_turn(transport::time_point now) override;
    transport::time_point deadline() const noexcept override;
    void expire(transport::time_point now) override { next_turn(now); }

    transport::shard& shard_;
    tag_table& table_;
    tag_feed feed_;
    std::size_t number_ = 0;
    std::uint64_t revision_ = 0;
    std::vector<web::reason_words> reasons_;
    bool begun_ = false;  // `begin` was called and the drain after it has not come to its end
    transport::completion_sink* sink_ = nullptr;
    transport::completion_token token_{};
};

}  // namespace tagferry::gateway
