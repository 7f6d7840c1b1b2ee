// Files that are part of the program: the page, its scripts and its pictures.
#pragma once

#include "web/http/exchange.hpp"
#include "web/http/resource.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tagferry::web {

/// One embedded file. All of it is static storage.
struct asset {
    std::string_view path;          ///< as requested, from the root: "/", "/assets/index-1a2b.js"
    std::string_view content_type;  ///< e.g. "text/html; charset=utf-8"
    std::span<const unsigned char> bytes;
    std::span<const unsigned char> gzip = {};  ///< the same compressed; empty: none
    /// The path changes whenever the content does, so it may be kept for ever.
    bool immutable = false;
};

/// Answers `GET` of one embedded file: with a strong ETag of its content, 304 where the asker has
/// it already, compressed where the asker can, and with a Content-Security-Policy that lets
/// nothing but this server's own files and its stream in. Sent from where it lies, piece by piece
/// as there is room.
class asset_resource final : public resource {
  public:
    explicit asset_resource(const asset& file);

    progress begin(exchange& with) override;
    progress advance(exchange& with) override;

  private:
    struct variant {
        std::string_view bytes;
        std::string tag;     // with its quotes
        std::string fields;  // header lines
    };

    const variant& chosen_for(const exchange& with) const noexcept;

    asset file_;
    variant plain_;
    variant gzip_;
};

}  // namespace tagferry::web
