// The last head of a connection, parsed and routed: programs that poll send the same bytes again
// and again, and a comparison costs a hundredth of the parser.
#pragma once

#include "web/http/request.hpp"
#include "web/http/resource.hpp"

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
    /// What the site said about it; its views lie where the request's do.
    const route_match& match() const noexcept { return match_; }

    /// Whether `used`, made of `request` before, still is what `request` says.
    bool is_request(const http_request& used) const noexcept {
        return used.text.data() == text_.data() && !used.path.empty();
    }

    /// Keeps a request without a body, the text its views lie in, and its route.
    void remember(const http_request& parsed, const route_match& match) noexcept {
        forget();
        if (parsed.text.size() > longest) {
            return;
        }
        request_ = parsed;
        match_ = match;
        std::memcpy(text_.data(), parsed.text.data(), parsed.text.size());
        request_.move_to(text_.data());
        // The parameter is the end of the path and moves with it.
        match_.parameter = request_.path.substr(request_.path.size() - match.parameter.size());
    }
    void forget() noexcept { request_ = {}; }

  private:
    http_request request_{};
    route_match match_{};
    // Deliberately not initialised: nobody reads it before it was written.
    std::array<char, longest> text_;
};

}  // namespace tagferry::web
