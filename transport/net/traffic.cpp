#include "transport/net/traffic.hpp"

#include <mutex>

namespace tagferry::transport {
namespace {

struct registry {
    std::mutex mutex;
    traffic* first = nullptr;
};

registry& all() {
    static registry instance;
    return instance;
}

}  // namespace

traffic::traffic(std::string_view protocol) : protocol_(protocol) {
    const std::lock_guard lock(all().mutex);
    next_ = all().first;
    all().first = this;
}

traffic::~traffic() {
    const std::lock_guard lock(all().mutex);
    for (traffic** link = &all().first; *link != nullptr; link = &(*link)->next_) {
        if (*link == this) {
            *link = next_;
            break;
        }
    }
}

void for_each_traffic(void (*visit)(const traffic&, void*), void* context) {
    const std::lock_guard lock(all().mutex);
    for (const traffic* each = all().first; each != nullptr; each = each->next_) {
        visit(*each, context);
    }
}

}  // namespace tagferry::transport
