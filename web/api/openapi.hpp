// The description of the REST interface for tools (OpenAPI 3.0).
#pragma once

#include "web/http/assets.hpp"

namespace tagferry::web {

/// `/api/v1/openapi.json`. A test compares it with the routes there are.
asset openapi_document() noexcept;

}  // namespace tagferry::web
