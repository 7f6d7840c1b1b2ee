#include "web/http/resource.hpp"

namespace tagferry::web {

// A resource that answers in `begin` has nothing to do in the others.
progress resource::advance(exchange&) {
    return progress::finished;
}
progress resource::resumed(exchange&, std::uint32_t) {
    return progress::finished;
}
void resource::abandoned(exchange&) noexcept {}

}  // namespace tagferry::web
