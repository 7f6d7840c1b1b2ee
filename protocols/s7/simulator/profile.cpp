#include "protocols/s7/simulator/profile.hpp"

#include <algorithm>
#include <array>

namespace tagferry::s7 {

namespace {

// What PLCs of these families were seen to grant.
constexpr std::array profiles = {
    plc_profile{"s7-300", 240, 1, 2},
    plc_profile{"s7-400", 480, 2, 2},
    plc_profile{"s7-1200", 240, 3, 3},
    plc_profile{"s7-1500", 960, 8, 8},
};

}  // namespace

std::span<const plc_profile> plc_profiles() noexcept {
    return profiles;
}

const plc_profile* find_plc_profile(std::string_view name) noexcept {
    const auto found =
        std::find_if(profiles.begin(), profiles.end(),
                     [name](const plc_profile& profile) { return profile.name == name; });
    return found == profiles.end() ? nullptr : &*found;
}

}  // namespace tagferry::s7
