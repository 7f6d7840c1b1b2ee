#include "web/http/request.hpp"

namespace tagferry::web {

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
