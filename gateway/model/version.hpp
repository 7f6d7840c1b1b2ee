// Which Tagferry this is.
#pragma once

#include <string_view>

namespace tagferry::gateway {

/// Semantic version of the product, e.g. `0.1.0`. Static storage.
std::string_view version() noexcept;

/// The compiler that made this binary. Static storage.
std::string_view compiler() noexcept;

}  // namespace tagferry::gateway
