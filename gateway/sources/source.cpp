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

}  // namespace tagferry::gateway
