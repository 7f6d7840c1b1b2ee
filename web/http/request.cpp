#include "web/http/request.hpp"

namespace tagferry::web {

std::string_view name_of(http_method method) noexcept {
    switch (method) {
        case http_method::get:
            return "GET";
        case http_method::head:
            return "HEAD";
        case http_method::options:
            return "OPTIONS";
        case http_method::post:
            return "POST";
        case http_method::put:
            return "PUT";
        case http_method::patch:
            return "PATCH";
        case http_method::delete_:
            return "DELETE";
        case http_method::other:
            break;
    }
    return {};
}

void http_request::move_to(const char* copy) noexcept {
    const char* const from = text.data();
    // Views that do not point into the text (a static "/" or an absent field) stay as they are.
    const auto rebase = [&](std::string_view& view) {
        if (view.data() >= from && view.data() <= from + text.size() && view.data() != nullptr) {
            view = {copy + (view.data() - from), view.size()};
        }
    };
    rebase(target);
    rebase(path);
    rebase(query);
    for (auto& value : fields) {
        rebase(value);
    }
    text = {copy, text.size()};
}

}  // namespace tagferry::web
