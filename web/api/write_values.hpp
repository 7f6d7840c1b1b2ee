// `PUT /api/v1/values/{path}` and `POST /api/v1/values:write`.
#pragma once

#include "web/api/write_request.hpp"
#include "web/backend/values.hpp"
#include "web/backend/writes.hpp"
#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace tagferry::web {

/// What both have in common: a value and its tag become an item for the backend, or a refusal.
class value_writer {
  public:
    value_writer(values& source, writes& target) : values_(source), writes_(target) {
        scratch_.resize(target.capacity());
    }

    /// Begins to collect the values of one request.
    void clear() noexcept { used_ = 0; }

    /// @param path decoded. @param value the text of a JSON value. @param item ready to be written
    ///   when true is returned; valid until `clear`. @param result otherwise final.
    bool prepare(const call& context, std::string_view path, std::string_view value,
                 write_item& item, write_result& result);

    writes& target() const noexcept { return writes_; }

  private:
    values& values_;
    writes& writes_;
    std::vector<std::byte> scratch_;
    std::size_t used_ = 0;
};

/// Appends one result as JSON. @param path decoded.
void put_json_result(output_chain& out, std::string_view path, const write_result& result) noexcept;

/// One value. The status is that of its outcome.
class write_value_resource final : public resource {
  public:
    explicit write_value_resource(value_writer& writer) noexcept : writer_(writer) {}

    progress begin(exchange& with) override;
    progress resumed(exchange& with, std::uint32_t result) override;
    void abandoned(exchange& with) noexcept override;

  private:
    progress answer(exchange& with, const write_result& result);

    value_writer& writer_;
};

/// Several values, with a result for each.
class write_values_resource final : public resource {
  public:
    explicit write_values_resource(value_writer& writer) noexcept : writer_(writer) {}

    progress begin(exchange& with) override;
    progress advance(exchange& with) override;
    progress resumed(exchange& with, std::uint32_t result) override;
    void abandoned(exchange& with) noexcept override;

  private:
    value_writer& writer_;
    std::vector<char> paths_ = std::vector<char>(64 * 1024);  // decoded, during one call
};

}  // namespace tagferry::web
