// Boost.Asio's own definitions, compiled once for the program (BOOST_ASIO_SEPARATE_COMPILATION).
#include <boost/asio/impl/src.hpp>
