// The page, embedded: made by `web/ui/embed.mjs` from what Vite built.
#pragma once

#include "web/http/assets.hpp"

#include <span>

namespace tagferry::web {

/// Every file of the page, "/" among them. Static storage. In a build without the page
/// (`TAGFERRY_UI=OFF`) a notice that says so.
std::span<const asset> page_assets() noexcept;

}  // namespace tagferry::web
