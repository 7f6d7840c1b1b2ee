#include "gateway/model/version.hpp"

namespace tagferry::gateway {

std::string_view version() noexcept {
    return TAGFERRY_VERSION;
}

std::string_view compiler() noexcept {
#ifdef __clang__
    return "clang " __clang_version__;
#else
    return "g++ " __VERSION__;
#endif
}

}  // namespace tagferry::gateway
