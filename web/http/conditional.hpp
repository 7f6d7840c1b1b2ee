// Content negotiation and conditional requests: the little of RFC 9110 that embedded files and
// lists need.
#pragma once

#include <string_view>

namespace tagferry::web {

/// Whether an `If-None-Match` field names this entity tag, or is `*` (RFC 9110, 13.1.2: compared
/// weakly). @param tag with its quotes. False for an empty field.
bool names_entity_tag(std::string_view field, std::string_view tag) noexcept;

/// Whether an `Accept-Encoding` field allows gzip (RFC 9110, 12.5.3). False for an empty field.
bool accepts_gzip(std::string_view field) noexcept;

}  // namespace tagferry::web
