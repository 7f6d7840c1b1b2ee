#include "web/backend/writes.hpp"

namespace tagferry::web {

std::string_view name_of(write_ending ending) noexcept {
    switch (ending) {
        case write_ending::answered:
            return "answered";
        case write_ending::not_sent:
            return "not_sent";
        case write_ending::unknown:
            return "unknown";
        case write_ending::partial:
            return "partial";
        case write_ending::rejected:
            return "rejected";
    }
    return "unknown";
}

}  // namespace tagferry::web
