// The last head of a connection, parsed: programs that poll send the same bytes again and again,
// and a comparison costs a hundredth of the parser.
#pragma once

#include "web/http/request.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <string_view>

namespace tagferry::web {

class known_head {
  public:
    /// Heads over this size are not remembered.
    static constexpr std::size_t longest = 512;

    /// Whether these bytes begin with the head that was remembered.
    bool begins(std::string_view bytes) const noexcept {
        return size() != 0 && bytes.starts_with(request_.text);
    }
    std::size_t size() const noexcept { return request_.text.size(); }

    /// The request made of it. Its views lie in here, until another head is remembered.
    const http_request& request() const noexcept { return request_; }

    /// Keeps a request without a body, and the text its views lie in.
    void remember(const http_request& parsed) noexcept {
        request_ = {};
        if (parsed.text.size() <= longest) {
            request_ = parsed;
            std::memcpy(text_.data(), parsed.text.data(), parsed.text.size());
            request_.move_to(text_.data());
        }
    }

  private:
    http_request request_{};
    // Deliberately not initialised: nobody reads it before it was written.
    std::array<char, longest> text_;
};

}  // namespace tagferry::web
