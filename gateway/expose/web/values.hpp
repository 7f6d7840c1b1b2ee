// Tags and their samples for the web room.
#pragma once

#include "gateway/expose/device_read_hub.hpp"
#include "gateway/expose/source_directory.hpp"
#include "gateway/tags/tag_table.hpp"
#include "web/backend/values.hpp"

#include <array>
#include <cstddef>
#include <span>

namespace tagferry::gateway {

/// What a `device_read_hub` for this backend answers with.
device_read_codes web_device_read_codes() noexcept;

class web_values final : public web::values {
  public:
    /// @param time for the age of samples.
    web_values(const model_access& models, const tag_table& table, device_read_hub& reads,
               const transport::clock& time) noexcept
        : models_(models),
          table_(table),
          reads_(reads),
          clock_(time),
          epoch_(epoch_of(time.wall_now())) {}

    web::outcome find(const web::call& context, std::string_view path,
                      web::tag_handle& found) override;
    web::outcome read(const web::call& context, web::tag_handle tag, std::span<std::byte> scratch,
                      web::value_row& row) override;
    web::outcome refresh(const web::call& context, std::span<const web::tag_handle> tags,
                         transport::duration max_age) override;
    void cancel_refresh(transport::completion_sink& sink,
                        transport::completion_token token) noexcept override;
    web::outcome next(const web::call& context, std::string_view pattern,
                      web::tag_position& position, web::tag_row& row) override;
    web::outcome describe(const web::call& context, web::tag_handle tag,
                          web::tag_row& row) override;
    std::uint64_t revision() const noexcept override { return epoch_ + models_.model().revision(); }
    std::size_t largest_value_size() const noexcept override {
        return table_.limits().largest_value_bytes;
    }

  private:
    bool read_good_number(tag_handle tag, std::span<std::byte> scratch,
                          web::value_row& row) const noexcept;
    /// The second of the start, above room for the changes of one run.
    static std::uint64_t epoch_of(transport::wall_time_ns now) noexcept {
        return static_cast<std::uint64_t>(now / 1'000'000'000) << 24U;
    }

    const model_access& models_;
    const tag_table& table_;
    device_read_hub& reads_;
    const transport::clock& clock_;
    std::uint64_t epoch_;
};

}  // namespace tagferry::gateway
