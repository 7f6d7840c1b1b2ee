#include "gateway/sources/source.hpp"

namespace tagferry::gateway {

std::string_view name_of(source_state state) noexcept {
    switch (state) {
        case source_state::stopped:
            return "stopped";
        case source_state::connecting:
            return "connecting";
        case source_state::up:
            return "up";
        case source_state::waiting:
            return "waiting";
    }
    return "stopped";
}

std::string_view name_of(request_failure why) noexcept {
    switch (why) {
        case request_failure::refused:
            return "refused";
        case request_failure::reply_unusable:
            return "reply_unusable";
        case request_failure::timed_out:
            return "timed_out";
        case request_failure::link_lost:
            return "link_lost";
        case request_failure::not_sent:
            return "not_sent";
    }
    return "reply_unusable";
}

}  // namespace tagferry::gateway
