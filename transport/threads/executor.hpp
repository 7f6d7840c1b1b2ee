// The one concrete executor type of the product. Sockets, acceptors and timers are declared with
// it, never with a type-erased executor, which may allocate for every operation.
#pragma once

#include <boost/asio/io_context.hpp>

namespace tagferry::transport {

using executor = boost::asio::io_context::executor_type;

}  // namespace tagferry::transport
