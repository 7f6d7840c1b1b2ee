// The operation kinds of the web room (transport/memory/operations.hpp).
#pragma once

#include "transport/memory/operations.hpp"

namespace tagferry::web {

/// One `GET` of one value: request complete to answer queued.
inline const transport::operation_kind http_value =
    transport::register_operation_kind("http_value");

/// One delta message of the stream: first change it tells of to message queued.
inline const transport::operation_kind ws_push = transport::register_operation_kind("ws_push");

}  // namespace tagferry::web
