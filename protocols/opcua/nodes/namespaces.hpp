// NamespaceArray, in an order that never changes; loaded NodeSets will follow.
#pragma once

#include <cstdint>
#include <string_view>

namespace tagferry::opcua {

inline constexpr std::uint16_t namespace_standard = 0;
inline constexpr std::uint16_t namespace_server = 1;  ///< the application URI
inline constexpr std::uint16_t namespace_devices = 2;
inline constexpr std::uint16_t namespace_tags = 3;
inline constexpr std::string_view standard_uri = "http://opcfoundation.org/UA/";
inline constexpr std::string_view devices_uri = "http://opcfoundation.org/UA/DI/";
inline constexpr std::string_view tags_uri = "urn:tagferry:tags";

}  // namespace tagferry::opcua
