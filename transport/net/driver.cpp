#include "transport/net/driver_impl.hpp"

namespace tagferry::transport {

template class basic_driver<tcp_stream>;

}  // namespace tagferry::transport
